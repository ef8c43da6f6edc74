// The guidelines beside the form: the page behind the Guidelines link, shown over the report.

let drawer = null;
let opener = null;

export function isDrawerOpen() {
  return drawer !== null;
}

export function closeDrawer() {
  drawer?.remove();
  drawer = null;
  opener?.setAttribute("aria-expanded", "false");
  opener?.focus();
}

/** Open the drawer, or close it. `question` is the one whose anchors are shown first. */
export async function toggleDrawer(link, question) {
  if (drawer) return closeDrawer();
  opener = link;
  link.setAttribute("aria-expanded", "true");
  drawer = Object.assign(document.createElement("aside"), { className: "drawer", ariaLabel: "Guidelines" });
  document.querySelector("[data-panes]").append(drawer);
  const page = await fetchPage(link.href);
  if (!drawer) return; // closed meanwhile
  if (!page) drawer.append(head(), Object.assign(document.createElement("p"), { className: "drawer-body", textContent: "No connection: the guidelines could not be loaded." }));
  else fill(page, question);
}

async function fetchPage(address) {
  try {
    const response = await fetch(address);
    if (!response.ok || response.redirected) return null;
    return new DOMParser().parseFromString(await response.text(), "text/html");
  } catch {
    return null;
  }
}

function fill(page, question) {
  const guide = panel(page.querySelector("[data-guide]"));
  const history = panel(page.querySelector("[data-history]"));
  history.hidden = true;
  drawer.replaceChildren(head([["Guidelines", guide], ["History of this item", history]]), guide, history);
  drawer.querySelector("button").focus();
  const section = question && guide.querySelector(`#guide-${question}`);
  section?.scrollIntoView({ block: "start" });
}

function panel(content) {
  const made = Object.assign(document.createElement("div"), { className: "drawer-body pane-scroll", tabIndex: 0 });
  made.append(document.adoptNode(content));
  return made;
}

function head(tabs = []) {
  const made = Object.assign(document.createElement("header"), { className: "pane-head" });
  const buttons = tabs.map(([words, shown], index) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button button-quiet", textContent: words });
    button.setAttribute("aria-pressed", index === 0);
    button.addEventListener("click", () => {
      for (const [at, [, each]] of tabs.entries()) {
        each.hidden = each !== shown;
        buttons[at].setAttribute("aria-pressed", each === shown);
      }
    });
    return button;
  });
  const close = Object.assign(document.createElement("button"), { type: "button", className: "button drawer-close", textContent: "Close" });
  close.addEventListener("click", closeDrawer);
  made.append(...buttons, close);
  return made;
}
