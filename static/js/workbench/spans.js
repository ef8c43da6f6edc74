// The passages of the report that one marks as evidence: from a selection, or by sentences and
// words with the keyboard. Offsets count code points of the text as it stands in the report's element.
import { announce } from "../frame.js";
import { bringIntoView } from "../report.js";
import { sentencesOf, snapped, stepped, wordsOf } from "./passages.js";

const PIECES = { Sentence: sentencesOf, Word: wordsOf };
const STEPS = {
  ArrowDown: ["Sentence", 1],
  ArrowUp: ["Sentence", -1],
  ArrowRight: ["Word", 1],
  ArrowLeft: ["Word", -1],
  Home: [undefined, -Infinity],
  End: [undefined, Infinity],
};
const OWN = "own-span";
const SHOWN = "own-span-shown"; // the one that E went to
const CURSOR = "span-cursor";

export class SpanEditor {
  #root; // [data-spans]
  #input;
  #report;
  #changed;
  #cursor = null; // { kind, from, to } while one chooses by keyboard

  /** `changed()` is called after each change by the person. */
  constructor(root, report, changed, signal) {
    this.#root = root;
    this.#input = root.querySelector("input[name=spans]");
    this.#report = report;
    this.#changed = changed;
    const use = root.querySelector("[data-command='work.span']");
    // The selection is gone once the button has the focus.
    use?.addEventListener("pointerdown", (event) => event.preventDefault(), { signal });
    use?.addEventListener("click", () => this.#use(), { signal });
    root.addEventListener("click", (event) => this.#pressed(event.target.closest("button")), { signal });
    document.addEventListener("keydown", (event) => this.#cursor && this.#move(event), { signal, capture: true });
    this.refresh();
  }

  /** Take over what the form holds now: restored, undone, or taken from another window. */
  refresh() {
    const spans = this.#spans();
    this.unmark();
    const list = this.#root.querySelector("[data-span-list]");
    list.replaceChildren(...spans.map((span, index) => this.#row(span, index)));
    this.#root.querySelector("[data-spans-none]").hidden = spans.length > 0;
    this.#paint(OWN, spans.map((span) => this.#rangeOf(span)));
  }

  get count() {
    return this.#spans().length;
  }

  /** Bring a passage into view and mark it as the current one. */
  show(index) {
    const range = this.#rangeOf(this.#spans()[index]);
    this.#paint(SHOWN, [range]);
    bringIntoView(range, this.#pane());
  }

  unmark() {
    this.#paint(SHOWN, []);
  }

  dispose() {
    this.#cursor = null;
    this.unmark();
    this.#paint(OWN, []);
    this.#paint(CURSOR, []);
  }

  #spans() {
    return JSON.parse(this.#input.value || "[]");
  }

  #keep(spans) {
    this.#input.value = JSON.stringify(spans);
    this.refresh();
    this.#changed();
  }

  #row(span, index) {
    const row = document.createElement("li");
    const show = Object.assign(document.createElement("button"), { type: "button", className: "button-link span-quote bidi", textContent: `“${span.quote}”` });
    show.dataset.showSpan = index;
    row.append(show);
    if (this.#root.querySelector("[data-command='work.span']")) {
      const remove = Object.assign(document.createElement("button"), { type: "button", className: "button button-quiet", textContent: "×" });
      remove.setAttribute("aria-label", `Remove passage ${index + 1}`);
      remove.dataset.removeSpan = index;
      row.append(remove);
    }
    return row;
  }

  #pressed(button) {
    const { showSpan, removeSpan } = button?.dataset ?? {};
    if (showSpan !== undefined) this.show(showSpan);
    if (removeSpan === undefined) return;
    this.#keep(this.#spans().filter((_, index) => index !== Number(removeSpan)));
    announce("Passage removed. Undo brings it back.");
    this.#root.querySelector("[data-command='work.span']").focus();
  }

  // --- Choosing ------------------------------------------------------------------------

  #use() {
    const selection = getSelection();
    const range = selection.rangeCount ? selection.getRangeAt(0) : null;
    const isInReport = range && !range.collapsed && this.#report.contains(range.commonAncestorContainer);
    if (!isInReport) return this.#startCursor();
    this.#add(this.#offsetOf(range.startContainer, range.startOffset), this.#offsetOf(range.endContainer, range.endOffset));
    selection.removeAllRanges();
  }

  #add(from, to) {
    const span = snapped(this.#report.textContent, from, to);
    if (!span) return announce("Nothing is selected in the report.");
    const spans = this.#spans();
    if (spans.some((each) => each.start === span.start && each.end === span.end)) return announce("This passage is marked already.");
    this.#keep([...spans, span]);
    announce(`Marked as evidence: ${span.quote}`);
  }

  #startCursor() {
    const sentences = sentencesOf(this.#report.textContent);
    if (!sentences.length) return announce("There is no text to mark.");
    const top = this.#pane().getBoundingClientRect().top;
    const seen = sentences.find(([from, to]) => this.#range(from, to).getBoundingClientRect().top >= top);
    const [from, to] = seen ?? sentences[0];
    this.#cursor = { kind: "Sentence", from, to };
    this.#showCursor("Arrows move by sentence or word, with Shift they extend, Enter marks, Escape leaves. ");
  }

  #move(event) {
    const [kind = this.#cursor.kind, step] = STEPS[event.key] ?? [];
    if (step) {
      this.#cursor = stepped(this.#cursor, PIECES[kind](this.#report.textContent), { kind, step, extends: event.shiftKey });
      this.#showCursor();
    } else if (event.key === "Enter") {
      const { from, to } = this.#cursor;
      this.#endCursor();
      this.#add(from, to);
    } else if (event.key === "Escape") {
      this.#endCursor();
      announce("Nothing was marked.");
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #showCursor(before = "") {
    const { kind, from, to } = this.#cursor;
    const range = this.#range(from, to);
    this.#paint(CURSOR, [range]);
    bringIntoView(range, this.#pane());
    const pieces = PIECES[kind](this.#report.textContent);
    const at = pieces.findLastIndex(([start]) => start < to) + 1;
    announce(`${before}${kind} ${at} of ${pieces.length}: ${range.toString()}`);
  }

  #endCursor() {
    this.#cursor = null;
    this.#paint(CURSOR, []);
  }

  // --- From offsets to places and back -------------------------------------------------

  #pane() {
    return this.#report.closest(".pane-scroll");
  }

  #offsetOf(node, offset) {
    const before = document.createRange();
    before.selectNodeContents(this.#report);
    before.setEnd(node, offset);
    return before.toString().length;
  }

  #rangeOf({ start, end }) {
    const characters = [...this.#report.textContent];
    const from = characters.slice(0, start).join("").length;
    return this.#range(from, from + characters.slice(start, end).join("").length);
  }

  #range(from, to) {
    const range = document.createRange();
    const walker = document.createTreeWalker(this.#report, NodeFilter.SHOW_TEXT);
    let passed = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const end = passed + node.data.length;
      if (from >= passed && from <= end) range.setStart(node, from - passed);
      if (to >= passed && to <= end) {
        range.setEnd(node, to - passed);
        break;
      }
      passed = end;
    }
    return range;
  }

  #paint(name, ranges) {
    if (!("highlights" in CSS)) return; // the list still names every passage
    if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges));
    else CSS.highlights.delete(name);
  }
}
