// Active time on an item: seconds in which the page is seen and somebody moves, types or reads on.
const IDLE_MS = 60_000; // without any sign for so long, somebody is away

export class Clock {
  visit = crypto.randomUUID();
  #activeMs = 0;
  #since = null; // the beginning of the stretch that is going on
  #lastSign = 0;

  constructor(signal) {
    for (const kind of ["pointermove", "pointerdown", "keydown", "wheel", "scroll", "touchstart"]) {
      document.addEventListener(kind, () => this.sign(performance.now()), { signal, passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => document.hidden && this.#stop(performance.now()), { signal });
    this.sign(performance.now());
  }

  /** Somebody is there at `now`, in milliseconds. */
  sign(now) {
    if (this.#since !== null && now - this.#lastSign > IDLE_MS) this.#stop(now);
    this.#since ??= now;
    this.#lastSign = now;
  }

  /** Whole seconds of activity so far; a pause counts for at most a minute. */
  seconds(now = performance.now()) {
    const running = this.#since === null ? 0 : Math.min(now, this.#lastSign + IDLE_MS) - this.#since;
    return Math.round((this.#activeMs + running) / 1000);
  }

  #stop(now) {
    if (this.#since === null) return;
    this.#activeMs += Math.min(now, this.#lastSign + IDLE_MS) - this.#since;
    this.#since = null;
  }
}
