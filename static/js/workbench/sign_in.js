// Signing in over the page: the session has ended, and nothing on the page may be lost by that.

let dialog = null;

/** Show the sign-in page's form in a dialog; `done()` is called once somebody has signed in. */
export async function signInHere(address, done) {
  if (dialog) return;
  const form = await fetchForm(address);
  if (!form) return open(address, "_blank"); // signed in meanwhile, or no connection: another tab tells
  dialog = Object.assign(document.createElement("dialog"), { className: "sign-in" });
  dialog.setAttribute("aria-labelledby", "sign-in-head");
  dialog.append(
    Object.assign(document.createElement("h2"), { id: "sign-in-head", textContent: "Sign in again" }),
    Object.assign(document.createElement("p"), { textContent: "Your answers are kept on this page." }),
    form,
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    dialog = null;
  });
  dialog.addEventListener("submit", async (event) => {
    event.preventDefault();
    const refused = await send(event.target);
    if (refused) return show(refused);
    dialog.close();
    done();
  });
  document.body.append(dialog);
  dialog.showModal();
}

async function fetchForm(address) {
  const response = await fetch(address).catch(() => null);
  return response && formOf(await response.text());
}

function formOf(text) {
  return new DOMParser().parseFromString(text, "text/html").querySelector("form:has([type=password])");
}

/** Post the form. Answers null once signed in, else the form with what was wrong. */
async function send(form) {
  const body = new FormData(form);
  const response = await fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
  if (response?.type === "opaqueredirect") return null;
  return (response && formOf(await response.text())) ?? form;
}

function show(form) {
  dialog.querySelector("form").replaceWith(form);
  (form.querySelector("[autofocus], [aria-invalid], [type=password]") ?? form).focus();
}
