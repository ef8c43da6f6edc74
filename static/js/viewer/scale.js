// Magnification, micrometres and the scale bar: numbers of a view and the words for them.
const THIN = "\u202f"; // narrow no-break space between number and unit

export const PRESETS = [2.5, 5, 10, 20, 40];
const NEAR_NATIVE = 0.05; // a preset so near to the file's own pixels shows exactly them
const SQUARE = 0.01; // pixels whose sides differ by less count as square

/** The magnification at one screen pixel for each level-0 pixel: 10x is 1 µm for a pixel, whatever the
 * objective was. Null where the scale is unknown. */
export function nativeMagnification({ mpp }) {
  return mpp && 10 / Math.sqrt(mpp[0] * mpp[1]);
}

/** The zoom (screen pixels for one level-0 pixel) of a preset. */
export function presetZoom(preset, native) {
  const zoom = preset / native;
  return Math.abs(zoom - 1) < NEAR_NATIVE ? 1 : zoom;
}

/** The zooms that + and - stop at: the presets, or halves and doubles where there is no scale. */
export function zoomSteps(native) {
  if (native) return PRESETS.map((preset) => presetZoom(preset, native));
  return [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4];
}

export function magnificationWords(magnification) {
  return `${Number(magnification.toPrecision(magnification < 10 ? 2 : 3))}×`;
}

/** "10× · 1.01 µm/px · 12.40, 8.10 mm"; without a scale pixels only. */
export function statusWords(pyramid, view) {
  const native = nativeMagnification(pyramid);
  if (!native) {
    const share = Number((view.zoom * 100).toPrecision(2));
    const [x, y] = [view.x_l0_px, view.y_l0_px].map((each) => Math.round(each).toLocaleString("en"));
    return `${share}${THIN}% of native pixels · x ${x}, y ${y}${THIN}px`;
  }
  const sides = screenMpp(pyramid, view).map((each) => each.toFixed(each < 0.1 ? 3 : each < 100 ? 2 : 0));
  const size = isSquare(pyramid) ? sides[0] : sides.join(" × ");
  return `${magnificationWords(native * view.zoom)} · ${size}${THIN}µm/px · ${placeWords(pyramid, [view.x_l0_px, view.y_l0_px])}`;
}

/** "12.40, 8.10 mm", or pixels where there is no scale. */
export function placeWords({ mpp }, [x_l0_px, y_l0_px]) {
  if (!mpp) return `${Math.round(x_l0_px).toLocaleString("en")}, ${Math.round(y_l0_px).toLocaleString("en")}${THIN}px`;
  return `${((x_l0_px * mpp[0]) / 1000).toFixed(2)}, ${((y_l0_px * mpp[1]) / 1000).toFixed(2)}${THIN}mm`;
}

/** "1.2 × 0.8 mm" of a width and height in level-0 pixels; micrometres below a tenth of a millimetre. */
export function sizeWords({ mpp }, [width_l0_px, height_l0_px]) {
  if (!mpp) return `${width_l0_px.toLocaleString("en")} × ${height_l0_px.toLocaleString("en")}${THIN}px`;
  const sides_um = [width_l0_px * mpp[0], height_l0_px * mpp[1]];
  if (Math.max(...sides_um) < 100) return `${sides_um.map((each) => each.toFixed(0)).join(" × ")}${THIN}µm`;
  return `${sides_um.map((each) => (each / 1000).toFixed(each < 1000 ? 2 : 1)).join(" × ")}${THIN}mm`;
}

/** "digital zoom 2.0×" beyond the pixels of the file, else "". */
export function digitalZoomWords(view) {
  return view.zoom >= 1.05 ? `digital zoom ${view.zoom.toFixed(1)}×` : "";
}

/** The scale bars: one where pixels are square, else one along and one down the screen. Each is the
 * longest of 1, 2 or 5 times a power of ten that is at most `most_px` wide. */
export function scaleBars(pyramid, view, most_px) {
  const sides = screenMpp(pyramid, view);
  if (isSquare(pyramid)) return [bar(sides[0], most_px, "")];
  return [bar(sides[0], most_px, "↔ "), bar(sides[1], most_px, "↕ ")];
}

function bar(onScreen_um, most_px, arrow) {
  const most_um = onScreen_um * most_px;
  const power = 10 ** Math.floor(Math.log10(most_um));
  const length_um = [5, 2, 1].find((each) => each * power <= most_um) * power;
  const words = length_um >= 1000 ? `${length_um / 1000}${THIN}mm` : `${Number(length_um.toPrecision(1))}${THIN}µm`;
  return { width_px: length_um / onScreen_um, words: arrow + words };
}

function isSquare({ mpp }) {
  return Math.abs(mpp[0] / mpp[1] - 1) < SQUARE;
}

/** Micrometres for one screen pixel along and down the screen: the slide's axes change places when it
 * is turned. */
function screenMpp({ mpp }, view) {
  const [x, y] = mpp.map((each) => each / view.zoom);
  return view.rotation_deg % 180 ? [y, x] : [x, y];
}
