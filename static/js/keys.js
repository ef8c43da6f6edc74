// The one registry of keyboard commands. A key presses a visible button: the element with
// data-command="<id>". So every key has a button, and a button that is not on the page has no key.
// A module may instead listen for the event "command" (detail.id) that is dispatched first;
// preventDefault() on it stops the press. Entries without a button say so with `event: true`.

export const KEYS = [
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

  { id: "work.option-1", key: "1", scope: "workbench", label: "First answer" },
  { id: "work.option-2", key: "2", scope: "workbench", label: "Second answer" },
  { id: "work.option-3", key: "3", scope: "workbench", label: "Third answer" },
  { id: "work.option-4", key: "4", scope: "workbench", label: "Fourth answer" },
  { id: "work.yes", key: "y", scope: "workbench", label: "Yes" },
  { id: "work.no", key: "n", scope: "workbench", label: "No" },
  { id: "work.cannot", key: "u", scope: "workbench", label: "Cannot judge" },
  { id: "work.evidence", key: "e", scope: "evidence", label: "Show next evidence" },
  { id: "work.comment", key: "m", scope: "workbench", label: "Comment" },
  { id: "work.guidelines", key: "i", scope: "workbench", label: "Guidelines" },
  { id: "work.submit", key: "Enter", scope: "workbench", label: "Submit and next" },
  { id: "work.submit-anywhere", key: "Ctrl+Enter", scope: "workbench", label: "Submit and next, also from a text", event: true },
  { id: "work.save", key: "Ctrl+s", scope: "workbench", label: "Save now", event: true },
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

/** The key that an event means: digits by position (so AZERTY works unshifted), else by character.
    With Ctrl or Cmd it is "Ctrl+" and the key. */
export function keyOf(event) {
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code ?? "");
  const key = digit && !event.shiftKey ? digit[1] : event.key;
  return event.ctrlKey || event.metaKey ? `Ctrl+${key}` : key;
}

/** Whether single keys belong to the page and not to a control, an input method or a shortcut. */
export function isForPage(event) {
  if (event.defaultPrevented || event.isComposing || event.repeat) return false;
  if (event.ctrlKey || event.metaKey || event.altKey || event.getModifierState?.("AltGraph")) return false;
  if (event.target.closest?.(TEXT_ENTRY)) return false;
  if (event.key === "Enter" && event.target.closest?.("a, button, summary")) return false;
  return event.key === "Enter" || document.documentElement.dataset.singleKeys !== "off";
}

/** Whether a key with Ctrl or Cmd belongs to the page: in text fields too. */
function isModifiedForPage(event) {
  return !event.defaultPrevented && !event.isComposing && !event.repeat && !event.altKey && !event.shiftKey;
}

/** Dispatch a command: first as an event, then as a press of its button. */
export function perform(id) {
  const event = new CustomEvent("command", { detail: { id }, cancelable: true });
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
    if (entry && perform(entry.id)) event.preventDefault();
  });
  labelButtons(document);
}

/** Say on the buttons below `root` which keys press them. */
export function labelButtons(root) {
  for (const entry of KEYS) {
    if (entry.event) continue;
    for (const button of root.querySelectorAll(`[data-command="${entry.id}"]`)) {
      button.setAttribute("aria-keyshortcuts", entry.key.length === 1 && entry.key !== entry.key.toLowerCase() ? `Shift+${entry.key}` : entry.key);
    }
  }
}
