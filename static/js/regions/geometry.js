// Regions as pure geometry: { kind: "point" | "rectangle" | "polygon", points: [[x, y], ...] } in whole
// level-0 pixels. A rectangle is given by its top left and bottom right corner. The rules are those of
// medbench/slides/regions.py, which has the last word.
import { placeWords, sizeWords } from "../viewer/scale.js";

export const FEWEST = { point: 1, rectangle: 2, polygon: 3 };
export const MOST_CORNERS = 200;
const OUTLINE_CORNERS = 8; // of an outline that was dropped, not drawn

/** x, y, width and height of the points. */
export function boundsOf(points) {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

/** What is drawn of a region: a point, or the corners of its outline. */
export function outlineOf({ kind, points }) {
  if (kind !== "rectangle" || points.length < 2) return points;
  const { x, y, width, height } = boundsOf(points);
  return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]];
}

/** The points of a region of this kind at the centre of the view, a quarter of it wide and high. */
export function dropped(kind, { x, y, width, height }, slide) {
  const center = [x + width / 2, y + height / 2];
  const [across, down] = [width / 8, height / 8];
  const shapes = {
    point: [[0, 0]],
    rectangle: [[-across, -down], [across, down]],
    polygon: Array.from({ length: OUTLINE_CORNERS }, (_, i) => {
      const angle = ((2 * i + 1) * Math.PI) / OUTLINE_CORNERS;
      return [across * Math.cos(angle), down * Math.sin(angle)];
    }),
  };
  return inside(shapes[kind].map(([dx, dy]) => [center[0] + dx, center[1] + dy]), slide);
}

/** The points moved, as far as they stay on the slide. */
export function moved(points, [dx, dy], slide) {
  const { x, y, width, height } = boundsOf(points);
  const right = Math.min(Math.max(dx, -x), slide.width - x - width);
  const down = Math.min(Math.max(dy, -y), slide.height - y - height);
  return inside(points.map((point) => [point[0] + right, point[1] + down]), slide);
}

/** The points wider and higher by so many pixels, around their centre; never without any area. */
export function resized(points, [wider, higher], slide) {
  const { x, y, width, height } = boundsOf(points);
  if (!width || !height) return points;
  const across = Math.max(width + wider, 2) / width;
  const down = Math.max(height + higher, 2) / height;
  const [cx, cy] = [x + width / 2, y + height / 2];
  return inside(points.map((point) => [cx + (point[0] - cx) * across, cy + (point[1] - cy) * down]), slide);
}

/** Whole pixels, none of them beyond the slide. */
export function inside(points, { width, height }) {
  const whole = (value, most) => Math.min(Math.max(Math.round(value), 0), most);
  return points.map(([x, y]) => [whole(x, width), whole(y, height)]);
}

/** The region as it is stored: corners in their order, none of them twice in a row. */
export function tidied({ kind, points }) {
  if (kind === "rectangle") {
    const { x, y, width, height } = boundsOf(points);
    return { kind, points: [[x, y], [x + width, y + height]] };
  }
  const isSame = ([x, y], other) => x === other[0] && y === other[1];
  return { kind, points: kind === "point" ? points : points.filter((each, i) => !isSame(each, points[(i + 1) % points.length])) };
}

/** Why a tidied region cannot be kept, or "". */
export function faultOf({ kind, points }) {
  if (points.length < FEWEST[kind]) return kind === "polygon" ? "An outline has three corners or more." : "Two corners make a box.";
  if (points.length > MOST_CORNERS) return `An outline has ${MOST_CORNERS} corners at most.`;
  if (kind === "point") return "";
  const { width, height } = boundsOf(points);
  if (!width || !height || (kind === "polygon" && !areaOf(points))) return "It encloses nothing.";
  return kind === "polygon" && crossesItself(points) ? "The outline crosses itself." : "";
}

function areaOf(points) {
  return edgesOf(points).reduce((sum, [[x1, y1], [x2, y2]]) => sum + x1 * y2 - x2 * y1, 0);
}

function edgesOf(points) {
  return points.map((point, i) => [point, points[(i + 1) % points.length]]);
}

/** Whether two edges cross each other; touching is not crossing. */
export function crossesItself(points) {
  const side = ([ax, ay], [bx, by], [x, y]) => Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
  const cross = ([a, b], [c, d]) => side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
  const edges = edgesOf(points);
  return edges.some((one, i) => edges.slice(i + 2).some((other) => cross(one, other)));
}

const KIND_WORDS = { point: "Point", rectangle: "Box", polygon: "Outline" };

/** "Box 1.2 × 0.8 mm at 12.40, 8.10 mm" */
export function regionWords({ kind, points }, pyramid) {
  const { x, y, width, height } = boundsOf(points);
  const size = kind === "point" ? "" : ` ${sizeWords(pyramid, [width, height])}`;
  return `${KIND_WORDS[kind]}${size} at ${placeWords(pyramid, [x + width / 2, y + height / 2])}`;
}

/** What a reader of the region should know of how it was drawn. */
export function markWords({ revision, zoom, missing_tiles }, pyramid) {
  return [
    revision !== pyramid.revision && "on an earlier scan",
    zoom >= 1.05 && `digital zoom ${zoom.toFixed(1)}×`,
    missing_tiles > 0 && `${missing_tiles} ${missing_tiles === 1 ? "tile" : "tiles"} missing`,
  ].filter(Boolean).join(", ");
}
