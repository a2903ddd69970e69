// The map: the ground, the tour, its stops and what they cover, and the legend.
const tour = JSON.parse(document.getElementById("tour").textContent);
const MANY_LINES = 3000; // above, lines to covered places are off until asked for
const MANY_PINS = 600; // above, stops are drawn without numbers
const MANY_CIRCLES = 600; // above, circles are off until asked for
const MANY_SHAPES = 4000; // above, places are drawn on a canvas; below as shapes, which print sharply
const ROUTE_COLOURS = 10; // how many the stylesheet has
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

const map = L.map("map", {
  crs: tour.geographic ? L.CRS.EPSG3857 : L.CRS.Simple,
  zoomSnap: tour.geographic ? 0.25 : 0.1,
  minZoom: tour.geographic ? 0 : -4,
  maxZoom: tour.geographic ? 18 : 12,
  maxBoundsViscosity: 0.8,
});
map.attributionControl.setPrefix('<a href="https://leafletjs.com">Leaflet</a>');

const at = (place) => L.latLng(tour.at[place][1], tour.at[place][0]);
const label = (place) => (tour.labels ? tour.labels[place] : "place " + place);
const kindOf = new Array(tour.at.length).fill("");
tour.required.forEach((place) => (kindOf[place] = "required"));
if (tour.end !== null) kindOf[tour.end] = "end";
if (tour.depot !== null) kindOf[tour.depot] = "depot";
const forbidden = new Set(tour.forbidden);
const corners = tour.stops.map(at);
const isStop = new Set(tour.stops);
const covered = tour.stops.map(() => []);
const lacking = new Set(tour.lacking);
const uncovered = tour.lacking.filter((place) => !isStop.has(place));
const spare = []; // not covered, and need not be
tour.served.forEach((stop, place) => {
  if (isStop.has(place) || lacking.has(place)) return;
  if (stop < 0) spare.push(place);
  else covered[stop].push(place);
});
const coveredCount = covered.reduce((sum, places) => sum + places.length, 0);
const many = tour.routes.length > 1;
document.documentElement.classList.toggle("many", many);
const people = (place) => (tour.people ? tour.people[place] + " " + tour.counted : "");
const plural = (number, one) => number.toLocaleString("en") + " " + one + (number === 1 ? "" : "s");

const tip = (lines) => {
  const box = document.createElement("div");
  lines.filter(Boolean).forEach((text, index) => {
    const line = document.createElement(index ? "div" : "b");
    line.textContent = text;
    box.append(line);
  });
  return box;
};

// Colours are names of the stylesheet's variables; they change with dark mode and on paper.
const painted = [];
const colours = new Map();
const colour = (name) => {
  if (!colours.has(name)) {
    const style = getComputedStyle(document.documentElement);
    colours.set(name, style.getPropertyValue("--" + name).trim());
  }
  return colours.get(name);
};
const paintOne = (layer, names) =>
  layer.setStyle(Object.fromEntries(Object.entries(names).map(([key, name]) => [key, colour(name)])));
const paint = (layer, names) => {
  painted.push([layer, names]);
  paintOne(layer, names);
  return layer;
};
const repaint = () => {
  colours.clear();
  painted.forEach(([layer, names]) => paintOne(layer, names));
};
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);

// Layers, from the bottom up.
const shapes = tour.at.length + tour.stops.length <= MANY_SHAPES ? L.svg : L.canvas;
const pane = (name, z, draw, touched) => {
  map.createPane(name).style.zIndex = z;
  if (!touched) map.getPane(name).style.pointerEvents = "none";
  return draw({ pane: name, padding: 0.5 });
};
const bottom = pane("ground", 150, L.svg, false);
const below = pane("below", 401, shapes, false);
const middle = pane("middle", 402, shapes, false);
const above = pane("above", 403, shapes, true);

