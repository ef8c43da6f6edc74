// The submit page: choosing or dropping a file, or another board, checks the file at once.
const form = document.querySelector("[data-check-form]");
const input = form?.querySelector("input[type=file]");

function check() {
  if (input.files.length) form.dispatchEvent(new Event("check"));
}

function startDrop(zone) {
  zone.querySelector("[data-drop-hint]").hidden = false;
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("is-over");
    });
  }
  zone.addEventListener("dragleave", () => zone.classList.remove("is-over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("is-over");
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    check();
  });
}

function showUpload(region, share) {
  region.hidden = share === null;
  if (share === null) return;
  const bar = region.querySelector("progress");
  if (share < 1) bar.value = share;
  else bar.removeAttribute("value");
  region.querySelector("[data-upload-words]").textContent = share < 1 ? "Uploading" : "Checking";
}

if (form) {
  const upload = form.querySelector("[data-upload]");
  form.addEventListener("change", check);
  startDrop(form.querySelector("[data-drop]"));
  form.addEventListener("htmx:beforeRequest", () => showUpload(upload, 0));
  form.addEventListener("htmx:xhr:progress", (event) => {
    if (event.detail.lengthComputable) showUpload(upload, event.detail.loaded / event.detail.total);
  });
  form.addEventListener("htmx:afterRequest", () => showUpload(upload, null));
  // The answer is what one waited for, so its heading gets the focus.
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target.id === "answer") event.detail.target.querySelector("[data-focus]")?.focus();
  });
}
