// One item in hand: its questions, its saving, its end.
import { announce } from "../frame.js";
import { RegionEditor } from "../regions/editor.js";
import { Ahead } from "./ahead.js";
import { Clock } from "./clock.js";
import { startCompare, titleOf } from "./compare.js";
import { Corrections } from "./corrections.js";
import { differences, isSame, readForm, withField, writeForm } from "./draft.js";
import { Evidence } from "./evidence.js";
import { History } from "./history.js";
import { holdItem } from "./outbox.js";
import { Questions } from "./questions.js";
import { Saver } from "./saver.js";
import { browserStore, post } from "./server.js";
import { signInHere } from "./sign_in.js";
import { SpanEditor } from "./spans.js";
import { startState } from "./state.js";

const TEXT_REST_MS = 1000;

export class Item {
  #form;
  #goTo; // (address, words, page) shows the next item; the page may be null
  #ahead;
  #number;
  #life = new AbortController(); // ends the listeners
  #clock = new Clock(this.#life.signal);
  #show;
  #saver;
  #questions = null; // none where nothing can be answered
  #viewer; // null without a slide
  #regions = null; // none without a slide
  #spans = null; // none without a report
  #corrections = null; // none where nothing can be corrected
  #evidence;
  #history; // of drafts, for undo
  #conflict = null; // what another window saved
  #isLeaving = false;

