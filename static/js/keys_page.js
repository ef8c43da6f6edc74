// The table of /help/keys/, from the registry.
import { KEYS } from "./keys.js";

function cell(name, content) {
  const made = document.createElement(name);
  made.append(content);
  return made;
}

for (const entry of KEYS) {
  const row = document.createElement("tr");
  const key = Object.assign(document.createElement("kbd"), { textContent: entry.key });
  const action = cell("th", entry.label);
  action.scope = "row";
  row.append(action, cell("td", key), cell("td", entry.scope));
  document.querySelector("[data-keys-table]").append(row);
}
