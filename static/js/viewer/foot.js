// The line under the slide: magnification and place, digital zoom, scale bars; and which preset is on.
import { digitalZoomWords, nativeMagnification, presetZoom, scaleBars, statusWords } from "./scale.js";

const SCALE_BAR_PX = 120;

/** Say what `view` shows. `part(name)` finds the element [data-viewer-<name>]. */
export function describeView(pyramid, view, part) {
  write(part("status"), statusWords(pyramid, view));
  write(part("digital"), digitalZoomWords(view));
  if (!pyramid.mpp) return;
  drawBars(part("scale"), scaleBars(pyramid, view, SCALE_BAR_PX));
  const native = nativeMagnification(pyramid);
  for (const button of part("presets").children) {
    const isCurrent = Math.abs(view.zoom / presetZoom(button.value, native) - 1) < 0.001;
    button.setAttribute("aria-pressed", isCurrent);
  }
}

function drawBars(scale, bars) {
  for (const [at, shown] of [...scale.children].entries()) {
    shown.hidden = !bars[at];
    if (!bars[at]) continue;
    shown.firstElementChild.style.inlineSize = `${bars[at].width_px}px`;
    write(shown.lastElementChild, bars[at].words);
  }
}

export function write(element, words) {
  if (element.textContent !== words) element.textContent = words;
}
