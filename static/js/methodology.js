// Copyable links at headings, [Print], and the section that is read marked in the contents.
import { announce } from "./frame.js";

for (const heading of document.querySelectorAll(".method-text h2")) {
  if (!navigator.clipboard) break; // browsers copy on secure pages only
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button-link copy-link";
  button.textContent = "Copy link";
  button.setAttribute("aria-label", `Copy link to ${heading.textContent}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(new URL(`#${heading.id}`, location.href).href);
    button.textContent = "Copied";
    announce("Copied");
  });
  heading.append(button);
}

const print = document.querySelector("[data-print]");
print.hidden = false;
print.addEventListener("click", () => window.print());

const links = new Map([...document.querySelectorAll(".method-contents a")].map((link) => [link.hash.slice(1), link]));
const seen = new Set();
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target);
  const first = [...document.querySelectorAll(".method-text section")].find((section) => seen.has(section));
  for (const [id, link] of links) {
    if (first?.querySelector(`#${id}`)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
});
for (const section of document.querySelectorAll(".method-text section")) watch.observe(section);
