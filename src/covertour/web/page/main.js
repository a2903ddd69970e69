// The page: puts its parts together, and keeps map, panel and model in step.

import * as api from "./api.js";
import { setupAway } from "./away.js";
import { across, evaluate, onGlobe } from "./geometry.js";
import { fromLink } from "./link.js";
import { PlanMap } from "./map.js";
import { EMPTY, Model, fromInstance, labelOf, roleOf, toInstance, withPlaces, withRole, withoutPlace } from "./model.js";
import { setupPlaces } from "./places.js";
import { setupPlan } from "./plan.js";
import { setupRule } from "./rule.js";
import { $, announce, count, el, measure, number, people, percent, toast } from "./words.js";

const KEPT = "covertour-plan";
const MOST_KEPT = 2_000_000; // characters that a browser surely keeps

const model = new Model();
const app = { model, health: null, methods: [], found: null, evaluateNow, load, edit, select, showTab, fail, removePlace };

app.map = new PlanMap($("map"), {
  pick: (place) => select(place),
  add: (at) => edit(withPlaces(model.doc, [at]), "add a place"),
});

/** What the present plan does, worked out once for each doc and plan. */
function evaluateNow() {
  const { doc, plan } = model;
  if (app.found?.doc !== doc || app.found?.stops !== plan?.stops) {
    app.found = plan ? { doc, stops: plan.stops, ...evaluate(doc, plan.stops) } : null;
  }
  return app.found;
}

function guessRule(doc) {
  const far = across(doc);
  // A twelfth of the way across, but in a crowd no more than some twenty others.
  const radius = Number(Math.min(far / 12, 0.7 * far * Math.sqrt(6 / Math.max(doc.n, 1))).toPrecision(1));
  return doc.matrix || doc.metric === "att" ? { kind: "nearest", value: Math.min(7, doc.n - 1) } : { kind: "radius", value: radius };
}

/** Show other places: an instance as the server gives it. */
function load(instance, what, notes = []) {
  const doc = fromInstance(instance, guessRule);
  model.set({ doc, plan: null }, `open ${what}`);
  app.selected = null;
  app.map.show({ selected: null, before: null });
  app.map.map.invalidateSize();
  app.map.fit(true);
  announce(`${what}: ${count(doc.n, "place")}`);
  if (notes.length) toast(notes.slice(0, 3).join(" · "));
  if (!instance.coverage) toast("The file does not say how far a stop reaches. Set it under Rule.");
  showTab(model.doc.n ? "rule" : "places");
}

/** A new doc; the plan stays where its stops are still there. */
function edit(doc, label, merge = null) {
  const { plan } = model;
  const asked = Object.keys(doc).some((key) => !["name", "labels"].includes(key) && doc[key] !== model.doc[key]);
  // What was proven was proven of what was asked then.
  model.set({ doc, plan: plan && asked ? { ...plan, gap: null, bound: null } : plan }, label, merge);
}

function removePlace(place) {
  const [doc, renumber] = withoutPlace(model.doc, place);
  const plan = model.plan;
  const stops = plan?.stops.map(renumber).filter((i) => i >= 0);
  select(null);
  model.set({ doc, plan: plan && stops.length ? { ...plan, stops, edited: true } : null }, "remove a place");
}

function select(place) {
  app.selected = place;
  app.map.show({ selected: place });
  renderCard();
  for (const render of renders) render.select?.(place);
}

/** The card of the selected place: what it is, and what it is to be. */
function renderCard() {
  const { doc } = model, place = app.selected, card = $("card");
  card.hidden = place === null || place === undefined || place >= doc.n;
  if (card.hidden) return;
  const role = roleOf(doc, place);
  const button = (value, text) => el("button", {
    type: "button", "aria-pressed": String(role === value),
    onclick: () => edit(withRole(doc, place, role === value ? "free" : value), text.toLowerCase()),
  }, text);
  card.replaceChildren(
    el("div", { class: "row" }, el("b", { class: "grow" }, labelOf(doc, place)),
      el("button", { type: "button", class: "icon", "aria-label": "Close", onclick: () => select(null) }, "×")),
    el("p", {}, doc.weight ? `${number(doc.weight[place])} ${people(doc)}` : ""),
    el("div", { class: "row wrap" }, button("depot", "Start here"), button("must", "Must stop"), button("not", "Must not stop"),
      el("button", { type: "button", class: "danger", onclick: () => removePlace(place) }, "Remove")));
}