map.getContainer().classList.toggle("bare", !tour.ground);
// The ground: lines come as steps on a grid, to be short.
if (tour.ground) {
  const { step, origin, land, coasts, borders, names } = tour.ground;
  const walk = (steps) => {
    let [x, y] = [0, 0];
    const points = [];
    for (let i = 0; i < steps.length; i += 2) {
      x += steps[i];
      y += steps[i + 1];
      points.push([origin[1] + y * step, origin[0] + x * step]);
    }
    return points;
  };
  const still = { interactive: false, renderer: bottom, noClip: true };
  const fill = { ...still, stroke: false, fillOpacity: 1, fillRule: "evenodd" };
  paint(L.polygon(land.map(walk), fill).addTo(map), { fillColor: "land" });
  paint(L.polyline(coasts.map(walk), { ...still, weight: 1 }).addTo(map), { color: "coast" });
  paint(L.polyline(borders.map(walk), { ...still, weight: 1.2, dashArray: "6 3 1.5 3" }).addTo(map),
    { color: "border" });
  const written = names.map(([name, x, y]) => {
    const text = document.createElement("span");
    text.textContent = name;
    L.marker([y, x], { interactive: false, keyboard: false, pane: "ground",
      icon: L.divIcon({ className: "country", html: text, iconSize: [0, 0] }) }).addTo(map);
    return { text, at: L.latLng(y, x) };
  });
  // Names of small countries give way to those of larger ones, which come first.
  map.on("load zoomend", () => {
    const taken = [];
    written.forEach(({ text, at }) => {
      text.hidden = false;
      const centre = map.latLngToLayerPoint(at);
      const half = L.point(text.offsetWidth / 2 + 4, text.offsetHeight / 2 + 3);
      const room = L.bounds(centre.subtract(half), centre.add(half));
      text.hidden = taken.some((other) => other.intersects(room));
      if (!text.hidden) taken.push(room);
    });
  });
  map.attributionControl.addAttribution("Outlines: Natural Earth");
}
if (tour.tiles) {
  L.tileLayer(tour.tiles.url, {
    maxZoom: 19,
    zIndex: 1,
    referrerPolicy: "strict-origin-when-cross-origin",
    attribution: tour.tiles.credit,
    errorTileUrl: "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==",
  }).addTo(map);
}

// Each route has a colour, and layers that are shown and hidden together.
const routes = tour.routes.map(([begin, end], number) => ({
  begin, end, number,
  colour: many ? "route-" + (number % ROUTE_COLOURS) : "tour",
  layers: L.layerGroup().addTo(map),
}));
const routeOf = [];
routes.forEach((route) => {
  for (let stop = route.begin; stop < route.end; stop++) routeOf[stop] = route;
});
/** The line of a route's leg: to a stop from the one before, or back from the last stop. */
const legLine = (from, to) => {
  if (!tour.ways) return [corners[from], corners[to]];
  const steps = tour.ways.lines[from];
  let [x, y] = [0, 0];
  const points = [];
  for (let i = 0; i < steps.length; i += 2) {
    x += steps[i];
    y += steps[i + 1];
    points.push([y * tour.ways.step, x * tour.ways.step]);
  }
  return points;
};
if (tour.credit) map.attributionControl.addAttribution("Roads: " + tour.credit);
const legs = ({ begin, end }) => {
  const lines = [];
  for (let stop = begin + 1; stop < end; stop++) lines.push(legLine(stop - 1, stop));
  if (tour.closed && end - begin > 1) lines.push(legLine(end - 1, begin));
  return lines;
};
routes.forEach((route) => {
  const look = { weight: corners.length > 1000 ? 1.5 : 3, interactive: false, renderer: middle };
  const way = legs(route).reduce((line, leg) => line.concat(leg), []);
  route.layers.addLayer(paint(L.polyline(way, look), { color: route.colour }));
});

const circle = (stop, style) =>
  L.circle(corners[stop], { radius: tour.reach[stop], interactive: false, renderer: below, ...style });
