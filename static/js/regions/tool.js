// Placing one region on the slide, by pointer, touch and keys. It is dropped at the centre of the view;
// arrows move and resize it, handles move its corners, a pointer on the slide draws it anew. Enter
// keeps it, Esc discards it. The keys stand in js/keys.js, the buttons in templates/slides/_viewer.html.
import { announce } from "../frame.js";
import { dropped, faultOf, inside, moved, MOST_CORNERS, regionWords, resized, tidied } from "./geometry.js";

const STEP_PX = 8; // of an arrow, on the screen
const DRAG_PX = 4; // a pointer that moved less has clicked
const NAMES = { point: "Point", rectangle: "Box", polygon: "Outline" };
const HOW = {
  point: "Click its place. Arrows move it.",
  rectangle: "Drag it, or click two corners. Arrows move it, with Shift resize it.",
  polygon: "Click its corners, double click the last. Arrows move it, with Shift resize it.",
};

export class RegionTool {
  #viewer;
  #layer;
  #bar; // [data-viewer-placing]
  #done; // (region or null) => void
  #kind = null; // of the region being placed, null while there is none
  #points = [];
  #isDropped = false; // it lies where it was dropped: the pointer draws it anew
  #start = null; // where the pointer went down, or the first corner of a box was clicked
  #life = new AbortController();

  constructor(viewer, layer, done) {
    this.#viewer = viewer;
    this.#layer = layer;
    this.#done = done;
    this.#bar = viewer.element.querySelector("[data-viewer-placing]");
    const { signal } = this.#life;
    document.addEventListener("command", (event) => this.#do(event.detail) && event.preventDefault(), { signal });
    this.#bar.addEventListener("click", ({ target }) => this.#do({ id: target.closest("button")?.dataset.command }), { signal });
    layer.element.addEventListener("pointerdown", (event) => this.#grab(event), { signal });
    viewer.element.addEventListener("pointermove", (event) => this.#follow(event), { signal });
  }

  get isPlacing() {
    return this.#kind !== null;
  }

  /** Drop a region of this kind at the centre of the view, or take up `region` again. The viewer is open. */
  start(kind, region) {
    this.#kind = kind;
    this.#isDropped = !region;
    this.#start = null;
    this.#points = region?.points ?? dropped(kind, this.#viewer.currentView().bounds_l0, this.#viewer.pyramid);
    this.#viewer.takeGestures((gesture) => this.#gesture(gesture));
    document.body.dataset.keyScopes += " placing";
    this.#bar.hidden = false;
    this.#say(`${NAMES[kind]}. ${HOW[kind]}`);
    this.#draw();
    this.#viewer.focus();
  }

  keep() {
    const region = tidied({ kind: this.#kind, points: this.#points });
    const fault = faultOf(region);
    if (fault) return this.#say(`${fault} ${HOW[this.#kind]}`);
    const { zoom, missing_tiles } = this.#viewer.currentView();
    this.#end({ ...region, revision: this.#viewer.pyramid.revision, zoom: Number(zoom.toPrecision(4)), missing_tiles });
  }

  discard() {
    if (this.isPlacing) this.#end(null);
  }

  dispose() {
    this.discard();
    this.#life.abort();
  }

  #end(region) {
    this.#kind = null;
    this.#viewer.takeGestures(({ name }) => name === "flick"); // of the drag that has just ended
    setTimeout(() => this.isPlacing || this.#viewer.takeGestures(null));
    document.body.dataset.keyScopes = document.body.dataset.keyScopes.replace(" placing", "");
    this.#bar.hidden = true;
    this.#layer.showPlacing(null);
    this.#done(region);
  }

  #say(words) {
    this.#bar.querySelector("[data-placing-words]").textContent = words;
    announce(words);
  }

  #draw() {
    this.#layer.showPlacing({ kind: this.#kind, points: this.#points });
    const isDrawn = this.#kind === "polygon" && !this.#isDropped && this.#points.length > 0;
    this.#bar.querySelector('[data-command="region.last-corner"]').hidden = !isDrawn;
    this.#viewer.redraw();
  }

  #set(points) {
    this.#points = inside(points, this.#viewer.pyramid);
    this.#draw();
  }

  // Keys and buttons

  /** Answers whether the command was one for the region being placed. */
  #do({ id, way }) {
    const commands = {
      "region.move": () => this.#step(way, moved),
      "region.resize": () => this.#step(way, resized),
      "region.keep": () => this.keep(),
      "region.discard": () => this.discard(),
      "region.last-corner": () => this.#cornerBack(),
    };
    if (!this.isPlacing || !commands[id]) return false;
    commands[id]();
    return true;
  }

  /** One step along the screen, finer the closer one looks; never less than a pixel of the slide. */
  #step([across, down], change) {
    const { zoom, rotation_deg } = this.#viewer.currentView();
    const step = Math.max(1, Math.round(STEP_PX / zoom));
    const turn = (-rotation_deg * Math.PI) / 180;
    const x = Math.round(across * Math.cos(turn) - down * Math.sin(turn));
    const y = Math.round(across * Math.sin(turn) + down * Math.cos(turn));
    // To the right and down on the screen is larger, however the slide is turned.
    const way = change === resized ? [Math.abs(x) * (across + down), Math.abs(y) * (across + down)] : [x, y];
    this.#points = change(this.#points, [way[0] * step, way[1] * step], this.#viewer.pyramid);
    this.#draw();
    announce(regionWords({ kind: this.#kind, points: this.#points }, this.#viewer.pyramid));
  }

  #cornerBack() {
    if (this.#kind === "polygon" && !this.#isDropped) this.#set(this.#points.slice(0, -1));
  }

  // Handles

  #grab(event) {
    const index = event.target.dataset.handle;
    if (index === undefined || !this.isPlacing) return;
    event.preventDefault();
    this.#isDropped = false;
    const surface = this.#viewer.element.querySelector("[data-viewer-surface]");
    const drag = (move) => this.#set(this.#points.with(Number(index), this.#viewer.placeAt(placeIn(surface, move))));
    const end = new AbortController();
    addEventListener("pointermove", drag, { signal: end.signal });
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => end.abort(), { signal: end.signal });
  }

  // The pointer on the slide

  /** Answers whether the tool takes the gesture, so that the viewer leaves it alone. */
  #gesture(gesture) {
    const act = { point: this.#pointGesture, rectangle: this.#boxGesture, polygon: this.#outlineGesture }[this.#kind];
    return act.call(this, gesture);
  }

  #pointGesture({ name, at, quick, pointerType }) {
    if (name === "click" && quick) {
      this.#isDropped = false;
      this.#set([at]);
      this.#keepUnlessTouch(pointerType);
    }
    return name === "click" || name === "double";
  }

