// The map: ground, reach, tour, places and stops, each painted on a canvas, fifty thousand as well.

import { covers, drawnAt, onGlobe, routesOf, weightOf } from "./geometry.js";
import { paintGround, watchGround } from "./ground.js";
import { labelOf, roleOf } from "./model.js";
import { Painting } from "./painting.js";
import { el, measure, number, people } from "./words.js";

const MANY = 3000; // places above which dots are small squares, all of one size
const MANY_REACH = 600; // stops above which circles are not filled
const PLANE = 0.25; // how wide places in the plane are, in pixels of the whole world at zoom 0
const TILES = "https://tile.openstreetmap.org/{z}/{x}/{y}.png";
const CREDIT = '&copy; <a href="https://www.openstreetmap.org/copyright">OpenStreetMap</a> contributors';

export class PlanMap {
  constructor(node, on) {
    this.on = on;
    this.scene = { doc: null, plan: null, found: null, before: null, reach: true, lines: false, selected: null, adding: false };
    this.hovered = null;
    this.map = L.map(node, {
      zoomSnap: 0.25, zoomDelta: 0.75, wheelPxPerZoomLevel: 90, minZoom: 1, maxZoom: 22, zoomControl: false,
      worldCopyJump: false, attributionControl: false, center: [20, 5], zoom: 2,
    });
    L.control.zoom({ position: "bottomright" }).addTo(this.map);
    this.credit = L.control.attribution({ prefix: '<a href="https://leafletjs.com">Leaflet</a>', position: "bottomleft" }).addTo(this.map);
    this.ruler = L.control.scale({ imperial: false, position: "bottomleft" });
    this.layers = ["ground", "reach", "tour", "places"].map((name, k) => {
      const pane = this.map.createPane(name);
      pane.style.zIndex = 250 + 10 * k;
      pane.style.pointerEvents = "none";
      const paint = (ctx, bounds) => this[`paint_${name}`](ctx, bounds);
      return new Painting(paint, { pane: name, padding: 0.25 }).addTo(this.map);
    });
    this.tip = el("div", { class: "maptip", hidden: true });
    node.append(this.tip);
    this.readColours();
    this.map.on("click", (event) => this.clicked(event));
    this.map.on("mousemove", (event) => this.moved(event));
    this.map.on("mouseout movestart", () => this.point(null));
    this.map.on("zoomend", () => this.layers.slice(1).forEach((layer) => layer.repaint()));
    this.map.on("zoomend", () => { document.documentElement.dataset.zoom = String(this.map.getZoom()); });
    watchGround(this);
  }

  readColours() {
    const css = getComputedStyle(document.documentElement);
    const names = ["paper", "ink", "soft", "tour", "depot", "must", "not", "reach", "covered", "uncovered",
      "sea", "land", "coast", "border", "country", "before", "lit", "on-tour", ...Array.from({ length: 10 }, (_, k) => `route-${k}`)];
    this.colour = Object.fromEntries(names.map((name) => [name, css.getPropertyValue(`--${name}`).trim()]));
    this.layers?.forEach((layer) => layer.repaint());
  }

  setTiles(wanted) {
    if (wanted && !this.tiles) {
      this.tiles = L.tileLayer(TILES, { maxZoom: 22, maxNativeZoom: 19, attribution: CREDIT, referrerPolicy: "strict-origin-when-cross-origin" }).addTo(this.map);
    } else if (!wanted && this.tiles) {
      this.tiles.remove();
      this.tiles = null;
    }
    this.layers[0].repaint();
  }

  get globe() { return this.scene.doc === null || onGlobe(this.scene.doc); }

