// The levels of a slide as a tile source of OpenSeadragon. It counts levels from the coarsest, our
// files and addresses from the finest; it thinks in powers of two, slides do not.

/** The levels of a pyramid, coarsest first: those of the file, named by their number, and virtual
 * ones, which the server makes of a finer level. `across` and `down` are the slide's size in pixels of
 * the level: of a virtual one not a whole number, its last pixels reach beyond the slide. */
export function levelsOf(pyramid) {
  const native = pyramid.levels.map((level, number) => ({
    ...level,
    name: String(number),
    across: level.width,
    down: level.height,
  }));
  const virtual = (pyramid.virtual_levels ?? []).map((level) => {
    const source = pyramid.levels[level.source];
    return { ...level, across: source.width / level.factor, down: source.height / level.factor };
  });
  return [...native, ...virtual].sort((one, other) => other.downsample - one.downsample);
}

/** A custom tile source for what pyramid.json says. Never asks for a tile outside a level's grid. */
export function tileSource(pyramid) {
  const levels = levelsOf(pyramid);
  const height = pyramid.height / pyramid.width; // of the slide, when its width is 1
  return {
    width: pyramid.width,
    height: pyramid.height,
    minLevel: 0,
    maxLevel: levels.length - 1,
    tileOverlap: 0,
    getLevelScale: (number) => levels[number].across / pyramid.width,
    getTileWidth: (number) => levels[number].tile_width,
    getTileHeight: (number) => levels[number].tile_height,
    getNumTiles: (number) => new OpenSeadragon.Point(levels[number].columns, levels[number].rows),
    getTileAtPoint(number, point) {
      const { across, down, tile_width, tile_height, columns, rows } = levels[number];
      const column = Math.floor((point.x * across) / tile_width);
      const row = Math.floor(((point.y / height) * down) / tile_height);
      return new OpenSeadragon.Point(within(column, columns), within(row, rows));
    },
    // Both axes fill the slide exactly: the height of a level is rounded, so one scale for both would
    // leave or overlap up to a pixel at the bottom.
    getTileBounds(number, column, row, isSource) {
      const { across, down, tile_width, tile_height } = levels[number];
      const x = column * tile_width;
      const y = row * tile_height;
      const w = Math.min(tile_width, across - x);
      const h = Math.min(tile_height, down - y);
      if (isSource) return new OpenSeadragon.Rect(0, 0, w, h);
      return new OpenSeadragon.Rect(x / across, (y / down) * height, w / across, (h / down) * height);
    },
    getTileUrl: (number, column, row) => tileAddress(pyramid, levels[number].name, column, row),
    hasTransparency: () => false,
  };
}

/** OpenSeadragon's number of the level that is shown at `zoom` (screen pixels for one level-0 pixel):
 * the coarsest that is enlarged least, as its minPixelRatio 0.5 chooses it. */
export function shownLevel(pyramid, zoom) {
  const levels = levelsOf(pyramid);
  const found = levels.findLastIndex((level) => (zoom * devicePixelRatio * pyramid.width) / level.across >= 0.5);
  return Math.max(found, 0);
}

/** The level-0 corners of a tile, clockwise from the top left. `number` is OpenSeadragon's. */
export function tileCorners(pyramid, number, column, row) {
  const level = levelsOf(pyramid)[number];
  const [left, right] = [column, column + 1].map(
    (each) => (Math.min(each * level.tile_width, level.across) * pyramid.width) / level.across,
  );
  const [top, bottom] = [row, row + 1].map(
    (each) => (Math.min(each * level.tile_height, level.down) * pyramid.height) / level.down,
  );
  return [[left, top], [right, top], [right, bottom], [left, bottom]];
}

function tileAddress(pyramid, level, column, row) {
  return pyramid.tiles.replace("{level}", level).replace("{column}", column).replace("{row}", row);
}

function within(index, count) {
  return Math.min(Math.max(index, 0), count - 1);
}
