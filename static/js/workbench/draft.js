// A draft is what the form of an item holds: { answers: {question: option}, comment }.
// Pure functions; the form itself is read and written by readForm and writeForm.
const ANSWER = "answer-";

export function readForm(form) {
  const answers = {};
  let comment = "";
  for (const [name, value] of new FormData(form)) {
    if (name.startsWith(ANSWER)) answers[name.slice(ANSWER.length)] = value;
    else if (name === "comment") comment = value.replaceAll("\r\n", "\n");
  }
  return { answers, comment };
}

export function writeForm(form, draft) {
  for (const radio of form.querySelectorAll(`input[type=radio][name^="${ANSWER}"]`)) {
    radio.checked = draft.answers[radio.name.slice(ANSWER.length)] === radio.value;
  }
  form.elements.comment.value = draft.comment;
}

/** What differs: names of questions, and "comment". */
export function differences(one, other) {
  const questions = new Set([...Object.keys(one.answers), ...Object.keys(other.answers)]);
  const different = [...questions].filter((each) => one.answers[each] !== other.answers[each]);
  if (one.comment !== other.comment) different.push("comment");
  return different;
}

export function isSame(one, other) {
  return differences(one, other).length === 0;
}

/** The draft with one field (a question, or "comment") as the other has it. */
export function withField(draft, other, field) {
  if (field === "comment") return { ...draft, comment: other.comment };
  const answers = { ...draft.answers };
  if (field in other.answers) answers[field] = other.answers[field];
  else delete answers[field];
  return { ...draft, answers };
}
