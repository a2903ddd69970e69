// The ground under places on the globe: land, coasts, borders and names, asked for as the map moves.

import { get } from "./api.js";

const SMALLEST_VIEW = 0.3; // degrees; the outlines are too coarse for closer looks

/** Ask for the outlines around each new view, once it has stayed for a moment. */
export function watchGround(planMap) {
  let timer = null;
  const { map } = planMap;
  const ask = async () => {
    if (!planMap.globe) return;
    const view = map.getBounds(), wide = view.getEast() - view.getWest();
    const known = planMap.ground;
    if (wide < SMALLEST_VIEW) {
      if (known) { planMap.ground = null; planMap.layers[0].repaint(); }
      return;
    }
    const inside = known && view.getWest() >= known.box[0] && view.getEast() <= known.box[2]
      && view.getSouth() >= known.box[1] && view.getNorth() <= known.box[3];
    if (inside && known.wide < 3 * wide) return;
    const pad = Math.min(wide, 90);
    const box = [view.getWest() - pad, Math.max(view.getSouth() - pad, -85), view.getEast() + pad, Math.min(view.getNorth() + pad, 85)];
    try {
      const finest = Math.max(wide / 1200, 0.004);
      const found = await get(`/v1/ground?${new URLSearchParams({ west: box[0].toFixed(2), south: box[1].toFixed(2), east: box[2].toFixed(2), north: box[3].toFixed(2), finest: finest.toPrecision(3) })}`);
      planMap.ground = { ...found, box, wide };
      planMap.layers[0].repaint();
    } catch { /* a map without its ground is still a map */ }
  };
  map.on("moveend", () => { clearTimeout(timer); timer = setTimeout(ask, planMap.ground ? 120 : 0); });
  ask();
}

/** A line of longitudes and latitudes, one after the other, as a path. */
function path(ctx, line, to, close) {
  for (let k = 0; k < line.length; k += 2) {
    const [x, y] = to(line[k], line[k + 1]);
    if (k) ctx.lineTo(x, y);
    else ctx.moveTo(x, y);
  }
  if (close) ctx.closePath();
}

export function paintGround(ctx, planMap) {
  const { ground, colour, map } = planMap;
  if (!ground) return;
  const size = 256 * 2 ** map.getZoom(), origin = map.getPixelOrigin();
  const to = (lon, lat) => {
    const sine = Math.sin((Math.max(-85.05, Math.min(85.05, lat)) * Math.PI) / 180);
    return [(lon / 360 + 0.5) * size - origin.x, (0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * size - origin.y];
  };
  ctx.lineJoin = "round";
  ctx.beginPath();
  ground.land.forEach((ring) => path(ctx, ring, to, true));
  ctx.fillStyle = colour.land;
  ctx.fill("evenodd");
  for (const [lines, stroke, wide] of [[ground.borders, colour.border, 1], [ground.coasts, colour.coast, 1.2]]) {
    ctx.beginPath();
    lines.forEach((line) => path(ctx, line, to, false));
    ctx.strokeStyle = stroke;
    ctx.lineWidth = wide;
    ctx.stroke();
  }
  ctx.fillStyle = colour.country;
  ctx.font = "600 12px system-ui, sans-serif";
  ctx.textAlign = "center";
  const taken = [];
  for (const [name, lon, lat] of map.getZoom() < 3 ? ground.names.slice(0, 24) : ground.names) {
    const [x, y] = to(lon, lat), half = 4 * name.length;
    if (taken.some(([a, b, c]) => Math.abs(a - x) < half + c && Math.abs(b - y) < 16)) continue;
    taken.push([x, y, half]);
    ctx.fillText(name.toUpperCase(), x, y);
  }
}
