// J and K move a cursor through the rows of a table: focus goes to the row's first link, so Enter
// opens it as any link. Tables say so with data-row-cursor; they may be swapped at any time.

function rows() {
  return [...document.querySelectorAll("table[data-row-cursor] > tbody > tr")].filter((row) => row.querySelector("a[href]"));
}

function move(step) {
  const all = rows();
  const at = all.findIndex((row) => row.getAttribute("aria-current") === "true");
  const next = at < 0 ? all[step > 0 ? 0 : all.length - 1] : all[at + step];
  if (!next) return;
  next.querySelector("a[href]").focus();
  next.scrollIntoView({ block: "nearest" });
}

document.body.dataset.keyScopes = `${document.body.dataset.keyScopes ?? ""} list`.trim();

document.addEventListener("command", (event) => {
  if (event.detail.id === "list.next") move(1);
  else if (event.detail.id === "list.previous") move(-1);
  else return;
  event.preventDefault();
});

// The cursor is where the focus is, however it got there.
document.addEventListener("focusin", (event) => {
  const row = event.target.closest("table[data-row-cursor] > tbody > tr");
  if (!row) return;
  for (const each of rows()) each.toggleAttribute("aria-current", false);
  row.setAttribute("aria-current", "true");
});
