// The slide viewer: OpenSeadragon on the file's own levels, with our own buttons, keys and words.
//
// const viewer = openViewer(element);   // element: [data-viewer] of templates/slides/_viewer.html
// viewer.flyTo({ x, y, width, height })  // level-0 pixels; never beyond native pixels
// viewer.goTo(view)                      // back to what currentView() answered
// viewer.currentView()                   // { x_l0_px, y_l0_px, zoom, rotation_deg, bounds_l0, … } or null
// viewer.on("view" | "missing", handler) // answers a function that takes the handler off again
// viewer.addLayer({ element, place })    // something drawn over the slide (overlay.js); so does this
// viewer.takeGestures(handler)           // handler(gesture) sees them first, and takes those it answers true
// viewer.pyramid, viewer.lostTiles       // what pyramid.json said; how many tiles did not come
// viewer.known, viewer.ready             // promises: of the pyramid; of the picture, once it has a place.
//                                        // Flights before it are kept for it
import { viewFromAddress, writeAddress } from "./address.js";
import { describeView, write } from "./foot.js";
import { startFullscreen } from "./fullscreen.js";
import { startLight } from "./light.js";
import { fetchPyramid, options, scriptsLoaded, visible } from "./opening.js";
import { Overlay } from "./overlay.js";
import { startOverview } from "./overview.js";
import { nativeMagnification, presetZoom, zoomSteps } from "./scale.js";
import { MissingTiles } from "./tiles.js";
import { keepToken } from "./token.js";

const FLIGHT_PADDING = 0.2;
// OpenSeadragon's events, by the name of the gesture.
const GESTURES = {
  press: "canvas-press",
  drag: "canvas-drag",
  release: "canvas-release",
  click: "canvas-click",
  double: "canvas-double-click",
  flick: "canvas-drag-end",
};

const opened = new Map(); // by element

/** The viewer of `element`; the same one however often it is asked for. Viewers whose element was
 * swapped out of the page meanwhile are closed. */
export function openViewer(element) {
  for (const [other, viewer] of opened) {
    if (other.isConnected) continue;
    viewer.close();
    opened.delete(other);
  }
  if (!opened.has(element)) opened.set(element, new SlideViewer(element));
  return opened.get(element);
}

class SlideViewer {
  #element;
  #pyramid;
  #osd = null;
  #overlay;
  #tiles;
  #markOverview;
  #isWhole = true; // the whole slide is shown and stays whole when the pane changes its size
  #missing = 0;
  #life = new AbortController(); // ends the listeners
  #takesGesture = null;
  #handlers = { view: new Set(), missing: new Set() };

