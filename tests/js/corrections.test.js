import assert from "node:assert/strict";
import test from "node:test";

import { isCorrection, tracked } from "../../static/js/workbench/corrections.js";
import { History } from "../../static/js/workbench/history.js";

const without = (kind, pieces) => pieces.filter(([each]) => each !== kind).map(([, text]) => text).join("");

test("both texts can be read out of tracked changes", () => {
  const pairs = [
    ["All 30 nodes are free.", "All 31 nodes are free of tumour."],
    ["", "something"],
    ["gone", ""],
    ["  white \n space ", "white space"],
    ["e\u0301tat 🔬 ממאיר", "état 🔬🔬 ממאיר"],
    ["a b ".repeat(50), "b a ".repeat(50)],
  ];
  for (const [old, now] of pairs) {
    const pieces = tracked(old, now);
    assert.equal(without("ins", pieces), old);
    assert.equal(without("del", pieces), now);
  }
});

test("whole words are exchanged, the removed one first", () => {
  assert.deepEqual(tracked("All 30 nodes", "All 31 nodes"), [["same", "All "], ["del", "30"], ["ins", "31"], ["same", " nodes"]]);
});

test("what stands, or nothing at all, is no correction", () => {
  assert.equal(isCorrection("same", "same "), false);
  assert.equal(isCorrection("  ", "same"), false);
  assert.equal(isCorrection("other", "same"), true);
});

test("what is typed into one field in one go is one step back", () => {
  const history = new History("");
  history.change("a", "comment");
  history.change("ab", "comment");
  history.change("abc", "note");
  history.undo();
  assert.equal(history.now, "ab");
  history.undo();
  assert.equal(history.now, "");
});
