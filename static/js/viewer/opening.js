// What has to be there before a slide can be shown, and how OpenSeadragon is set up.
import { nativeMagnification, PRESETS } from "./scale.js";
import { tileSource } from "./source.js";

const FLIGHT_S = 0.25;
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

export function options(element, pyramid) {
  const native = nativeMagnification(pyramid);
  const gestures = { clickToZoom: false, dblClickToZoom: true, pinchRotate: false, flickEnabled: !STILL.matches };
  return {
    element,
    tileSources: tileSource(pyramid),
    drawer: "canvas", // the browser manages its colours; no graphics context to lose
    showNavigationControl: false,
    keyboardNavEnabled: false, // its keys mirror the slide and take J and K
    animationTime: STILL.matches ? 0 : FLIGHT_S,
    blendTime: 0,
    imageLoaderLimit: 8,
    preserveImageSizeOnResize: true, // a wider pane shows more, not larger
    visibilityRatio: 0.5,
    minZoomImageRatio: 0.8,
    maxZoomPixelRatio: Math.max(4, native ? PRESETS.at(-1) / native : 0),
    gestureSettingsMouse: gestures,
    gestureSettingsTouch: gestures,
    gestureSettingsPen: gestures,
    gestureSettingsUnknown: gestures,
  };
}

export async function fetchPyramid(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  return response.json();
}

/** OpenSeadragon is a classic deferred script: there once the document is parsed. */
export function scriptsLoaded() {
  if (window.OpenSeadragon) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

/** Resolves when the element has a size: a pane behind a tab has none. */
export function visible(element) {
  return new Promise((resolve) => {
    const watch = new ResizeObserver(() => {
      if (!element.clientWidth || !element.clientHeight) return;
      watch.disconnect();
      resolve();
    });
    watch.observe(element);
  });
}
