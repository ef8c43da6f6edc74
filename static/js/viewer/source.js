// The file's own levels as a tile source of OpenSeadragon. It counts levels from the coarsest, our
// files and addresses from the finest; it thinks in powers of two, slides do not.

/** A custom tile source for what pyramid.json says. Never asks for a tile outside the file's grid. */
export function tileSource(pyramid) {
  const levels = pyramid.levels.toReversed();
  const height = pyramid.height / pyramid.width; // of the slide, when its width is 1
  const level = (number) => levels[number];
  return {
    width: pyramid.width,
    height: pyramid.height,
    minLevel: 0,
    maxLevel: levels.length - 1,
    tileOverlap: 0,
    getLevelScale: (number) => level(number).width / pyramid.width,
    getTileWidth: (number) => level(number).tile_width,
    getTileHeight: (number) => level(number).tile_height,
    getNumTiles: (number) => new OpenSeadragon.Point(level(number).columns, level(number).rows),
    getTileAtPoint(number, point) {
      const { width, height: rows_px, tile_width, tile_height, columns, rows } = level(number);
      const column = Math.floor((point.x * width) / tile_width);
      const row = Math.floor(((point.y / height) * rows_px) / tile_height);
      return new OpenSeadragon.Point(within(column, columns), within(row, rows));
    },
    // Both axes fill the slide exactly: the height of a level is rounded, so one scale for both would
    // leave or overlap up to a pixel at the bottom.
    getTileBounds(number, column, row, isSource) {
      const { width, height: height_px, tile_width, tile_height } = level(number);
      const x = column * tile_width;
      const y = row * tile_height;
      const w = Math.min(tile_width, width - x);
      const h = Math.min(tile_height, height_px - y);
      if (isSource) return new OpenSeadragon.Rect(0, 0, w, h);
      return new OpenSeadragon.Rect(x / width, (y / height_px) * height, w / width, (h / height_px) * height);
    },
    getTileUrl: (number, column, row) => tileAddress(pyramid, fileLevel(pyramid, number), column, row),
    hasTransparency: () => false,
  };
}

/** The level's number in the file for the number OpenSeadragon uses, and the other way round. */
export function fileLevel(pyramid, number) {
  return pyramid.levels.length - 1 - number;
}

/** The file's number of the level that is shown at `zoom` (screen pixels for one level-0 pixel): the
 * coarsest that is enlarged least, as OpenSeadragon's minPixelRatio 0.5 chooses it. */
export function shownLevel(pyramid, zoom) {
  const found = pyramid.levels.findIndex(
    (level) => (zoom * devicePixelRatio * pyramid.width) / level.width >= 0.5,
  );
  return found < 0 ? pyramid.levels.length - 1 : found;
}

/** The level-0 corners of a tile, clockwise from the top left. */
export function tileCorners(pyramid, levelNumber, column, row) {
  const level = pyramid.levels[levelNumber];
  const [left, right] = [column, column + 1].map(
    (each) => (Math.min(each * level.tile_width, level.width) * pyramid.width) / level.width,
  );
  const [top, bottom] = [row, row + 1].map(
    (each) => (Math.min(each * level.tile_height, level.height) * pyramid.height) / level.height,
  );
  return [[left, top], [right, top], [right, bottom], [left, bottom]];
}

function tileAddress(pyramid, level, column, row) {
  return pyramid.tiles.replace("{level}", level).replace("{column}", column).replace("{row}", row);
}

function within(index, count) {
  return Math.min(Math.max(index, 0), count - 1);
}
