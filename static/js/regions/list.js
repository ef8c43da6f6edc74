// The list of regions beside the slide: each is a button that flies there.
import { announce } from "../frame.js";
import { boundsOf, markWords, regionWords } from "./geometry.js";

/** Fill `list` (an <ol>). `edit(index)` and `remove(index)` add a button each where they are given. */
export function drawList(list, regions, viewer, { edit, remove } = {}) {
  list.replaceChildren(...regions.map((region, i) => row(region, i, viewer, edit, remove)));
}

function row(region, index, viewer, edit, remove) {
  const name = `Region ${region.label ?? index + 1}`;
  const item = document.createElement("li");
  const fly = button("region-fly", "");
  const mark = markWords(region, viewer.pyramid);
  fly.append(element("strong", name), ` ${regionWords(region, viewer.pyramid)}`);
  if (mark) fly.append(element("span", `! ${mark}`, "region-mark"));
  fly.addEventListener("click", () => flyTo(viewer, region, name));
  item.append(fly);
  if (edit && region.revision === viewer.pyramid.revision) item.append(button("button button-quiet", "Edit", `Edit ${name}`, () => edit(index)));
  if (remove) item.append(button("button button-quiet", "×", `Remove ${name}`, () => remove(index)));
  return item;
}

/** Tell the page that the slide has to be seen now: it may stand behind a tab. */
export function showSlide(viewer) {
  viewer.element.dispatchEvent(new CustomEvent("region-show", { bubbles: true }));
}

export function flyTo(viewer, region, name) {
  showSlide(viewer);
  viewer.flyTo(boundsOf(region.points));
  announce(`${name} shown on the slide.`);
}

function element(tag, words, className = "") {
  return Object.assign(document.createElement(tag), { textContent: words, className });
}

function button(className, words, name = "", act = () => {}) {
  const made = Object.assign(document.createElement("button"), { type: "button", className, textContent: words });
  if (name) made.setAttribute("aria-label", name);
  made.addEventListener("click", act);
  return made;
}
