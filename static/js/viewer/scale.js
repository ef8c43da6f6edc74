// Magnification, micrometres and the scale bar: numbers of a view and the words for them.
const THIN = "\u202f"; // narrow no-break space between number and unit

export const PRESETS = [2.5, 5, 10, 20, 40];

/** The magnification at one screen pixel for each level-0 pixel; null where the scale is unknown. */
export function nativeMagnification({ mpp, objective }) {
  if (!mpp) return null;
  return objective ?? 10 / ((mpp[0] + mpp[1]) / 2); // 1 µm/px is what a 10x objective gives
}

/** The zooms that + and - stop at: the presets, or halves and doubles where there is no scale. */
export function zoomSteps(native) {
  if (native) return PRESETS.map((preset) => preset / native);
  return [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4];
}

export function magnificationWords(magnification) {
  return `${Number(magnification.toPrecision(3))}×`;
}

/** "10× · 1.01 µm/px · 12.40, 8.10 mm"; without a scale pixels only. */
export function statusWords(pyramid, view) {
  const native = nativeMagnification(pyramid);
  if (!native) {
    const share = Number((view.zoom * 100).toPrecision(2));
    const [x, y] = [view.x_l0_px, view.y_l0_px].map((each) => Math.round(each).toLocaleString("en"));
    return `${share}${THIN}% of native pixels · x ${x}, y ${y}${THIN}px`;
  }
  const [mppX, mppY] = pyramid.mpp;
  const onScreen = screenMpp(pyramid, view);
  const micrometres = onScreen < 0.1 ? onScreen.toFixed(3) : onScreen.toFixed(onScreen < 100 ? 2 : 0);
  const place = [view.x_l0_px * mppX, view.y_l0_px * mppY].map((each) => (each / 1000).toFixed(2));
  return `${magnificationWords(native * view.zoom)} · ${micrometres}${THIN}µm/px · ${place.join(", ")}${THIN}mm`;
}

/** "digital zoom 2.0×" beyond the pixels of the file, else "". */
export function digitalZoomWords(view) {
  return view.zoom > 1.005 ? `digital zoom ${view.zoom.toFixed(1)}×` : "";
}

/** The longest bar of 1, 2 or 5 times a power of ten that is at most `most_px` wide. */
export function scaleBar(pyramid, view, most_px) {
  const onScreen = screenMpp(pyramid, view);
  const most_um = onScreen * most_px;
  const power = 10 ** Math.floor(Math.log10(most_um));
  const length_um = [5, 2, 1].find((each) => each * power <= most_um) * power;
  const words = length_um >= 1000 ? `${length_um / 1000}${THIN}mm` : `${Number(length_um.toPrecision(1))}${THIN}µm`;
  return { width_px: length_um / onScreen, words };
}

/** Micrometres for one screen pixel along the screen's width, which is the slide's height when turned. */
function screenMpp({ mpp }, view) {
  return (view.rotation_deg % 180 ? mpp[1] : mpp[0]) / view.zoom;
}
