// The two places where a draft goes: the server and this browser.

/** Post the draft as the plain form would; `action` is what was pressed. Answers { status, body },
    401 where the session has ended, and throws where there is no network. */
export async function post(form, { answers, notes, comment, flagged, regions, spans, corrections, version }, action) {
  const data = new FormData();
  for (const [question, option] of Object.entries(answers)) data.set(`answer-${question}`, option);
  for (const { name } of form.querySelectorAll('input[name^="note-"]')) data.set(name, notes[name.slice("note-".length)] ?? "");
  for (const { name, dataset } of form.querySelectorAll('textarea[name^="correct-"]')) {
    data.set(name, corrections[name.slice("correct-".length)] ?? dataset.original);
  }
  data.set("comment", comment);
  if (flagged) data.set("flagged", "yes");
  data.set("regions", JSON.stringify(regions));
  data.set("spans", JSON.stringify(spans));
  data.set("version", version);
  for (const [name, value] of Object.entries(action)) data.set(name, value);
  // keepalive: the last save is sent even while the page goes away.
  const options = { method: "POST", body: data, headers: headersFor(form), redirect: "manual", keepalive: true };
  const response = await fetch(form.action, options);
  if (response.type === "opaqueredirect") return { status: 401, body: null };
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  return { status: response.status, body: isJson ? await response.json() : null };
}

export function headersFor(form) {
  // The cookie, not the form's own token: signing in again in another tab changes it.
  const token = /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? form.elements.csrfmiddlewaretoken.value;
  return { Accept: "application/json", "X-CSRFToken": token };
}

const KEPT = "medbench.draft.";

/** Where a draft waits in this browser until the server has it, under the `title` of its item. A browser
    that keeps nothing (full, or forbidden) is no error: the draft is still in the form. */
export function browserStore(assignment, title) {
  const key = KEPT + assignment;
  return {
    read: () => attempt(() => JSON.parse(localStorage.getItem(key))),
    write: (draft) => attempt(() => localStorage.setItem(key, JSON.stringify({ ...draft, title, at: Date.now() }))),
    clear: () => attempt(() => localStorage.removeItem(key)),
  };
}

/** The assignments of which this browser keeps a draft. */
export function keptInBrowser() {
  const keys = attempt(() => Object.keys(localStorage)) ?? [];
  return keys.filter((each) => each.startsWith(KEPT)).map((each) => each.slice(KEPT.length));
}

function attempt(act) {
  try {
    return act();
  } catch {
    return null;
  }
}
