import assert from "node:assert/strict";
import { test } from "node:test";

import { destination } from "../../static/js/pair_grid.js";

const size = { rows: 12, columns: 4 };
const from = (row, column) => ({ row, column });

test("arrows move one cell and stop at the borders", () => {
  assert.deepEqual(destination("ArrowRight", false, from(0, 0), size), from(0, 1));
  assert.deepEqual(destination("ArrowRight", false, from(0, 3), size), from(0, 3));
  assert.deepEqual(destination("ArrowUp", false, from(0, 2), size), from(0, 2));
  assert.deepEqual(destination("ArrowDown", false, from(11, 2), size), from(11, 2));
});

test("Home and End go to the ends of the row, with Ctrl to the corners", () => {
  assert.deepEqual(destination("Home", false, from(5, 2), size), from(5, 0));
  assert.deepEqual(destination("End", false, from(5, 2), size), from(5, 3));
  assert.deepEqual(destination("Home", true, from(5, 2), size), from(0, 0));
  assert.deepEqual(destination("End", true, from(5, 2), size), from(11, 3));
});

test("PageUp and PageDown move five rows", () => {
  assert.deepEqual(destination("PageDown", false, from(2, 1), size), from(7, 1));
  assert.deepEqual(destination("PageUp", false, from(2, 1), size), from(0, 1));
});

test("other keys are left to the page and the browser", () => {
  assert.equal(destination("j", false, from(0, 0), size), null);
  assert.equal(destination("ArrowRight", true, from(0, 0), size), null);
});
