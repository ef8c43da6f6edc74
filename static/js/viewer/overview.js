// The small picture of the whole slide: shows where the view is; a press or drag moves it there.

/** Bind the overview in `element`; answers a function that marks level-0 corners as the view. */
export function startOverview(element, pyramid, moveTo) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const [casing, frame] = ["region-case", "region-line"].map((name) => {
    const polygon = document.createElementNS(svg.namespaceURI, "polygon");
    polygon.setAttribute("class", name);
    return polygon;
  });
  svg.setAttribute("viewBox", `0 0 ${pyramid.width} ${pyramid.height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.append(casing, frame);
  element.append(svg);

  const move = (event) => {
    const box = element.getBoundingClientRect();
    moveTo(
      ((event.clientX - box.left) / box.width) * pyramid.width,
      ((event.clientY - box.top) / box.height) * pyramid.height,
    );
  };
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    move(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) move(event);
  });
  element.hidden = false;

  return (corners) => {
    for (const polygon of [casing, frame]) polygon.setAttribute("points", corners.join(" "));
  };
}
