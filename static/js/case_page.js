// The case page: choosing a triplet shows its evidence in the report, and the other way round.
import { announce } from "./frame.js";
import { isNarrow, showTab, startPanes, unfold } from "./panes.js";
import { RegionLayer } from "./regions/layer.js";
import { drawList } from "./regions/list.js";
import { bringIntoView, markPassage, startFind } from "./report.js";
import { openViewer } from "./viewer/viewer.js";

const panes = document.querySelector("[data-panes]");
const report = document.querySelector("[data-report]");
const slide = document.querySelector("[data-viewer]");
const viewer = slide && openViewer(slide);
const layer = viewer && new RegionLayer();
let back = null; // what Esc returns to after evidence was shown in another tab

function triplets() {
  return [...document.querySelectorAll("details[data-triplet]")];
}

function choose(details) {
  for (const each of triplets()) {
    if (each !== details) each.open = false; // browsers without exclusive <details>
    each.closest("li").toggleAttribute("aria-current", each === details);
  }
  details.closest("li").setAttribute("aria-current", "true");
  const address = new URL(location.href);
  address.searchParams.set("triplet", details.dataset.triplet);
  address.hash = "";
  history.replaceState(history.state, "", address);
  showRegions(details);
  const piece = report && markPassage(report, details.dataset.triplet);
  if (piece && !isNarrow() && !piece.matches("[data-near]:not([data-triplets])")) bringIntoView(piece);
}

/** Draw the regions of a triplet over the slide and list them at it. */
function showRegions(details) {
  const list = details.querySelector("[data-regions]");
  const regions = list ? JSON.parse(list.dataset.regions) : [];
  viewer?.known.then(() => {
    layer.show(regions, (region) => region.revision === viewer.pyramid.revision);
    if (list) drawList(list, regions, viewer);
    viewer.redraw();
  }, () => {});
}

document.addEventListener("region-show", () => {
  if (isNarrow()) back = { tab: showTab(panes, "slide"), focus: document.activeElement };
});

function showEvidence(link) {
  const piece = report && markPassage(report, link.dataset.show);
  if (!piece) return;
  unfold(panes);
  if (isNarrow()) {
    const before = showTab(panes, "report");
    back = { tab: before, focus: link };
  }
  bringIntoView(piece);
  announce(`Evidence of triplet ${link.dataset.show} shown in the report.`);
}

// Toggling does not bubble, so it is caught on the way down; triplets may be swapped at any time.
document.addEventListener("toggle", (event) => {
  if (event.target.matches("details[data-triplet]") && event.target.open) choose(event.target);
}, true);

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-show]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  showEvidence(link);
});

document.addEventListener("command", (event) => {
  const step = { "list.next": 1, "list.previous": -1 }[event.detail.id];
  if (!step) return;
  event.preventDefault();
  const all = triplets();
  const at = all.findIndex((each) => each.open);
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  if (!next) return;
  if (isNarrow()) showTab(panes, "triplets");
  next.open = true;
  next.querySelector("summary").focus({ preventScroll: true });
  bringIntoView(next);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !back) return;
  event.preventDefault();
  showTab(panes, back.tab);
  back.focus.focus();
  back = null;
});

// A passage of several triplets chooses the next of them with each click.
report?.addEventListener("click", (event) => {
  const piece = event.target.closest("[data-triplets]");
  if (!piece || getSelection().toString()) return;
  const numbers = piece.dataset.triplets.split(" ");
  const open = triplets().find((each) => each.open)?.dataset.triplet;
  const number = numbers[(numbers.indexOf(open) + 1) % numbers.length];
  const details = triplets().find((each) => each.dataset.triplet === number);
  if (!details) return; // the list is filtered
  if (isNarrow()) {
    back = { tab: showTab(panes, "triplets"), focus: details.querySelector("summary") };
  }
  details.open = true;
  bringIntoView(details);
});

document.body.dataset.keyScopes = "list evidence viewer";
startPanes(panes);
const find = document.querySelector("[data-find]");
if (find && report) startFind(find, report);
viewer?.addLayer(layer);
const current = triplets().find((each) => each.open);
if (current) choose(current);
