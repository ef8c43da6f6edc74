// The regions of one item: the list, the tools, files. Markup: templates/annotation/_regions.html.
import { announce } from "../frame.js";
import { headersFor } from "../workbench/server.js";
import { RegionLayer } from "./layer.js";
import { drawList, flyTo, showSlide } from "./list.js";
import { RegionTool } from "./tool.js";

const KINDS = { "region.point": "point", "region.box": "rectangle", "region.outline": "polygon" };

export class RegionEditor {
  #root; // [data-regions]
  #input; // holds the regions for the form
  #viewer;
  #regions;
  #layer = new RegionLayer();
  #tool;
  #changed;
  #editing = -1; // index of the region that is taken up again
  #removeLayer;

  /** `changed()` is called after each change by the person. */
  constructor(root, viewer, changed) {
    this.#root = root;
    this.#input = root.querySelector("input[name=regions]");
    this.#viewer = viewer;
    this.#changed = changed;
    this.#regions = JSON.parse(this.#input.value);
    this.#tool = new RegionTool(viewer, this.#layer, (region) => this.#placed(region));
    this.#removeLayer = viewer.addLayer(this.#layer);
    root.addEventListener("click", (event) => this.#pressed(event));
    root.querySelector("[data-regions-file]")?.addEventListener("change", (event) => this.#upload(event.target));
    this.#draw();
    viewer.known.then(() => this.#draw(), () => {});
  }

  /** Take over what the form holds now: restored, undone, or taken from another window. */
  refresh() {
    this.#tool.discard();
    this.#regions = JSON.parse(this.#input.value);
    this.#draw();
  }

  get count() {
    return this.#regions.length;
  }

  fly(index) {
    flyTo(this.#viewer, this.#regions[index], `Region ${index + 1}`);
  }

  dispose() {
    this.#tool.dispose();
    this.#removeLayer();
  }

  #draw() {
    const regions = this.#regions;
    const isKnown = Boolean(this.#viewer.pyramid);
    const tools = this.#root.querySelector("[data-region-tools]");
    if (tools) tools.hidden = !isKnown;
    this.#root.querySelector("[data-regions-none]").hidden = regions.length > 0;
    if (!isKnown) return;
    const { revision } = this.#viewer.pyramid; // what was drawn on another scan would lie in a wrong place
    this.#layer.show(regions, (region, i) => region.revision === revision && i !== this.#editing);
    const acts = tools ? { edit: (i) => this.#start(regions[i].kind, i), remove: (i) => this.#remove(i) } : {};
    drawList(this.#root.querySelector("[data-region-list]"), regions, this.#viewer, acts);
    this.#viewer.redraw();
  }

  #change(regions) {
    this.#regions = regions;
    this.#input.value = JSON.stringify(regions);
    this.#draw();
    this.#changed();
  }

  #pressed(event) {
    const command = event.target.closest("[data-command]")?.dataset.command;
    if (command in KINDS) this.#start(KINDS[command]);
  }

  async #start(kind, index = -1) {
    this.#tool.discard();
    const region = this.#regions[index];
    if (region) flyTo(this.#viewer, region, `Region ${index + 1}`);
    else showSlide(this.#viewer);
    if (!(await this.#viewer.ready.then(() => true, () => false))) return; // the viewer says why
    this.#editing = index;
    this.#draw();
    this.#tool.start(kind, region);
  }

  #remove(index) {
    this.#tool.discard();
    this.#change(this.#regions.filter((_, i) => i !== index));
    announce(`Region ${index + 1} removed. Undo brings it back.`);
    const rows = this.#root.querySelectorAll(".region-fly");
    (rows[Math.min(index, rows.length - 1)] ?? document.querySelector('[data-command="work.undo"]')).focus();
  }

  #placed(region) {
    const [at, regions] = [this.#editing, this.#regions];
    this.#editing = -1;
    // Later, so that the click that ended it does not fall on what the page shows then.
    setTimeout(() => this.#viewer.element.dispatchEvent(new CustomEvent("region-end", { bubbles: true })));
    if (!region) return this.#draw();
    this.#change(at < 0 ? [...regions, region] : regions.with(at, region));
    announce(`Region ${at < 0 ? regions.length + 1 : at + 1} kept.`);
  }

  async #upload(input) {
    const [file] = input.files;
    if (!file) return;
    const data = new FormData();
    data.set("file", file);
    const headers = headersFor(input.form);
    const words = this.#root.querySelector("[data-regions-problem]");
    words.hidden = true;
    try {
      const response = await fetch(input.dataset.address, { method: "POST", body: data, headers });
      const answer = await response.json();
      if (!response.ok) throw new Error(answer.message ?? `The server answered ${response.status}.`);
      this.#change([...this.#regions, ...answer.regions]);
      announce(`${answer.regions.length} regions added from the file. Undo takes them back.`);
    } catch (error) {
      words.textContent = error instanceof TypeError ? "No connection: the file was not read." : error.message;
      words.hidden = false;
    }
    input.value = "";
  }
}
