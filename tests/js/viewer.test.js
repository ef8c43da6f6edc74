import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { viewFromAddress, viewToText, writeAddress } from "../../static/js/viewer/address.js";
import { digitalZoomWords, nativeMagnification, presetZoom, scaleBars, sizeWords, statusWords, zoomSteps } from "../../static/js/viewer/scale.js";
import { levelsOf, shownLevel, tileCorners, tileSource } from "../../static/js/viewer/source.js";

const cmu = { width: 2220, height: 2967, mpp: [0.499, 0.499], objective: 20 };
const unknown = { width: 4443, height: 3567, mpp: null, objective: 20 };
const view = { x_l0_px: 1110, y_l0_px: 1483.5, zoom: 0.5, rotation_deg: 0 };
const plain = (words) => words.replaceAll("\u202f", " ");

globalThis.devicePixelRatio = 1;
globalThis.OpenSeadragon = {
  Point: function Point(x, y) { Object.assign(this, { x, y }); },
  Rect: function Rect(x, y, width, height) { Object.assign(this, { x, y, width, height }); },
};

test("the magnification is what the pixels are worth, or unknown", () => {
  assert.equal(nativeMagnification({ mpp: [0.5, 0.5], objective: 40 }), 20); // a doubler is no magnification
  assert.equal(nativeMagnification({ mpp: [0.25, 0.25], objective: null }), 40);
  assert.equal(nativeMagnification(unknown), null);
});

test("the status says magnification, size of a pixel and place", () => {
  assert.equal(plain(statusWords(cmu, view)), "10× · 1.00 µm/px · 0.55, 0.74 mm");
  assert.equal(plain(statusWords(cmu, { ...view, zoom: 16 })), "321× · 0.031 µm/px · 0.55, 0.74 mm");
  assert.equal(plain(statusWords(cmu, { ...view, zoom: 0.001 })), "0.02× · 499 µm/px · 0.55, 0.74 mm");
});

test("without a scale the status names pixels only", () => {
  assert.equal(plain(statusWords(unknown, view)), "50 % of native pixels · x 1,110, y 1,484 px");
});

test("beyond the file's pixels the zoom is called digital", () => {
  assert.equal(digitalZoomWords({ zoom: 1 }), "");
  assert.equal(digitalZoomWords({ zoom: 1.04 }), ""); // 40× of a scanner with 0.26 µm
  assert.equal(digitalZoomWords({ zoom: 2 }), "digital zoom 2.0×");
});

test("the scale bar is a round length and as long as it says", () => {
  for (const zoom of [0.0007, 0.01, 0.13, 0.5, 1, 7.7]) {
    const [{ width_px, words }, ...others] = scaleBars(cmu, { ...view, zoom }, 120);
    assert.deepEqual(others, []);
    const [length, unit] = plain(words).split(" ");
    const micrometres = Number(length) * (unit === "mm" ? 1000 : 1);
    assert.match(words, /^(1|2|5)0*\u202f(µm|mm)$|^0\.\d*[125]\u202fµm$/);
    assert.ok(width_px <= 120.0001 && width_px > 40);
    assert.ok(Math.abs(width_px - (micrometres / 0.499) * zoom) < 1e-6);
  }
});

test("pixels that are not square are measured along both axes, which a turn exchanges", () => {
  const oblong = { ...cmu, mpp: [0.25, 0.5] };
  assert.match(plain(statusWords(oblong, { ...view, zoom: 1 })), / 0\.25 × 0\.50 µm\/px /);
  assert.match(plain(statusWords(oblong, { ...view, zoom: 1, rotation_deg: 90 })), / 0\.50 × 0\.25 µm\/px /);
  const [across, down] = scaleBars(oblong, { ...view, zoom: 1 }, 120);
  assert.deepEqual([plain(across.words), across.width_px], ["↔ 20 µm", 80]);
  assert.deepEqual([plain(down.words), down.width_px], ["↕ 50 µm", 100]);
});

test("plus and minus stop at the presets, and at the file's own pixels where a preset is near them", () => {
  assert.deepEqual(zoomSteps(20), [0.125, 0.25, 0.5, 1, 2]);
  assert.equal(presetZoom(20, 20.04), 1);
  assert.equal(presetZoom(40, 38), 40 / 38);
  assert.ok(zoomSteps(null).includes(1));
});

test("sizes are in millimetres, small ones in micrometres, and in pixels where there is no scale", () => {
  assert.equal(plain(sizeWords(cmu, [2405, 1603])), "1.2 × 0.80 mm");
  assert.equal(plain(sizeWords(cmu, [100, 60])), "50 × 30 µm");
  assert.equal(plain(sizeWords(unknown, [1200, 60])), "1,200 × 60 px");
});

test("an address brings back its view", () => {
  const text = viewToText({ x_l0_px: 1234.56, y_l0_px: 9.04, zoom: 0.123456789, rotation_deg: 270 });
  assert.equal(text, "1234.6,9.0,0.123457,270");
  assert.deepEqual(viewFromAddress(`?triplet=4&view=${text}`), { x_l0_px: 1234.6, y_l0_px: 9, zoom: 0.123457, rotation_deg: 270 });
  assert.equal(viewFromAddress("?view=1,2,1e-7,-90").rotation_deg, 270);
});

