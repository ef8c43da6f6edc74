// What is drawn over the slide, placed anew for each frame so that lines keep their width at every
// zoom: the places of missing tiles, and layers of other modules. Everything is given in level-0 pixels.
const NAMESPACE = "http://www.w3.org/2000/svg";

/** An SVG element with these attributes. */
export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export class Overlay {
  #svg = svg("svg", { class: "viewer-overlay", "aria-hidden": "true" });
  #tiles = svg("g");
  #holes = []; // { points (level 0), element }
  #layers = new Set();

  constructor(surface) {
    const ground = svg("rect", { width: 8, height: 8, class: "hatch-ground" });
    const line = svg("rect", { width: 3, height: 8, class: "hatch-line" });
    const pattern = { id: "viewer-hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
    this.#svg.append(svg("defs", {}, svg("pattern", pattern, ground, line)), this.#tiles);
    surface.after(this.#svg); // over the slide, under the buttons
  }

  /** `layer`: { element (SVG), place(toScreen) }. Answers a function that takes it off again. */
  add(layer) {
    this.#layers.add(layer);
    this.#svg.append(layer.element);
    return () => {
      this.#layers.delete(layer);
      layer.element.remove();
    };
  }

  /** Hatch what lies between these level-0 corners: [[x, y], ...] for each tile. */
  setHoles(holes) {
    if (!holes.length && !this.#holes.length) return;
    this.#holes = holes.map((points) => ({ points, element: svg("polygon", { fill: "url(#viewer-hatch)" }) }));
    this.#tiles.replaceChildren(...this.#holes.map((hole) => hole.element));
  }

  /** Place everything for the current frame; `toScreen([x, y])` answers CSS pixels of the surface. */
  place(toScreen) {
    for (const hole of this.#holes) hole.element.setAttribute("points", hole.points.map(toScreen).join(" "));
    for (const layer of this.#layers) layer.place(toScreen);
  }
}
