// The text of a report: marked passages and Find. The text of [data-report] is never changed, only
// classes of its marks and ranges that are painted over it.

/** Mark the passage of a triplet as the current one; answers its first piece, or null. */
export function markPassage(report, number) {
  const pieces = [];
  for (const piece of report.querySelectorAll("[data-triplets], [data-near]")) {
    const numbers = `${piece.dataset.triplets ?? ""} ${piece.dataset.near ?? ""}`.split(" ");
    const isCurrent = numbers.includes(String(number));
    piece.classList.toggle("is-current", isCurrent);
    if (isCurrent) pieces.push(piece);
  }
  return pieces[0] ?? null;
}

/** Scroll the pane around an element or range until it is well inside, without moving the page. */
export function bringIntoView(target, pane = target.closest(".pane-scroll")) {
  const box = target.getBoundingClientRect();
  const frame = pane.getBoundingClientRect();
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const top = pane.scrollTop + box.top - frame.top - Math.max(24, (frame.height - Math.min(box.height, frame.height)) / 3);
  pane.scrollTo({ top, behavior: still ? "instant" : "smooth" });
}

// --- Find ----------------------------------------------------------------------------

/** The text of an element with white space folded, and where each character comes from. */
function fold(element) {
  let text = "";
  const places = []; // [node, offset] of each character of `text`
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let i = 0; i < node.data.length; i++) {
      const isSpace = /\s/.test(node.data[i]);
      if (isSpace && text.endsWith(" ")) continue;
      const lower = node.data[i].toLowerCase();
      text += isSpace ? " " : lower.length === 1 ? lower : node.data[i];
      places.push([node, i]);
    }
  }
  return { text, places };
}

/** Every place in the element where the words stand, as ranges. Case and white space do not count. */
export function findAll(element, words) {
  const wanted = words.toLowerCase().replace(/\s+/g, " ").trim();
  if (!wanted) return [];
  const { text, places } = fold(element);
  const found = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    const range = document.createRange();
    range.setStart(...places[at]);
    const [node, offset] = places[at + wanted.length - 1];
    range.setEnd(node, offset + 1);
    found.push(range);
  }
  return found;
}

function paint(name, ranges) {
  if (!("highlights" in CSS)) return; // the count and the scrolling still work
  if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges));
  else CSS.highlights.delete(name);
}

/** What was found is now selected, to be copied or marked, and the keys are the page's again. */
function leaveTo(range) {
  range.startContainer.parentElement.closest(".pane-scroll").focus({ preventScroll: true });
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

/** Wire a [data-find] box to a report. */
export function startFind(box, report) {
  const input = box.querySelector("input");
  const output = box.querySelector("output");
  let found = [];
  let at = -1;

  function show(step) {
    at = found.length ? (at + step + found.length) % found.length : -1;
    output.textContent = !input.value.trim() ? "" : found.length ? `${at + 1} of ${found.length}` : "Not found";
    paint("find", found);
    paint("find-current", at < 0 ? [] : [found[at]]);
    if (at >= 0) bringIntoView(found[at], report.closest(".pane-scroll"));
  }

  input.addEventListener("input", () => {
    found = findAll(report, input.value);
    at = -1;
    show(1);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      show(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape" && input.value) {
      event.preventDefault();
      const match = found[at];
      input.value = "";
      found = [];
      show(0);
      if (match) leaveTo(match);
    }
  });
  for (const button of box.querySelectorAll("[data-step]")) button.addEventListener("click", () => show(Number(button.dataset.step)));
  box.hidden = false;
}
