// Opens every viewer of the page, and lets "Link to view" copy the address that reopens the view.
import { announce } from "../frame.js";
import { openViewer } from "./viewer.js";

for (const element of document.querySelectorAll("[data-viewer]")) {
  const viewer = openViewer(element);
  const button = document.querySelector("[data-copy-view]");
  if (button && navigator.clipboard) startCopying(button, viewer);
}

async function startCopying(button, viewer) {
  await viewer.ready;
  button.hidden = false;
  button.addEventListener("click", async () => {
    viewer.writeAddress();
    await navigator.clipboard.writeText(location.href);
    announce("Link to this view copied.");
  });
}
