// [Copy] beside a text that is shown once. Browsers copy on secure pages only, so it may stay hidden.
import { announce } from "./frame.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
    announce("Copied");
  });
}
