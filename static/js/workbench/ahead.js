// The next item, fetched while the present one is read: its page, and the first tiles of its slide. It
// is not given out by that; which item comes next is said by the answer to Submit.
import { fetchPyramid } from "../viewer/opening.js";
import { levelsOf, shownLevel, tileSource } from "../viewer/source.js";

const MOST_TILES = 24;

export class Ahead {
  #page = null;

  /** `viewer` is that of the present item, or null: its own tiles come first. */
  constructor(address, viewer, signal) {
    if (address) this.#fetch(address, viewer, signal).catch(() => {}); // then it is fetched when it is due
  }

  /** The page of the item at this address, if that is the one that was fetched. */
  take(address) {
    const form = this.#page?.querySelector("[data-work]");
    return form?.getAttribute("action") === address ? this.#page : null;
  }

  async #fetch(address, viewer, signal) {
    await viewer?.ready.catch(() => {});
    const response = await fetch(address, { signal, priority: "low" });
    if (response.status !== 200 || response.redirected) return;
    this.#page = new DOMParser().parseFromString(await response.text(), "text/html");
    const slide = this.#page.querySelector("[data-pyramid]");
    if (slide && slide.dataset.pyramid !== viewer?.element.dataset.pyramid) await fetchTiles(slide, viewer);
  }
}

/** Have the browser keep what the viewer asks for first: the whole slide in the size of the pane. */
async function fetchTiles(slide, viewer) {
  const pyramid = await fetchPyramid(slide.dataset.pyramid);
  const { clientWidth, clientHeight } = viewer?.element ?? document.querySelector("[data-panes]");
  const number = shownLevel(pyramid, Math.min(clientWidth / pyramid.width, clientHeight / pyramid.height));
  const { columns, rows } = levelsOf(pyramid)[number];
  const { getTileUrl } = tileSource(pyramid);
  new Image().src = slide.querySelector("[data-viewer-still]").getAttribute("src");
  for (let tile = 0; tile < Math.min(columns * rows, MOST_TILES); tile++) {
    new Image().src = getTileUrl(number, tile % columns, Math.floor(tile / columns));
  }
}
