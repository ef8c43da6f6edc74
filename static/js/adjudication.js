// The page on which somebody decides: what all readers said, marked in the report and on the slide,
// and the form of the decision, which is kept in the browser until it is sent.
import { announce } from "./frame.js";
import { isNarrow, showTab, startPanes, unfold } from "./panes.js";
import { RegionLayer } from "./regions/layer.js";
import { drawList } from "./regions/list.js";
import { bringIntoView, markPassage, startFind } from "./report.js";
import { openViewer } from "./viewer/viewer.js";
import { Questions } from "./workbench/questions.js";

const panes = document.querySelector("[data-panes]");
const report = document.querySelector("[data-report]");
const form = document.querySelector("[data-decision]");
const slide = panes.querySelector("[data-viewer]");
const viewer = slide && openViewer(slide);
const KEPT = `decision-${form.dataset.own}-${form.dataset.decision}`; // of this person and item

// --- What was said -------------------------------------------------------------------

function showRegions() {
  const regions = JSON.parse(form.querySelector("[data-all-regions]").dataset.allRegions);
  const layer = new RegionLayer();
  viewer.addLayer(layer);
  viewer.known.then(() => {
    layer.show(regions, (region) => region.revision === viewer.pyramid.revision);
    for (const list of form.querySelectorAll("[data-region-list]")) {
      drawList(list, regions.filter((region) => String(region.reader) === list.dataset.regionList), viewer);
    }
    viewer.redraw();
  }, () => {});
}

const CLAIMED = 1; // the number of the item's own passage in the report
let evidenceAt = -1;
let before = null; // what Esc returns to: { top, view, tab, focus }

/** One piece of evidence after the other: of the item, then what readers marked in text and slide. */
function showNextEvidence() {
  const own = report.querySelector(`[data-triplets~="${CLAIMED}"], [data-near~="${CLAIMED}"]`) ? [CLAIMED] : [];
  const pieces = [...own, ...form.querySelectorAll("[data-show], .region-fly")];
  if (!pieces.length) return announce("No evidence is marked.");
  before ??= { top: report.closest(".pane-scroll").scrollTop, view: viewer?.currentView(), tab: isNarrow() && panes.dataset.tab, focus: document.activeElement };
  evidenceAt = (evidenceAt + 1) % pieces.length;
  const piece = pieces[evidenceAt];
  if (piece === CLAIMED) showPassage(CLAIMED);
  else piece.click();
}

function hideEvidence() {
  if (!before) return false;
  const { top, view, tab, focus } = before;
  before = null;
  evidenceAt = -1;
  report.closest(".pane-scroll").scrollTo({ top, behavior: "instant" });
  if (view) viewer.goTo(view);
  if (tab) showTab(panes, tab);
  if (focus?.isConnected) focus.focus({ preventScroll: true });
  return true;
}

function showPassage(number) {
  const piece = markPassage(report, number);
  if (!piece) return;
  if (isNarrow()) showTab(panes, "report");
  unfold(panes);
  bringIntoView(piece);
  announce("Shown in the report.");
}

// --- The decision --------------------------------------------------------------------

function startDecision() {
  form.dataset.live = "";
  restore();
  const questions = new Questions(form, keep, new AbortController().signal);
  form.addEventListener("input", keep);
  form.addEventListener("submit", (event) => {
    const reason = form.querySelector("[name=reason]");
    if (questions.showGap()) event.preventDefault();
    else if (!reason.value.trim()) {
      event.preventDefault();
      reason.focus();
      announce("A decision needs a reason.");
      say("A decision needs a reason.");
    } else localStorage.removeItem(KEPT);
  });
  for (const take of form.querySelectorAll("[data-take]")) {
    take.hidden = false;
    take.addEventListener("click", () => {
      form.querySelector(`[name="correct-${take.dataset.take}"]`).value = take.dataset.text;
      keep();
      announce(`Taken as the corrected ${take.dataset.take}.`);
    });
  }
  showCorrected();
}

/** The texts are there where the item becomes corrected. */
function showCorrected() {
  const fields = form.querySelector("[data-corrected]");
  if (fields) fields.hidden = form.querySelector("[name=outcome]:checked")?.value !== "corrected";
}

function values() {
  return [...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken");
}

function keep() {
  showCorrected();
  localStorage.setItem(KEPT, JSON.stringify(values()));
  say("Kept on this computer");
}

/** Fill in what was not sent. After a refusal the form holds it already. */
function restore() {
  const kept = JSON.parse(localStorage.getItem(KEPT) ?? "null");
  if (!kept || form.querySelector("[data-focus]")) return;
  for (const [name, value] of kept) {
    for (const field of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
      if (field.type === "radio") field.checked = field.value === value;
      else field.value = value;
    }
  }
  say("Kept on this computer");
}

function say(words) {
  const state = form.querySelector("[data-save-state]");
  if (state) state.textContent = words;
}

// --- Keys and buttons ----------------------------------------------------------------

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const evidence = event.target.closest("[data-command='work.evidence']");
  const passage = event.target.closest("[data-show]");
  if (!evidence && !passage) return;
  event.preventDefault();
  if (evidence) showNextEvidence();
  else showPassage(passage.dataset.show);
});

document.addEventListener("command", (event) => {
  if (event.detail.id !== "work.submit-anywhere" || !form.querySelector(".submit")) return;
  event.preventDefault();
  form.requestSubmit();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  if (document.querySelector("details.menu[open], #key-sheet")) return; // the frame closes these
  if (hideEvidence()) event.preventDefault();
  else if (event.target.matches("textarea")) event.target.blur();
});

document.addEventListener("region-show", () => {
  if (isNarrow()) showTab(panes, "slide");
});

document.body.dataset.keyScopes = "list evidence viewer workbench";
startPanes(panes);
startFind(document.querySelector("[data-find]"), report);
if (viewer) showRegions();
if (form.querySelector(".submit")) startDecision();
