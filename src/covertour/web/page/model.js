// What is planned: the places and the wishes (doc), the plan, and the way back to earlier ones.
// A doc is never changed; each edit makes a new one that shares what stayed the same.

const MOST_STEPS = 200;

export const EMPTY = Object.freeze({
  name: "places", metric: "haversine", n: 0, at: new Float64Array(0), matrix: null, labels: null,
  weight: null, demand: null, visitCost: null, depot: null, end: null, open: false,
  required: new Set(), forbidden: new Set(), rule: { kind: "radius", value: 20 },
  quota: null, budget: null, fleet: null,
});

/** A doc from the server's instance; coverage may be null, and is then guessed from the places. */
export function fromInstance(instance, guessRule) {
  const points = instance.coordinates ?? [];
  const n = points.length || (instance.matrix ?? []).length;
  const at = new Float64Array(2 * n);
  points.forEach(([x, y], i) => { at[2 * i] = x; at[2 * i + 1] = y; });
  if (!points.length) { // only distances are known: a circle is as good as anything
    for (let i = 0; i < n; i++) {
      at[2 * i] = Math.cos((2 * Math.PI * i) / n);
      at[2 * i + 1] = Math.sin((2 * Math.PI * i) / n);
    }
  }
  const doc = {
    ...EMPTY,
    name: instance.name ?? "places",
    metric: instance.metric ?? (instance.matrix ? "matrix" : "euclidean"),
    n, at, placed: points.length > 0,
    matrix: instance.matrix ?? null,
    labels: instance.labels ?? null,
    weight: instance.weight ? Float64Array.from(instance.weight) : null,
    demand: instance.demand ?? null,
    visitCost: instance.visit_cost ?? null,
    depot: instance.depot ?? null,
    end: instance.end ?? null,
    open: instance.open ?? false,
    required: new Set(instance.required ?? []),
    forbidden: new Set(instance.forbidden ?? []),
    quota: instance.quota ?? null,
    budget: instance.budget ?? null,
    fleet: instance.fleet ?? null,
  };
  const [rule] = Object.entries(instance.coverage ?? {});
  doc.rule = rule ? { kind: rule[0], value: rule[1] } : guessRule(doc);
  return doc;
}

/** The instance of a doc, as the server takes it. */
export function toInstance(doc) {
  const coordinates = Array.from({ length: doc.n }, (_, i) => [doc.at[2 * i], doc.at[2 * i + 1]]);
  const value = { name: doc.name, metric: doc.metric };
  if (!doc.matrix || doc.placed) value.coordinates = coordinates;
  if (doc.matrix) value.matrix = doc.matrix;
  value.coverage = { [doc.rule.kind]: doc.rule.value };
  if (doc.labels) value.labels = doc.labels;
  if (doc.weight) value.weight = Array.from(doc.weight);
  if (doc.demand !== null) value.demand = doc.demand;
  if (doc.visitCost !== null) value.visit_cost = doc.visitCost;
  if (doc.depot !== null) value.depot = doc.depot;
  if (doc.open) value.open = true;
  if (doc.open && doc.end !== null) value.end = doc.end;
  if (doc.required.size) value.required = [...doc.required].sort((a, b) => a - b);
  if (doc.forbidden.size) value.forbidden = [...doc.forbidden].sort((a, b) => a - b);
  if (doc.quota) value.quota = doc.quota;
  if (doc.budget !== null) value.budget = doc.budget;
  if (doc.fleet) value.fleet = doc.fleet;
  return value;
}

export const labelOf = (doc, i) => doc.labels?.[i] || `Place ${i + 1}`;

const filled = (doc) => doc.labels ?? Array.from({ length: doc.n }, (_, i) => `Place ${i + 1}`);
const extended = (values, more) => (Array.isArray(values) ? [...values, ...more] : values);
const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** The doc with places added: [x, y] each. */
export function withPlaces(doc, points, names = []) {
  const n = doc.n + points.length;
  const at = new Float64Array(2 * n);
  at.set(doc.at);
  points.forEach(([x, y], k) => { at[2 * (doc.n + k)] = x; at[2 * (doc.n + k) + 1] = y; });
  const numbers = points.map((_, k) => doc.n + k);
  const rule = { ...doc.rule };
  if (rule.kind === "sets") rule.value = [...rule.value, ...numbers.map((i) => [i])];
  else if (Array.isArray(rule.value)) rule.value = [...rule.value, ...numbers.map(() => middle(rule.value))];
  return {
    ...doc, n, at, rule, placed: true,
    labels: doc.labels || names.length
      ? [...filled(doc), ...points.map((_, k) => names[k] || `Place ${doc.n + k + 1}`)] : null,
    weight: doc.weight && Float64Array.from([...doc.weight, ...points.map(() => 1)]),
    demand: extended(doc.demand, points.map(() => 1)),
    visitCost: extended(doc.visitCost, points.map(() => 0)),
  };
}

