// Tiles that could not be loaded. OpenSeadragon gives such a tile up for ever; here it is asked for
// again, twice by itself and then by the Retry button, and known to be missing meanwhile.
import { shownLevel, tileCorners } from "./source.js";

const AGAIN_AFTER_MS = [1000, 4000];

export class MissingTiles {
  #viewer;
  #pyramid;
  #failed = new Map(); // by address: the tile and how often it has failed

  constructor(viewer, pyramid, changed) {
    this.#viewer = viewer;
    this.#pyramid = pyramid;
    viewer.addHandler("tile-load-failed", ({ tile }) => {
      const address = tile.getUrl();
      const times = (this.#failed.get(address)?.times ?? 0) + 1;
      this.#failed.set(address, { tile, times });
      const wait = AGAIN_AFTER_MS[times - 1];
      if (wait) setTimeout(() => this.#load([tile]), wait);
      changed();
    });
    viewer.addHandler("tile-loaded", ({ tile }) => {
      if (this.#failed.delete(tile.getUrl())) changed();
    });
  }

  /** How many of the tiles that were asked for are not there. */
  get count() {
    return this.#failed.size;
  }

  /** The level-0 corners of the tiles that are missing in the view: those of the level shown there. */
  inView({ zoom, bounds_l0 }) {
    const level = shownLevel(this.#pyramid, zoom);
    return [...this.#failed.values()]
      .filter(({ tile }) => tile.level === level)
      .map(({ tile }) => tileCorners(this.#pyramid, level, tile.x, tile.y))
      .filter(([[left, top], , [right, bottom]]) =>
        left < bounds_l0.x + bounds_l0.width && right > bounds_l0.x
        && top < bounds_l0.y + bounds_l0.height && bottom > bounds_l0.y);
  }

  retry() {
    const all = [...this.#failed.values()];
    for (const each of all) each.times = 0;
    this.#load(all.map(({ tile }) => tile));
  }

  #load(tiles) {
    if (!this.#viewer.world) return; // closed meanwhile
    for (const tile of tiles) tile.exists = true;
    this.#viewer.world.update(true); // forceRedraw alone does not look for tiles again
    this.#viewer.forceRedraw();
  }
}
