// Saves drafts: at once in this browser, within two seconds on the server. Knows no page: `send`
// posts a draft and answers { status, body } or throws where there is no network, `keep` is the
// browser's store, `show` says the state in words, `conflict` is told what another window saved.
import { differences, draftOf, isSame } from "./draft.js";

const OFFLINE_RETRY_MS = 2500;
const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = 30_000;

export class Saver {
  #draft; // what the form holds
  #version; // of the verdict that the draft started from
  #saved; // what the server has, as far as we know
  #savedAt;
  #timer = 0;
  #sending = null;
  #retryMs = FIRST_RETRY_MS;
  #isStopped = false; // a person has to decide first
  #parts;

  constructor(parts, stored) {
    this.#parts = parts;
    this.#version = stored.version;
    this.#saved = draftOf(stored);
    this.#savedAt = stored.saved_at;
    this.#draft = this.#saved;
  }

  get version() {
    return this.#version;
  }

  get isClean() {
    return isSame(this.#draft, this.#saved);
  }

  /** What this browser kept of an earlier visit, or null. Only where it differs is there work. */
  restore() {
    const kept = this.#parts.keep.read();
    if (!kept || isSame(draftOf(kept), this.#saved)) {
      this.#parts.keep.clear();
      return null;
    }
    this.#draft = draftOf(kept);
    this.#version = kept.version;
    this.#later(0);
    return this.#draft;
  }

  /** The form changed: keep it now, send it after `delayMs`. */
  change(draft, delayMs) {
    this.#draft = draft;
    this.#parts.keep.write({ ...draft, version: this.#version });
    if (this.#isStopped) return;
    if (this.isClean && !this.#sending) return this.#showSaved(); // back to what it was
    this.#parts.show("saving");
    this.#later(delayMs);
  }

  /** Send now what is not sent yet. Answers true once the server has everything. */
  async flush() {
    clearTimeout(this.#timer);
    while (!this.#isStopped && !this.isClean) {
      this.#sending ??= this.#send().finally(() => (this.#sending = null));
      if (!(await this.#sending)) return false;
    }
    return !this.#isStopped;
  }

  /** The server has this draft, under this version. */
  settle(draft, version) {
    this.#saved = draft;
    this.#version = version;
    this.#isStopped = false;
    if (this.isClean) this.#parts.keep.clear();
  }

  /** The person decided between two windows: this draft, on top of what the other saved. */
  resolve(draft, stored) {
    this.#saved = draftOf(stored);
    this.#version = stored.version;
    this.#isStopped = false;
    this.change(draft, 0);
  }

  /** Another window saved something else: nothing is sent until the person has decided. */
  stop(stored) {
    this.#isStopped = true;
    this.#parts.show("conflict");
    this.#parts.conflict(stored);
  }

  dispose() {
    clearTimeout(this.#timer);
  }

  #later(delayMs) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), delayMs);
  }

  async #send() {
    const draft = this.#draft;
    this.#parts.show("saving");
    let answer;
    try {
      answer = await this.#parts.send({ ...draft, version: this.#version });
    } catch {
      return this.#offline();
    }
    return this.#take(draft, answer);
  }

  #take(draft, { status, body }) {
    if (status === 200) {
      this.#retryMs = FIRST_RETRY_MS;
      this.settle(draft, body.version);
      this.#savedAt = body.saved_at;
      if (this.isClean) this.#showSaved();
      else this.#parts.keep.write({ ...this.#draft, version: this.#version });
      return true;
    }
    if (body?.code === "stale") this.stop(body.stored);
    else if (status === 401) this.#retry("signed-out", OFFLINE_RETRY_MS);
    else if (status === 404) this.#retry("not-yours", OFFLINE_RETRY_MS);
    else if (status >= 500 || status === 429) this.#retry("failed", this.#backOff(), { status });
    else this.#refuse(body);
    return false;
  }

  #showSaved() {
    clearTimeout(this.#timer);
    this.#parts.keep.clear();
    this.#parts.show("saved", { at: this.#savedAt });
  }

  #refuse(body) {
    this.#parts.show("refused", { message: body?.message ?? "The server did not take it." });
  }

  #offline() {
    this.#retry("offline", OFFLINE_RETRY_MS, { changes: differences(this.#draft, this.#saved).length });
    return false;
  }

  #retry(state, delayMs, more = {}) {
    this.#parts.show(state, { ...more, delayMs });
    this.#later(delayMs);
  }

  #backOff() {
    const now = this.#retryMs;
    this.#retryMs = Math.min(2 * now, LONGEST_RETRY_MS);
    return now;
  }
}
