// Passages of a text: whole words, sentences, offsets in code points. Pure functions.

/** A passage trimmed and widened to whole words, as { start, end, quote }, or null where it is blank. */
export function snapped(text, from, to) {
  const isWord = (at) => /[\p{L}\p{N}\p{M}\u00AD'’-]/u.test(characterAt(text, at));
  while (from < to && /\s/.test(text[from])) from++;
  while (to > from && /\s/.test(text[to - 1])) to--;
  if (from === to) return null;
  while (from > 0 && isWord(from) && isWord(from - 1)) from--;
  while (to < text.length && isWord(to - 1) && isWord(to)) to++;
  const start = codePoints(text.slice(0, from));
  const quote = text.slice(from, to);
  return { start, end: start + codePoints(quote), quote };
}

/** The character of which `at` is a part: half of an emoji is the emoji. */
function characterAt(text, at) {
  const isSecondHalf = /[\uDC00-\uDFFF]/.test(text[at]) && at > 0;
  return String.fromCodePoint(text.codePointAt(isSecondHalf ? at - 1 : at));
}

function codePoints(text) {
  return [...text].length;
}

/** The sentences of a text as [from, to] without the white space around them. */
export function sentencesOf(text) {
  const pieces = [];
  for (const { segment, index } of new Intl.Segmenter("en", { granularity: "sentence" }).segment(text)) {
    for (const line of segment.matchAll(/[^\n]+/g)) {
      const words = line[0].trim();
      if (words) pieces.push([index + line.index + line[0].indexOf(words), index + line.index + line[0].indexOf(words) + words.length]);
    }
  }
  return pieces;
}

/** The words of a text as [from, to], with what is written to them. */
export function wordsOf(text) {
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => [index, index + word.length]);
}

/** Where a cursor { kind, from, to } goes, `step` pieces on: of another kind than it was, it first
    takes the piece at its beginning; one that extends moves its end alone. */
export function stepped(cursor, pieces, { kind, step, extends: isExtending }) {
  const clamp = (index) => pieces[Math.min(Math.max(index, 0), pieces.length - 1)];
  if (isExtending) {
    const last = pieces.findLastIndex(([from]) => from < cursor.to);
    const [, end] = clamp(last + step);
    return { kind, from: cursor.from, to: end > cursor.from ? end : cursor.to };
  }
  const at = pieces.findLastIndex(([from]) => from <= cursor.from);
  const [from, to] = clamp(at + (kind === cursor.kind ? step : 0));
  return { kind, from, to };
}
