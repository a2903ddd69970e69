// The rule: how far a stop reaches, how much must be reached, what the tour may be like.

import { across, unit } from "./geometry.js";
import { labelOf } from "./model.js";
import { $, el, measure, number, people, percent } from "./words.js";

const STEPS = 1000;

export function setupRule(app) {
  const { model } = app;
  const pane = $("pane-rule");

  const radio = (group, value, text, onchange) => {
    const input = el("input", { type: "radio", name: group, value, onchange });
    return [input, el("label", { class: "choice" }, input, text)];
  };
  const change = (fields, label, merge = null) => app.edit({ ...model.doc, ...fields }, label, merge);

  /* How far a stop reaches. The slider is finer where numbers are small. */
  const [byRadius, radiusChoice] = radio("rule", "radius", "all places within a distance", () => setRule({ kind: "radius", value: Number((longest() / 24).toPrecision(1)) }));
  const [byNearest, nearestChoice] = radio("rule", "nearest", "its nearest places", () => setRule({ kind: "nearest", value: Math.min(7, model.doc.n - 1) }));
  const [byFile, fileChoice] = radio("rule", "file", "as the file says for each place", () => setRule(fromFile));
  let fromFile = null;
  const slider = el("input", { type: "range", min: "0", max: String(STEPS), step: "1", id: "reach-slider", "aria-label": "Reach",
    oninput: () => setRule({ kind: model.doc.rule.kind, value: fromSlider(Number(slider.value)) }, "reach"), onchange: () => model.endMerge() });
  const exact = el("input", { class: "number", inputMode: "decimal", "aria-label": "Reach as a number", onchange: () => {
    const value = Number(exact.value.replace(",", "."));
    if (!(value >= 0) || (model.doc.rule.kind === "nearest" && !Number.isInteger(value))) { app.fail(new Error(`Reach: expected a number, 0 or more, got ${exact.value.slice(0, 40)}`)); render(); return; }
    setRule({ kind: model.doc.rule.kind, value });
  } });
  const unitName = el("span", { class: "unit" });
  const reachRow = el("div", { class: "row slider" }, slider, exact, unitName);
  const meter = el("div", { class: "meter", "aria-hidden": "true" }, el("span", {}));
  const told = el("p", { class: "told" });

  function longest() { return across(model.doc) / (model.doc.matrix ? 1 : 2); }
  const most = () => Math.max(1, Math.min(model.doc.n - 1, 60));
  function fromSlider(at) {
    if (model.doc.rule.kind === "nearest") return Math.round((at / STEPS) * most());
    const value = longest() * (at / STEPS) ** 2;
    return Number(value.toPrecision(value > 100 ? 3 : 2));
  }
  function toSlider({ kind, value }) {
    return Math.round(kind === "nearest" ? (STEPS * value) / most() : STEPS * Math.sqrt(value / longest()));
  }
  function setRule(rule, merge = null) { change({ rule }, "change the reach", merge); }

  /* How much must be reached. */
  const [everyone, everyoneChoice] = radio("goal", "all", "every place", () => change({ quota: null, budget: null }, "reach everyone"));
  const [aShare, shareChoice] = radio("goal", "quota", "at least a share", () => change({ quota: { share: 0.9 }, budget: null }, "reach a share"));
  const [aBudget, budgetChoice] = radio("goal", "budget", "as many as a budget allows", () => {
    const found = app.evaluateNow();
    change({ quota: null, fleet: null, end: null, budget: Number(((found?.cost || across(model.doc) * 2) * 0.8).toPrecision(3)) }, "set a budget");
  });
  const share = el("input", { type: "range", min: "1", max: "100", id: "share", "aria-label": "Share to reach, in percent",
    oninput: () => change({ quota: { share: Number(share.value) / 100 } }, "change the share", "share"), onchange: () => model.endMerge() });
  const shareText = el("output", { htmlFor: "share", class: "unit wide" });
  const shareRow = el("div", { class: "row slider" }, share, shareText);
  const budget = numberField("Budget: the tour may cost at most", (value) => change({ budget: value }, "change the budget"), false);

  /* The tour: its end, what a stop costs, vehicles. */
  const visit = numberField("Each stop costs in addition", (value) => change({ visitCost: value || null }, "change the cost of a stop"), true);
  const ends = el("select", { id: "ends", onchange: () => {
    const value = ends.value;
    change({ open: value !== "back", end: value === "place" ? firstFree() : null, fleet: value === "place" ? null : model.doc.fleet, budget: model.doc.budget }, "change the end of the tour");
  } }, el("option", { value: "back" }, "returns to where it starts"), el("option", { value: "any" }, "may end anywhere"), el("option", { value: "place" }, "ends at a place of your choice"));
  const endNames = el("datalist", { id: "end-names" });
  const endPlace = el("input", { "aria-label": "Where the tour ends", onchange: () => {
    const place = Array.from({ length: model.doc.n }, (_, i) => i).find((i) => labelOf(model.doc, i) === endPlace.value.trim());
    if (place === undefined || place === model.doc.depot || model.doc.forbidden.has(place)) { app.fail(new Error("The end must be the name of a place that is neither the start nor forbidden")); render(); return; }
    change({ end: place }, "change the end of the tour");
  } });
  endPlace.setAttribute("list", "end-names");
  const firstFree = () => Array.from({ length: model.doc.n }, (_, i) => i).find((i) => i !== model.doc.depot && !model.doc.forbidden.has(i)) ?? null;

  const vehicles = el("input", { type: "checkbox", id: "vehicles", onchange: () => {
    if (!vehicles.checked) { change({ fleet: null }, "one tour"); return; }
    const depot = model.doc.depot ?? firstFree();
    change({ depot, fleet: { vehicles: 2, objective: "cost" }, budget: null, end: null }, "several vehicles");
  } });
  const fleetField = (key, text) => numberField(text, (value) => {
    const fleet = { ...model.doc.fleet };
    if (value) fleet[key] = key === "max_length" ? value : Math.max(1, Math.round(value));
    else delete fleet[key];
    change({ fleet }, "change the vehicles");
  }, true);
  const fleet = { vehicles: fleetField("vehicles", "Vehicles at most"), max_length: fleetField("max_length", "Longest route"), max_stops: fleetField("max_stops", "Most stops of a route") };
  const objective = el("select", { id: "objective", onchange: () => change({ fleet: { ...model.doc.fleet, objective: objective.value } }, "change what matters") },
    el("option", { value: "cost" }, "the shortest way in all"), el("option", { value: "fewest" }, "as few vehicles as possible"), el("option", { value: "balance" }, "the longest route as short as possible"));
  const fleetBox = el("div", { class: "nested" }, ...Object.values(fleet).map((field) => field.node), el("label", { class: "field" }, "What matters first ", objective));
  const hint = el("p", { class: "hint warn", role: "status" });

  function numberField(text, set, mayBeEmpty) {
    const input = el("input", { class: "number", inputMode: "decimal", placeholder: mayBeEmpty ? "none" : "" });
    const mark = el("span", { class: "unit" });
    const node = el("label", { class: "field" }, el("span", { class: "grow" }, text), input, mark);
    input.addEventListener("change", () => {
      const value = Number(input.value.replaceAll(",", "").trim());
      if (!(value >= 0 && value < 1e12) || (!mayBeEmpty && !input.value.trim())) { app.fail(new Error(`${text}: expected a number, 0 or more, got ${input.value.slice(0, 40) || "nothing"}`)); render(); return; }
      set(value);
    });
    return { node, input, mark };
  }

  const group = (title, ...parts) => el("fieldset", {}, el("legend", {}, title), ...parts);
  pane.append(
    el("h2", {}, "Rule"),
    group("A stop reaches", radiusChoice, nearestChoice, fileChoice, reachRow, meter, told),
    group("To be reached", everyoneChoice, shareChoice, shareRow, budgetChoice, budget.node),
    group("The tour", el("label", { class: "field" }, el("span", { class: "grow" }, "The tour"), ends), el("div", { class: "nested", id: "end-box" }, endPlace, endNames), visit.node,
      el("label", { class: "choice" }, vehicles, "several vehicles from one start"), fleetBox),
    hint);

  const setInput = (input, value) => { if (document.activeElement !== input) input.value = value; };

  function renderLive() {
    const { doc, plan } = model;
    if (!doc.n) return;
    const found = plan ? app.evaluateNow() : null;
    const share = found && found.total ? found.weight / found.total : 0;
    meter.hidden = !plan;
    meter.firstChild.style.width = `${100 * share}%`;
    meter.classList.toggle("full", found?.places === doc.n);
    told.textContent = plan
      ? `The present plan reaches ${percent(share)} of the ${people(doc)}: ${number(found.weight)} of ${number(found.total)}.`
      : "Find a tour to see how many it reaches.";
  }

  function render() {
    const { doc } = model;
    if (!doc.n) return;
    const { kind, value } = doc.rule;
    const plain = typeof value === "number";
    if (!plain) fromFile = doc.rule;
    fileChoice.hidden = fromFile === null || (fromFile.value.length !== doc.n);
    byFile.checked = !plain;
    byRadius.checked = plain && kind === "radius";
    byNearest.checked = plain && kind === "nearest";
    reachRow.hidden = !plain;
    if (plain) {
      slider.value = String(Math.min(STEPS, toSlider(doc.rule)));
      slider.setAttribute("aria-valuetext", kind === "radius" ? measure(doc, value) : `${value} places`);
      setInput(exact, String(value));
      unitName.textContent = kind === "radius" ? unit(doc) : value === 1 ? "place" : "places";
    }
    everyone.checked = !doc.quota && doc.budget === null;
    aShare.checked = Boolean(doc.quota);
    aBudget.checked = doc.budget !== null;
    shareRow.hidden = !doc.quota;
    budget.node.hidden = doc.budget === null;
    if (doc.quota) {
      const total = doc.weight ? doc.weight.reduce((a, b) => a + b, 0) : doc.n;
      const part = doc.quota.share ?? doc.quota.weight / total;
      share.value = String(Math.round(100 * part));
      shareText.textContent = percent(part);
    }
    if (doc.budget !== null) setInput(budget.input, String(doc.budget));
    setInput(visit.input, typeof doc.visitCost === "number" ? String(doc.visitCost) : "");
    visit.input.placeholder = Array.isArray(doc.visitCost) ? "as the file says" : "none";
    for (const field of [budget, visit, fleet.max_length]) field.mark.textContent = unit(doc);
    ends.value = !doc.open ? "back" : doc.end === null ? "any" : "place";
    $("end-box").hidden = doc.end === null;
    if (doc.end !== null) {
      setInput(endPlace, labelOf(doc, doc.end));
      if (endNames.childElementCount !== Math.min(doc.n, 1000)) endNames.replaceChildren(...Array.from({ length: Math.min(doc.n, 1000) }, (_, i) => el("option", { value: labelOf(doc, i) })));
    }
    vehicles.checked = Boolean(doc.fleet);
    fleetBox.hidden = !doc.fleet;
    if (doc.fleet) {
      for (const [key, field] of Object.entries(fleet)) setInput(field.input, doc.fleet[key] === undefined || doc.fleet[key] === null ? "" : String(doc.fleet[key]));
      objective.value = doc.fleet.objective ?? "cost";
    }
    const asked = featuresOf(doc);
    const able = app.methods.some((method) => asked.every((feature) => method.handles.includes(feature)));
    hint.textContent = able || !app.methods.length ? "" : `No method of this server can do ${asked.join(" and ")} yet.`;
    renderLive();
  }

  return { render, start: render };
}

/** What a doc asks for beyond the plain problem, in the server's words. */
export function featuresOf(doc) {
  const asked = [];
  if (doc.demand !== null) asked.push("demand");
  if (doc.quota) asked.push("quota");
  if (doc.budget !== null) asked.push("budget");
  if (doc.visitCost !== null) asked.push("visit cost");
  if (doc.open) asked.push("open");
  if (doc.fleet) asked.push("fleet");
  return asked;
}
