// The one registry of keyboard commands. A key presses a visible button: the element with
// data-command="<id>". So every key has a button, and a button that is not on the page has no key.
// A module may instead listen for the event "command" (detail.id) that is dispatched first;
// preventDefault() on it stops the press. Entries without a button say so with `event: true`.
// Of two entries with one key the first one counts: what is being placed takes its keys first.

export const KEYS = [
  { id: "region.move", key: "Arrows", scope: "placing", label: "Move the region", event: true },
  { id: "region.resize", key: "Shift+Arrows", scope: "placing", label: "Make the region larger or smaller", event: true },
  { id: "region.keep", key: "Enter", scope: "placing", label: "Keep the region" },
  { id: "region.discard", key: "Escape", scope: "placing", label: "Discard the region" },
  { id: "region.last-corner", key: "Backspace", scope: "placing", label: "Take the last corner back" },

  { id: "page.keys", key: "?", scope: "everywhere", label: "Keys that work on this page" },
  { id: "page.search", key: "/", scope: "everywhere", label: "Search, filter or find in the report" },

  { id: "list.next", key: "j", scope: "list", label: "Next row, triplet or question", event: true },
  { id: "list.previous", key: "k", scope: "list", label: "Previous row, triplet or question", event: true },
  { id: "item.next", key: "J", scope: "list", label: "Next case or item" },
  { id: "item.previous", key: "K", scope: "list", label: "Previous case or item" },
  { id: "panes.layout", key: "v", scope: "panes", label: "Next pane layout" },
  { id: "panes.next", key: "w", scope: "panes", label: "Next pane", event: true },
  { id: "panes.previous", key: "W", scope: "panes", label: "Previous pane", event: true },

  { id: "viewer.zoom-in", key: "+", scope: "viewer", label: "Next magnification" },
  { id: "viewer.zoom-out", key: "-", scope: "viewer", label: "Previous magnification" },
  { id: "viewer.whole", key: "h", scope: "viewer", label: "Whole slide" },
  { id: "viewer.native", key: "o", scope: "viewer", label: "Native pixels" },
  { id: "viewer.turn-left", key: ",", scope: "viewer", label: "Turn 90° left" },
  { id: "viewer.turn-right", key: ".", scope: "viewer", label: "Turn 90° right" },
  { id: "viewer.pan", key: "Arrows", scope: "viewer", label: "Move the view, while the slide has the focus", event: true },
  { id: "viewer.pan-far", key: "Shift+Arrows", scope: "viewer", label: "Move the view by half of it", event: true },

  { id: "work.option-1", key: "1", scope: "workbench", label: "First answer" },
  { id: "work.option-2", key: "2", scope: "workbench", label: "Second answer" },
  { id: "work.option-3", key: "3", scope: "workbench", label: "Third answer" },
  { id: "work.option-4", key: "4", scope: "workbench", label: "Fourth answer" },
  { id: "work.option-5", key: "5", scope: "workbench", label: "Fifth answer" },
  { id: "work.option-6", key: "6", scope: "workbench", label: "Sixth answer" },
  { id: "work.option-7", key: "7", scope: "workbench", label: "Seventh answer" },
  { id: "work.option-8", key: "8", scope: "workbench", label: "Eighth answer" },
  { id: "work.option-9", key: "9", scope: "workbench", label: "Ninth answer" },
  { id: "work.option-10", key: "0", scope: "workbench", label: "Tenth answer" },
  { id: "work.a", key: "a", scope: "workbench", label: "True clinical novelty" },
  { id: "work.b", key: "b", scope: "workbench", label: "Relevant, but known" },
  { id: "work.c", key: "c", scope: "workbench", label: "Trivial" },
  { id: "work.yes", key: "y", scope: "workbench", label: "Yes" },
  { id: "work.no", key: "n", scope: "workbench", label: "No" },
  { id: "work.cannot", key: "u", scope: "workbench", label: "Cannot judge" },
  { id: "work.evidence", key: "e", scope: "evidence", label: "Show next evidence" },
  { id: "work.span", key: "s", scope: "workbench", label: "Mark the selected passage, or choose one by sentence and word" },
  { id: "region.point", key: "d", scope: "workbench", label: "Drop a point" },
  { id: "region.box", key: "r", scope: "workbench", label: "Drop a box" },
  { id: "region.outline", key: "f", scope: "workbench", label: "Draw an outline" },
  { id: "work.correct", key: "t", scope: "workbench", label: "Correct question, insight or evidence" },
  { id: "work.flag", key: "q", scope: "workbench", label: "Flag for the curator" },
  { id: "work.comment", key: "m", scope: "workbench", label: "Comment" },
  { id: "work.guidelines", key: "i", scope: "workbench", label: "Guidelines" },
  { id: "work.submit", key: "Enter", scope: "workbench", label: "Submit and next" },
  { id: "work.submit-anywhere", key: "Ctrl+Enter", scope: "workbench", label: "Submit and next, also from a text", event: true },
  { id: "work.save", key: "Ctrl+s", scope: "workbench", label: "Save now", event: true },
  { id: "work.undo", key: "Ctrl+z", scope: "workbench", label: "Undo" },
  { id: "work.redo", key: "Ctrl+Shift+z", scope: "workbench", label: "Redo" },
];

