import assert from "node:assert/strict";
import { test } from "node:test";

import { boundsOf, crossesItself, dropped, faultOf, markWords, moved, regionWords, resized, tidied } from "../../static/js/regions/geometry.js";
import { History } from "../../static/js/workbench/history.js";
import { differences, draftOf, withField } from "../../static/js/workbench/draft.js";

const slide = { width: 4000, height: 3000, mpp: [0.5, 0.5], revision: 2 };
const view = { x: 1000, y: 800, width: 800, height: 400 };
const plain = (words) => words.replaceAll("\u202f", " ");

test("a region is dropped at the centre of the view, a quarter of it wide and high", () => {
  assert.deepEqual(dropped("point", view, slide), [[1400, 1000]]);
  assert.deepEqual(dropped("rectangle", view, slide), [[1300, 950], [1500, 1050]]);
  const outline = dropped("polygon", view, slide);
  assert.equal(faultOf({ kind: "polygon", points: outline }), "");
  assert.ok(boundsOf(outline).width <= 200 && boundsOf(outline).width > 180);
});

test("a region dropped at the edge stays on the slide", () => {
  assert.deepEqual(dropped("rectangle", { ...view, x: 3600, y: 2800 }, slide), [[3900, 2950], [4000, 3000]]);
});

test("a region moves as far as the slide goes, whole", () => {
  assert.deepEqual(moved([[10, 10], [50, 30]], [5, -4], slide), [[15, 6], [55, 26]]);
  assert.deepEqual(moved([[10, 10], [50, 30]], [-500, 9000], slide), [[0, 2980], [40, 3000]]);
});

test("a region grows around its centre and never vanishes", () => {
  assert.deepEqual(resized([[100, 100], [140, 120]], [8, 0], slide), [[96, 100], [144, 120]]);
  const [[x1, y1], [x2, y2]] = resized([[100, 100], [140, 120]], [-900, -900], slide);
  assert.ok(x2 > x1 && y2 > y1);
  assert.deepEqual(resized([[5, 5]], [8, 8], slide), [[5, 5]]);
});

test("a box is kept by its top left and bottom right corner, however it was dragged", () => {
  assert.deepEqual(tidied({ kind: "rectangle", points: [[50, 10], [10, 30]] }).points, [[10, 10], [50, 30]]);
});

test("an outline is kept without doubled corners", () => {
  const points = [[0, 0], [0, 0], [9, 0], [9, 9], [0, 0]];
  assert.deepEqual(tidied({ kind: "polygon", points }).points, [[0, 0], [9, 0], [9, 9]]);
});

test("what encloses nothing or crosses itself is not kept, and says why", () => {
  assert.match(faultOf({ kind: "rectangle", points: [[1, 1], [1, 9]] }), /encloses nothing/);
  assert.match(faultOf({ kind: "polygon", points: [[0, 0], [9, 9]] }), /three corners/);
  assert.match(faultOf({ kind: "polygon", points: [[0, 0], [5, 5], [9, 9]] }), /encloses nothing/);
  assert.match(faultOf({ kind: "polygon", points: [[0, 0], [9, 9], [9, 0], [0, 5]] }), /crosses itself/);
  assert.equal(crossesItself([[0, 0], [8, 0], [4, 4], [8, 8], [0, 8], [4, 4]]), false);
});

test("a region is told by kind, size and place", () => {
  assert.equal(plain(regionWords({ kind: "rectangle", points: [[1000, 1000], [3400, 2600]] }, slide)), "Box 1.2 × 0.80 mm at 1.10, 0.90 mm");
  assert.equal(plain(regionWords({ kind: "point", points: [[10, 20]] }, { ...slide, mpp: null })), "Point at 10, 20 px");
});

test("a region drawn beyond the pixels, over holes or on an earlier scan is marked", () => {
  const region = { revision: 2, zoom: 0.5, missing_tiles: 0 };
  assert.equal(markWords(region, slide), "");
  assert.equal(markWords({ ...region, zoom: null }, slide), "");
  assert.equal(markWords({ revision: 1, zoom: 2, missing_tiles: 1 }, slide), "on an earlier scan, digital zoom 2.0×, 1 tile missing");
});

test("undo goes back step by step, redo forward, and a change forgets what was undone", () => {
  const history = new History([]);
  history.change(["a"]);
  history.change(["a", "b"]);
  history.undo();
  assert.deepEqual(history.now, ["a"]);
  history.redo();
  assert.deepEqual(history.now, ["a", "b"]);
  history.undo();
  history.undo();
  history.undo();
  assert.deepEqual([history.now, history.canUndo, history.canRedo], [[], false, true]);
  history.change(["c"]);
  assert.equal(history.canRedo, false);
});

test("regions are one field of a draft", () => {
  const mine = { answers: {}, comment: "", regions: [{ kind: "point", points: [[1, 2]] }] };
  const theirs = draftOf({ answers: {}, comment: "", version: 3 });
  assert.deepEqual(differences(mine, theirs), ["regions"]);
  assert.deepEqual(withField(mine, theirs, "regions").regions, []);
});
