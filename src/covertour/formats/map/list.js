// The list beside the map: hovering a stop, here or there, shows what it covers; a click goes there.
const rows = [...document.querySelectorAll(".stop[data-stop]")];
const pinOf = pins.getLayers();
const iconOf = (stop) => (pinOf[stop] instanceof L.Marker ? pinOf[stop].getElement() : null);
const glow = L.layerGroup().addTo(map);
let lit = -1;
const dim = () => {
  if (lit < 0) return;
  rows[lit].classList.remove("lit");
  const icon = iconOf(lit);
  if (icon) icon.classList.remove("lit");
  glow.clearLayers();
  lit = -1;
};
const light = (stop, scroll) => {
  if (lit === stop) return;
  dim();
  lit = stop;
  rows[stop].classList.add("lit");
  const icon = iconOf(stop);
  if (icon) icon.classList.add("lit");
  const strong = colour(routeOf[stop].colour);
  if (tour.reach && tour.reach[stop] > 0) {
    glow.addLayer(circle(stop, { color: strong, weight: 1.5, fillOpacity: 0.18 }));
  }
  glow.addLayer(L.polyline(spokes(stop), {
    color: strong, weight: 2, interactive: false, renderer: below }));
  if (!icon) {
    glow.addLayer(L.circleMarker(corners[stop], {
      radius: 10, color: colour("lit"), weight: 4, fillOpacity: 0, interactive: false, renderer: middle }));
  }
  if (scroll) rows[stop].scrollIntoView({ block: "nearest" });
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
const onPress = (row, go) => {
  row.addEventListener("click", (event) => event.target.closest("details, a, label") || go());
  row.addEventListener("keydown", (event) => {
    if (event.target === row && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      go();
    }
  });
};
rows.forEach((row, stop) => {
  row.addEventListener("mouseenter", () => light(stop, false));
  row.addEventListener("mouseleave", dim);
  row.addEventListener("focus", () => light(stop, false));
  row.addEventListener("blur", dim);
  onPress(row, () => {
    moved = true;
    map.panTo(corners[stop]);
  });
});
const lost = [...document.querySelectorAll(".lost[data-place]")];
const spotOf = new Map(dots.getLayers().map((spot) => [spot.place, spot]));
lost.forEach((row) => onPress(row, () => {
  moved = true;
  const spot = spotOf.get(Number(row.dataset.place));
  map.panTo(spot.getLatLng());
  spot.openTooltip();
}));

// Links to navigate: what the page was written with suits phones; others get what they understand.
const apple = /iPhone|iPad|Macintosh/.test(navigator.userAgent);
const pocket = window.matchMedia("(pointer: coarse)").matches;
document.querySelectorAll("a.go").forEach((link) => {
  const { lat, lon } = link.dataset;
  if (apple) link.href = "https://maps.apple.com/?daddr=" + lat + "," + lon;
  else if (!pocket) {
    link.href = "https://www.openstreetmap.org/?mlat=" + lat + "&mlon=" + lon + "#map=14/" + lat + "/" + lon;
    link.title = "Open in OpenStreetMap";
    link.target = "_blank";
  }
});

// Routes are switched on and off in the list; their pins and marks go with them.
const show = (route, shown) => {
  if (shown) route.layers.addTo(map);
  else route.layers.remove();
  const toggle = (group) => group.eachLayer((mark) => {
    if (mark.stop < 0 || routeOf[mark.stop] !== route) return;
    const element = mark.getElement ? mark.getElement() : null;
    if (element) element.style.display = shown ? "" : "none";
    else if (mark.setStyle) mark.setStyle({ opacity: shown ? 1 : 0, fillOpacity: shown ? 0.9 : 0 });
  });
  toggle(pins);
  toggle(dots);
};
const ticks = [...document.querySelectorAll("[data-switch]")];
const turn = (tick, shown) => {
  tick.checked = shown;
  tick.closest(".route").classList.toggle("off", !shown);
  show(routes[Number(tick.dataset.switch)], shown);
};
ticks.forEach((tick) => tick.addEventListener("change", () => turn(tick, tick.checked)));
// One route alone, and with the same button all of them again.
document.querySelectorAll("[data-only]").forEach((button) =>
  button.addEventListener("click", () => {
    const alone = ticks.every((tick) => tick.checked === (tick.dataset.switch === button.dataset.only));
    ticks.forEach((tick) => turn(tick, alone || tick.dataset.switch === button.dataset.only));
  }));

// The search keeps the stops whose own name, or that of a place they cover, has the text in it.
const plain = (text) => text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
const search = document.getElementById("search");
const found = document.getElementById("found");
let texts = null;
let opened = [];
const find = () => {
  const wanted = plain(search.value.trim());
  texts = texts || [...rows, ...lost].map((row) => ({
    row,
    name: plain(row.querySelector(".name").textContent),
    others: [...row.querySelectorAll("details li[data-place]")].map((item) => [item, plain(item.textContent)]),
  }));
  opened.forEach((more) => (more.open = false));
  opened = [];
  let hits = 0;
  texts.forEach(({ row, name, others }) => {
    let inside = 0;
    others.forEach(([item, text]) => {
      const hit = wanted !== "" && text.includes(wanted);
      item.classList.toggle("hit", hit);
      inside += hit;
    });
    const own = name.includes(wanted);
    row.hidden = wanted !== "" && !own && !inside;
    hits += (own ? 1 : 0) + inside;
    const more = row.querySelector("details");
    if (inside && more && !more.open) {
      more.open = true;
      opened.push(more);
    }
  });
  document.body.classList.toggle("searching", wanted !== "");
  found.textContent = wanted === "" ? "" : hits ? plural(hits, "place") + " found" : "no place is called so";
};
search.addEventListener("input", find);
search.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const first = rows.find((row) => !row.hidden);
  const other = lost.find((row) => !row.hidden);
  if (search.value.trim() && (first || other)) {
    const hit = first ? first.querySelector("details li.hit") : null;
    const own = first && plain(first.querySelector(".name").textContent).includes(plain(search.value.trim()));
    const spot = hit && !own ? spotOf.get(Number(hit.dataset.place)) : null;
    const goal = spot ? spot.getLatLng() : first ? corners[Number(first.dataset.stop)] : at(Number(other.dataset.place));
    moved = true;
    map.setView(goal, Math.max(map.getZoom(), map.getBoundsZoom(bounds) + 2));
    if (first) light(Number(first.dataset.stop), false);
  }
});