/** The doc without a place, and how the others are numbered then (-1 for the one that left). */
export function withoutPlace(doc, place) {
  const map = (i) => (i === place ? -1 : i > place ? i - 1 : i);
  const keep = (values) => values && Array.from(values).filter((_, i) => i !== place);
  const maybe = (values) => (Array.isArray(values) ? keep(values) : values);
  const mapSet = (set) => new Set([...set].map(map).filter((i) => i >= 0));
  const rule = { ...doc.rule };
  if (rule.kind === "sets") rule.value = keep(rule.value).map((row) => row.map(map).filter((i) => i >= 0));
  else rule.value = maybe(rule.value);
  const point = (i) => (i === null || i === place ? null : map(i));
  return [{
    ...doc, n: doc.n - 1, rule,
    at: Float64Array.from(Array.from(doc.at).filter((_, k) => k >> 1 !== place)),
    matrix: doc.matrix && keep(doc.matrix).map(keep),
    labels: keep(doc.labels), weight: doc.weight && Float64Array.from(keep(doc.weight)),
    demand: maybe(doc.demand), visitCost: maybe(doc.visitCost),
    depot: point(doc.depot), end: point(doc.end),
    required: mapSet(doc.required), forbidden: mapSet(doc.forbidden),
  }, map];
}

/** The doc with one place moved to [x, y]. */
export function withPlaceAt(doc, place, [x, y]) {
  const at = doc.at.slice();
  at[2 * place] = x;
  at[2 * place + 1] = y;
  return { ...doc, at };
}

export function withLabel(doc, place, text) {
  const labels = [...filled(doc)];
  labels[place] = text;
  return { ...doc, labels };
}

export function withWeight(doc, place, value) {
  const weight = doc.weight ? doc.weight.slice() : new Float64Array(doc.n).fill(1);
  weight[place] = value;
  return { ...doc, weight };
}

/** What a place is to the tour: "depot", "must", "not" or "free". */
export const roleOf = (doc, i) =>
  doc.depot === i ? "depot" : doc.required.has(i) ? "must" : doc.forbidden.has(i) ? "not" : "free";

export function withRole(doc, place, role) {
  const required = new Set(doc.required), forbidden = new Set(doc.forbidden);
  required.delete(place);
  forbidden.delete(place);
  if (role === "must") required.add(place);
  if (role === "not") forbidden.add(place);
  const depot = role === "depot" ? place : doc.depot === place ? null : doc.depot;
  const end = doc.end === place && (role === "depot" || role === "not") ? null : doc.end;
  return { ...doc, required, forbidden, depot, end, fleet: depot === null ? null : doc.fleet };
}

/** The present doc and plan, those before, and those taken back; tells whoever listens. */
export class Model {
  #past = [];
  #future = [];
  #listeners = [];
  #merging = null;

  constructor() {
    this.now = { doc: EMPTY, plan: null, label: "" };
  }

  get doc() { return this.now.doc; }
  get plan() { return this.now.plan; }
  get undoLabel() { return this.#past.length ? this.now.label : null; }
  get redoLabel() { return this.#future.length ? this.#future[this.#future.length - 1].label : null; }

  onChange(listener) { this.#listeners.push(listener); }

  /** A new state. Edits of one kind in a row, such as moves of a slider, are one step back. */
  set(change, label, merge = null) {
    const next = { ...this.now, ...change, label };
    if (merge === null || merge !== this.#merging) {
      this.#past.push(this.now);
      if (this.#past.length > MOST_STEPS) this.#past.shift();
    }
    this.#merging = merge;
    this.#future = [];
    this.#go(next);
  }

  /** A state that is no step of its own, such as a tour that gets better. */
  refresh(change) { this.#go({ ...this.now, ...change }); }

  endMerge() { this.#merging = null; }

  undo() {
    if (!this.#past.length) return null;
    const { label } = this.now;
    this.#future.push(this.now);
    this.#merging = null;
    this.#go(this.#past.pop());
    return label;
  }

  redo() {
    if (!this.#future.length) return null;
    this.#past.push(this.now);
    this.#merging = null;
    this.#go(this.#future.pop());
    return this.now.label;
  }

  #go(next) {
    const before = this.now;
    this.now = next;
    for (const listener of this.#listeners) listener(before);
  }
}
