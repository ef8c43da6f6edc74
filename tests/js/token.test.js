import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { keepToken } from "../../static/js/viewer/token.js";

const MINUTE_MS = 60_000;
let asked, answers, life, page;

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  asked = [];
  answers = [];
  life = new AbortController();
  page = Object.assign(new EventTarget(), { hidden: false });
  globalThis.document = page;
  globalThis.fetch = async (address) => {
    asked.push(address);
    const status = answers.shift() ?? 204;
    if (status === "away") throw new TypeError("no network");
    return { status, ok: status < 300 };
  };
});

afterEach(() => mock.timers.reset());

async function pass(minutes) {
  for (let minute = 0; minute < minutes; minute += 1) {
    mock.timers.tick(MINUTE_MS);
    await new Promise(setImmediate);
  }
}

test("a token is renewed every ten minutes, before its fifteen are over", async () => {
  keepToken("/slides/x/token", life.signal);
  await pass(9);
  assert.deepEqual(asked, []);
  await pass(21);
  assert.deepEqual(asked, Array(3).fill("/slides/x/token"));
});

test("a viewer that was closed renews nothing", async () => {
  keepToken("/slides/x/token", life.signal);
  await pass(10);
  life.abort();
  await pass(60);
  page.dispatchEvent(new Event("visibilitychange"));
  assert.equal(asked.length, 1);
});

test("a server that says no is not asked again", async () => {
  answers = [404];
  keepToken("/slides/x/token", life.signal);
  await pass(60);
  page.dispatchEvent(new Event("visibilitychange"));
  assert.equal(asked.length, 1);
});

test("a server that is away is asked again a minute later", async () => {
  answers = ["away", 502, 204];
  keepToken("/slides/x/token", life.signal);
  await pass(12);
  assert.equal(asked.length, 3);
  await pass(9);
  assert.equal(asked.length, 3);
  await pass(1);
  assert.equal(asked.length, 4);
});

test("a page shown again after a long sleep renews at once, and once", async () => {
  keepToken("/slides/x/token", life.signal);
  mock.timers.setTime(Date.now() + 60 * MINUTE_MS - 1); // runs no timer that is due: the computer slept
  page.dispatchEvent(new Event("visibilitychange"));
  page.dispatchEvent(new Event("visibilitychange"));
  await new Promise(setImmediate);
  assert.equal(asked.length, 1);
});

test("a page that is hidden, or was shown a moment ago, renews nothing by being shown", async () => {
  keepToken("/slides/x/token", life.signal);
  await pass(5);
  page.dispatchEvent(new Event("visibilitychange"));
  assert.equal(asked.length, 0);
});
