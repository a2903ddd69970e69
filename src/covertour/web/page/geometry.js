// Distances, who covers whom, and what a plan serves: the library's rules again, for live pictures.
// What counts is what the server says; this is for the moment between two of its answers.

const KM = { haversine: 6371.0088, geo: 6378.388 };
const RAD = Math.PI / 180;
const SAME = 1 + 1e-9;

export const onGlobe = (doc) => doc.metric in KM;
export const unit = (doc) => (onGlobe(doc) ? "km" : "");

const minutes = (value) => {
  const whole = Math.trunc(value);
  return (3.141592 * (whole + (5 * (value - whole)) / 3)) / 180;
};

/** Latitude and longitude of a place in radians. */
function angles(doc, i) {
  const a = doc.at[2 * i], b = doc.at[2 * i + 1];
  return doc.metric === "geo" ? [minutes(a), minutes(b)] : [b * RAD, a * RAD];
}

/** Where a place is drawn: x and y, or longitude and latitude in degrees. */
export function drawnAt(doc, i) {
  if (!onGlobe(doc)) return [doc.at[2 * i], doc.at[2 * i + 1]];
  const [latitude, longitude] = angles(doc, i);
  return [longitude / RAD, latitude / RAD];
}

function unrounded(doc, i, j) {
  if (doc.matrix) return doc.matrix[i][j];
  if (onGlobe(doc)) {
    const [latA, lonA] = angles(doc, i), [latB, lonB] = angles(doc, j);
    const around = Math.cos(latA) * Math.cos(latB), turn = (lonB - lonA) / 2;
    const near = Math.sin((latB - latA) / 2) ** 2 + around * Math.sin(turn) ** 2;
    const opposite = Math.sin((latA + latB) / 2) ** 2 + around * Math.cos(turn) ** 2;
    return 2 * KM[doc.metric] * Math.atan2(Math.sqrt(near), Math.sqrt(opposite));
  }
  const x = doc.at[2 * i] - doc.at[2 * j], y = doc.at[2 * i + 1] - doc.at[2 * j + 1];
  return doc.metric === "att" ? Math.sqrt((x * x + y * y) / 10) : Math.sqrt(x * x + y * y);
}

/** How far it is from place i to place j. */
export function distance(doc, i, j) {
  if (i === j) return 0;
  const far = unrounded(doc, i, j);
  if (doc.metric === "euc_2d") return Math.floor(far + 0.5);
  if (doc.metric === "ceil_2d" || doc.metric === "att") return Math.ceil(far);
  if (doc.metric === "geo") {
    const [latA, lonA] = angles(doc, i), [latB, lonB] = angles(doc, j);
    const q1 = Math.cos(lonA - lonB), q2 = Math.cos(latA - latB), q3 = Math.cos(latA + latB);
    const cosine = Math.max(-1, Math.min(1, 0.5 * ((1 + q1) * q2 - (1 - q1) * q3)));
    return Math.floor(KM.geo * Math.acos(cosine) + 1);
  }
  return far;
}

const sortedPlaces = new WeakMap();

/** The places sorted by their second coordinate, in the unit of distances: who is near is in a band. */
function bands(doc) {
  const known = sortedPlaces.get(doc.at);
  if (known?.metric === doc.metric) return known;
  const perUnit = onGlobe(doc) ? KM[doc.metric] : doc.metric === "att" ? 1 / Math.sqrt(10) : 1;
  const height = new Float64Array(doc.n);
  for (let i = 0; i < doc.n; i++) {
    height[i] = perUnit * (onGlobe(doc) ? angles(doc, i)[0] : doc.at[2 * i + 1]);
  }
  const order = Uint32Array.from(height, (_, i) => i).sort((a, b) => height[a] - height[b]);
  const sorted = Float64Array.from(order, (i) => height[i]);
  const made = { metric: doc.metric, height, order, sorted };
  sortedPlaces.set(doc.at, made);
  return made;
}

