// A draft is what the form of an item holds: { answers: {question: option}, comment, regions }.
// Pure functions; the form itself is read and written by readForm and writeForm.
const ANSWER = "answer-";
const OTHERS = ["comment", "regions"]; // fields that are no questions

/** The draft in what the server stores or the browser kept. */
export function draftOf({ answers, comment, regions = [] }) {
  return { answers, comment, regions };
}

export function readForm(form) {
  const answers = {};
  for (const [name, value] of new FormData(form)) {
    if (name.startsWith(ANSWER)) answers[name.slice(ANSWER.length)] = value;
  }
  const { comment, regions } = form.elements;
  return { answers, comment: comment.value.replaceAll("\r\n", "\n"), regions: JSON.parse(regions.value) };
}

export function writeForm(form, draft) {
  for (const radio of form.querySelectorAll(`input[type=radio][name^="${ANSWER}"]`)) {
    radio.checked = draft.answers[radio.name.slice(ANSWER.length)] === radio.value;
  }
  form.elements.comment.value = draft.comment;
  form.elements.regions.value = JSON.stringify(draft.regions);
}

/** What differs: names of questions, and of OTHERS. */
export function differences(one, other) {
  const questions = new Set([...Object.keys(one.answers), ...Object.keys(other.answers)]);
  const different = [...questions].filter((each) => one.answers[each] !== other.answers[each]);
  return [...different, ...OTHERS.filter((field) => JSON.stringify(one[field]) !== JSON.stringify(other[field]))];
}

export function isSame(one, other) {
  return differences(one, other).length === 0;
}

/** The draft with one field as the other has it. */
export function withField(draft, other, field) {
  if (OTHERS.includes(field)) return { ...draft, [field]: other[field] };
  const answers = { ...draft.answers };
  if (field in other.answers) answers[field] = other.answers[field];
  else delete answers[field];
  return { ...draft, answers };
}