  constructor(form, viewer, goTo) {
    this.#form = form;
    this.#viewer = viewer;
    this.#goTo = goTo;
    this.#number = document.querySelector("[data-number]").dataset.number;
    form.dataset.live = "";
    holdItem(form.dataset.work, this.#life.signal);
    this.#startSaving(JSON.parse(form.dataset.stored));
    if (!("readOnly" in form.dataset)) {
      this.#questions = new Questions(form, () => this.#changed(0), this.#life.signal);
    }
    const regions = form.querySelector("[data-regions]");
    if (regions && viewer) this.#regions = new RegionEditor(regions, viewer, () => this.#changed(0));
    const spans = form.querySelector("[data-spans]");
    const report = document.querySelector("[data-report]");
    if (spans) this.#spans = new SpanEditor(spans, report, () => this.#changed(0), this.#life.signal);
    const corrections = form.querySelector("[data-corrections]");
    if (corrections) this.#corrections = new Corrections(corrections, this.#life.signal);
    this.#evidence = new Evidence(this.#spans, this.#regions, viewer);
    this.#history = new History(readForm(form));
    this.#listen();
    this.#restore();
    this.#offer();
    this.#ahead = new Ahead(form.dataset.ahead, viewer, this.#life.signal);
  }

  // --- For the page --------------------------------------------------------------------

  submit() {
    if (!this.#questions || this.#questions.showGap()) return;
    this.#leave({ do: "submit" }, `Item ${this.#number} submitted.`);
  }

  flush() {
    return this.#saver.flush();
  }

  currentQuestion() {
    return this.#form.querySelector("[data-question][aria-current]")?.dataset.question;
  }

  showEvidence() {
    this.#evidence.next();
  }

  /** One step back: out of a text, which closes, or to the view before the evidence. False where
      there is nothing to go back from. */
  stepBack() {
    const text = document.activeElement.closest("[data-comment], [data-correct]");
    if (!text) return this.#evidence.back();
    if (text.matches("[data-correct]")) text.open = false;
    const question = this.#form.querySelector("[data-question][aria-current] input");
    (question ?? this.#form.querySelector(".submit"))?.focus();
    return true;
  }

  dispose() {
    this.#regions?.dispose();
    this.#spans?.dispose();
    this.#saver.dispose();
    this.#life.abort();
  }

  // --- Saving --------------------------------------------------------------------------

  #startSaving(stored) {
    const now = () => this.#saver.flush();
    const compare = () => this.#compare();
    const signIn = () => signInHere(this.#form.dataset.signIn, now);
    this.#show = startState(this.#form.querySelector("[data-save-state]"), { now, compare, signIn });
    const parts = {
      keep: browserStore(this.#form.dataset.work, this.#form.querySelector("h1").textContent),
      show: this.#show,
      send: (draft) => post(this.#form, draft, { do: "save", ...this.#time() }),
      conflict: (theirs) => (this.#conflict = theirs),
    };
    this.#saver = new Saver(parts, stored);
    if (stored.version) this.#show("saved", { at: stored.saved_at });
  }

  #time() {
    return { visit: this.#clock.visit, active_s: this.#clock.seconds() };
  }

  #restore() {
    const kept = this.#saver.restore();
    if (!kept) return;
    this.#write(kept);
    this.#history.change(readForm(this.#form));
  }

  #write(draft) {
    writeForm(this.#form, draft);
    this.#regions?.refresh();
    this.#spans?.refresh();
    this.#corrections?.refresh();
    this.#questions?.moveOn();
  }

  /** `field`: the text that is being typed, if it is one. */
  #changed(restMs, field = null) {
    const draft = readForm(this.#form);
    if (!isSame(draft, this.#history.now)) this.#history.change(draft, field);
    this.#saver.change(draft, restMs);
    this.#offer();
  }

  #step(way) {
    const before = this.#history.now;
    this.#history[way]();
    const draft = this.#history.now;
    const fields = differences(before, draft).map((field) => titleOf(this.#form, field));
    this.#write(draft);
    this.#saver.change(draft, 0);
    this.#offer();
    announce(`${way === "undo" ? "Undone" : "Done again"}: ${fields.join(", ")}.`);
  }

  /** Only what does something now can be pressed. */
  #offer() {
    const [undo, redo] = ["work.undo", "work.redo"].map((id) => this.#form.querySelector(`[data-command="${id}"]`));
    if (undo) undo.disabled = !this.#history.canUndo;
    if (redo) redo.disabled = !this.#history.canRedo;
    this.#form.querySelector("[data-evidence]").hidden = !this.#evidence.count;
  }

  #compare() {
    const theirs = this.#conflict;
    startCompare(this.#form, readForm(this.#form), theirs, (taken) => {
      // Mine is what the form holds by now: one may go on writing while comparing.
      const draft = taken.reduce((each, field) => withField(each, theirs, field), readForm(this.#form));
      this.#write(draft);
      this.#history.change(draft);
      this.#offer();
      this.#saver.resolve(draft, theirs);
    });
  }

  // --- The end of the item ---------------------------------------------------------------

  async #leave(action, words) {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    if (await this.#saver.flush()) await this.#act(action, words);
    else this.#form.querySelector("[data-save-state] :is(button, a)")?.focus(); // what to do first
    this.#isLeaving = false;
  }

  async #act(action, words) {
    const draft = readForm(this.#form);
    const seen = { missing_tiles: this.#viewer?.lostTiles ?? 0 }; // a verdict over holes says so
    let answer;
    try {
      answer = await post(this.#form, { ...draft, version: this.#saver.version }, { ...action, ...seen, ...this.#time() });
    } catch {
      return this.#show("unsent");
    }
    if (answer.status !== 200) return this.#refused(answer);
    this.#saver.settle(draft, answer.body.version);
    const { next } = answer.body;
    await this.#goTo(next, words, action.do === "submit" ? this.#ahead.take(next) : null); // it counts this one as done
  }

  #refused({ status, body }) {
    const gap = body?.problems?.[0];
    if (gap) this.#questions.showError(gap.field, gap.message);
    else if (body?.code === "stale") this.#saver.stop(body.stored);
    else if (status === 401) this.#show("signed-out");
    else this.#show("refused", { message: body?.message ?? `the server answered ${status}.` });
  }

  // --- Listening -------------------------------------------------------------------------

  #listen() {
    const { signal } = this.#life;
    this.#form.addEventListener("submit", (event) => this.#pressed(event), { signal });
    addEventListener("online", () => this.#saver.flush(), { signal });
    const skipMenu = this.#form.querySelector(".skip-menu");
    skipMenu?.addEventListener("toggle", () => skipMenu.open && skipMenu.querySelector("button").focus(), { signal });
    this.#form.elements.flagged.addEventListener("change", () => this.#changed(0), { signal });
    const comment = this.#form.querySelector("[data-comment]");
    this.#form.addEventListener("input", ({ target }) => {
      if (target.matches("textarea, [data-note] input")) this.#changed(TEXT_REST_MS, target.name);
    }, { signal });
    this.#form.addEventListener("click", ({ target }) => {
      const way = { "work.undo": "undo", "work.redo": "redo" }[target.closest("button")?.dataset.command];
      if (way) this.#step(way);
    }, { signal });
    comment.addEventListener("toggle", () => {
      if (comment.open && document.activeElement?.closest("summary")) this.#form.elements.comment.focus();
    }, { signal });
    // At once, not on "toggle": the next key may come before it.
    const correct = this.#form.querySelector("[data-correct]");
    const opened = {
      "work.comment": [comment, "textarea"],
      "work.correct": [correct, "textarea"],
      "item.next": [skipMenu, "button"],
    };
    document.addEventListener("command", (event) => {
      const [details, control] = opened[event.detail.id] ?? [];
      if (!details) return;
      event.preventDefault();
      details.open = true;
      details.querySelector(control).focus();
    }, { signal });
  }

  #pressed(event) {
    event.preventDefault();
    const { name, value } = event.submitter ?? {};
    if (name === "skip") this.#leave({ skip: value }, `Item ${this.#number} skipped.`);
    else if (value === "submit") this.submit();
    else this.#saver.flush();
  }
}