const circles = L.layerGroup();
if (tour.reach) {
  corners.forEach((_, stop) => {
    if (tour.reach[stop] > 0 && (!stop || tour.stops[stop] !== tour.depot)) { // a depot once
      const ring = circle(stop, { weight: 1, opacity: 0.6, fillOpacity: 0.1 });
      circles.addLayer(paint(ring, { color: "reach" }));
    }
  });
}
const spokes = (stop) => covered[stop].map((place) => [corners[stop], at(place)]);
const dashed = { weight: 1, dashArray: "4 3", interactive: false, renderer: below };
const lines = L.layerGroup(
  [paint(L.polyline(corners.flatMap((_, stop) => spokes(stop)), dashed), { color: "service" })]);

const dots = L.featureGroup();
covered.forEach((places, stop) =>
  places.forEach((place) => {
    const spot = forbidden.has(place)
      ? L.marker(at(place), {
          icon: L.divIcon({ className: "cross", html: "×", iconSize: [14, 14] }), keyboard: false })
      : paint(L.circleMarker(at(place),
          { radius: 4, stroke: false, fillOpacity: 0.9, renderer: above }), { fillColor: "covered" });
    dots.addLayer(Object.assign(spot, { place, stop }));
  }));
uncovered.forEach((place) => {
  const ring = L.circleMarker(at(place), { radius: 6, weight: 3, fillOpacity: 0, renderer: above });
  dots.addLayer(Object.assign(paint(ring, { color: "uncovered" }), { place, stop: -1 }));
});
spare.forEach((place) => {
  const ring = L.circleMarker(at(place), { radius: 4, weight: 1.5, fillOpacity: 0, renderer: above });
  dots.addLayer(Object.assign(paint(ring, { color: "service" }), { place, stop: -1 }));
});
const whoCovers = ({ place, stop }) => {
  if (stop < 0) return lacking.has(place) ? "not covered" : "needs no cover";
  const number = tour.numbers[stop];
  return "covered by " + (number ? "stop " + number + ", " : "") + label(tour.stops[stop])
    + (many ? ", route " + (routeOf[stop].number + 1) : "");
};
dots.bindTooltip((spot) => tip([
  label(spot.place) + (forbidden.has(spot.place) ? " (no stop allowed)" : ""),
  whoCovers(spot),
  people(spot.place),
]));
dots.addTo(map);

const pins = L.featureGroup();
const size = tour.stops.length > 200 ? 20 : 24;
const numbered = tour.stops.length <= MANY_PINS;
tour.stops.forEach((place, stop) => {
  const kind = kindOf[place];
  const route = routeOf[stop];
  let pin;
  if (numbered || kind === "depot") {
    const plate = document.createElement("span");
    plate.textContent = tour.numbers[stop];
    const style = kind || (many ? "of-" + route.colour : "");
    pin = L.marker(corners[stop], {
      icon: L.divIcon({ className: "pin " + style, html: plate, iconSize: [size, size] }),
      keyboard: false, zIndexOffset: kind === "depot" ? 1000 : 0, riseOnHover: true });
  } else {
    pin = L.circleMarker(corners[stop], { radius: 5, weight: 0.5, fillOpacity: 1, renderer: above });
    paint(pin, { color: "paper", fillColor: kind || route.colour });
  }
  pins.addLayer(Object.assign(pin, { place, stop }));
});
pins.bindTooltip((pin) => {
  const others = covered[pin.stop].length;
  return tip([
    (tour.numbers[pin.stop] ? tour.numbers[pin.stop] + ". " : "") + label(pin.place),
    [kindOf[pin.place], others ? "covers " + plural(others, "other place") : ""]
      .filter(Boolean).join(", "),
    people(pin.place),
  ]);
}, { direction: "top", offset: [0, -8] });
pins.addTo(map);

