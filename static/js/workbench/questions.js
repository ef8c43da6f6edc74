// The questions of an item: exactly one is current, only it has keys, an answer moves on.
import { isNarrow, showTab } from "../panes.js";

const LETTERS = { y: "work.yes", n: "work.no", u: "work.cannot", a: "work.a", b: "work.b", c: "work.c" };

export class Questions {
  #form;
  #all;
  #changed;
  #isByArrow = false; // native radios answer while one only moves through them
  #chosenBefore = null; // the radio that was chosen already when the pointer came down on it

  constructor(form, changed, signal) {
    this.#form = form;
    this.#changed = changed;
    this.#all = [...form.querySelectorAll("[data-question]")];
    form.addEventListener("change", ({ target }) => target.type === "radio" && this.#answered(target), { signal });
    form.addEventListener("focusin", (event) => this.#focused(event.target), { signal });
    form.addEventListener("keydown", (event) => (this.#isByArrow = event.key.startsWith("Arrow")), { signal });
    form.addEventListener("pointerdown", (event) => this.#pressed(event), { signal });
    form.addEventListener("click", (event) => this.#clicked(event.target), { signal });
    document.addEventListener("command", (event) => this.#command(event), { signal });
    this.moveOn();
  }

  /** Make the first unanswered question current; without one, Submit gets the accent. */
  moveOn() {
    this.#makeCurrent(this.#all.find((each) => !answerOf(each)) ?? null);
  }

  /** Show what is missing at the first required question without an answer. True where one is. */
  showGap() {
    const gap = this.#all.find((each) => "required" in each.dataset && !answerOf(each));
    if (!gap) return false;
    const title = gap.querySelector("legend").lastChild.textContent.trim();
    this.showError(gap.dataset.question, `“${title}” has no answer yet.`);
    return true;
  }

  /** Put the words at a question and go there. */
  showError(key, words) {
    const question = this.#all.find((each) => each.dataset.question === key);
    const error = question.querySelector("[data-error]");
    error.textContent = words;
    error.hidden = false;
    question.classList.add("has-error");
    this.#goTo(question);
  }

  #goTo(question) {
    if (isNarrow()) showTab(document.querySelector("[data-panes]"), "triplets");
    this.#makeCurrent(question);
    const note = question.querySelector("[data-note]:not([hidden]) input");
    const wanted = note && !note.value && question.classList.contains("has-error") ? note : answerOf(question);
    (wanted ?? question.querySelector("input")).focus();
  }

  #makeCurrent(question) {
    for (const each of this.#all) {
      showNote(each);
      if (each === question) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
      giveKeys(each, each === question);
    }
    const chosen = question && answerOf(question)?.closest(".option").dataset.anchor; // of a score: its tier
    const help = chosen || (question?.querySelector(".question-help").textContent ?? "Every question has an answer.");
    this.#form.querySelector("[data-help-line]").textContent = help;
    const isComplete = this.#all.every((each) => answerOf(each) || !("required" in each.dataset));
    this.#form.querySelector(".submit")?.classList.toggle("button-primary", isComplete);
  }

  #answered(radio) {
    const question = radio.closest("[data-question]");
    if (!question) return;
    clearError(question);
    this.#changed();
    if (this.#isByArrow) this.#makeCurrent(question);
    else this.#advance(question);
  }

  /** After an answer: the next open question, and the focus with it where it was among questions. */
  #advance(question) {
    this.moveOn();
    if (!question.contains(document.activeElement)) return;
    const next = this.#all.find((each) => each.hasAttribute("aria-current"));
    const target = next ? next.querySelector("input") : this.#form.querySelector(".submit");
    target?.focus({ preventScroll: !next });
  }

  #focused(element) {
    const question = element.closest("[data-question]");
    if (question) this.#makeCurrent(question);
  }

  #pressed(event) {
    this.#isByArrow = false;
    const radio = event.target.closest(".option")?.querySelector("input");
    this.#chosenBefore = radio?.checked ? radio : null;
  }

  /** A click on the chosen option takes the answer back, as its key does. */
  #clicked(radio) {
    if (radio === this.#chosenBefore) this.#clear(radio);
    if (radio.matches("input")) this.#chosenBefore = null;
  }

  #clear(radio) {
    radio.checked = false;
    this.#changed();
    this.#makeCurrent(radio.closest("[data-question]"));
  }

  #command(event) {
    const { id } = event.detail;
    const step = { "list.next": 1, "list.previous": -1 }[id];
    if (step) {
      event.preventDefault();
      this.#step(step);
    } else if (id.startsWith("work.option-") || Object.values(LETTERS).includes(id)) {
      event.preventDefault();
      this.#press(this.#form.querySelector(`[data-command="${id}"]`));
    }
  }

  #press(element) {
    const radio = element.querySelector("input") ?? element;
    this.#isByArrow = false;
    if (radio.checked) return this.#clear(radio);
    radio.checked = true;
    this.#answered(radio);
  }

  #step(step) {
    const at = this.#all.findIndex((each) => each.hasAttribute("aria-current"));
    const next = this.#all[at < 0 ? (step > 0 ? 0 : this.#all.length - 1) : at + step];
    if (next) this.#goTo(next);
  }
}

function answerOf(question) {
  return question.querySelector("input:checked");
}

/** The line for words is there while the chosen answer asks for them. */
function showNote(question) {
  const note = question.querySelector("[data-note]");
  if (!note) return;
  const asks = answerOf(question)?.closest(".option").dataset.asks;
  note.hidden = !asks;
  if (asks) note.querySelector("[data-note-words]").textContent = asks;
}

function clearError(question) {
  const error = question.querySelector("[data-error]");
  error.hidden = true;
  error.textContent = "";
  question.classList.remove("has-error");
}

/** Only the options of the current question can be pressed by key. */
function giveKeys(question, isCurrent) {
  question.querySelectorAll(".option").forEach((option, index) => {
    const letter = LETTERS[option.dataset.key];
    setCommand(option, isCurrent && letter);
    setCommand(option.querySelector("input"), isCurrent && `work.option-${index + 1}`);
  });
}

function setCommand(element, id) {
  if (id) element.dataset.command = id;
  else delete element.dataset.command;
}