  /** Show something else; what is not named stays. */
  show(change) {
    const old = this.scene;
    this.scene = { ...old, ...change };
    if (this.scene.doc?.at !== old.doc?.at || this.scene.doc?.metric !== old.doc?.metric) this.project();
    const reach = this.scene.doc !== old.doc || this.scene.plan !== old.plan || this.scene.reach !== old.reach
      || this.scene.lines !== old.lines || this.scene.selected !== old.selected;
    if (reach) this.layers[1].repaint();
    this.layers[2].repaint();
    this.layers[3].repaint();
    this.map.getContainer().classList.toggle("adding", this.scene.adding);
  }

  /** The places as points of the world at zoom 0, from which any zoom is a product away. */
  project() {
    const { doc } = this.scene;
    this.u = new Float64Array(doc.n);
    this.v = new Float64Array(doc.n);
    if (this.globe && !this.wasGlobe) this.ruler.addTo(this.map);
    if (!this.globe && this.wasGlobe !== false) this.ruler.remove();
    if (this.globe !== this.wasGlobe) this.layers[0].repaint();
    this.wasGlobe = this.globe;
    if (!this.globe && !this.frame) this.makeFrame();
    const at = Array.from({ length: doc.n }, (_, i) => drawnAt(doc, i));
    const far = this.globe && at.some(([x]) => x > 120) && at.some(([x]) => x < -120);
    at.forEach(([x, y], i) => {
      const point = this.world([far && x < 0 ? x + 360 : x, y]);
      this.u[i] = point.x;
      this.v[i] = point.y;
    });
    this.heaviest = 1;
    for (let i = 0; i < doc.n; i++) this.heaviest = Math.max(this.heaviest, weightOf(doc, i));
  }

  makeFrame() {
    const { doc } = this.scene;
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (let k = 0; k < 2 * doc.n; k++) {
      low[k % 2] = Math.min(low[k % 2], doc.at[k]);
      high[k % 2] = Math.max(high[k % 2], doc.at[k]);
    }
    const span = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
    this.frame = { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, scale: PLANE / span };
  }

  world([x, y]) {
    if (this.globe) return L.CRS.EPSG3857.latLngToPoint(L.latLng(Math.max(-85, Math.min(85, y)), x), 0);
    const { frame } = this;
    return L.point(128 + (x - frame.x) * frame.scale, 128 - (y - frame.y) * frame.scale);
  }

  /** The coordinates of a spot on the map, as the doc has them. */
  coordinates(latlng) {
    if (this.globe) {
      const wrapped = latlng.wrap();
      return [Math.round(wrapped.lng * 1e6) / 1e6, Math.round(wrapped.lat * 1e6) / 1e6];
    }
    const point = this.map.project(latlng, 0), { frame } = this;
    const digits = 10 ** Math.max(0, Math.ceil(Math.log10(frame.scale * 4e4)));
    return [(point.x - 128) / frame.scale + frame.x, (128 - point.y) / frame.scale + frame.y]
      .map((value) => Math.round(value * digits) / digits);
  }

  /** The whole of the places in view. */
  fit(fresh = false) {
    const { doc } = this.scene;
    if (!doc?.n) return;
    if (fresh) { this.frame = null; this.project(); }
    const corners = [Math.min, Math.max].map((pick) => {
      const edge = (values) => values.reduce((a, b) => pick(a, b));
      return this.map.unproject(L.point(edge(this.u), edge(this.v)), 0);
    });
    this.map.fitBounds(L.latLngBounds(corners), { padding: [40, 40], maxZoom: this.globe ? 14 : 16, animate: false });
  }

  goTo(place) {
    const at = this.map.unproject(L.point(this.u[place], this.v[place]), 0);
    if (!this.map.getBounds().pad(-0.15).contains(at)) this.map.panTo(at);
  }

  /** Where a place is on the canvases. */
  screen() {
    const scale = 2 ** this.map.getZoom(), origin = this.map.getPixelOrigin();
    return [scale, origin.x, origin.y];
  }

