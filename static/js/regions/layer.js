// Regions drawn over the slide as SVG, and the one that is being placed, with handles at its corners.
import { svg } from "../viewer/overlay.js";
import { outlineOf } from "./geometry.js";

const POINT_PX = 7;
const HANDLE_PX = 5;
const TARGET_PX = matchMedia("(pointer: coarse)").matches ? 22 : 12; // what can be grabbed around a handle

export class RegionLayer {
  element = svg("g");
  #kept = svg("g");
  #placing = svg("g");
  #shapes = []; // { points, place(screen points) }
  #pending = [];

  constructor() {
    this.element.append(this.#kept, this.#placing);
  }

  /** Draw those of the regions for which isShown(region, index) is true. `label` and `reader` (0, 1, …) of
      a region say whose it is. */
  show(regions, isShown) {
    const className = (region) => (region.reader ? `region is-of-reader-${region.reader}` : "region");
    const shapes = regions.map((region, i) => isShown(region, i) && shape(region, region.label ?? `Region ${i + 1}`, className(region)));
    this.#shapes = shapes.filter(Boolean);
    this.#kept.replaceChildren(...this.#shapes.map(({ element }) => element));
  }

  /** Draw the region that is being placed (null: none) with a handle at each of its points. */
  showPlacing(region) {
    const outline = region && shape(region, "", "region is-placing");
    const handles = region ? region.points.map((point, i) => handle(point, i)) : [];
    this.#pending = region ? [outline, ...handles] : [];
    this.#placing.replaceChildren(...this.#pending.map(({ element }) => element));
  }

  place(toScreen) {
    for (const { points, place } of [...this.#shapes, ...this.#pending]) place(points.map(toScreen));
  }
}

function shape(region, label, className) {
  const isPoint = region.kind === "point";
  const lines = ["region-case", "region-line"].map((name) => svg(isPoint ? "circle" : "polygon", isPoint ? { class: name, r: POINT_PX } : { class: name }));
  const text = svg("text", { class: "region-label" }, label);
  const place = (points) => {
    for (const line of lines) {
      if (isPoint) put(line, points[0]);
      else line.setAttribute("points", points.join(" "));
    }
    text.setAttribute("x", Math.min(...points.map(([x]) => x)) + (isPoint ? 12 : 0));
    text.setAttribute("y", Math.min(...points.map(([, y]) => y)) + (isPoint ? 4 : -6));
  };
  return { element: svg("g", { class: className }, ...lines, text), points: outlineOf(region), place };
}

function handle(point, index) {
  const target = svg("circle", { class: "region-target", r: TARGET_PX, "data-handle": index });
  const dot = svg("circle", { class: "region-handle", r: HANDLE_PX });
  const place = ([at]) => [target, dot].forEach((circle) => put(circle, at));
  return { element: svg("g", {}, dot, target), points: [point], place };
}

function put(circle, [x, y]) {
  circle.setAttribute("cx", x);
  circle.setAttribute("cy", y);
}