  constructor(element) {
    this.#element = element;
    this.#overlay = new Overlay(this.#part("surface"));
    element.addEventListener("click", (event) => this.#press(event));
    this.known = fetchPyramid(element.dataset.pyramid).then((pyramid) => (this.#pyramid = pyramid));
    this.ready = this.#open();
    this.ready.catch((error) => this.#say("Could not load the slide.", error));
  }

  // --- For other modules ---------------------------------------------------------

  flyTo({ x, y, width, height }) {
    this.#whenReady(() => {
      const { clientWidth, clientHeight } = this.#part("surface");
      const { rotation_deg } = this.currentView();
      const [across, down] = rotation_deg % 180 ? [height, width] : [width, height];
      const room = 1 + 2 * FLIGHT_PADDING;
      const zoom = Math.min(1, clientWidth / (across * room), clientHeight / (down * room));
      this.#show({ x_l0_px: x + width / 2, y_l0_px: y + height / 2, zoom, rotation_deg }, false);
    });
  }

  goTo(view) {
    this.#whenReady(() => this.#show(view, false));
  }

  addLayer(layer) {
    const remove = this.#overlay.add(layer);
    this.redraw();
    return remove;
  }

  redraw() {
    this.#whenReady(() => this.#osd.forceRedraw());
  }

  /** `handler` is told { name, at: [x, y] (level 0), screen: [x, y], pointerType, quick } of each of
   * GESTURES before the viewer acts on it; null: nobody is told. */
  takeGestures(handler) {
    this.#takesGesture = handler;
  }

  /** The level-0 place under CSS pixels of the surface. */
  placeAt([x, y]) {
    const viewport = this.#osd.viewport;
    const place = viewport.viewportToImageCoordinates(viewport.pointFromPixel(new OpenSeadragon.Point(x, y), true));
    return [place.x, place.y];
  }

  focus() {
    this.#whenReady(() => this.#osd.canvas.focus({ preventScroll: true }));
  }

  get element() {
    return this.#element;
  }

  get pyramid() {
    return this.#pyramid;
  }

  get lostTiles() {
    return this.#tiles?.count ?? 0;
  }

  currentView() {
    return this.#element.matches(".is-open") ? this.#view(false) : null;
  }

  on(event, handler) {
    this.#handlers[event].add(handler);
    return () => this.#handlers[event].delete(handler);
  }

  close() {
    this.#life.abort();
    this.#osd?.destroy();
    this.#element.classList.remove("is-open");
  }

  /** Have the address of the page reopen the view; without one it opens the whole slide. */
  writeAddress() {
    writeAddress(this.#isWhole && !this.currentView().rotation_deg ? null : this.currentView());
  }

  // --- Opening -------------------------------------------------------------------

  async #open() {
    await this.known;
    keepToken(this.#pyramid.token, this.#life.signal);
    await scriptsLoaded();
    const surface = this.#part("surface");
    await visible(surface);
    this.#osd = OpenSeadragon(options(surface, this.#pyramid));
    await new Promise((resolve, reject) => {
      this.#osd.addOnceHandler("open", resolve);
      this.#osd.addOnceHandler("open-failed", reject);
    });
    this.#markOverview = startOverview(this.#part("overview"), this.#pyramid, (x, y) => this.#moveTo(x, y));
    this.#tiles = new MissingTiles(this.#osd, this.#pyramid, () => this.#osd.forceRedraw());
    this.#showControls();
    this.#listen();
    const asked = viewFromAddress(location.search);
    if (asked) this.#show(this.#inside(asked), true);
    this.#osd.forceRedraw();
  }

  #showControls() {
    const native = nativeMagnification(this.#pyramid);
    this.#element.classList.add("is-open");
    for (const part of ["tools", "foot"]) this.#part(part).hidden = false;
    this.#part("presets").hidden = native === null;
    this.#part("scale").hidden = native === null;
    this.#part("no-scale").hidden = native !== null;
    startLight(this.#part("light"), this.#part("surface"), this.#part("light-words"));
    startFullscreen(this.#part("fullscreen"), this.#element);
  }

  #listen() {
    const canvas = this.#osd.canvas;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", "Slide");
    canvas.setAttribute("aria-describedby", "viewer-help viewer-status");
    canvas.dataset.keysOf = "viewer"; // arrows are the slide's while it has the focus
    const scopes = new Set((document.body.dataset.keyScopes ?? "").split(" ")).add("viewer");
    document.body.dataset.keyScopes = [...scopes].join(" ").trim();
    for (const gesture of ["canvas-drag", "canvas-scroll", "canvas-double-click", "canvas-pinch"]) {
      this.#osd.addHandler(gesture, () => (this.#isWhole = false));
    }
    for (const [name, event] of Object.entries(GESTURES)) {
      this.#osd.addHandler(event, (gesture) => this.#gesture(name, gesture));
    }
    document.addEventListener("command", (event) => this.#command(event), { signal: this.#life.signal });
    // Told in the middle of OpenSeadragon's own fitting, so ours comes after it.
    this.#osd.addHandler("resize", () => queueMicrotask(() => this.#isWhole && this.#whole(true, { turned: true })));
    this.#osd.addHandler("update-viewport", () => this.#draw());
    this.#osd.addHandler("animation-finish", () => this.#settled());
  }

  // --- What a frame shows ----------------------------------------------------------

  /** The view now (`current`, in mid-flight) or where the flight goes. */
  #view(current) {
    const viewport = this.#osd.viewport;
    const center = viewport.viewportToImageCoordinates(viewport.getCenter(current));
    const zoom = viewport.viewportToImageZoom(viewport.getZoom(current));
    const rotation_deg = ((viewport.getRotation() % 360) + 360) % 360;
    const { x, y } = viewport.getContainerSize();
    const [width, height] = (rotation_deg % 180 ? [y, x] : [x, y]).map((each) => each / zoom);
    return {
      x_l0_px: center.x,
      y_l0_px: center.y,
      zoom,
      rotation_deg,
      bounds_l0: { x: center.x - width / 2, y: center.y - height / 2, width, height },
      magnification: this.#pyramid.mpp && nativeMagnification(this.#pyramid) * zoom,
      missing_tiles: this.#missing,
    };
  }

  #draw() {
    const view = this.#view(true);
    this.#sharpen(view);
    const viewport = this.#osd.viewport;
    const toScreen = ([x, y]) => {
      const place = viewport.pixelFromPoint(viewport.imageToViewportCoordinates(x, y), true);
      return [place.x, place.y];
    };
    const holes = this.#tiles.inView(view);
    this.#overlay.setHoles(holes);
    this.#overlay.place(toScreen);
    this.#placeStill(toScreen);
    const { x, y, width, height } = view.bounds_l0;
    this.#markOverview([[x, y], [x + width, y], [x + width, y + height], [x, y + height]]);
    describeView(this.#pyramid, view, (name) => this.#part(name));
    this.#count(holes.length);
  }

  /** The thumbnail lies under the tiles, so that the slide is there before they are. */
  #placeStill(toScreen) {
    const still = this.#part("still");
    const { width, height } = this.#pyramid;
    const [[x, y], right, bottom] = [[0, 0], [width, 0], [0, height]].map(toScreen);
    const across = [right[0] - x, right[1] - y].map((each) => each / still.offsetWidth);
    const down = [bottom[0] - x, bottom[1] - y].map((each) => each / still.offsetHeight);
    still.style.transform = `matrix(${[...across, ...down, x, y]})`;
  }

  #count(missing) {
    if (missing === this.#missing) return;
    this.#missing = missing;
    if (missing) this.#say(`${missing} ${missing === 1 ? "tile" : "tiles"} missing`);
    else this.#part("problem").hidden = true;
    for (const handler of this.#handlers.missing) handler(missing);
  }

  #say(words, error) {
    if (error) console.warn(error);
    write(this.#part("problem-words"), words);
    this.#part("problem").hidden = false;
  }

  #settled() {
    this.writeAddress();
    for (const handler of this.#handlers.view) handler(this.currentView());
  }

  // --- What people do --------------------------------------------------------------

  #press(event) {
    const button = event.target.closest("button");
    if (button?.matches("[data-retry]")) return this.#retry();
    if (!button || !this.#osd) return;
    if (button.matches("[data-magnification]")) this.#zoomTo(presetZoom(button.value, nativeMagnification(this.#pyramid)));
    const commands = {
      "viewer.zoom-in": () => this.#step(1),
      "viewer.zoom-out": () => this.#step(-1),
      "viewer.whole": () => this.#whole(false),
      "viewer.native": () => this.#zoomTo(1),
      "viewer.turn-left": () => this.#turn(-90),
      "viewer.turn-right": () => this.#turn(90),
    };
    commands[button.dataset.command]?.();
  }

  #retry() {
    this.#part("problem").hidden = true;
    if (this.#osd) this.#tiles.retry();
    else location.reload();
  }

  #show(view, immediately) {
    const viewport = this.#osd.viewport;
    const { x_l0_px, y_l0_px, zoom, rotation_deg } = this.#aligned(view);
    this.#isWhole = false;
    if (rotation_deg !== this.currentView().rotation_deg) viewport.setRotation(rotation_deg, true);
    viewport.panTo(viewport.imageToViewportCoordinates(x_l0_px, y_l0_px), immediately);
    viewport.zoomTo(viewport.imageToViewportZoom(zoom), null, immediately);
    viewport.applyConstraints(immediately);
  }

  #step(direction) {
    const { zoom } = this.currentView();
    const steps = zoomSteps(nativeMagnification(this.#pyramid));
    const next = direction > 0 ? steps.find((each) => each > zoom * 1.01) : steps.findLast((each) => each < zoom * 0.99);
    const whole = this.#osd.viewport.viewportToImageZoom(this.#osd.viewport.getHomeZoom());
    if (next && next > whole) this.#zoomTo(next);
    else if (direction < 0) this.#whole(false, { turned: true });
  }

  #zoomTo(zoom) {
    this.#show({ ...this.currentView(), zoom }, false);
  }

  #turn(degrees) {
    const { rotation_deg } = this.currentView();
    this.#osd.viewport.setRotation(rotation_deg + degrees, true);
    if (this.#isWhole) this.#whole(false, { turned: true });
    this.#settled();
  }

  #whole(immediately, { turned = false } = {}) {
    if (!turned) this.#osd.viewport.setRotation(0, true);
    this.#osd.viewport.goHome(immediately);
    this.#isWhole = true;
  }

  #moveTo(x_l0_px, y_l0_px) {
    this.#show(this.#inside({ ...this.currentView(), x_l0_px, y_l0_px }), true);
  }

  /** Arrows move the view that has the focus. */
  #command(event) {
    const share = { "viewer.pan": 0.1, "viewer.pan-far": 0.5 }[event.detail.id];
    if (!share || !this.#osd.canvas.contains(document.activeElement)) return;
    event.preventDefault();
    this.#panBy(event.detail.way, share);
  }

  #panBy([across, down], share) {
    const viewport = this.#osd.viewport;
    const { x, y } = viewport.getContainerSize();
    const step = new OpenSeadragon.Point(across * share * x, down * share * y);
    this.#isWhole = false;
    viewport.panBy(viewport.deltaPointsFromPixels(step, false));
    viewport.applyConstraints();
  }

