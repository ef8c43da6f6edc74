// A view in the address: ?view=x,y,zoom,rotation. Centre in level-0 pixels, zoom in screen pixels for
// one level-0 pixel, rotation in degrees. Tenths of a pixel keep the view within one level-0 pixel.

export function viewToText({ x_l0_px, y_l0_px, zoom, rotation_deg }) {
  return [x_l0_px.toFixed(1), y_l0_px.toFixed(1), Number(zoom.toPrecision(6)), rotation_deg].join(",");
}

/** The view that the address asks for, or null where it asks for none that can be. */
export function viewFromAddress(search) {
  const parts = (new URLSearchParams(search).get("view") ?? "").split(",");
  if (parts.length !== 4 || parts.some((part) => !/^-?\d{1,9}(\.\d{1,12})?(e-?\d{1,2})?$/.test(part))) return null;
  const [x_l0_px, y_l0_px, zoom, rotation] = parts.map(Number);
  if (zoom <= 0 || rotation % 90) return null;
  return { x_l0_px, y_l0_px, zoom, rotation_deg: ((rotation % 360) + 360) % 360 };
}

/** Write the view (null: none) into the address of the page, without a step for Back to undo. */
export function writeAddress(view) {
  const address = new URL(location.href);
  if (view) address.searchParams.set("view", viewToText(view));
  else address.searchParams.delete("view");
  address.search = address.search.replaceAll("%2C", ",");
  history.replaceState(history.state, "", address);
}
