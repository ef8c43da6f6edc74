// Brightness and contrast: of the slide alone, for this visit alone, and said in words while it is on.

const USUAL = "100";

/** Bind the inputs [data-light] in `menu`; `surface` shows the slide, `words` says what is changed. */
export function startLight(menu, surface, words) {
  const inputs = [...menu.querySelectorAll("[data-light]")];
  const apply = () => {
    const changed = inputs.filter((input) => input.value !== USUAL);
    for (const input of inputs) input.parentElement.querySelector("output").value = `${input.value}\u202f%`;
    surface.style.filter = changed.map((input) => `${input.dataset.light}(${input.value}%)`).join(" ");
    words.textContent = changed.map((input) => `${input.dataset.light} ${input.value}\u202f%`).join(", ");
  };
  menu.addEventListener("input", apply);
  menu.querySelector("[data-light-reset]").addEventListener("click", () => {
    for (const input of inputs) input.value = USUAL;
    apply();
  });
  apply();
}
