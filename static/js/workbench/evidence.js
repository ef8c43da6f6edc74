// From claim to proof and back: E goes from one piece of evidence to the next, Esc returns to the view
// before. The passage and the region with the same number are one piece, where both can be seen at once.
import { announce } from "../frame.js";
import { isNarrow, showTab, unfold } from "../panes.js";
import { bringIntoView, markPassage } from "../report.js";

const OWN = 1; // the number of the item's own passage in the report

export class Evidence {
  #spans; // each may be null: without a report, without a slide
  #regions;
  #viewer;
  #panes = document.querySelector("[data-panes]");
  #at = -1; // the piece that was shown last
  #before = null; // what Esc returns to: { top, view, tab, focus }

  constructor(spans, regions, viewer) {
    this.#spans = spans;
    this.#regions = regions;
    this.#viewer = viewer;
  }

  get count() {
    return this.#pieces().length;
  }

  next() {
    const pieces = this.#pieces();
    if (!pieces.length) return announce("No evidence is marked.");
    this.#before ??= this.#viewNow();
    this.#at = (this.#at + 1) % pieces.length;
    const said = pieces[this.#at].map((part) => this.#show(part));
    announce(`Evidence ${this.#at + 1} of ${pieces.length}: ${said.join(", ")}.`);
  }

  /** Back to the view before. False where nothing was shown. */
  back() {
    if (!this.#before) return false;
    const { top, view, tab, focus } = this.#before;
    this.#before = null;
    this.#at = -1;
    this.#spans?.unmark();
    this.#pane()?.scrollTo({ top, behavior: "instant" });
    if (view) this.#viewer.goTo(view);
    if (tab) showTab(this.#panes, tab);
    if (focus?.isConnected) focus.focus({ preventScroll: true });
    return true;
  }

  /** Each piece as a list of its parts: { passage: element or range } and { region: index }. */
  #pieces() {
    const own = document.querySelector(`[data-report] [data-triplets~="${OWN}"], [data-report] [data-near~="${OWN}"]`);
    const marked = Array.from({ length: this.#spans?.count ?? 0 }, (_, index) => ({ passage: index }));
    const passages = own ? [{ own: true }, ...marked] : marked;
    const regions = Array.from({ length: this.#regions?.count ?? 0 }, (_, region) => ({ region }));
    if (isNarrow()) return [...passages, ...regions].map((part) => [part]);
    const length = Math.max(passages.length, regions.length);
    return Array.from({ length }, (_, index) => [passages[index], regions[index]].filter(Boolean));
  }

  #show({ own, passage, region }) {
    if (region !== undefined) {
      this.#regions.fly(region);
      return `region ${region + 1} on the slide`;
    }
    if (isNarrow()) showTab(this.#panes, "report");
    unfold(this.#panes);
    this.#spans?.unmark();
    if (own) bringIntoView(markPassage(document.querySelector("[data-report]"), OWN));
    else this.#spans.show(passage);
    return own ? "the passage of the claim" : `passage ${passage + 1} that you marked`;
  }

  #viewNow() {
    const tab = isNarrow() ? this.#panes.dataset.tab : null;
    return { top: this.#pane()?.scrollTop, view: this.#viewer?.currentView(), tab, focus: document.activeElement };
  }

  #pane() {
    return document.querySelector("[data-report]")?.closest(".pane-scroll");
  }
}