  #boxGesture({ name, at, screen, pointerType }) {
    if (name === "press" && !this.#start) this.#start = { at, screen, isClicked: false };
    if (name === "drag" && this.#start) this.#set([this.#start.at, at]);
    if (name === "release" && this.#start) this.#releaseBox(at, screen, pointerType);
    return name !== "press";
  }

  #releaseBox(at, screen, pointerType) {
    const { at: from, screen: pressed, isClicked } = this.#start;
    const isDrag = Math.hypot(screen[0] - pressed[0], screen[1] - pressed[1]) > DRAG_PX;
    this.#isDropped = false;
    if (!isDrag && !isClicked) {
      this.#start = { at, screen, isClicked: true };
      return this.#say("Click the opposite corner.");
    }
    this.#start = null;
    this.#set([from, at]);
    this.#keepUnlessTouch(pointerType);
  }

  #outlineGesture({ name, at, quick, screen, pointerType }) {
    if (name === "click" && quick) this.#addCorner(at, screen);
    if (name === "double") this.#keepUnlessTouch(pointerType);
    return name === "click" || name === "double";
  }

  /** The second click of a double click falls on the corner of the first. */
  #addCorner(at, screen) {
    const last = this.#start;
    if (!this.#isDropped && last && Math.hypot(screen[0] - last[0], screen[1] - last[1]) <= DRAG_PX) return;
    const before = this.#isDropped ? [] : this.#points;
    this.#isDropped = false;
    this.#start = screen;
    if (before.length < MOST_CORNERS) this.#set([...before, at]);
    this.#say(`${this.#points.length} ${this.#points.length === 1 ? "corner" : "corners"}. Enter or a double click closes the outline.`);
  }

  /** A finger is not exact: what it placed can still be moved by its handles. */
  #keepUnlessTouch(pointerType) {
    if (pointerType === "touch") this.#say(`${NAMES[this.#kind]}. Move it by its handles, then keep it.`);
    else this.keep();
  }

  /** Between the two clicks of a box its second corner is where the pointer is. */
  #follow(event) {
    if (!this.#start?.isClicked || event.buttons) return;
    const surface = this.#viewer.element.querySelector("[data-viewer-surface]");
    this.#set([this.#start.at, this.#viewer.placeAt(placeIn(surface, event))]);
  }
}

function placeIn(surface, { clientX, clientY }) {
  const { left, top } = surface.getBoundingClientRect();
  return [clientX - left, clientY - top];
}
