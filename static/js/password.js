// [Show] beside a password. Without script the button stays hidden and nothing is missing.
for (const button of document.querySelectorAll("[data-show-password]")) {
  const input = document.getElementById(button.dataset.showPassword);
  button.hidden = false;
  button.addEventListener("click", () => {
    const shown = input.type === "password";
    input.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", String(shown));
    input.focus();
  });
  // A form is sent with the password hidden, so that browsers do not keep it as ordinary text.
  input.form.addEventListener("submit", () => {
    input.type = "password";
  });
}