test("an address that makes no sense asks for no view", () => {
  for (const bad of ["", "1,2,3", "1,2,3,4,5", "a,b,c,d", "1,1,-1,0", "1,1,0,0", "1,1,1,45", "1e999,1,1,0", "NaN,1,1,0", "1,,1,0", "<,1,1,0"]) {
    assert.equal(viewFromAddress(`?view=${encodeURIComponent(bad)}`), null, bad);
  }
  assert.equal(viewFromAddress(""), null);
});

test("writing the view leaves the rest of the address alone", () => {
  const seen = [];
  globalThis.location = { href: "https://x.example/cases/1/?triplet=4&view=1,1,1,0#r" };
  globalThis.history = { state: null, replaceState: (state, title, address) => seen.push(String(address)) };
  writeAddress({ x_l0_px: 5, y_l0_px: 6, zoom: 0.5, rotation_deg: 90 });
  writeAddress(null);
  assert.deepEqual(seen, [
    "https://x.example/cases/1/?triplet=4&view=5.0,6.0,0.5,90#r",
    "https://x.example/cases/1/?triplet=4#r",
  ]);
});

/** The 1,000 pyramids of tests/slides/level_tables.py, as pyramid.json would say them. */
function* pyramids() {
  const named = ([width, height, tile_width, tile_height, columns, rows, downsample, ...last]) =>
    ({ width, height, tile_width, tile_height, columns, rows, downsample, last });
  const lines = readFileSync(new URL("../data/level_tables.json", import.meta.url), "utf8").trim().split("\n");
  for (const { levels, virtual_levels } of lines.map((line) => JSON.parse(line))) {
    const [width, height] = levels[0];
    const virtual = virtual_levels.map(([name, source, factor, ...row]) => ({ name, source, factor, ...named(row) }));
    yield { width, height, levels: levels.map(named), virtual_levels: virtual, tiles: "/t/{level}/{column}_{row}.jpg" };
  }
}

test("no pyramid makes the viewer ask for a tile outside a level's grid", () => {
  let tables = 0;
  for (const pyramid of pyramids()) {
    tables++;
    const source = tileSource(pyramid);
    const end = pyramid.height / pyramid.width;
    for (const [number, { columns, rows }] of levelsOf(pyramid).entries()) {
      for (const [x, y] of [[0, 0], [1, 0], [0, end], [1, end], [1 - 1e-9, end * (1 - 1e-9)], [0.3, end / 3]]) {
        const at = source.getTileAtPoint(number, new OpenSeadragon.Point(x, y));
        assert.ok(at.x >= 0 && at.x < columns && at.y >= 0 && at.y < rows);
      }
      assert.deepEqual({ ...source.getNumTiles(number) }, { x: columns, y: rows });
    }
  }
  assert.equal(tables, 1000);
});

test("every tile has the size that the server gives it", () => {
  for (const pyramid of pyramids()) {
    const source = tileSource(pyramid);
    for (const [number, { columns, rows, tile_width, tile_height, last }] of levelsOf(pyramid).entries()) {
      const corner = source.getTileBounds(number, columns - 1, rows - 1, true);
      assert.deepEqual([Math.ceil(corner.width), Math.ceil(corner.height)], last);
      if (columns < 2 || rows < 2) continue;
      const first = source.getTileBounds(number, 0, 0, true);
      assert.deepEqual([first.width, first.height], [tile_width, tile_height]);
    }
  }
});

test("the tiles of every level fill the slide to its edges", () => {
  for (const pyramid of pyramids()) {
    const source = tileSource(pyramid);
    for (const [number, { columns, rows }] of levelsOf(pyramid).entries()) {
      const last = source.getTileBounds(number, columns - 1, rows - 1);
      assert.ok(Math.abs(last.x + last.width - 1) < 1e-9);
      assert.ok(Math.abs(last.y + last.height - pyramid.height / pyramid.width) < 1e-9 * (1 + pyramid.height / pyramid.width));
    }
  }
});

test("addresses count levels from full resolution, and name the virtual ones", () => {
  const [pyramid] = pyramids();
  const source = tileSource(pyramid);
  assert.equal(source.getTileUrl(source.maxLevel, 3, 4), "/t/0/3_4.jpg");
  const names = levelsOf(pyramid).map(({ name }) => name);
  assert.deepEqual(names, ["v32.001", "2", "v8.00026", "1", "v2", "0"]);
  assert.equal(source.getTileUrl(4, 1, 0), "/t/v2/1_0.jpg");
});

test("the level shown is the coarsest that is not enlarged more than twice", () => {
  const levels = [1, 4, 16].map((downsample) => ({ width: 4000 / downsample, downsample }));
  const pyramid = { width: 4000, height: 4000, levels };
  const shown = [1, 0.5, 0.49, 0.125, 0.12, 0.001].map((zoom) => levelsOf(pyramid)[shownLevel(pyramid, zoom)].name);
  assert.deepEqual(shown, ["0", "0", "1", "1", "2", "2"]);
});

test("a tile at the edge ends where the slide does", () => {
  const level = { width: 1000, height: 700, tile_width: 256, tile_height: 256, columns: 4, rows: 3 };
  const pyramid = { width: 4000, height: 2800, levels: [{ downsample: 1 }, { ...level, downsample: 4 }] };
  assert.deepEqual(tileCorners(pyramid, 0, 3, 2), [[3072, 2048], [4000, 2048], [4000, 2800], [3072, 2800]]);
});
