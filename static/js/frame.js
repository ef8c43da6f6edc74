// What every page does: keys, menus, announcements, focus after a swap.
import { activeKeys, startKeys } from "./keys.js";

/** Say something once to screen readers. */
export function announce(text) {
  const announcer = document.getElementById("announcer");
  if (announcer) announcer.textContent = text;
}

function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (menu !== except) menu.open = false;
  }
}

function toggleKeySheet(button) {
  const old = document.getElementById("key-sheet");
  if (old) return closeKeySheet(old, button);
  const sheet = document.createElement("aside");
  sheet.id = "key-sheet";
  sheet.className = "key-sheet";
  sheet.setAttribute("aria-label", "Keys that work on this page");
  sheet.append(...sheetContent());
  document.body.append(sheet);
  button.setAttribute("aria-expanded", "true");
  sheet.querySelector("button").addEventListener("click", () => closeKeySheet(sheet, button));
  sheet.querySelector("button").focus();
}

function closeKeySheet(sheet, button) {
  sheet.remove();
  button.setAttribute("aria-expanded", "false");
  button.focus();
}

function sheetContent() {
  const close = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: "Close" });
  const parts = [close];
  for (const [scope, entries] of Object.entries(Object.groupBy(activeKeys(), (each) => each.scope))) {
    const list = document.createElement("dl");
    for (const entry of entries) {
      const label = Object.assign(document.createElement("dt"), { textContent: entry.label });
      const key = document.createElement("dd");
      key.append(Object.assign(document.createElement("kbd"), { textContent: entry.key }));
      list.append(label, key);
    }
    parts.push(Object.assign(document.createElement("h2"), { textContent: scope[0].toUpperCase() + scope.slice(1) }), list);
  }
  return parts;
}

document.addEventListener("click", (event) => {
  closeMenus(event.target.closest("details.menu"));
  const keys = event.target.closest('[data-command="page.keys"]');
  if (keys) toggleKeySheet(keys);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  const sheet = document.getElementById("key-sheet");
  const menu = document.querySelector("details.menu[open]");
  if (sheet || menu) event.preventDefault(); // one Esc closes one thing
  if (sheet) closeKeySheet(sheet, document.querySelector('[data-command="page.keys"]'));
  else if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// A failed request puts one line on top of its region (partials/region_problem.html): the newest only.
document.addEventListener("htmx:beforeSwap", (event) => {
  event.detail.target?.querySelector(":scope > .region-problem")?.remove();
});

// After a swap: what still exists keeps the focus (htmx restores by id); otherwise the new
// region's heading gets it, and the region's own words are announced once.
document.addEventListener("htmx:afterSettle", (event) => {
  const region = event.detail.target ?? event.target; // after Back there is no target but the page
  if (document.activeElement === document.body) {
    const heading = region.querySelector("[data-focus], h1, h2, caption");
    if (heading) {
      heading.tabIndex = -1;
      heading.focus();
    }
  }
  const words = region.querySelector("[data-announce]");
  if (words) announce(words.textContent.trim());
});


startKeys();
if (document.querySelector("[data-focus]")) document.querySelector("[data-focus]").focus();
