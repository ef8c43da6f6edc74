// One item in hand: its questions, its saving, its end.
import { startCompare } from "./compare.js";
import { readForm, writeForm } from "./draft.js";
import { Questions } from "./questions.js";
import { Saver } from "./saver.js";
import { startState } from "./state.js";

const TEXT_REST_MS = 1000;

export function startItem(form, goTo) {
  const life = new AbortController();
  const { signal } = life;
  const stored = JSON.parse(form.dataset.stored);
  const isReadOnly = "readOnly" in form.dataset;
  const number = document.querySelector("[data-number]").dataset.number;
  let conflict = null; // what another window saved
  let isLeaving = false;

  form.dataset.live = "";
  const acts = { now: () => saver.flush(), compare, signIn: form.dataset.signIn };
  const show = startState(form.querySelector("[data-save-state]"), acts);
  const parts = {
    keep: browserStore(form.dataset.work),
    show,
    send: (draft) => post(form, draft, { do: "save" }),
    conflict: (theirs) => (conflict = theirs),
  };
  const saver = new Saver(parts, stored);

  function compare() {
    startCompare(form, readForm(form), conflict, (draft) => {
      writeForm(form, draft);
      saver.resolve(draft, conflict);
      questions?.moveOn();
    });
  }

  async function leave(action, sent) {
    if (isLeaving) return;
    isLeaving = true;
    if (await saver.flush()) await act(action, sent);
    else form.querySelector("[data-save-state]").querySelector("button, a")?.focus(); // what to do first
    isLeaving = false;
  }

  async function act(action, sent) {
    const draft = readForm(form);
    let answer;
    try {
      answer = await post(form, { ...draft, version: saver.version }, action);
    } catch {
      return show("unsent");
    }
    const { status, body } = answer;
    if (status === 200) {
      saver.settle(draft, body.version);
      await goTo(body.next, sent);
    } else if (body?.problems?.length) {
      questions.showError(body.problems[0].field, body.problems[0].message);
    } else if (body?.code === "stale") saver.stop(body.stored);
    else if (status === 401) show("signed-out");
    else show("refused", { message: body?.message ?? `the server answered ${status}.` });
  }

  function submit() {
    if (!isReadOnly && !questions.showGap()) leave({ do: "submit" }, `Item ${number} submitted.`);
  }

  const questions = isReadOnly ? null : new Questions(form, () => saver.change(readForm(form), 0), signal);
  const comment = form.querySelector("[data-comment]");
  comment.addEventListener("input", () => saver.change(readForm(form), TEXT_REST_MS), { signal });
  comment.addEventListener("toggle", () => comment.open && comment.matches(":has(summary:focus)") && form.elements.comment.focus(), { signal });
  document.addEventListener("command", (event) => {
    if (event.detail.id !== "work.comment") return;
    event.preventDefault();
    comment.open = true;
    form.elements.comment.focus();
  }, { signal });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { name, value } = event.submitter ?? {};
    if (name === "skip") leave({ skip: value }, `Item ${number} skipped.`);
    else if (value === "submit") submit();
    else saver.flush();
  }, { signal });
  addEventListener("online", () => saver.flush(), { signal });

  const skipMenu = form.querySelector(".skip-menu");
  skipMenu?.addEventListener("toggle", () => skipMenu.open && skipMenu.querySelector("button").focus(), { signal });

  if (stored.version) show("saved", { at: stored.saved_at });
  const kept = saver.restore();
  if (kept) {
    writeForm(form, kept);
    questions?.moveOn();
  }

  return {
    submit,
    flush: () => saver.flush(),
    currentQuestion: () => form.querySelector("[data-question][aria-current]")?.dataset.question,
    /** Out of the comment, back to the questions. False where one was not in it. */
    leaveComment() {
      if (document.activeElement !== form.elements.comment) return false;
      (form.querySelector("[data-question][aria-current] input") ?? form.querySelector(".submit"))?.focus();
      return true;
    },
    dispose() {
      saver.dispose();
      life.abort();
    },
  };
}

/** Post the draft as the plain form would; `action` is what was pressed. */
async function post(form, { answers, comment, version }, action) {
  const data = new FormData();
  for (const [question, option] of Object.entries(answers)) data.set(`answer-${question}`, option);
  data.set("comment", comment);
  data.set("version", version);
  for (const [name, value] of Object.entries(action)) data.set(name, value);
  const token = /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? form.elements.csrfmiddlewaretoken.value;
  const headers = { Accept: "application/json", "X-CSRFToken": token };
  // keepalive: the last save is sent even while the page goes away.
  const response = await fetch(form.action, { method: "POST", body: data, headers, redirect: "manual", keepalive: true });
  if (response.type === "opaqueredirect") return { status: 401, body: null };
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  return { status: response.status, body: isJson ? await response.json() : null };
}

/** Where a draft waits in this browser until the server has it. */
function browserStore(assignment) {
  const key = `medbench.draft.${assignment}`;
  return {
    read() {
      try {
        return JSON.parse(localStorage.getItem(key));
      } catch {
        return null;
      }
    },
    write(draft) {
      try {
        localStorage.setItem(key, JSON.stringify(draft));
      } catch {
        // Full or forbidden: the draft is still in the form and is sent as soon as possible.
      }
    },
    clear() {
      try {
        localStorage.removeItem(key);
      } catch {
        // As above.
      }
    },
  };
}
