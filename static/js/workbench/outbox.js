// Drafts of items that are not open now, which this browser kept and the server does not have: answered
// without a network, or signed out, and then left.
import { draftOf } from "./draft.js";
import { browserStore, keptInBrowser, post } from "./server.js";

const lockOf = (assignment) => `medbench.item.${assignment}`;

/** Tell other windows that this one has the item open, and sends it, until `signal` aborts. */
export function holdItem(assignment, signal) {
  const open = () => new Promise((resolve) => signal.addEventListener("abort", resolve));
  navigator.locks?.request(lockOf(assignment), { mode: "shared" }, open);
}

/** The assignments with something that was not sent, but for those that a window has open. */
export async function notSent() {
  const { held } = (await navigator.locks?.query()) ?? { held: [] };
  const open = new Set(held.map(({ name }) => name));
  return keptInBrowser().filter((each) => !open.has(lockOf(each)));
}

/** Send what was not sent, each once; what cannot be sent stays. Answers how many were. */
export async function sendKept() {
  let sent = 0;
  for (const assignment of await notSent()) {
    if (await sendOne(assignment).catch(() => false)) sent++;
  }
  return sent;
}

async function sendOne(assignment) {
  const store = browserStore(assignment);
  const page = await fetch(`/annotate/${assignment}/`);
  const form = new DOMParser().parseFromString(await page.text(), "text/html").querySelector("[data-work]");
  const kept = store.read();
  if (!form || !kept) return false; // somebody else's, or sent meanwhile
  const answer = await post(form, { ...draftOf(kept), version: kept.version }, { do: "save" });
  if (answer.status === 200) store.clear();
  return answer.status === 200;
}