const TEXT_ENTRY = "input:not([type=radio]):not([type=checkbox]):not([type=button]):not([type=submit]), select, textarea, [contenteditable]";

function isVisible(element) {
  return element.checkVisibility ? element.checkVisibility() : element.offsetParent !== null;
}

/** The visible, enabled button of a command, or null. */
export function buttonOf(id) {
  const all = document.querySelectorAll(`[data-command="${id}"]`);
  return [...all].find((each) => isVisible(each) && !each.disabled) ?? null;
}

/** The entries that do something on this page now. */
export function activeKeys() {
  const scopes = new Set((document.body.dataset.keyScopes ?? "").split(" "));
  return KEYS.filter((entry) => (entry.event ? scopes.has(entry.scope) : buttonOf(entry.id)));
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const NO_CHARACTERS = ["Enter", "Escape", "Backspace", ...Object.keys(ARROWS)]; // work with single keys off, too

/** The key that an event means: digits by position (so AZERTY works unshifted), else by character.
    All arrows are one key. With Ctrl or Cmd it is "Ctrl+" and the key. */
export function keyOf(event) {
  const shift = event.shiftKey ? "Shift+" : "";
  if (event.ctrlKey || event.metaKey) {
    const isCharacter = event.key.length === 1;
    return `Ctrl+${isCharacter ? shift + event.key.toLowerCase() : event.key}`;
  }
  if (event.key in ARROWS) return `${shift}Arrows`;
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code ?? "");
  return digit && !event.shiftKey ? digit[1] : event.key;
}

/** Whether single keys belong to the page and not to a control, an input method or a shortcut. */
export function isForPage(event) {
  const isArrow = event.key in ARROWS;
  if (event.defaultPrevented || event.isComposing || (event.repeat && !isArrow)) return false;
  if (event.ctrlKey || event.metaKey || event.altKey || event.getModifierState?.("AltGraph")) return false;
  if (event.target.closest?.(TEXT_ENTRY)) return false;
  if (isArrow) return Boolean(event.target.closest?.("[data-keys-of=viewer]")); // elsewhere they scroll and choose
  if (event.key === "Enter" && event.target.closest?.("a, button, summary")) return false;
  return NO_CHARACTERS.includes(event.key) || document.documentElement.dataset.singleKeys !== "off";
}

/** Whether a key with Ctrl or Cmd belongs to the page: in text fields too, but for their own undo. */
function isModifiedForPage(event) {
  if (event.defaultPrevented || event.isComposing || event.altKey) return false;
  if (event.key.toLowerCase() === "z") return !event.target.closest?.(TEXT_ENTRY);
  return !event.repeat && !event.shiftKey;
}

/** Dispatch a command: first as an event, then as a press of its button. `way` is that of an arrow. */
export function perform(id, way = null) {
  const event = new CustomEvent("command", { detail: { id, way }, cancelable: true });
  if (!document.dispatchEvent(event)) return true;
  const button = buttonOf(id);
  if (!button) return false;
  if (button.matches("input[type=search], input[type=text], textarea")) button.focus();
  else button.click();
  return true;
}

export function startKeys() {
  document.addEventListener("keydown", (event) => {
    const key = keyOf(event);
    if (!(key.startsWith("Ctrl+") ? isModifiedForPage(event) : isForPage(event))) return;
    const entry = activeKeys().find((each) => each.key === key);
    if (entry && perform(entry.id, ARROWS[event.key])) event.preventDefault();
  });
  labelButtons(document);
}

/** Say on the buttons below `root` which keys press them. */
export function labelButtons(root) {
  for (const entry of KEYS) {
    if (entry.event) continue;
    for (const button of root.querySelectorAll(`[data-command="${entry.id}"]`)) {
      const isCapital = entry.key.length === 1 && entry.key !== entry.key.toLowerCase();
      for (const hint of button.querySelectorAll("kbd")) hint.ariaHidden = "true"; // no part of the name
      button.setAttribute("aria-keyshortcuts", isCapital ? `Shift+${entry.key}` : entry.key.replace("Ctrl", "Control"));
    }
  }
}
