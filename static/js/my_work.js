// My work: what this browser kept of items and could not send yet.
import { announce } from "./frame.js";
import { notSent, sendKept } from "./workbench/outbox.js";
import { browserStore } from "./workbench/server.js";

const section = document.querySelector("[data-not-sent]");

async function show() {
  const all = await notSent();
  section.hidden = !all.length;
  section.querySelector("[data-count]").textContent = all.length;
  section.querySelector("ul").replaceChildren(...all.map(row));
}

function row(assignment) {
  const { title, at } = browserStore(assignment).read() ?? {};
  const item = document.createElement("li");
  const link = Object.assign(document.createElement("a"), { href: `/annotate/${assignment}/`, textContent: title ?? "An item" });
  const since = at ? ` kept on this computer since ${new Date(at).toLocaleString("en-GB")}` : " kept on this computer";
  item.append(link, since);
  return item;
}

async function send() {
  const sent = await sendKept();
  await show();
  announce(section.hidden ? `${sent} sent.` : "Not everything could be sent. Open an item to see why.");
}

section.querySelector("button").addEventListener("click", send);
addEventListener("online", send);
show();