function renderFacts() {
  const { doc, plan } = model, found = evaluateNow();
  const facts = $("facts");
  facts.hidden = !doc.n;
  const rows = plan
    ? [[doc.visitCost === null ? "Length" : "Cost", measure(doc, found.cost)],
      ["Stops", number(new Set(plan.stops).size)],
      [doc.weight ? "People reached" : "Places reached", percent(found.total ? found.weight / found.total : 1)],
      ...(plan.gap !== null && plan.gap !== undefined ? [["Gap", plan.gap <= 1e-6 ? "proven best" : percent(plan.gap)]] : [])]
    : [["Places", number(doc.n)], ...(doc.weight ? [["People", number(doc.weight.reduce((a, b) => a + b, 0))]] : [])];
  facts.replaceChildren(...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

const renders = [setupPlaces(app), setupRule(app), setupPlan(app), setupAway(app)];

function render(before = { doc: null, plan: null }) {
  const { doc, plan } = model;
  if (app.selected !== null && app.selected >= doc.n) app.selected = null;
  app.map.show({ doc, plan, found: evaluateNow(), selected: app.selected ?? null });
  renderFacts();
  renderCard();
  document.body.classList.toggle("empty", !doc.n);
  $("mapbar").hidden = false;
  $("solvebar").hidden = !doc.n;
  const title = $("name");
  if (document.activeElement !== title) title.value = doc.n ? doc.name : "";
  title.disabled = !doc.n;
  document.title = doc.n ? `${doc.name} · covertour` : "covertour";
  $("undo").disabled = model.undoLabel === null;
  $("redo").disabled = model.redoLabel === null;
  $("undo").title = model.undoLabel ? `Undo: ${model.undoLabel} (Ctrl+Z)` : "Undo (Ctrl+Z)";
  for (const tab of ["rule", "plan", "away"]) $(`tab-${tab}`).disabled = !doc.n;
  if (!doc.n && $("tab-places").getAttribute("aria-selected") !== "true") showTab("places");
  for (const part of renders) part.render(before);
  keepSoon();
}
model.onChange(render);

export function fail(error) {
  if (error.problem?.status === 401) {
    askToken();
    return;
  }
  toast(error.message, "error");
  announce(error.message);
}

function askToken() {
  const dialog = $("token");
  if (dialog.open) return;
  dialog.showModal();
  dialog.onclose = () => { api.setToken($("token-text").value); start(); };
}

/* Tabs: a pane is drawn when it is shown; arrows move between them, as the pattern of tabs asks for. */
const TABS = ["places", "rule", "plan", "away"];
function showTab(name, focus = false) {
  for (const tab of TABS) {
    const chosen = tab === name;
    $(`tab-${tab}`).setAttribute("aria-selected", String(chosen));
    $(`tab-${tab}`).tabIndex = chosen ? 0 : -1;
    $(`pane-${tab}`).hidden = !chosen;
  }
  for (const part of renders) part.shown?.();
  if (focus) $(`tab-${name}`).focus();
}
for (const [k, tab] of TABS.entries()) {
  $(`tab-${tab}`).addEventListener("click", () => showTab(tab));
  $(`tab-${tab}`).addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !model.doc.n) return;
    event.preventDefault();
    showTab(TABS[(k + step + TABS.length) % TABS.length], true);
  });
}

/* Undo and redo. */
const undo = () => { const label = model.undo(); if (label !== null) announce(`Undone: ${label}`); };
const redo = () => { const label = model.redo(); if (label !== null) announce(`Done again: ${label}`); };
$("undo").addEventListener("click", undo);
$("redo").addEventListener("click", redo);
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea");
  if (event.key === "Escape" && app.selected !== null && !document.querySelector("dialog[open]")) select(null);
  if (!(event.ctrlKey || event.metaKey) || typing) return;
  const key = event.key.toLowerCase();
  if (key === "z" && !event.shiftKey) { event.preventDefault(); undo(); }
  if (key === "y" || (key === "z" && event.shiftKey)) { event.preventDefault(); redo(); }
});

