import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { differences, withField } from "../../static/js/workbench/draft.js";
import { Saver } from "../../static/js/workbench/saver.js";

const EMPTY = { answers: {}, notes: {}, comment: "", flagged: false, regions: [], spans: [], corrections: {}, version: 0 };
const draft = (answers, comment = "", regions = [], notes = {}) => ({ answers, notes, comment, flagged: false, regions, spans: [], corrections: {} });

/** A server that keeps versions as the real one does, and a browser store. */
function world({ stored = EMPTY, kept = null } = {}) {
  const server = { ...stored, sends: [], isOffline: false, status: 200 };
  const store = { kept };
  const shown = [];
  const parts = {
    keep: { read: () => store.kept, write: (each) => (store.kept = each), clear: () => (store.kept = null) },
    show: (state, more) => shown.push([state, more]),
    conflict: (each) => (store.conflict = each),
    send: async (sent) => {
      server.sends.push(sent);
      if (server.isOffline) throw new TypeError("no network");
      if (server.status !== 200) return { status: server.status, body: { message: "No." } };
      const same = !differences(sent, server).length;
      if (!same && sent.version !== server.version) {
        const { answers, comment, version } = server;
        return { status: 409, body: { code: "stale", stored: { answers, comment, version } } };
      }
      if (!same) Object.assign(server, { answers: sent.answers, comment: sent.comment, version: server.version + 1 });
      return { status: 200, body: { version: server.version, saved_at: "2026-11-06T09:12:00+00:00" } };
    },
  };
  return { server, store, shown, saver: new Saver(parts, stored), states: () => shown.map(([state]) => state) };
}

beforeEach(() => mock.timers.reset());

const settled = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

test("a choice is kept in the browser before it is on the server", () => {
  const { saver, store } = world();
  saver.change(draft({ grounded: "yes" }), 0);
  assert.deepEqual(store.kept, { ...draft({ grounded: "yes" }), version: 0 });
  saver.dispose();
});

test("what is saved is no longer kept in the browser", async () => {
  const { saver, server, store, states } = world();
  saver.change(draft({ grounded: "yes" }), 0);
  assert.equal(await saver.flush(), true);
  assert.deepEqual(server.answers, { grounded: "yes" });
  assert.equal(store.kept, null);
  assert.equal(states().at(-1), "saved");
});

test("a change that was taken back at once sends nothing", () => {
  const { saver, server, store, states } = world();
  saver.change(draft({}, "a"), 1000);
  saver.change(draft({}), 1000);
  assert.equal(states().at(-1), "saved");
  assert.equal(store.kept, null);
  assert.equal(server.sends.length, 0);
});

test("what changed during a save is saved after it, under its version", async () => {
  const { saver, server } = world();
  saver.change(draft({ grounded: "yes" }), 0);
  const first = saver.flush();
  saver.change(draft({ grounded: "no" }), 0);
  await first;
  assert.deepEqual(server.answers, { grounded: "no" });
  assert.deepEqual(server.sends.map((each) => each.version), [0, 1]);
  saver.dispose();
});

test("without a network changes are counted and kept, and sent once when it is back", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { saver, server, store, shown } = world();
  server.isOffline = true;
  saver.change(draft({ grounded: "yes" }), 0);
  saver.change(draft({ grounded: "yes", faithful: "no" }, "wrong side"), 0);
  assert.equal(await saver.flush(), false);
  assert.deepEqual(shown.at(-1), ["offline", { changes: 3, delayMs: 2500 }]);
  assert.equal(store.kept.comment, "wrong side");
  server.isOffline = false;
  mock.timers.tick(2500);
  await settled();
  assert.equal(server.version, 1);
  assert.equal(store.kept, null);
});

test("a reload brings back what was kept and saves it", async () => {
  const kept = { ...draft({ grounded: "yes" }, "kept"), version: 0 };
  const { saver, server } = world({ kept });
  assert.deepEqual(saver.restore(), draft({ grounded: "yes" }, "kept"));
  await saver.flush();
  assert.equal(server.comment, "kept");
});

