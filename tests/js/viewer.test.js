import assert from "node:assert/strict";
import { test } from "node:test";

import { viewFromAddress, viewToText, writeAddress } from "../../static/js/viewer/address.js";
import { digitalZoomWords, nativeMagnification, scaleBar, statusWords, zoomSteps } from "../../static/js/viewer/scale.js";
import { shownLevel, tileCorners, tileSource } from "../../static/js/viewer/source.js";

const cmu = { width: 2220, height: 2967, mpp: [0.499, 0.499], objective: 20 };
const unknown = { width: 4443, height: 3567, mpp: null, objective: 20 };
const view = { x_l0_px: 1110, y_l0_px: 1483.5, zoom: 0.5, rotation_deg: 0 };
const plain = (words) => words.replaceAll("\u202f", " ");

globalThis.devicePixelRatio = 1;
globalThis.OpenSeadragon = {
  Point: function Point(x, y) { Object.assign(this, { x, y }); },
  Rect: function Rect(x, y, width, height) { Object.assign(this, { x, y, width, height }); },
};

test("the magnification is the objective's, or what the pixels are worth, or unknown", () => {
  assert.equal(nativeMagnification(cmu), 20);
  assert.equal(nativeMagnification({ mpp: [0.25, 0.25], objective: null }), 40);
  assert.equal(nativeMagnification(unknown), null);
});

test("the status says magnification, size of a pixel and place", () => {
  assert.equal(plain(statusWords(cmu, view)), "10× · 1.00 µm/px · 0.55, 0.74 mm");
  assert.equal(plain(statusWords(cmu, { ...view, zoom: 16 })), "320× · 0.031 µm/px · 0.55, 0.74 mm");
  assert.equal(plain(statusWords(cmu, { ...view, zoom: 0.001 })), "0.02× · 499 µm/px · 0.55, 0.74 mm");
});

test("without a scale the status names pixels only", () => {
  assert.equal(plain(statusWords(unknown, view)), "50 % of native pixels · x 1,110, y 1,484 px");
});

test("beyond the file's pixels the zoom is called digital", () => {
  assert.equal(digitalZoomWords({ zoom: 1 }), "");
  assert.equal(digitalZoomWords({ zoom: 2 }), "digital zoom 2.0×");
});

test("the scale bar is a round length and as long as it says", () => {
  for (const zoom of [0.0007, 0.01, 0.13, 0.5, 1, 7.7]) {
    const { width_px, words } = scaleBar(cmu, { ...view, zoom }, 120);
    const [length, unit] = plain(words).split(" ");
    const micrometres = Number(length) * (unit === "mm" ? 1000 : 1);
    assert.match(words, /^(1|2|5)0*\u202f(µm|mm)$|^0\.\d*[125]\u202fµm$/);
    assert.ok(width_px <= 120.0001 && width_px > 40);
    assert.ok(Math.abs(width_px - (micrometres / 0.499) * zoom) < 1e-6);
  }
});

test("a turned slide is measured along its other axis", () => {
  const oblong = { ...cmu, mpp: [0.25, 0.5] };
  assert.match(statusWords(oblong, { ...view, zoom: 1 }), /0\.25/);
  assert.match(statusWords(oblong, { ...view, zoom: 1, rotation_deg: 90 }), /0\.50/);
});

test("plus and minus stop at the presets", () => {
  assert.deepEqual(zoomSteps(20), [0.125, 0.25, 0.5, 1, 2]);
  assert.ok(zoomSteps(null).includes(1));
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

/** 400 invented pyramids whose levels are rounded down, as those of files are. */
function* pyramids() {
  let seed = 7;
  const random = (low, high) => low + Math.floor(((seed = (seed * 16807) % 2147483647) / 2147483647) * (high - low));
  for (let number = 0; number < 400; number++) {
    const [width, height, levels] = [random(1, 200000), random(1, 200000), []];
    for (let by = 1; by < 300; by *= random(2, 6) + random(0, 3) / 2) {
      const [w, h] = [width, height].map((side) => Math.max(1, Math.floor(side / by)));
      const [tile_width, tile_height] = [random(64, 1024), random(64, 1024)];
      levels.push({ width: w, height: h, tile_width, tile_height, columns: Math.ceil(w / tile_width), rows: Math.ceil(h / tile_height) });
    }
    yield { width, height, levels, tiles: "/t/{level}/{column}_{row}.jpg" };
  }
}

test("no pyramid makes the viewer ask for a tile outside the file's grid", () => {
  for (const pyramid of pyramids()) {
    const source = tileSource(pyramid);
    const end = pyramid.height / pyramid.width;
    for (let number = 0; number <= source.maxLevel; number++) {
      const { columns, rows } = pyramid.levels[source.maxLevel - number];
      for (const [x, y] of [[0, 0], [1, 0], [0, end], [1, end], [1 - 1e-9, end * (1 - 1e-9)], [0.3, end / 3]]) {
        const at = source.getTileAtPoint(number, new OpenSeadragon.Point(x, y));
        assert.ok(at.x >= 0 && at.x < columns && at.y >= 0 && at.y < rows);
      }
      assert.deepEqual({ ...source.getNumTiles(number) }, { x: columns, y: rows });
    }
  }
});

test("the tiles of every level fill the slide to its edges", () => {
  for (const pyramid of pyramids()) {
    const source = tileSource(pyramid);
    for (let number = 0; number <= source.maxLevel; number++) {
      const { columns, rows } = pyramid.levels[source.maxLevel - number];
      const last = source.getTileBounds(number, columns - 1, rows - 1);
      assert.ok(Math.abs(last.x + last.width - 1) < 1e-9);
      assert.ok(Math.abs(last.y + last.height - pyramid.height / pyramid.width) < 1e-9 * (1 + pyramid.height / pyramid.width));
    }
  }
});

test("addresses count levels from full resolution", () => {
  const [pyramid] = pyramids();
  const source = tileSource(pyramid);
  assert.equal(source.getTileUrl(source.maxLevel, 3, 4), "/t/0/3_4.jpg");
  assert.equal(source.getTileUrl(0, 0, 0), `/t/${source.maxLevel}/0_0.jpg`);
});

test("the level shown is the coarsest that is not enlarged more than twice", () => {
  const pyramid = { width: 4000, height: 4000, levels: [{ width: 4000 }, { width: 1000 }, { width: 250 }] };
  const shown = [1, 0.5, 0.49, 0.125, 0.12, 0.001].map((zoom) => shownLevel(pyramid, zoom));
  assert.deepEqual(shown, [0, 0, 1, 1, 2, 2]);
});

test("a tile at the edge ends where the slide does", () => {
  const level = { width: 1000, height: 700, tile_width: 256, tile_height: 256, columns: 4, rows: 3 };
  const pyramid = { width: 4000, height: 2800, levels: [{}, level] };
  assert.deepEqual(tileCorners(pyramid, 1, 3, 2), [[3072, 2048], [4000, 2048], [4000, 2800], [3072, 2800]]);
});
