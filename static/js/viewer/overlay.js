// What is drawn over the slide: regions and the places of missing tiles. Everything is given in
// level-0 pixels and placed anew for each frame, so lines keep their width at every zoom.
const SVG = "http://www.w3.org/2000/svg";
const CLOSED = { rectangle: true, polygon: true };

function draw(name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** The level-0 corners of a region; a rectangle is given by two opposite ones. */
export function corners({ kind, points }) {
  if (kind !== "rectangle") return points;
  const [[x1, y1], [x2, y2]] = points;
  return [[x1, y1], [x2, y1], [x2, y2], [x1, y2]];
}

export class Overlay {
  #svg = draw("svg", { class: "viewer-overlay", "aria-hidden": "true" });
  #tiles = draw("g");
  #regions = draw("g");
  #shapes = []; // { points (level 0), place(screen points) }
  #holes = [];

  constructor(surface) {
    const pattern = draw("pattern", { id: "viewer-hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    pattern.append(draw("rect", { width: 8, height: 8, class: "hatch-ground" }), draw("rect", { width: 3, height: 8, class: "hatch-line" }));
    const definitions = draw("defs");
    definitions.append(pattern);
    this.#svg.append(definitions, this.#tiles, this.#regions);
    surface.after(this.#svg); // over the slide, under the buttons
  }

  setRegions(regions) {
    this.#shapes = regions.map((region) => this.#shape(region));
    this.#regions.replaceChildren(...this.#shapes.map((shape) => shape.group));
  }

  /** Hatch what lies between these level-0 corners: [[x, y], ...] for each tile. */
  setHoles(holes) {
    this.#holes = holes.map((points) => ({ points, element: draw("polygon", { fill: "url(#viewer-hatch)" }) }));
    this.#tiles.replaceChildren(...this.#holes.map((hole) => hole.element));
  }

  /** Place everything for the current frame; `toScreen([x, y])` answers CSS pixels of the surface. */
  place(toScreen) {
    for (const hole of this.#holes) hole.element.setAttribute("points", hole.points.map(toScreen).join(" "));
    for (const shape of this.#shapes) shape.place(shape.points.map(toScreen));
  }

  #shape(region) {
    const closed = CLOSED[region.kind];
    const group = draw("g", { class: region.current ? "region is-current" : "region", "data-region-id": region.id });
    const lines = ["region-case", "region-line"].map((name) => (closed ? draw("polygon", { class: name }) : draw("circle", { class: name, r: 7 })));
    const label = draw("text", { class: "region-label" });
    label.textContent = region.label ?? "";
    group.append(...lines, label);
    const place = (points) => {
      for (const line of lines) {
        if (closed) line.setAttribute("points", points.join(" "));
        else [line.cx.baseVal.value, line.cy.baseVal.value] = points[0];
      }
      label.setAttribute("x", Math.min(...points.map(([x]) => x)) + (closed ? 0 : 12));
      label.setAttribute("y", Math.min(...points.map(([, y]) => y)) - (closed ? 6 : -4));
    };
    return { group, points: corners(region), place };
  }
}
