// The save state beside Submit, always in words.
import { announce } from "../frame.js";

const QUIET_MS = 250; // a save that is quicker is not worth a flicker
const SHAPES = { ok: "✓", warn: "!", bad: "✕", run: "◐", idle: "○" };

const WORDS = {
  saving: () => ["run", "Saving…"],
  saved: ({ at }) => (at ? ["ok", `Saved ${clock(at)}`] : ["idle", "Not answered"]),
  offline: ({ changes }) => ["warn", `Offline: ${changes} ${changes === 1 ? "change" : "changes"} kept on this computer`],
  failed: ({ status, delayMs }) => ["warn", `Not saved: the server answered ${status}. Trying again in ${Math.round(delayMs / 1000)} s`],
  "signed-out": () => ["warn", "Signed out. Your answers are kept here."],
  "not-yours": () => ["warn", "Signed in under another name. Your answers are kept here."],
  unsent: () => ["warn", "No connection: not submitted. Your answers are kept."],
  refused: ({ message }) => ["bad", `Not saved: ${message}`],
  conflict: () => ["warn", "Changed in another window"],
};

function clock(moment) {
  return new Date(moment).toLocaleTimeString("en-GB");
}

function button(words, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: words });
  made.addEventListener("click", act);
  return made;
}

/** Answers show(state, more) for the element. `now` tries to save, `compare` opens the
    comparison, `signIn` the sign-in form. */
export function startState(element, { now, compare, signIn }) {
  let shown = "";
  let timer = 0;

  function draw(state, more) {
    const [kind, words] = WORDS[state](more);
    const shape = Object.assign(document.createElement("span"), { className: "status-shape", textContent: SHAPES[kind], ariaHidden: "true" });
    const status = Object.assign(document.createElement("span"), { className: `status status-${kind}` });
    status.append(shape, ` ${words}`);
    element.replaceChildren(status);
    if (state === "failed") element.append(" ", button("Now", now));
    if (state === "conflict") element.append(" ", button("Compare", compare));
    if (state === "signed-out" || state === "not-yours") element.append(" ", button("Sign in", signIn));
    // Each change of kind is said once; plain saves are not.
    const isPlain = state === "saving" || (state === "saved" && ["", "saving", "saved"].includes(shown));
    if (!isPlain && state !== shown) announce(words);
    if (state !== "saving") shown = state;
  }

  return function show(state, more = {}) {
    clearTimeout(timer);
    element.dataset.state = state;
    if (state === "saving" && shown !== "offline") timer = setTimeout(() => draw(state, more), QUIET_MS);
    else if (state !== "saving") draw(state, more);
  };
}
