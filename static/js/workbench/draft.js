// A draft is what the form of an item holds: { answers: {question: option}, notes: {question: words},
// comment, flagged, regions, spans, corrections: {text: words} }.
// Pure functions; the form itself is read and written by readForm and writeForm.
import { isCorrection } from "./corrections.js";

const ANSWER = "answer-";
const NOTE = "note-";
const CORRECT = "correct-";
const OTHERS = ["notes", "comment", "flagged", "regions", "spans", "corrections"]; // fields that are no questions

/** The draft in what the server stores or the browser kept. */
export function draftOf({ answers, notes = {}, comment, flagged = false, regions = [], spans = [], corrections = {} }) {
  return { answers, notes, comment, flagged, regions, spans, corrections };
}

export function readForm(form) {
  const answers = {};
  const notes = {};
  for (const [name, value] of new FormData(form)) {
    if (name.startsWith(ANSWER)) answers[name.slice(ANSWER.length)] = value;
    if (name.startsWith(NOTE) && value.trim()) notes[name.slice(NOTE.length)] = value.trim();
  }
  const { comment, flagged, regions, spans } = form.elements;
  return {
    answers,
    notes,
    comment: comment.value.replaceAll("\r\n", "\n"),
    flagged: flagged.checked,
    regions: JSON.parse(regions.value),
    spans: JSON.parse(spans.value),
    corrections: Object.fromEntries(
      [...form.querySelectorAll(`textarea[name^="${CORRECT}"]`)]
        .filter((each) => isCorrection(each.value, each.dataset.original))
        .map((each) => [each.name.slice(CORRECT.length), each.value.trim()]),
    ),
  };
}

export function writeForm(form, draft) {
  for (const radio of form.querySelectorAll(`input[type=radio][name^="${ANSWER}"]`)) {
    radio.checked = draft.answers[radio.name.slice(ANSWER.length)] === radio.value;
  }
  for (const note of form.querySelectorAll(`input[name^="${NOTE}"]`)) note.value = draft.notes[note.name.slice(NOTE.length)] ?? "";
  for (const text of form.querySelectorAll(`textarea[name^="${CORRECT}"]`)) {
    const words = draft.corrections[text.name.slice(CORRECT.length)] ?? text.dataset.original;
    if (text.value.trim() !== words.trim()) text.value = words;
  }
  form.elements.comment.value = draft.comment;
  form.elements.flagged.checked = draft.flagged;
  form.elements.regions.value = JSON.stringify(draft.regions);
  form.elements.spans.value = JSON.stringify(draft.spans);
}

/** What differs: names of questions, and of OTHERS. */
export function differences(one, other) {
  const questions = new Set([...Object.keys(one.answers), ...Object.keys(other.answers)]);
  const different = [...questions].filter((each) => one.answers[each] !== other.answers[each]);
  return [...different, ...OTHERS.filter((field) => text(one, field) !== text(other, field))];
}

/** The same text for the same content: a database keeps no order of names. */
function text(draft, field) {
  const value = draftOf(draft)[field];
  return JSON.stringify(["notes", "corrections"].includes(field) ? Object.entries(value).sort() : value);
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
