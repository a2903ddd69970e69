// Canvases of Leaflet that a function paints, and a picture of all of them for paper.

import { el } from "./words.js";

/** A canvas of Leaflet that is painted by a function, whenever the view changes or it is asked to. */
export const Painting = L.Canvas.extend({
  initialize(paint, options) {
    L.setOptions(this, options);
    L.Canvas.prototype.initialize.call(this, options);
    this._paint = paint;
  },
  _updatePaths() { this.repaint(); },
  repaint() {
    if (!this._map || !this._bounds || !this._ctx) return;
    const { min } = this._bounds, size = this._bounds.getSize();
    this._ctx.clearRect(min.x, min.y, size.x, size.y);
    this._paint(this._ctx, this._bounds);
  },
});

/** A picture of all places for paper: the layers of a map of this size, in light colours. */
export function picture(planMap, width, height) {
  const root = document.documentElement, { theme } = root.dataset, node = planMap.map.getContainer();
  const centre = planMap.map.getCenter(), zoom = planMap.map.getZoom();
  root.dataset.theme = "light";
  Object.assign(node.style, { width: `${width}px`, height: `${height}px`, right: "auto", bottom: "auto" });
  planMap.map.invalidateSize({ animate: false });
  planMap.fit();
  planMap.readColours();
  const ratio = planMap.layers[0]._container.width / planMap.layers[0]._bounds.getSize().x;
  const paper = el("canvas", { width: width * ratio, height: height * ratio });
  const corner = planMap.map.containerPointToLayerPoint([0, 0]);
  for (const layer of planMap.layers) {
    const at = layer._bounds.min.subtract(corner).multiplyBy(ratio);
    paper.getContext("2d").drawImage(layer._container, at.x, at.y);
  }
  Object.assign(node.style, { width: "", height: "", right: "", bottom: "" });
  root.dataset.theme = theme;
  planMap.map.invalidateSize({ animate: false });
  planMap.map.setView(centre, zoom, { animate: false });
  planMap.readColours();
  return paper.toDataURL("image/png");
}
