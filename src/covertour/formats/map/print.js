// On paper: light colours, a map as wide as the page, and everything unfolded.
let folded = [];
let before = null;
const settle = () => {
  map.invalidateSize({ animate: false, pan: false });
  rim();
};
const redraw = () => [below, middle, above].forEach((renderer) => renderer._redraw && renderer._redraw());
const toPaper = () => {
  if (before) return;
  before = { centre: map.getCenter(), zoom: map.getZoom() };
  dim();
  folded = [...document.querySelectorAll("aside details:not([open])")];
  folded.forEach((more) => (more.open = true));
  document.documentElement.classList.add("printing");
  const tall = Math.abs(upper.y - lower.y) / Math.max(Math.abs(upper.x - lower.x), 1e-9);
  map.getContainer().style.height = clamp(178 * tall, 80, 175) + "mm";
  repaint();
  settle();
  if (!moved) fit();
  redraw(); // a canvas would wait for the next frame, which is after the print
};
const toScreen = () => {
  if (!before) return;
  document.documentElement.classList.remove("printing");
  map.getContainer().style.height = "";
  folded.forEach((more) => (more.open = false));
  repaint();
  settle();
  map.setView(before.centre, before.zoom, { animate: false });
  before = null;
};
window.addEventListener("beforeprint", toPaper);
window.addEventListener("afterprint", toScreen);
document.getElementById("print").addEventListener("click", () => window.print());
