// The viewer over the whole screen, where the browser can do that.

/** Bind the button that opens and closes it. */
export function startFullscreen(button, element) {
  button.hidden = !document.fullscreenEnabled;
  button.addEventListener("click", () => {
    if (document.fullscreenElement === element) document.exitFullscreen();
    else element.requestFullscreen();
  });
  element.addEventListener("fullscreenchange", () => {
    const isOn = document.fullscreenElement === element;
    button.textContent = isOn ? "Leave full screen" : "Full screen";
  });
}