// Marks shrink where the view is crowded and grow as it is zoomed in.
const flat = [...isStop].slice(0, MANY_PINS).map((place) => map.options.crs.latLngToPoint(at(place), 0));
const gaps = flat.map((a) => Math.min(...flat.map((b) => (a === b ? Infinity : a.distanceTo(b)))));
const gap = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 4)];
const [[west, south], [east, north]] = tour.view;
const bounds = L.latLngBounds([south, west], [north, east]);
const [lower, upper] = [bounds.getSouthWest(), bounds.getNorthEast()].map(
  (corner) => map.options.crs.latLngToPoint(corner, 0));
const each = Math.sqrt(Math.abs((upper.x - lower.x) * (upper.y - lower.y)) / tour.at.length);
map.on("zoomend", () => {
  const scale = map.options.crs.scale(map.getZoom()) / map.options.crs.scale(0);
  map.getContainer().classList.toggle("compact", gap * scale < 19);
  map.getContainer().classList.toggle("dense", gap * scale < 10);
  const resize = (layer, radius) => {
    if (layer.setRadius && layer.getRadius() !== radius) layer.setRadius(radius);
  };
  const room = each * scale;
  dots.eachLayer((spot) => resize(spot, clamp(Math.round(room / 2.5) / 2, 1.5, 4) + (spot.stop < 0 ? 2 : 0)));
  pins.eachLayer((pin) => resize(pin, clamp(Math.round(room / 2) / 2, 2.5, 7)));
});

// The legend names the marks and switches the layers that can be too much.
const legend = document.getElementById("legend");
const entry = (key, text, layer, shown) => {
  const row = document.createElement(layer ? "label" : "div");
  const mark = document.createElement("i");
  mark.className = "key-" + key;
  if (key === "forbidden") {
    mark.className = "cross";
    mark.textContent = "×";
  }
  if (layer) {
    const tick = document.createElement("input");
    tick.type = "checkbox";
    tick.checked = shown;
    tick.addEventListener("change", () => (tick.checked ? layer.addTo(map) : layer.remove()));
    if (shown) layer.addTo(map);
    row.append(mark, tick, text);
  } else {
    row.append(mark, text);
  }
  legend.append(row);
};
if (tour.depot !== null) entry("depot", "depot");
if (tour.end !== null) entry("end", "end");
if (tour.stops.some((place) => kindOf[place] === "required")) entry("required", "required stop");
if (tour.stops.some((place) => !kindOf[place])) entry("stop", "stop");
if (coveredCount) entry("covered", "covered place");
if (forbidden.size) entry("forbidden", "no stop allowed");
if (uncovered.length) entry("uncovered", "not covered");
if (spare.length) entry("spare", "needs no cover");
if (coveredCount) entry("lines", "lines to covered places", lines, coveredCount <= MANY_LINES);
if (circles.getLayers().length) {
  entry("circles", "reach of the stops", circles, circles.getLayers().length <= MANY_CIRCLES);
}

// The whole tour stays in view when the window changes, until the reader moves the map.
const fit = () => map.fitBounds(bounds, { padding: [10, 10], maxZoom: tour.geographic ? 15 : 8, animate: false });
let moved = false;
["pointerdown", "wheel", "keydown"].forEach((kind) =>
  map.getContainer().addEventListener(kind, () => (moved = true), { passive: true }));
const shore = tour.ground && L.latLngBounds(tour.ground.box.map(([x, y]) => [y, x]));
const rim = () => { // never beyond the ground, unless the tour needs it
  if (shore) map.setMinZoom(Math.min(map.getBoundsZoom(shore, true), map.getBoundsZoom(bounds)));
};
map.on("resize", () => {
  rim();
  if (!moved) fit();
});
rim();
fit();
map.setMaxBounds(shore || bounds.pad(3));
if (tour.geographic) L.control.scale({ imperial: false, position: "bottomright" }).addTo(map);
