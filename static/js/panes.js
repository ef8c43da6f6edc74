// Panes with splitters, layouts and tabs. Markup: [data-panes] holds the address that stores what a
// person chose, [data-stored] what was stored; [data-pane] are panes, [data-splitter] their borders,
// each resizing the pane it names (which stands after it).
const STEP_PX = 16;
const SLIDE_LEAST_PX = 320;
const LAYOUTS = { balanced: "balanced", slide: "slide wide", report: "report wide" };
const NARROW = matchMedia("(width < 860px)");

export function isNarrow() {
  return NARROW.matches;
}

/** Show the pane where panes are tabs; answers the name of the tab that was shown before. */
export function showTab(root, name) {
  const before = root.dataset.tab;
  root.dataset.tab = name;
  for (const tab of document.querySelectorAll(".pane-tabs [role=tab]")) {
    tab.setAttribute("aria-selected", tab.dataset.tab === name);
    tab.tabIndex = tab.dataset.tab === name ? 0 : -1;
  }
  dispatchEvent(new Event("resize")); // the viewer measures itself anew
  return before;
}

/** Open a report that is folded to its rail; what is stored stays. */
export function unfold(root) {
  if (root.dataset.layout === "slide" && !isNarrow()) showLayout(root, "balanced");
}

export function startPanes(root) {
  const stored = JSON.parse(root.dataset.stored || "{}");
  for (const [name, size] of Object.entries(stored)) {
    if (typeof size === "number") root.style.setProperty(`--pane-${name}`, `${size}px`);
  }
  if (stored.layout in LAYOUTS) root.dataset.layout = stored.layout;
  for (const splitter of root.querySelectorAll("[data-splitter]")) startSplitter(root, splitter, stored);
  startLayouts(root, stored);
  startTabs(root);
  startWalk(root);
}

// --- What is stored --------------------------------------------------------------

let waiting;

function store(root, stored) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const headers = { "Content-Type": "application/json", ...JSON.parse(document.body.getAttribute("hx-headers")) };
    fetch(root.dataset.panes, { method: "POST", headers, body: JSON.stringify(stored), keepalive: true }).catch(() => {});
  }, 500);
}

// --- Splitters -------------------------------------------------------------------

function startSplitter(root, splitter, stored) {
  const pane = root.querySelector(`[data-pane="${splitter.dataset.splitter}"]`);
  const least = Number(splitter.dataset.least);
  const isRow = () => getComputedStyle(splitter).getPropertyValue("--axis").trim() === "y";
  const name = () => splitter.dataset.splitter + (isRow() ? "-height" : "");
  const size = () => (isRow() ? pane.offsetHeight : pane.offsetWidth);
  const most = () => {
    const slide = root.querySelector('[data-pane="slide"]');
    const room = isRow() ? slide.offsetHeight - 160 : freeWidth(root, slide);
    return size() + Math.max(0, room);
  };

  function describe() {
    splitter.setAttribute("aria-orientation", isRow() ? "horizontal" : "vertical");
    splitter.setAttribute("aria-valuemin", isRow() ? 120 : least);
    splitter.setAttribute("aria-valuemax", Math.round(most()));
    splitter.setAttribute("aria-valuenow", Math.round(size()));
    splitter.setAttribute("aria-valuetext", `${Math.round(size())} pixels`);
  }

  function set(pixels) {
    const chosen = Math.round(Math.min(Math.max(pixels, isRow() ? 120 : least), most()));
    if (root.dataset.layout === "report") setLayout(root, "balanced", stored);
    root.style.setProperty(`--pane-${name()}`, `${chosen}px`);
    stored[name()] = chosen;
    describe();
    dispatchEvent(new Event("resize"));
    store(root, stored);
  }

  function reset() {
    root.style.removeProperty(`--pane-${name()}`);
    delete stored[name()];
    describe();
    dispatchEvent(new Event("resize"));
    store(root, stored);
  }

  splitter.addEventListener("pointerdown", (event) => {
    splitter.setPointerCapture(event.pointerId);
    splitter.classList.add("is-dragged");
    const start = { at: isRow() ? event.clientY : event.clientX, size: size() };
    const drag = (move) => set(start.size + start.at - (isRow() ? move.clientY : move.clientX));
    splitter.addEventListener("pointermove", drag);
    splitter.addEventListener("lostpointercapture", () => {
      splitter.classList.remove("is-dragged");
      splitter.removeEventListener("pointermove", drag);
    }, { once: true });
  });
  splitter.addEventListener("dblclick", reset);
  splitter.addEventListener("focus", describe);
  splitter.addEventListener("keydown", (event) => {
    const larger = isRow() ? "ArrowUp" : "ArrowLeft";
    const smaller = isRow() ? "ArrowDown" : "ArrowRight";
    if (event.key === larger) set(size() + STEP_PX);
    else if (event.key === smaller) set(size() - STEP_PX);
    else if (event.key === "Home") set(0);
    else if (event.key === "End") set(Infinity);
    else if (event.key === "Enter") reset();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  describe();
}

/** How much wider the others may get before the first wide pane is too narrow. */
function freeWidth(root, slide) {
  const first = slide.classList.contains("is-rail") ? root.querySelector('[data-pane="report"]') : slide;
  return first.offsetWidth - SLIDE_LEAST_PX;
}

// --- Layouts ---------------------------------------------------------------------

function showLayout(root, layout) {
  root.dataset.layout = layout;
  const button = document.querySelector('[data-command="panes.layout"]');
  if (button) button.textContent = `Layout: ${LAYOUTS[layout]}`;
  dispatchEvent(new Event("resize"));
}

function setLayout(root, layout, stored) {
  stored.layout = layout;
  showLayout(root, layout);
}

function startLayouts(root, stored) {
  const button = document.querySelector('[data-command="panes.layout"]');
  const unfold = root.querySelector("[data-unfold]");
  const choose = (layout) => {
    setLayout(root, layout, stored);
    store(root, stored);
  };
  if (button && unfold && !root.matches(".no-slide")) {
    button.hidden = false;
    unfold.hidden = false;
    setLayout(root, root.dataset.layout, stored);
    button.addEventListener("click", () => {
      const names = Object.keys(LAYOUTS);
      choose(names[(names.indexOf(root.dataset.layout) + 1) % names.length]);
    });
    unfold.addEventListener("click", () => choose("balanced"));
  }
}

// --- Tabs and walking --------------------------------------------------------------

function startTabs(root) {
  const list = document.querySelector(".pane-tabs");
  if (!list) return;
  list.hidden = false;
  const tabs = [...list.querySelectorAll("[role=tab]")];
  showTab(root, tabs[0].dataset.tab);
  for (const tab of tabs) tab.addEventListener("click", () => showTab(root, tab.dataset.tab));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    showTab(root, next.dataset.tab);
    next.focus();
  });
}

function startWalk(root) {
  document.body.dataset.keyScopes = `${document.body.dataset.keyScopes ?? ""} panes`.trim();
  document.addEventListener("command", (event) => {
    const step = { "panes.next": 1, "panes.previous": -1 }[event.detail.id];
    if (!step) return;
    event.preventDefault();
    const panes = [...root.querySelectorAll("[data-pane]")];
    const at = panes.findIndex((pane) => pane.contains(document.activeElement));
    const next = panes[at < 0 ? 0 : (at + step + panes.length) % panes.length];
    if (isNarrow()) showTab(root, next.dataset.pane);
    next.focus();
  });
}
