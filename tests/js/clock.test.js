import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { addEventListener() {}, hidden: false };
const { Clock } = await import("../../static/js/workbench/clock.js");

/** A clock that starts at 0 s, with signs at the given seconds. */
function clockWith(...signs) {
  const now = performance.now;
  performance.now = () => 0;
  const clock = new Clock(new AbortController().signal);
  performance.now = now;
  for (const second of signs) clock.sign(second * 1000);
  return clock;
}

test("reading on without a break counts whole", () => {
  assert.equal(clockWith(10, 40, 90).seconds(100_000), 100);
});

test("of a long absence one minute counts", () => {
  assert.equal(clockWith(10, 3600).seconds(3_605_000), 75); // 10 + 60, and 5 after coming back
});

test("nobody who went away is counted on", () => {
  assert.equal(clockWith(20).seconds(9_000_000), 80);
});

test("every visit has a name of its own", () => {
  assert.notEqual(clockWith().visit, clockWith().visit);
});
