// From claim to proof and back: E shows the passage, Esc returns to the view before.
import { announce } from "../frame.js";
import { isNarrow, showTab, unfold } from "../panes.js";
import { bringIntoView, markPassage } from "../report.js";

const EVIDENCE = 1; // the number of the item's own passage in the report

let before = null; // what Esc returns to: { top, tab, focus }

export function showEvidence() {
  const report = document.querySelector("[data-report]");
  const piece = markPassage(report, EVIDENCE);
  if (!piece) return;
  const panes = document.querySelector("[data-panes]");
  before ??= { top: report.closest(".pane-scroll").scrollTop, tab: null, focus: document.activeElement };
  if (isNarrow()) before.tab ??= showTab(panes, "report");
  unfold(panes);
  bringIntoView(piece);
  announce("Evidence shown in the report.");
}

/** Back to the view before. False where nothing was shown. */
export function hideEvidence() {
  if (!before) return false;
  const pane = document.querySelector("[data-report]").closest(".pane-scroll");
  if (before.tab) showTab(document.querySelector("[data-panes]"), before.tab);
  else pane.scrollTo({ top: before.top, behavior: "instant" });
  if (before.focus?.isConnected) before.focus.focus({ preventScroll: true });
  before = null;
  return true;
}

export function forgetView() {
  before = null;
}
