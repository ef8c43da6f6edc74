// The pair map of a case: one tab stop, arrows move, Enter pins (the link itself), Esc unpins.
// Moving also says, under the map, which pair the cell is.
const PAGE_ROWS = 5;

/** Where a key leads from (row, column) in a grid of `rows` x `columns`; null = not a grid key. */
export function destination(key, ctrl, { row, column }, { rows, columns }) {
  const clamp = (value, size) => Math.max(0, Math.min(size - 1, value));
  const moves = {
    ArrowRight: [row, column + 1],
    ArrowLeft: [row, column - 1],
    ArrowDown: [row + 1, column],
    ArrowUp: [row - 1, column],
    Home: ctrl ? [0, 0] : [row, 0],
    End: ctrl ? [rows - 1, columns - 1] : [row, columns - 1],
    PageDown: [row + PAGE_ROWS, column],
    PageUp: [row - PAGE_ROWS, column],
  };
  if (!(key in moves) || (ctrl && key !== "Home" && key !== "End")) return null;
  const [toRow, toColumn] = moves[key];
  return { row: clamp(toRow, rows), column: clamp(toColumn, columns) };
}

function start(grid) {
  const cells = [...grid.tBodies[0].rows].map((row) => [...row.querySelectorAll("[data-cell]")]);
  const size = { rows: cells.length, columns: cells[0]?.length ?? 0 };
  if (!size.rows || !size.columns) return;
  const caption = document.querySelector("[data-grid-caption]");
  const at = new Map();
  cells.forEach((row, r) => row.forEach((cell, c) => at.set(cell, { row: r, column: c })));
  const pinned = () => grid.querySelector('[data-cell][aria-current="true"]');

  function stopAt(cell) {
    for (const each of at.keys()) each.tabIndex = each === cell ? 0 : -1;
  }

  function show(cell) {
    if (caption) caption.textContent = cell.getAttribute("aria-label");
    grid.querySelectorAll(".is-crossed").forEach((each) => each.classList.remove("is-crossed"));
    const { column } = at.get(cell);
    cell.closest("tr").cells[0].classList.add("is-crossed");
    grid.tHead.rows[0].cells[column + 1].classList.add("is-crossed");
  }

  stopAt(pinned() ?? cells[0][0]);
  grid.addEventListener("focusin", (event) => {
    const cell = event.target.closest("[data-cell]");
    if (!cell) return;
    stopAt(cell);
    show(cell);
  });
  grid.addEventListener("pointerover", (event) => {
    const cell = event.target.closest("[data-cell]");
    if (cell) show(cell);
  });
  grid.addEventListener("keydown", (event) => {
    const cell = event.target.closest("[data-cell]");
    if (!cell || event.altKey || event.metaKey || event.shiftKey) return;
    const to = destination(event.key, event.ctrlKey, at.get(cell), size);
    if (!to) return;
    event.preventDefault();
    cells[to.row][to.column].focus();
  });
  grid.addEventListener("click", (event) => {
    const cell = event.target.closest("[data-cell]");
    if (cell) markPinned(grid, cell);
  });
}

function markPinned(grid, cell) {
  for (const each of grid.querySelectorAll('[data-cell][aria-current="true"]')) each.removeAttribute("aria-current");
  cell?.setAttribute("aria-current", "true");
}

/** Show in the report where the evidence of the pair's reference stands. */
function followEvidence() {
  const pair = document.querySelector("[data-pair]");
  const report = document.querySelector("[data-report]");
  if (!pair || !report) return;
  const passages = [...report.querySelectorAll("[data-reference]")];
  for (const each of passages) {
    const isCurrent = each.dataset.reference.split(" ").includes(pair.dataset.reference);
    each.toggleAttribute("data-current", isCurrent);
    each.classList.toggle("is-current", isCurrent);
  }
  const first = passages.find((each) => each.hasAttribute("data-current"));
  if (first) report.scrollTop += first.getBoundingClientRect().top - report.getBoundingClientRect().top - report.clientHeight / 3;
}

if (typeof document !== "undefined") {
  const grid = document.querySelector("[data-pair-grid]");
  if (grid) start(grid);
  followEvidence();
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== "pair") return;
    const pair = document.querySelector("[data-pair]");
    const cell = grid && [...grid.querySelectorAll("[data-cell]")].find((each) => each.dataset.cell === pair?.dataset.pinned);
    if (grid) markPinned(grid, cell);
    followEvidence();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-show-evidence]")) followEvidence();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    document.querySelector("[data-unpin]")?.click();
  });
}