  /** How many pixels a distance is, at a place. */
  pixels(place, far) {
    const { doc } = this.scene;
    const scale = 2 ** this.map.getZoom();
    if (!this.globe) return far * this.frame.scale * scale * (doc.metric === "att" ? Math.sqrt(10) : 1);
    const latitude = (drawnAt(doc, place)[1] * Math.PI) / 180;
    return (far * 256 * scale) / (2 * Math.PI * 6371 * Math.max(Math.cos(latitude), 0.02));
  }

  paint_ground(ctx, bounds) {
    const { colour } = this;
    ctx.fillStyle = this.globe ? colour.sea : colour.land;
    const size = bounds.getSize();
    if (this.tiles && this.globe) return;
    ctx.fillRect(bounds.min.x, bounds.min.y, size.x, size.y);
    if (this.globe) paintGround(ctx, this, bounds);
    else this.paintGrid(ctx, bounds);
  }

  paintGrid(ctx, bounds) {
    const step = 64, { min, max } = bounds;
    const origin = this.map.getPixelOrigin();
    ctx.beginPath();
    for (let x = min.x - (((min.x + origin.x) % step) + step) % step; x < max.x; x += step) { ctx.moveTo(x, min.y); ctx.lineTo(x, max.y); }
    for (let y = min.y - (((min.y + origin.y) % step) + step) % step; y < max.y; y += step) { ctx.moveTo(min.x, y); ctx.lineTo(max.x, y); }
    ctx.strokeStyle = this.colour.border;
    ctx.globalAlpha = 0.35;
    ctx.lineWidth = 1;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  /** Whose reach is shown: that of the stops, or without a plan of the places that may be stops. */
  reaching() {
    const { doc, plan, selected } = this.scene;
    if (plan) return [...new Set(plan.stops)];
    if (selected !== null) return [selected];
    if (doc.n <= 400) return Array.from({ length: doc.n }, (_, i) => i).filter((i) => !doc.forbidden.has(i));
    return [];
  }

  paint_reach(ctx, bounds) {
    const { doc, plan, reach, lines, selected } = this.scene;
    if (!doc?.n || !(reach || lines)) return;
    const [scale, x0, y0] = this.screen(), { u, v, colour } = this;
    const { min, max } = bounds;
    const who = this.reaching();
    ctx.strokeStyle = ctx.fillStyle = colour.reach;
    if (reach && doc.rule.kind === "radius" && !doc.matrix) {
      const each = typeof doc.rule.value === "number" ? () => doc.rule.value : (i) => doc.rule.value[i];
      const circle = (i, fill, edge) => {
        const r = this.pixels(i, each(i)), x = u[i] * scale - x0, y = v[i] * scale - y0;
        if (r < 0.5 || x + r < min.x || x - r > max.x || y + r < min.y || y - r > max.y) return;
        ctx.beginPath();
        ctx.arc(x, y, r, 0, 2 * Math.PI);
        if (fill) { ctx.globalAlpha = fill; ctx.fill(); }
        ctx.globalAlpha = edge;
        ctx.stroke();
      };
      ctx.lineWidth = 1;
      who.forEach((i) => circle(i, plan && who.length < MANY_REACH ? 0.13 : plan ? 0 : 0.03, plan ? 0.55 : 0.22));
      if (selected !== null) { ctx.lineWidth = 2; circle(selected, 0.16, 1); }
    } else if (reach || lines) {
      this.paintLines(ctx, plan ? who : selected !== null ? [selected] : who.length <= 200 ? who : [], 0.5);
    }
    if (lines && plan && doc.rule.kind === "radius") this.paintLines(ctx, who, 0.5);
    ctx.globalAlpha = 1;
  }

  /** Lines from stops to those whom they serve. */
  paintLines(ctx, who, strength) {
    const { doc, plan, found } = this.scene;
    const [scale, x0, y0] = this.screen(), { u, v } = this;
    ctx.beginPath();
    const line = (a, b) => { ctx.moveTo(u[a] * scale - x0, v[a] * scale - y0); ctx.lineTo(u[b] * scale - x0, v[b] * scale - y0); };
    if (plan && found) found.served.forEach((index, i) => { if (index >= 0 && plan.stops[index] !== i) line(plan.stops[index], i); });
    else for (const i of who) for (const other of covers(doc, i)) if (other !== i) line(i, other);
    ctx.globalAlpha = strength;
    ctx.lineWidth = 1;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  paint_tour(ctx) {
    const { doc, plan, before } = this.scene;
    if (!doc?.n) return;
    ctx.lineJoin = ctx.lineCap = "round";
    if (before) {
      ctx.setLineDash([6, 6]);
      for (const route of routesOf(doc, before.stops)) this.trace(ctx, route, this.colour.before, 2.5);
      ctx.setLineDash([]);
    }
    if (!plan) return;
    const wide = plan.stops.length > 1500 ? 1.5 : plan.stops.length > 400 ? 2.2 : 3.2;
    const routes = routesOf(doc, plan.stops);
    if (plan.stops.length <= 1500) routes.forEach((route) => this.trace(ctx, route, this.colour.paper, wide + 2.5));
    routes.forEach((route, k) => {
      const colour = routes.length > 1 ? this.colour[`route-${k % 10}`] : this.colour.tour;
      this.trace(ctx, route, colour, wide);
      if (plan.stops.length <= 400) this.arrows(ctx, route, colour);
    });
  }

  trace(ctx, route, colour, wide) {
    if (route.length < 2) return;
    const [scale, x0, y0] = this.screen(), { u, v } = this;
    ctx.beginPath();
    route.forEach((i) => ctx.lineTo(u[i] * scale - x0, v[i] * scale - y0));
    if (!this.scene.doc.open) ctx.closePath();
    ctx.strokeStyle = colour;
    ctx.lineWidth = wide;
    ctx.stroke();
  }

  /** Small arrows in the middle of long legs: which way round it goes. */
  arrows(ctx, route, colour) {
    const [scale, x0, y0] = this.screen(), { u, v } = this;
    ctx.fillStyle = colour;
    ctx.strokeStyle = this.colour.paper;
    ctx.lineWidth = 1;
    const legs = this.scene.doc.open ? route.length - 1 : route.length;
    for (let k = 0; k < legs; k++) {
      const a = route[k], b = route[(k + 1) % route.length];
      const dx = (u[b] - u[a]) * scale, dy = (v[b] - v[a]) * scale, long = Math.hypot(dx, dy);
      if (long < 70) continue;
      ctx.save();
      ctx.translate(((u[a] + u[b]) / 2) * scale - x0, ((v[a] + v[b]) / 2) * scale - y0);
      ctx.rotate(Math.atan2(dy, dx));
      ctx.beginPath();
      ctx.moveTo(8, 0);
      ctx.lineTo(-5, 6);
      ctx.lineTo(-5, -6);
      ctx.closePath();
      ctx.fill();
      ctx.stroke();
      ctx.restore();
    }
  }

  paint_places(ctx, bounds) {
    const { doc } = this.scene;
    if (!doc?.n) return;
    if (doc.n > MANY) this.paintMany(ctx, bounds);
    else this.paintFew(ctx, bounds);
    this.paintRoles(ctx);
    this.paintStops(ctx, bounds);
    for (const [place, width] of [[this.scene.selected, 3], [this.hovered, 2]]) if (place !== null && place < doc.n) this.ring(ctx, place, width);
  }

  /** Thousands of places: squares of one or two pixels, one fill style at a time. */
  paintMany(ctx, { min, max }) {
    const { doc, found } = this.scene, { u, v, colour } = this;
    const [scale, x0, y0] = this.screen();
    const size = Math.max(1.5, Math.min(5, scale / 2 ** 11 + 1.5));
    for (const kind of [1, 0]) {
      ctx.fillStyle = !found || kind ? colour.covered : colour.uncovered;
      for (let i = 0; i < doc.n; i++) {
        if (found && found.covered[i] !== kind) continue;
        const x = u[i] * scale - x0, y = v[i] * scale - y0;
        if (x < min.x || x > max.x || y < min.y || y > max.y) continue;
        ctx.fillRect(x - size / 2, y - size / 2, size, size);
      }
      if (!found) return;
    }
  }

  paintFew(ctx, { min, max }) {
    const { doc, found } = this.scene, { u, v, colour } = this;
    const [scale, x0, y0] = this.screen();
    for (let i = 0; i < doc.n; i++) {
      const x = u[i] * scale - x0, y = v[i] * scale - y0;
      if (x < min.x || x > max.x || y < min.y || y > max.y) continue;
      const r = this.radius(i);
      ctx.beginPath();
      ctx.arc(x, y, r, 0, 2 * Math.PI);
      if (found && !found.covered[i]) {
        ctx.lineWidth = 2.5;
        ctx.strokeStyle = colour.uncovered;
        ctx.fillStyle = colour.paper;
      } else {
        ctx.lineWidth = 1;
        ctx.strokeStyle = colour.paper;
        ctx.fillStyle = colour.covered;
      }
      ctx.fill();
      ctx.stroke();
    }
  }

  radius(i) {
    const { doc } = this.scene;
    const base = doc.n > 800 ? 2.2 : 3.2;
    return doc.weight ? base + 5 * Math.sqrt(doc.weight[i] / this.heaviest) : base + 0.6;
  }

  paintRoles(ctx) {
    const { doc, plan } = this.scene, { u, v, colour } = this;
    const [scale, x0, y0] = this.screen();
    const stops = new Set(plan?.stops);
    ctx.lineWidth = 2.5;
    ctx.strokeStyle = colour.not;
    ctx.beginPath();
    for (const i of doc.forbidden) {
      const x = u[i] * scale - x0, y = v[i] * scale - y0;
      ctx.moveTo(x - 5, y - 5); ctx.lineTo(x + 5, y + 5);
      ctx.moveTo(x + 5, y - 5); ctx.lineTo(x - 5, y + 5);
    }
    ctx.stroke();
    for (const i of doc.required) if (!stops.has(i)) this.badge(ctx, i, colour.must, "must", "", 8);
    if (doc.depot !== null && !stops.has(doc.depot)) this.badge(ctx, doc.depot, colour.depot, "depot", "", 9);
  }

  paintStops(ctx, { min, max }) {
    const { doc, plan } = this.scene;
    if (!plan) return;
    const { u, v, colour } = this, [scale, x0, y0] = this.screen();
    const routes = routesOf(doc, plan.stops);
    // Numbers where there is room for them: by the area that each stop in view has.
    let seen = 0, west = max.x, east = min.x, north = max.y, south = min.y;
    for (const i of plan.stops) {
      const x = u[i] * scale - x0, y = v[i] * scale - y0;
      if (x < min.x || x > max.x || y < min.y || y > max.y) continue;
      seen++;
      west = Math.min(west, x); east = Math.max(east, x);
      north = Math.min(north, y); south = Math.max(south, y);
    }
    const room = Math.sqrt((Math.max(east - west, 60) * Math.max(south - north, 60)) / Math.max(seen, 1));
    const r = room > 58 ? 11.5 : room > 40 ? 9.5 : room > 22 ? 5.5 : room > 13 ? 3.5 : 1.8;
    let stopNumber = 0;
    routes.forEach((route, k) => {
      const main = routes.length > 1 ? colour[`route-${k % 10}`] : colour.tour;
      route.forEach((i) => {
        stopNumber++;
        if (i === doc.depot) return;
        this.badge(ctx, i, doc.required.has(i) ? colour.must : main, doc.required.has(i) ? "must" : "stop", r > 9 ? String(stopNumber) : "", r);
      });
    });
    if (doc.depot !== null && plan.stops.includes(doc.depot)) this.badge(ctx, doc.depot, colour.depot, "depot", r > 9 ? "1" : "", Math.max(r, 8));
  }

  badge(ctx, place, fill, shape, text, r) {
    const [scale, x0, y0] = this.screen();
    const x = this.u[place] * scale - x0, y = this.v[place] * scale - y0;
    ctx.beginPath();
    if (shape === "depot") ctx.roundRect(x - r, y - r, 2 * r, 2 * r, 4);
    else if (shape === "must") ctx.roundRect(x - r, y - r, 2 * r, 2 * r, [3, r, 3, r]);
    else ctx.arc(x, y, r, 0, 2 * Math.PI);
    ctx.fillStyle = fill;
    ctx.strokeStyle = this.colour.paper;
    ctx.lineWidth = r > 5 ? 1.8 : 1;
    ctx.fill();
    if (r > 2) ctx.stroke();
    if (!text) return;
    ctx.fillStyle = this.colour["on-tour"] || "#fff";
    ctx.font = `600 ${text.length > 2 ? r * 0.85 : r}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(text, x, y + 0.5);
  }

  ring(ctx, place, width) {
    const [scale, x0, y0] = this.screen();
    ctx.beginPath();
    ctx.arc(this.u[place] * scale - x0, this.v[place] * scale - y0, 15, 0, 2 * Math.PI);
    ctx.strokeStyle = this.colour.lit;
    ctx.lineWidth = width;
    ctx.stroke();
  }

  /** The place under the pointer, null where there is none. */
  at(containerPoint) {
    const { doc } = this.scene;
    if (!doc?.n) return null;
    const [scale] = this.screen(), { u, v } = this;
    const pixel = this.map.project(this.map.containerPointToLatLng(containerPoint), this.map.getZoom());
    let best = null, nearest = 14 * 14;
    for (let i = 0; i < doc.n; i++) {
      const dx = u[i] * scale - pixel.x, dy = v[i] * scale - pixel.y, far = dx * dx + dy * dy;
      if (far < nearest) { nearest = far; best = i; }
    }
    return best;
  }

  clicked(event) {
    const place = this.at(event.containerPoint);
    if (place !== null) this.on.pick(place);
    else if (this.scene.adding) this.on.add(this.coordinates(event.latlng));
    else this.on.pick(null);
  }

  moved(event) {
    if (event.originalEvent.pointerType === "touch") return;
    this.point(this.at(event.containerPoint), event.containerPoint);
  }

  point(place, where = null) {
    if (place === this.hovered) return;
    this.hovered = place;
    this.map.getContainer().classList.toggle("pointing", place !== null);
    this.tip.hidden = place === null;
    this.layers[3].repaint();
    if (place === null) return;
    const { doc, plan, found } = this.scene;
    const index = plan ? plan.stops.indexOf(place) : -1;
    const role = { depot: "the tour starts here", must: "must be a stop", not: "must not be a stop", free: "" }[roleOf(doc, place)];
    const by = found && index < 0
      ? found.served[place] >= 0 ? `reached from ${labelOf(doc, plan.stops[found.served[place]])}, ${measure(doc, found.nearest[place])}` : "not reached" : "";
    this.tip.replaceChildren(
      el("b", {}, index >= 0 ? `${index + 1}. ${labelOf(doc, place)}` : labelOf(doc, place)),
      ...[doc.weight ? `${number(doc.weight[place])} ${people(doc)}` : "", role, by].filter(Boolean).map((text) => el("span", {}, text)));
    const { x, y } = where, size = this.map.getSize();
    this.tip.style.transform = `translate(${x > size.x - 230 ? x - 14 : x + 14}px, ${y > size.y - 90 ? y - 14 : y + 14}px) translate(${x > size.x - 230 ? "-100%" : "0"}, ${y > size.y - 90 ? "-100%" : "0"})`;
  }
}