/** The first position in an ascending list with more than a value, or with at least it. */
function firstAbove(sorted, value, orAt = false) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (orAt ? sorted[middle] < value : sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Call back with all places that may be within an unrounded distance of a place, and few others. */
function eachNear(doc, place, reach, found) {
  if (doc.matrix) {
    for (let other = 0; other < doc.n; other++) found(other);
    return;
  }
  const { height, order, sorted } = bands(doc), { at } = doc;
  const from = firstAbove(sorted, height[place] - reach, true), to = firstAbove(sorted, height[place] + reach);
  // Most of a band lies too far to the side: that is seen before any distance is worked out.
  const flat = !onGlobe(doc), x0 = at[2 * place], aside = doc.metric === "att" ? reach * Math.sqrt(10) : reach;
  const degrees = flat || doc.metric === "geo" ? Infinity : degreesAside(height[place], reach);
  for (let k = from; k < to; k++) {
    const other = order[k], dx = Math.abs(at[2 * other] - x0);
    if (flat ? dx > aside : dx > degrees && dx < 360 - degrees) continue;
    found(other);
  }
}

/** How many degrees of longitude a distance can reach from a latitude, given as kilometres north. */
function degreesAside(north, far) {
  const widest = Math.min(Math.abs(north / KM.haversine) + far / KM.haversine, Math.PI / 2);
  const around = Math.cos(widest);
  return around < 0.02 ? Infinity : (far / (KM.haversine * around) / RAD) * 1.01;
}

const each = (value, i) => (typeof value === "number" ? value : value[i]);

/** Call back with each place within a distance of a place, and how far it is. */
function eachWithin(doc, place, radius, found) {
  const reach = radius * SAME + (onGlobe(doc) ? 1e-6 : 0);
  const rounding = doc.metric === "euclidean" || doc.metric === "haversine" ? 0 : 1;
  eachNear(doc, place, reach * (1 + 1e-6) + rounding, (other) => {
    const far = distance(doc, place, other);
    if (far <= reach) found(other, far);
  });
}

/** The places that a stop covers, itself among them. */
export function covers(doc, place) {
  const { kind, value } = doc.rule;
  if (kind === "sets") return [place, ...value[place].filter((other) => other !== place)];
  if (kind === "radius") {
    const found = [];
    eachWithin(doc, place, each(value, place), (other) => found.push(other));
    return found;
  }
  const k = Math.min(each(value, place), doc.n - 1);
  if (k <= 0) return [place];
  // Look a little farther than the k-th neighbour should be, and farther still where it is not there.
  const whole = 4 * across(doc);
  let reach = doc.matrix ? Infinity : across(doc) * Math.sqrt((k + 4) / doc.n);
  for (;;) {
    const far = [];
    eachNear(doc, place, reach, (other) => { if (other !== place) far.push([unrounded(doc, place, other), other]); });
    far.sort((a, b) => a[0] - b[0]);
    if (far.length >= k && (far[k - 1][0] * SAME + 1e-6 <= reach || reach > whole)) {
      const limit = far[k - 1][0] * SAME + (onGlobe(doc) ? 1e-6 : 0);
      return [place, ...far.filter(([d]) => d <= limit).map(([, other]) => other)];
    }
    reach = reach > whole ? Infinity : 2 * reach;
  }
}

/** The routes of a plan: one, but for a fleet, whose begin at the depot. */
export function routesOf(doc, stops) {
  if (!doc.fleet || doc.depot === null) return [stops];
  const routes = [];
  for (const stop of stops) {
    if (stop === doc.depot || !routes.length) routes.push([]);
    routes[routes.length - 1].push(stop);
  }
  return routes;
}

/** How long the way along a route is, with the way back unless the tour is open. */
export function lengthOf(doc, route) {
  let sum = 0;
  for (let k = 1; k < route.length; k++) sum += distance(doc, route[k - 1], route[k]);
  if (!doc.open && route.length > 1) sum += distance(doc, route[route.length - 1], route[0]);
  return sum;
}

export const weightOf = (doc, i) => (doc.weight ? doc.weight[i] : 1);
export const visitCostOf = (doc, i) => (doc.visitCost === null ? 0 : each(doc.visitCost, i));
const demandOf = (doc, i) => (doc.demand === null ? 1 : each(doc.demand, i));

/** What a plan does: its length and cost, who is served by which stop, how much weight that is. */
export function evaluate(doc, stops) {
  const served = new Int32Array(doc.n).fill(-1);
  const nearest = new Float64Array(doc.n).fill(Infinity);
  const times = new Uint16Array(doc.n);
  const seen = new Set();
  stops.forEach((stop, index) => {
    if (seen.has(stop)) return;
    seen.add(stop);
    const serve = (place, far) => {
      times[place]++;
      if (far < nearest[place]) { nearest[place] = far; served[place] = index; }
    };
    if (doc.rule.kind === "radius") eachWithin(doc, stop, each(doc.rule.value, stop), serve);
    else for (const place of covers(doc, stop)) serve(place, distance(doc, stop, place));
  });
  let weight = 0, total = 0, visit = 0, places = 0;
  const covered = new Uint8Array(doc.n);
  for (let i = 0; i < doc.n; i++) {
    total += weightOf(doc, i);
    if (times[i] >= demandOf(doc, i)) { covered[i] = 1; weight += weightOf(doc, i); places++; }
  }
  stops.forEach((stop, index) => {
    if (served[stop] < 0 || stops[served[stop]] !== stop) served[stop] = index;
    visit += visitCostOf(doc, stop);
  });
  const routes = routesOf(doc, stops);
  const length = routes.reduce((sum, route) => sum + lengthOf(doc, route), 0);
  return { served, nearest, covered, weight, total, places, length, visit, cost: length + visit, routes };
}

/** The corners of the places: [[low x, low y], [high x, high y]]. */
export function extent(doc) {
  const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
  for (let i = 0; i < doc.n; i++) {
    const at = drawnAt(doc, i);
    for (const axis of [0, 1]) {
      low[axis] = Math.min(low[axis], at[axis]);
      high[axis] = Math.max(high[axis], at[axis]);
    }
  }
  return [low, high];
}

const widths = new WeakMap();

/** About how far it is across all places, in the unit of distances. */
export function across(doc) {
  const known = widths.get(doc.at);
  if (known?.metric === doc.metric) return known.far;
  const far = measured(doc);
  widths.set(doc.at, { metric: doc.metric, far });
  return far;
}

function measured(doc) {
  if (doc.matrix) return Math.max(...doc.matrix[0]) || 1;
  const [low, high] = extent(doc);
  if (!onGlobe(doc)) return Math.hypot(high[0] - low[0], high[1] - low[1]) || 1;
  const x = (high[0] - low[0]) * Math.cos(((low[1] + high[1]) / 2) * RAD), y = high[1] - low[1];
  return Math.hypot(x, y) * RAD * KM[doc.metric] || 1;
}