  #gesture(name, event) {
    const { position, quick } = event;
    const { pointerType } = event.originalEvent;
    const screen = [position.x, position.y];
    const taken = this.#takesGesture?.({ name, at: this.placeAt(screen), screen, pointerType, quick });
    if (taken) event.preventDefaultAction = true;
  }

  // --- Small help --------------------------------------------------------------------

  #inside(view) {
    const { width, height } = this.#pyramid;
    const clamp = (value, most) => Math.min(Math.max(value, 0), most);
    return { ...view, x_l0_px: clamp(view.x_l0_px, width), y_l0_px: clamp(view.y_l0_px, height) };
  }

  /** OpenSeadragon stretches tiles without overlap by a pixel, which hides the seams between them. At the
   * file's own pixels there are none, and nothing may be stretched. */
  #sharpen({ zoom }) {
    const { source } = this.#osd.world.getItemAt(0);
    const overlap = Math.abs(zoom - 1) < 1e-9 ? Number.EPSILON : 0;
    if (source.tileOverlap === overlap) return;
    source.tileOverlap = overlap;
    this.#osd.world.update(true);
    this.#osd.forceRedraw();
  }

  /** At the file's own pixels each of them fills exactly one of the screen. */
  #aligned(view) {
    if (view.zoom !== 1) return view;
    const { x, y } = this.#osd.viewport.getContainerSize();
    const [width, height] = view.rotation_deg % 180 ? [y, x] : [x, y];
    const place = (center, side) => Math.round(center - side / 2) + side / 2;
    return { ...view, x_l0_px: place(view.x_l0_px, width), y_l0_px: place(view.y_l0_px, height) };
  }

  #whenReady(act) {
    if (this.#element.matches(".is-open")) act();
    else this.ready.then(act, () => {});
  }

  #part(name) {
    return this.#element.querySelector(`[data-viewer-${name}]`);
  }
}
