// The workbench: one item after another in one page. The server sends whole pages; the next item
// replaces what differs, the parts marked with data-slot.
import { announce } from "../frame.js";
import { labelButtons } from "../keys.js";
import { isNarrow, showTab, startPanes } from "../panes.js";
import { startFind } from "../report.js";
import { openViewer } from "../viewer/viewer.js";
import { closeDrawer, isDrawerOpen, toggleDrawer } from "./drawer.js";
import { Item } from "./item.js";
import { sendKept } from "./outbox.js";

const panes = document.querySelector("[data-panes]");
let item = null;

// --- From item to item ---------------------------------------------------------------

async function goTo(address, sent = "", fetched = null) {
  const page = fetched ?? (await fetchPage(address));
  if (!page) return announce("No connection. Your answers are kept; try again when it is back.");
  if (!page.querySelector("[data-work]")) return location.assign(address); // the end of the queue
  item.dispose();
  const isGoalOpen = document.querySelector("[data-goal]")?.open;
  if (isDrawerOpen()) closeDrawer();
  history.replaceState(null, "", address);
  document.title = page.title;
  for (const slot of document.querySelectorAll("[data-slot]")) fill(slot, page.querySelector(`[data-slot="${slot.dataset.slot}"]`));
  const shown = page.querySelector("[data-panes]");
  for (const name of ["no-slide", "no-report"]) panes.classList.toggle(name, shown.classList.contains(name));
  document.querySelector("[data-guidelines]").href = page.querySelector("[data-guidelines]").href;
  const goal = document.querySelector("[data-goal]");
  if (goal) goal.open = isGoalOpen ?? goal.open;
  document.querySelector("[data-sent]").textContent = sent;
  begin();
  document.getElementById("claim").focus({ preventScroll: true });
}

async function fetchPage(address) {
  try {
    const response = await fetch(address);
    return new DOMParser().parseFromString(await response.text(), "text/html");
  } catch {
    return null;
  }
}

function fill(slot, next) {
  const address = (each) => each.querySelector("[data-pyramid]")?.dataset.pyramid;
  if (slot.dataset.slot === "slide") {
    if (address(slot) && address(slot) === address(next)) return; // the same slide stays as it is
    slot.className = next.className;
  }
  slot.replaceChildren(...[...next.childNodes].map((each) => document.adoptNode(each)));
  for (const pane of slot.matches(".pane-scroll") ? [slot] : slot.querySelectorAll(".pane-scroll")) pane.scrollTop = 0;
  slot.closest(".pane-scroll")?.scrollTo(0, 0);
  labelButtons(slot);
}

function begin() {
  const viewer = panes.querySelector("[data-viewer]");
  item = new Item(document.querySelector("[data-work]"), viewer && openViewer(viewer), goTo);
}

// --- Keys and buttons that outlive an item ---------------------------------------------

document.addEventListener("click", async (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const guidelines = event.target.closest("[data-guidelines]");
  const go = event.target.closest("[data-go]");
  const evidence = event.target.closest("[data-evidence]");
  if (!guidelines && !go && !evidence) return;
  event.preventDefault();
  if (evidence) return item.showEvidence();
  if (guidelines) return toggleDrawer(guidelines, item.currentQuestion());
  await item.flush();
  goTo(go.href);
});

document.addEventListener("command", (event) => {
  const commands = { "work.submit-anywhere": () => item.submit(), "work.save": () => item.flush() };
  if (!(event.detail.id in commands)) return;
  event.preventDefault();
  commands[event.detail.id]();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  if (document.querySelector("details.menu[open], dialog[open], #key-sheet")) return; // the frame and the browser close these
  if (isDrawerOpen()) closeDrawer();
  else if (!item.stepBack()) return;
  event.preventDefault();
});

// A region is placed on the slide, which may stand behind a tab, and then stands in the list.
document.addEventListener("region-show", () => {
  if (isNarrow()) showTab(panes, "slide");
});

document.addEventListener("region-end", () => {
  if (!isNarrow()) return;
  showTab(panes, "triplets");
  document.getElementById("claim").focus({ preventScroll: true });
});

// What was not sent when the page goes away is kept in the browser and sent with the next visit.
addEventListener("pagehide", () => item.flush());

document.body.dataset.keyScopes = "list evidence viewer workbench";
startPanes(panes);
startFind(document.querySelector("[data-find]"), document.querySelector("[data-report]"));
begin();
sendKept();
addEventListener("online", sendKept);
