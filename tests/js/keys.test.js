import assert from "node:assert/strict";
import { test } from "node:test";

import { KEYS, isForPage, keyOf } from "../../static/js/keys.js";

const press = (key, more = {}) => ({ key, target: {}, ...more });
const inField = { closest: (selector) => selector.startsWith("input") };
const inLink = { closest: (selector) => selector.startsWith("a,") };

globalThis.document = { documentElement: { dataset: {} } };

test("one key has one meaning on every page, but for a region being placed, which comes first", () => {
  const isFirst = (entry) => entry.scope === "placing";
  for (const entries of [KEYS.filter(isFirst), KEYS.filter((entry) => !isFirst(entry))]) {
    const keys = entries.map((entry) => entry.key);
    assert.equal(new Set(keys).size, keys.length);
  }
  assert.equal(KEYS.findLastIndex(isFirst) + 1, KEYS.filter(isFirst).length);
});

test("arrows are keys of the slide while it has the focus, and work by holding them down", () => {
  const onSlide = { closest: (selector) => selector.includes("keys-of") };
  assert.equal(keyOf({ key: "ArrowUp" }), "Arrows");
  assert.equal(keyOf({ key: "ArrowLeft", shiftKey: true }), "Shift+Arrows");
  assert.equal(isForPage(press("ArrowUp", { target: onSlide, repeat: true })), true);
  assert.equal(isForPage(press("ArrowUp")), false);
});

test("every command has a name of its own and words for the key sheet", () => {
  const ids = KEYS.map((entry) => entry.id);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(KEYS.every((entry) => entry.label));
});

test("digits count by their place, so that a French keyboard needs no shift", () => {
  assert.equal(keyOf({ code: "Digit1", key: "&" }), "1");
  assert.equal(keyOf({ code: "Numpad3", key: "3" }), "3");
  assert.equal(keyOf({ code: "Digit1", key: "!", shiftKey: true }), "!");
});

test("a key with Ctrl or Cmd is another key", () => {
  assert.equal(keyOf({ code: "Enter", key: "Enter", ctrlKey: true }), "Ctrl+Enter");
  assert.equal(keyOf({ code: "KeyS", key: "s", metaKey: true }), "Ctrl+s");
  assert.equal(keyOf({ code: "KeyZ", key: "Z", ctrlKey: true, shiftKey: true }), "Ctrl+Shift+z");
});

test("keys belong to a field while somebody types in it", () => {
  assert.equal(isForPage(press("y")), true);
  assert.equal(isForPage(press("y", { target: inField })), false);
  assert.equal(isForPage(press("y", { isComposing: true })), false);
});

test("shortcuts of the browser stay the browser's", () => {
  assert.equal(isForPage(press("k", { ctrlKey: true })), false);
  assert.equal(isForPage(press("k", { metaKey: true })), false);
  assert.equal(isForPage(press("Enter", { target: inLink })), false);
});

test("who turns single keys off keeps Enter", () => {
  document.documentElement.dataset.singleKeys = "off";
  assert.equal(isForPage(press("y")), false);
  assert.equal(isForPage(press("Enter")), true);
  delete document.documentElement.dataset.singleKeys;
});
