// Two windows changed one item: every field that differs, here and there, decided one by one.
import { differences } from "./draft.js";

const TITLES = { notes: "Notes", comment: "Comment", flagged: "Flag", regions: "Regions", spans: "Passages", corrections: "Corrected text" };

/** Show the comparison above the questions. `decide(fields)` is called once all fields are decided,
    with those that are taken from the other window. */
export function startCompare(form, mine, theirs, decide) {
  form.querySelector(".compare")?.remove();
  const fields = differences(mine, theirs);
  if (!fields.length) return decide([]);
  const box = Object.assign(document.createElement("section"), { className: "compare" });
  const heading = Object.assign(document.createElement("h2"), { textContent: "Changed in another window", tabIndex: -1 });
  const taken = [];
  box.append(heading);
  for (const field of fields) box.append(row(form, field, mine, theirs, choose));
  form.querySelector(".questions").before(box);
  heading.focus();

  function choose(fieldRow, field, isTheirs) {
    if (isTheirs) taken.push(field);
    fieldRow.remove();
    const next = box.querySelector("button");
    if (next) return next.focus();
    box.remove();
    decide(taken);
  }
}

function row(form, field, mine, theirs, choose) {
  const made = Object.assign(document.createElement("div"), { className: "compare-row" });
  const name = titleOf(form, field);
  made.append(
    Object.assign(document.createElement("h3"), { textContent: name }),
    facts([["Here", wordsOf(form, field, mine)], ["There", wordsOf(form, field, theirs)]]),
    button("Keep mine", name, () => choose(made, field, false)),
    button("Take theirs", name, () => choose(made, field, true)),
  );
  return made;
}

function facts(pairs) {
  const list = Object.assign(document.createElement("dl"), { className: "facts" });
  for (const [term, words] of pairs) {
    list.append(
      Object.assign(document.createElement("dt"), { textContent: term }),
      Object.assign(document.createElement("dd"), { className: "bidi", textContent: words }),
    );
  }
  return list;
}

function button(words, name, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: words });
  made.setAttribute("aria-label", `${words}: ${name}`);
  made.addEventListener("click", act);
  return made;
}

/** The name of a field of a draft, as the page has it. */
export function titleOf(form, field) {
  if (field in TITLES) return TITLES[field];
  return form.querySelector(`[data-question="${field}"] legend`).lastChild.textContent.trim();
}

function wordsOf(form, field, draft) {
  if (field === "comment") return draft.comment || "–";
  if (field === "notes") return Object.values(draft.notes).join(" · ") || "–";
  if (field === "flagged") return draft.flagged ? "Flagged" : "Not flagged";
  if (field === "regions") return `${draft.regions.length} on the slide`;
  if (field === "spans") return draft.spans.map(({ quote }) => `“${quote}”`).join(" ") || "–";
  if (field === "corrections") return Object.entries(draft.corrections).map(([name, words]) => `${name}: ${words}`).join(" · ") || "–";
  const value = draft.answers[field];
  if (!value) return "Blank";
  return form.querySelector(`[data-question="${field}"] input[value="${CSS.escape(value)}"]`).closest(".option").dataset.label;
}