/* The name, the theme, the tools of the map. */
$("name").addEventListener("change", (event) => {
  const name = event.target.value.trim();
  if (name && name !== model.doc.name) edit({ ...model.doc, name }, "rename the plan");
});
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("covertour-theme", theme);
  app.map.readColours();
}
const dark = window.matchMedia("(prefers-color-scheme: dark)");
setTheme(localStorage.getItem("covertour-theme-chosen") ? localStorage.getItem("covertour-theme") : dark.matches ? "dark" : "light");
dark.addEventListener("change", () => localStorage.getItem("covertour-theme-chosen") || setTheme(dark.matches ? "dark" : "light"));
$("theme").addEventListener("click", () => {
  localStorage.setItem("covertour-theme-chosen", "yes");
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
});
$("fit").addEventListener("click", () => app.map.fit());
$("adding").addEventListener("click", () => setAdding(!app.map.scene.adding));
export function setAdding(adding) {
  if (adding && (model.doc.matrix || model.doc.metric === "geo")) {
    toast("Places of this file have given distances; none can be added on the map.");
    return;
  }
  app.map.show({ adding });
  $("adding").setAttribute("aria-pressed", String(adding));
  if (adding) announce("A click on the map adds a place");
}
app.setAdding = setAdding;
for (const [box, key] of [["show-reach", "reach"], ["show-lines", "lines"]]) {
  $(box).addEventListener("change", (event) => app.map.show({ [key]: event.target.checked }));
}
$("show-before").addEventListener("change", () => render());
$("show-tiles").addEventListener("change", (event) => app.map.setTiles(event.target.checked && onGlobe(model.doc)));

/* Files dropped anywhere on the page. */
let depth = 0;
const carriesFile = (event) => event.dataTransfer?.types.includes("Files");
document.addEventListener("dragenter", (event) => { if (carriesFile(event)) { depth++; $("dropping").hidden = false; } });
document.addEventListener("dragleave", (event) => { if (carriesFile(event) && --depth <= 0) { depth = 0; $("dropping").hidden = true; } });
document.addEventListener("dragover", (event) => { if (carriesFile(event)) event.preventDefault(); });
document.addEventListener("drop", (event) => {
  if (!carriesFile(event)) return;
  event.preventDefault();
  depth = 0;
  $("dropping").hidden = true;
  app.openFile(event.dataTransfer.files[0]);
});

/* The plan is kept in this browser, so that a reload loses nothing. */
let keeping = null;
function keepSoon() {
  clearTimeout(keeping);
  keeping = setTimeout(() => {
    try {
      const { doc, plan } = model;
      const text = doc.n && doc.n <= 20_000 ? JSON.stringify({ instance: toInstance(doc), plan }) : "";
      if (text && text.length <= MOST_KEPT) localStorage.setItem(KEPT, text);
      else localStorage.removeItem(KEPT);
      document.documentElement.dataset.kept = String(plan?.stops.length ?? 0);
    } catch { /* a full or forbidden store: then a reload begins anew */ }
  }, 800);
}

/** The plan that the address holds, null for none; whoever made it, the server looks at it first. */
async function openLink() {
  if (!location.hash.includes("plan=")) return null;
  try {
    const { instance, plan } = await fromLink(location.hash);
    const checked = await (await api.convert({ instance, to: "json" })).text();
    return { instance: JSON.parse(checked), plan };
  } catch (error) {
    fail(error.problem ? error : new Error("The link is damaged; perhaps a part of it is missing."));
    return null;
  } finally {
    history.replaceState(null, "", location.pathname);
  }
}

async function start() {
  try {
    [app.health, app.methods, app.examples] = await Promise.all([api.get("/v1/health"), api.get("/v1/methods"), api.get("/v1/examples")]);
  } catch (error) {
    fail(error);
    return;
  }
  const linked = await openLink();
  let kept = null;
  try { kept = linked ?? JSON.parse(localStorage.getItem(KEPT)); } catch { /* not ours */ }
  if (kept?.instance) {
    const doc = fromInstance(kept.instance, guessRule);
    const fits = kept.plan?.stops?.every((i) => Number.isInteger(i) && i >= 0 && i < doc.n);
    model.refresh({ doc, plan: fits ? kept.plan : null });
    app.map.fit(true);
    showTab(model.plan ? "plan" : "rule");
  } else {
    render();
  }
  for (const part of renders) part.start?.();
  document.documentElement.dataset.ready = "yes";
}

app.clear = () => {
  model.set({ doc: EMPTY, plan: null }, "start anew");
  select(null);
};

window.addEventListener("error", (event) => { document.documentElement.dataset.error = event.message; });
window.addEventListener("unhandledrejection", (event) => { document.documentElement.dataset.error = String(event.reason); });
new ResizeObserver(() => app.map.map.invalidateSize({ pan: false })).observe($("map"));
api.takeToken();
start();
