// Other words for the texts of a claim: text fields, and below them what changed, word by word.

const SAID = { del: "removed: ", ins: "added: " }; // few screen readers tell of <del> and <ins>

export class Corrections {
  #root; // [data-corrections]

  constructor(root, signal) {
    this.#root = root;
    root.addEventListener("input", () => this.refresh(), { signal });
    this.refresh();
  }

  /** Show what the text fields hold now. */
  refresh() {
    for (const field of this.#root.querySelectorAll("textarea")) {
      const shown = this.#root.querySelector(`[data-tracked="${field.name}"]`);
      const { original } = field.dataset;
      shown.hidden = !isCorrection(field.value, original);
      if (!shown.hidden) shown.querySelector(".tracked").replaceChildren(...tracked(original, field.value.trim()).map(piece));
    }
  }
}

/** Whether a text proposes something else than the one that stands; an empty one proposes nothing. */
export function isCorrection(text, original) {
  return text.trim() !== "" && text.trim() !== original.trim();
}

function piece([kind, text]) {
  if (kind === "same") return document.createTextNode(text);
  const made = document.createElement(kind);
  made.append(Object.assign(document.createElement("span"), { className: "visually-hidden", textContent: SAID[kind] }), text);
  return made;
}

/** The pieces of two texts as [kind, text], kind being "same", "del" or "ins", by the longest common
    row of words. (annotation/corrections.py makes them for the history.) */
export function tracked(old, now) {
  const [before, after] = [old, now].map((text) => text.match(/\s+|[\p{L}\p{N}\p{M}_]+|[^]/gu) ?? []);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const middle = different(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return joined([["same", before.slice(0, start).join("")], ...middle, ["same", before.slice(before.length - end).join("")]]);
}

function different(before, after) {
  const width = after.length + 1;
  const longest = new Uint16Array((before.length + 1) * width); // of the rows that begin at [i, k]
  for (let i = before.length - 1; i >= 0; i--) {
    for (let k = after.length - 1; k >= 0; k--) {
      const here = i * width + k;
      longest[here] = before[i] === after[k] ? longest[here + width + 1] + 1 : Math.max(longest[here + width], longest[here + 1]);
    }
  }
  const pieces = [];
  let [i, k] = [0, 0];
  while (i < before.length || k < after.length) {
    if (i < before.length && k < after.length && before[i] === after[k]) {
      pieces.push(["same", before[i]]);
      i++;
      k++;
    } else if (k === after.length || (i < before.length && longest[(i + 1) * width + k] >= longest[i * width + k + 1])) pieces.push(["del", before[i++]]);
    else pieces.push(["ins", after[k++]]);
  }
  return pieces;
}

/** Neighbours of one kind become one piece; of a place, what was removed stands before what was added. */
function joined(pieces) {
  const made = [];
  for (const [kind, text] of pieces) {
    if (!text) continue;
    const [last, beforeLast] = [made.at(-1), made.at(-2)];
    if (last?.[0] === kind) last[1] += text;
    else if (kind === "del" && last?.[0] === "ins" && beforeLast?.[0] === "del") beforeLast[1] += text;
    else if (kind === "del" && last?.[0] === "ins") made.splice(-1, 0, [kind, text]);
    else made.push([kind, text]);
  }
  return made;
}
