// Keeps the cookie that opens the tiles of a slide fresh. It lasts 15 minutes; without it tiles still
// come, but each asks the database who it is for.

const RENEW_AFTER_MS = 10 * 60_000;
const TRY_AGAIN_AFTER_MS = 60_000; // when the server cannot be reached

/** Renew the token at `address` (pyramid.json says it) until `signal` aborts, or the server says no: the
 * slide, or the right to see it, is gone. */
export function keepToken(address, signal) {
  const refused = new AbortController();
  const end = AbortSignal.any([signal, refused.signal]);
  let asked_ms = Date.now();
  let timer = setTimeout(renew, RENEW_AFTER_MS);

  async function renew() {
    clearTimeout(timer);
    asked_ms = Date.now();
    const answer = await fetch(address, { signal: end }).catch(() => ({ status: 503 }));
    const isAway = answer.status >= 500;
    if (!answer.ok && !isAway) refused.abort();
    if (!end.aborted) timer = setTimeout(renew, isAway ? TRY_AGAIN_AFTER_MS : RENEW_AFTER_MS);
  }

  // The timers of a hidden page, or of a computer asleep, are late by any length of time.
  const shown = () => !document.hidden && Date.now() - asked_ms >= RENEW_AFTER_MS && renew();
  document.addEventListener("visibilitychange", shown, { signal: end });
  end.addEventListener("abort", () => clearTimeout(timer));
}
