"use strict";
// The page is drawn from the data that covertour wrote into it. All text from the data goes through
// textContent, never through HTML.
window.addEventListener("error", (event) => {
  document.documentElement.dataset.error = event.message;
});
(() => {
  const tour = JSON.parse(document.getElementById("tour").textContent);
  const MANY_LINES = 3000; // above, lines to covered places are off until asked for
  const MANY_PINS = 600; // above, stops are drawn on the canvas, without numbers
  const MANY_CIRCLES = 600; // above, circles are off until asked for
  const css = getComputedStyle(document.documentElement);
  const colour = (name) => css.getPropertyValue("--" + name).trim();

  const map = L.map("map", {
    crs: tour.geographic ? L.CRS.EPSG3857 : L.CRS.Simple,
    preferCanvas: true,
    zoomSnap: tour.geographic ? 0.25 : 0.1,
    minZoom: tour.geographic ? 1 : -4,
    maxZoom: tour.geographic ? 18 : 12,
    maxBoundsViscosity: 0.5,
  });
  map.attributionControl.setPrefix('<a href="https://leafletjs.com">Leaflet</a>');

  const at = (place) => L.latLng(tour.at[place][1], tour.at[place][0]);
  const label = (place) => (tour.labels ? tour.labels[place] : "place " + place);
  const kindOf = new Array(tour.at.length).fill("");
  tour.required.forEach((place) => (kindOf[place] = "required"));
  if (tour.depot !== null) kindOf[tour.depot] = "depot";
  const forbidden = new Set(tour.forbidden);
  const corners = tour.stops.map(at);
  const isStop = new Set(tour.stops);
  const covered = tour.stops.map(() => []);
  const uncovered = [];
  tour.served.forEach((stop, place) => {
    if (isStop.has(place)) return;
    if (stop < 0) uncovered.push(place);
    else covered[stop].push(place);
  });
  const coveredCount = covered.reduce((sum, places) => sum + places.length, 0);

  const tip = (lines) => {
    const box = document.createElement("div");
    lines.forEach((text, index) => {
      const line = document.createElement(index ? "div" : "b");
      line.textContent = text;
      box.append(line);
    });
    return box;
  };

  // Layers, from the bottom up.
  const pane = (name, z) => {
    map.createPane(name).style.zIndex = z;
    return L.canvas({ pane: name, padding: 0.3 });
  };
  const below = pane("below", 401);
  const middle = pane("middle", 402);
  ["below", "middle"].forEach((name) => (map.getPane(name).style.pointerEvents = "none"));
  const above = pane("above", 403);

  const circle = (stop, style) =>
    L.circle(corners[stop], { radius: tour.reach[stop], interactive: false, renderer: below, ...style });
  const circles = L.layerGroup();
  if (tour.reach) {
    corners.forEach((_, stop) => {
      if (tour.reach[stop] > 0) {
        circles.addLayer(
          circle(stop, { color: colour("reach"), weight: 1, opacity: 0.6, fillOpacity: 0.1 }));
      }
    });
  }
  const line = (stop) => covered[stop].map((place) => [corners[stop], at(place)]);
  const lines = L.layerGroup([
    L.polyline(corners.flatMap((_, stop) => line(stop)), {
      color: "#777", weight: 1, dashArray: "4 3", interactive: false, renderer: below,
    }),
  ]);
  L.polyline(corners.length > 1 ? [...corners, corners[0]] : corners, {
    color: colour("tour"), weight: corners.length > 1000 ? 1.5 : 3, interactive: false, renderer: middle,
  }).addTo(map);

  const dots = L.featureGroup();
  covered.forEach((places, stop) =>
    places.forEach((place) => {
      const spot = forbidden.has(place)
        ? L.marker(at(place), {
            icon: L.divIcon({ className: "cross", html: "×", iconSize: [14, 14] }), keyboard: false })
        : L.circleMarker(at(place), {
            radius: 4, stroke: false, fillColor: colour("covered"), fillOpacity: 0.9, renderer: above });
      dots.addLayer(Object.assign(spot, { place, stop }));
    }));
  uncovered.forEach((place) =>
    dots.addLayer(Object.assign(
      L.circleMarker(at(place), {
        radius: 6, weight: 3, color: colour("uncovered"), fillOpacity: 0, renderer: above }),
      { place, stop: -1 })));
  dots.bindTooltip((spot) => tip([
    label(spot.place) + (forbidden.has(spot.place) ? " (no stop allowed)" : ""),
    spot.stop < 0 ? "not covered" : "covered by stop " + (spot.stop + 1) + ", " + label(tour.stops[spot.stop]),
  ]));
  dots.addTo(map);

  const pins = L.featureGroup();
  const size = tour.stops.length > 200 ? 20 : 24;
  const numbered = tour.stops.length <= MANY_PINS;
  tour.stops.forEach((place, stop) => {
    const kind = kindOf[place];
    const pin = numbered || kind === "depot"
      ? L.marker(corners[stop], {
          icon: L.divIcon({ className: "pin " + kind, html: String(stop + 1), iconSize: [size, size] }),
          keyboard: false, zIndexOffset: kind === "depot" ? 1000 : 0, riseOnHover: true })
      : L.circleMarker(corners[stop], {
          radius: 5, color: "#fff", weight: 0.5, fillOpacity: 1, renderer: above,
          fillColor: colour(kind || "tour") });
    pins.addLayer(Object.assign(pin, { place, stop }));
  });
  pins.bindTooltip((pin) => {
    const others = covered[pin.stop].length;
    const kind = kindOf[pin.place];
    return tip([
      (pin.stop + 1) + ". " + label(pin.place),
      [kind, others ? "covers " + others + (others === 1 ? " other place" : " other places") : ""]
        .filter(Boolean).join(", "),
    ]);
  }, { direction: "top", offset: [0, -8] });
  pins.addTo(map);

  // Marks shrink where the view is crowded and grow as it is zoomed in.
  const flat = corners.slice(0, MANY_PINS).map((corner) => map.options.crs.latLngToPoint(corner, 0));
  const gaps = flat.map((a) => Math.min(...flat.map((b) => (a === b ? Infinity : a.distanceTo(b)))));
  const gap = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 4)];
  const [[west, south], [east, north]] = tour.view;
  const bounds = L.latLngBounds([south, west], [north, east]);
  const [lower, upper] = [bounds.getSouthWest(), bounds.getNorthEast()].map(
    (corner) => map.options.crs.latLngToPoint(corner, 0));
  const each = Math.sqrt(Math.abs((upper.x - lower.x) * (upper.y - lower.y)) / tour.at.length);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
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

  // Hovering a stop, on the map or in the list, shows what it covers; a click goes there.
  const rows = [...document.querySelectorAll("#stops > li")];
  const pinOf = pins.getLayers();
  const iconOf = (stop) => (pinOf[stop] instanceof L.Marker ? pinOf[stop].getElement() : null);
  const glow = L.layerGroup().addTo(map);
  let lit = -1;
  const light = (stop, scroll) => {
    if (lit === stop) return;
    dim();
    lit = stop;
    rows[stop].classList.add("lit");
    const icon = iconOf(stop);
    if (icon) icon.classList.add("lit");
    if (tour.reach && tour.reach[stop] > 0) {
      glow.addLayer(circle(stop, { color: colour("tour"), weight: 1.5, fillOpacity: 0.18 }));
    }
    glow.addLayer(L.polyline(line(stop), {
      color: colour("tour"), weight: 2, interactive: false, renderer: below }));
    if (!icon) {
      glow.addLayer(L.circleMarker(corners[stop], {
        radius: 10, color: "#f0e442", weight: 4, fillOpacity: 0, interactive: false, renderer: middle }));
    }
    if (scroll) rows[stop].scrollIntoView({ block: "nearest" });
  };
  const dim = () => {
    if (lit < 0) return;
    rows[lit].classList.remove("lit");
    const icon = iconOf(lit);
    if (icon) icon.classList.remove("lit");
    glow.clearLayers();
    lit = -1;
  };
  const wide = window.matchMedia("(min-width: 761px)");
  pins.on("mouseover", (event) => light(event.layer.stop, wide.matches));
  pins.on("mouseout", dim);
  pins.on("click", (event) => {
    light(event.layer.stop, wide.matches);
    const more = rows[event.layer.stop].querySelector("details");
    if (more) more.open = true;
  });
  dots.on("mouseover", (event) => event.layer.stop >= 0 && light(event.layer.stop, wide.matches));
  dots.on("mouseout", dim);
  rows.forEach((row, stop) => {
    const go = () => map.panTo(corners[stop]);
    row.addEventListener("mouseenter", () => light(stop, false));
    row.addEventListener("mouseleave", dim);
    row.addEventListener("focus", () => light(stop, false));
    row.addEventListener("blur", dim);
    row.addEventListener("click", (event) => event.target.closest("details") || go());
    row.addEventListener("keydown", (event) => {
      if (event.target === row && (event.key === "Enter" || event.key === " ")) {
        event.preventDefault();
        go();
      }
    });
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
  if (tour.stops.some((place) => kindOf[place] === "required")) entry("required", "required stop");
  if (tour.stops.some((place) => !kindOf[place])) entry("stop", "stop");
  if (coveredCount) entry("covered", "covered place");
  if (forbidden.size) entry("forbidden", "no stop allowed");
  if (uncovered.length) entry("uncovered", "not covered");
  if (coveredCount) entry("lines", "lines to covered places", lines, coveredCount <= MANY_LINES);
  if (circles.getLayers().length) {
    entry("circles", "reach of the stops", circles, circles.getLayers().length <= MANY_CIRCLES);
  }

  // The whole tour stays in view when the window changes, until the reader moves the map.
  const fit = () => map.fitBounds(bounds, { padding: [10, 10], maxZoom: tour.geographic ? 15 : 8, animate: false });
  let moved = false;
  ["pointerdown", "wheel", "keydown"].forEach((kind) =>
    document.addEventListener(kind, () => (moved = true), { passive: true }));
  map.on("resize", () => moved || fit());
  fit();
  map.setMaxBounds(bounds.pad(3));

  if (tour.geographic) {
    L.control.scale({ imperial: false, position: "bottomright" }).addTo(map);
    // One tile is asked for first: without a network, or where the tile server refuses pages that
    // are opened from disk, the map stays plain instead of showing broken tiles.
    const server = "https://tile.openstreetmap.org/";
    fetch(server + "0/0/0.png", { referrerPolicy: "strict-origin-when-cross-origin" })
      .then((answer) => {
        if (!answer.ok) return;
        L.tileLayer(server + "{z}/{x}/{y}.png", {
          maxZoom: 19,
          opacity: 0.75,
          referrerPolicy: "strict-origin-when-cross-origin",
          attribution: '&copy; <a href="https://www.openstreetmap.org/copyright">OpenStreetMap</a> contributors',
        }).addTo(map);
      })
      .catch(() => {});
  }
  document.documentElement.dataset.ready = "yes";
})();