test("a reload with nothing new forgets what was kept", () => {
  const stored = { ...draft({ grounded: "yes" }), version: 4 };
  const { saver, store } = world({ stored, kept: { ...draft({ grounded: "yes" }), version: 3 } });
  assert.equal(saver.restore(), null);
  assert.equal(store.kept, null);
});

test("a save whose answer got lost is no conflict", async () => {
  const { saver, server, store } = world({ kept: { ...draft({ grounded: "yes" }), version: 0 } });
  Object.assign(server, { answers: { grounded: "yes" }, version: 1 });
  saver.restore();
  assert.equal(await saver.flush(), true);
  assert.equal(saver.version, 1);
  assert.equal(store.conflict, undefined);
});

test("another window's answer stops the saving until the person decides, and nothing is lost", async () => {
  const { saver, server, store, states } = world();
  Object.assign(server, { answers: { grounded: "no" }, comment: "theirs", version: 1 });
  saver.change(draft({ grounded: "yes" }, "mine"), 0);
  assert.equal(await saver.flush(), false);
  assert.equal(states().at(-1), "conflict");
  assert.deepEqual(store.conflict, { answers: { grounded: "no" }, comment: "theirs", version: 1 });
  assert.equal(store.kept.comment, "mine");
  saver.change(draft({ grounded: "yes" }, "mine, longer"), 0);
  assert.equal(server.sends.length, 1);
  saver.resolve(draft({ grounded: "no" }, "mine, longer"), store.conflict);
  assert.equal(await saver.flush(), true);
  assert.deepEqual([server.answers, server.comment, server.version], [{ grounded: "no" }, "mine, longer", 2]);
});

test("a server that fails is asked again, less and less often", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { saver, server, shown } = world();
  server.status = 503;
  saver.change(draft({ grounded: "yes" }), 0);
  await saver.flush();
  assert.deepEqual(shown.at(-1), ["failed", { status: 503, delayMs: 2000 }]);
  mock.timers.tick(2000);
  await settled();
  assert.deepEqual(shown.at(-1), ["failed", { status: 503, delayMs: 4000 }]);
  server.status = 200;
  mock.timers.tick(4000);
  await settled();
  assert.equal(server.version, 1);
});

test("what the server refuses is said and tried again only with the next change", async () => {
  const { saver, server, states } = world();
  server.status = 400;
  saver.change(draft({ grounded: "yes" }), 0);
  assert.equal(await saver.flush(), false);
  assert.equal(states().at(-1), "refused");
  server.status = 200;
  saver.change(draft({ grounded: "no" }), 0);
  assert.equal(await saver.flush(), true);
});

test("one field can be taken from another draft, an empty one too", () => {
  const mine = draft({ a: "yes", b: "no" }, "mine");
  const theirs = draft({ a: "no" }, "theirs");
  assert.deepEqual(withField(mine, theirs, "a"), draft({ a: "no", b: "no" }, "mine"));
  assert.deepEqual(withField(mine, theirs, "b"), draft({ a: "yes" }, "mine"));
  assert.deepEqual(withField(mine, theirs, "comment"), draft({ a: "yes", b: "no" }, "theirs"));
});

test("notes are one field of a draft, whatever the order of their questions", () => {
  const mine = draft({}, "", [], { faithful: "A wrong side.", category: "Diagnostic." });
  assert.deepEqual(differences(mine, draft({}, "", [], { category: "Diagnostic.", faithful: "A wrong side." })), []);
  const theirs = draft({}, "", [], { faithful: "A wrong stage." });
  assert.deepEqual(differences(mine, theirs), ["notes"]);
  assert.deepEqual(withField(mine, theirs, "notes").notes, { faithful: "A wrong stage." });
});
