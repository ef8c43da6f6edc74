import assert from "node:assert/strict";
import { test } from "node:test";

import { sentencesOf, snapped, stepped, wordsOf } from "../../static/js/workbench/passages.js";

const find = (text, words) => [text.indexOf(words), text.indexOf(words) + words.length];

test("a passage is trimmed and widened to whole words", () => {
  const text = "Margins are negative. Nodes: 0/30.";
  assert.deepEqual(snapped(text, ...find(text, "gins are neg")), { start: 0, end: 20, quote: "Margins are negative" });
  assert.deepEqual(snapped(text, ...find(text, " negative ".trimEnd())), { start: 12, end: 20, quote: "negative" });
});

test("offsets count code points, so an emoji is one", () => {
  const text = "🔬🔬 Tumour size: 6 cm";
  assert.deepEqual(snapped(text, ...find(text, "Tumour size")), { start: 3, end: 14, quote: "Tumour size" });
  assert.deepEqual(snapped(text, ...find(text, "🔬 Tumour")), { start: 1, end: 9, quote: "🔬 Tumour" });
});

test("combining marks, soft hyphens and right-to-left words stay whole", () => {
  const marks = "naïve e\u0301tat malade";
  assert.equal(snapped(marks, ...find(marks, "e\u0301t")).quote, "e\u0301tat");
  const soft = "lympho\u00ADvascular invasion";
  assert.equal(snapped(soft, ...find(soft, "vasc")).quote, "lympho\u00ADvascular");
  const right = "before ורם ממאיר after";
  assert.deepEqual(snapped(right, ...find(right, "ממ")), { start: 11, end: 16, quote: "ממאיר" });
});

test("nothing but white space is no passage", () => {
  assert.equal(snapped("a \n b", 1, 4), null);
  assert.equal(snapped("ab", 1, 1), null);
});

test("a line of a report is a sentence of its own", () => {
  const text = "DIAGNOSIS\nTumour size: 6 cm. Margins are negative.\n\n  N0.";
  const sentences = sentencesOf(text).map(([from, to]) => text.slice(from, to));
  assert.deepEqual(sentences, ["DIAGNOSIS", "Tumour size: 6 cm.", "Margins are negative.", "N0."]);
});

test("a cursor goes by sentences and by words, extends at its end and stays in the text", () => {
  const text = "First here. Second one.\nThird.";
  const [sentences, words] = [sentencesOf(text), wordsOf(text)];
  const said = ({ from, to }) => text.slice(from, to);
  const go = (cursor, pieces, kind, step, isExtending = false) => stepped(cursor, pieces, { kind, step, extends: isExtending });
  const start = { kind: "Sentence", from: 0, to: 11 };
  const second = go(start, sentences, "Sentence", 1);
  assert.equal(said(second), "Second one.");
  const word = go(second, words, "Word", 1);
  assert.equal(said(word), "Second");
  assert.equal(said(go(word, words, "Word", 1)), "one.");
  assert.equal(said(go(word, words, "Word", 1, true)), "Second one.");
  assert.equal(said(go(word, words, "Word", -1, true)), "Second");
  assert.equal(said(go(start, sentences, "Sentence", -1)), "First here.");
  assert.equal(said(go(start, sentences, "Sentence", Infinity)), "Third.");
  assert.equal(said(go(start, sentences, "Sentence", Infinity, true)), text);
});
