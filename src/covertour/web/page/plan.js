// The plan: the button that solves, how it goes, the itinerary, and what changed since before.

import { distance, evaluate, lengthOf, routesOf, weightOf } from "./geometry.js";
import { chart } from "./chart.js";
import { labelOf, roleOf, withRole } from "./model.js";
import { Solving } from "./solving.js";
import { $, announce, count, el, measure, number, people, percent, seconds as asSeconds, signed } from "./words.js";

const TIMES = [1, 5, 20, 60, 300];
const PAGE = 100; // stops at a time

export function setupPlan(app) {
  const { model } = app;
  const pane = $("pane-plan");
  let before = null; // the plan that the present one is compared with
  let page = 0, last = null, dragged = null, drawing = null, stale = false;

  const solving = new Solving(app, { change: renderBar, improved, done });
  app.solving = solving;

  /* The bar under the panel. */
  const time = el("select", { id: "time", "aria-label": "How long to search" });
  const go = el("button", { type: "button", class: "main big", id: "solve", onclick: () => (solving.running ? solving.stop() : begin(false)) });
  const prove = el("button", { type: "button", id: "prove", title: "Show how much shorter a tour could be at all", onclick: () => begin(true) }, "Prove it");
  const progress = el("div", { class: "progress", role: "progressbar", "aria-label": "Search", "aria-valuemin": "0", "aria-valuemax": "100" }, el("span", {}));
  const state = el("p", { class: "state" });
  $("solvebar").append(progress, el("div", { class: "row" }, go, prove, time), state);

  function begin(proof) {
    if (solving.running) return;
    if (!model.plan) before = null;
    else if (!model.plan.edited || !before) remember();
    app.began = false;
    app.showTab("plan");
    announce(proof ? "Proving" : "Searching");
    solving.start(Number(time.value), proof);
  }

  /** The present plan is what later ones are compared with. */
  function remember() {
    before = { ...model.plan, doc: model.doc };
  }

  function renderBar() {
    const { running } = solving, { plan } = model;
    const limit = app.health?.limits.seconds ?? 600;
    if (!time.childElementCount) {
      time.replaceChildren(...TIMES.filter((value) => value <= limit || value === 1).map((value) => el("option", { value: String(value), selected: value === 5 }, asSeconds(value).replace(".0", ""))));
    }
    go.textContent = running ? (running.stopping ? "Stopping …" : "Stop and keep the best") : !plan ? "Find a tour" : plan.edited ? "Improve from here" : "Improve the tour";
    go.classList.toggle("stop", Boolean(running));
    go.disabled = Boolean(running?.stopping);
    prove.hidden = Boolean(running) || !plan || !solving.able(model.doc).some((method) => method.proves);
    time.hidden = Boolean(running);
    progress.hidden = !running;
    if (!running && drawing !== null) renderItinerarySoon();
    document.body.classList.toggle("solving", Boolean(running));
    tick();
  }

  function tick() {
    const { running } = solving;
    if (!running) { renderState(); return; }
    const spent = (performance.now() - running.began) / 1000;
    const share = Math.min(1, spent / running.seconds);
    progress.firstChild.style.width = `${100 * share}%`;
    progress.setAttribute("aria-valuenow", String(Math.round(100 * share)));
    renderState();
    clearTimeout(tick.timer);
    tick.timer = setTimeout(tick, 200);
  }

  function renderState() {
    const { running } = solving, { plan, doc } = model;
    const spent = running ? (performance.now() - running.began) / 1000 : plan?.total ?? plan?.seconds;
    const gap = plan?.gap;
    const parts = [];
    if (running && !running.best) parts.push(spent > 4 ? "the server prepares its search, which takes a minute on its first start" : "waiting for a first tour");
    if (plan && gap !== null && gap !== undefined) {
      if (gap <= 1e-6) parts.push(doc.budget === null ? "proven: no tour costs less" : "proven: no tour reaches more");
      else parts.push(doc.budget === null ? `at most ${percent(gap)} above the best possible, ${measure(doc, plan.bound)}` : `at most ${percent(gap)} more could be reached`);
    }
    if (plan?.edited && !running) parts.push("changed by hand");
    if (spent !== null && spent !== undefined && (running || plan)) parts.push(asSeconds(spent));
    state.textContent = parts.join(" · ");
  }

  function improved(running, final = false) {
    if (model.doc !== running.doc) return;
    const { best } = running;
    if (!app.began) {
      app.began = true;
      last = running;
      model.set({ plan: best }, running.prove ? "prove the tour" : "find a tour");
    } else {
      model.refresh({ plan: best });
    }
    last = running;
    renderChart();
    const found = app.evaluateNow();
    if (!final) announce(`Better: ${measure(model.doc, best.cost)}, ${count(new Set(best.stops).size, "stop")}, ${percent(found.total ? found.weight / found.total : 1)} reached`, false);
    if (!document.documentElement.dataset.first) document.documentElement.dataset.first = String(Math.round(performance.now() - running.began));
  }

  function done(running, job) {
    const { doc, plan } = model;
    if (!plan) return;
    const why = { stopped: "Stopped", done: "Done" }[job.state] ?? "Done";
    announce(`${why}: ${measure(doc, plan.cost)}, ${count(new Set(plan.stops).size, "stop")}${plan.gap !== null && plan.gap <= 1e-6 ? ", proven to be best" : ""}`);
  }

  /* What changed. */
  const compared = el("div", { class: "compared", id: "compared" });
  function renderCompared() {
    const { doc, plan } = model;
    const usable = before && plan && before.doc.n === doc.n && before.stops !== plan.stops;
    compared.hidden = !usable;
    $("show-before").disabled = !usable;
    app.map.show({ before: usable && $("show-before").checked ? before : null });
    if (!usable) return;
    const now = app.evaluateNow(), then = evaluate(doc, before.stops);
    const stops = new Set(plan.stops), old = new Set(before.stops);
    const fresh = [...stops].filter((i) => !old.has(i)), gone = [...old].filter((i) => !stops.has(i));
    const less = now.cost - then.cost, more = now.weight - then.weight;
    const cell = (name, text, kind) => el("div", { class: kind }, el("dt", {}, name), el("dd", {}, text));
    compared.replaceChildren(
      el("div", { class: "row" }, el("h3", { class: "grow" }, "Compared with the plan before"),
        el("button", { type: "button", class: "text", onclick: () => { const back = before; before = { ...plan, doc }; model.set({ plan: { stops: back.stops, cost: back.cost, gap: null, bound: null, seconds: back.seconds ?? null, edited: back.edited } }, "go back to the plan before"); } }, "Go back to it")),
      el("dl", { class: "deltas" },
        cell("Way", signed(measure(doc, Math.abs(less)), Math.abs(less) < 1e-9 ? 0 : less), less < -1e-9 ? "good" : less > 1e-9 ? "bad" : ""),
        cell(doc.weight ? "People" : "Places", signed(number(Math.abs(more)), more), more > 0 ? "good" : more < 0 ? "bad" : ""),
        cell("Stops changed", fresh.length + gone.length ? `${fresh.length} new, ${gone.length} gone` : "none", "")));
  }

  /* How it went. */
  const figure = el("figure", { class: "chart-box" });
  function renderChart() {
    const changed = last && last.trace.length > 1 && last.trace[0][1] > last.trace[last.trace.length - 1][1] * (1 + 1e-6);
    figure.hidden = !(changed || last?.bounds.length || (last && model.doc.budget !== null && last.trace.length > 1));
    if (!figure.hidden) chart(figure, last, model.doc);
  }

  /* The itinerary. */
  const empty = el("p", { class: "hint" }, "No tour yet. Set the rule, then find one.");
  const body = el("tbody", {});
  const heads = ["", "Stop", "Way", "Reaches", ""];
  const table = el("table", { class: "itinerary", "aria-label": "Itinerary" }, el("thead", {}, el("tr", {},
    ...heads.map((text, k) => el("th", { scope: "col", class: k === 2 || k === 3 ? "number" : "" }, text || el("span", { class: "sr" }, k ? "Change" : "Number"))))), body);
  const pager = el("div", { class: "row pager" });
  const missed = el("p", { class: "hint warn", id: "missed" });
  pane.append(el("h2", {}, "Plan"), empty, compared, figure, missed, table, pager);

  function setStops(stops, label) {
    if (!model.plan.edited) remember();
    model.set({ plan: { ...model.plan, stops, edited: true, gap: null, bound: null, cost: evaluate(model.doc, stops).cost } }, label);
  }

  /** Move a stop to where another one is. */
  function move(from, to) {
    const { doc, plan } = model;
    const fixed = doc.depot !== null && plan.stops[0] === doc.depot ? 1 : 0;
    if (to < fixed || to >= plan.stops.length || from < fixed || from === to) return;
    const stops = [...plan.stops], [stop] = stops.splice(from, 1);
    stops.splice(to, 0, stop);
    setStops(stops, "move a stop");
    announce(`${labelOf(doc, stop)} is now stop ${to + 1}`);
  }

  function setRole(place, role) {
    const { doc, plan } = model;
    const next = roleOf(doc, place) === role ? "free" : role;
    const changed = withRole(doc, place, next);
    const name = labelOf(doc, place);
    if (next === "not") {
      const stops = plan.stops.filter((stop) => stop !== place);
      if (!plan.edited) remember();
      model.set({ doc: changed, plan: stops.length ? { ...plan, stops, edited: true, gap: null, bound: null } : null }, `no stop at ${name}`);
      announce(`No stop at ${name}. Improve from here to fill the gap.`);
    } else {
      app.edit(changed, next === "must" ? `stop at ${name}` : `${name} is free`);
      announce(next === "must" ? `${name} stays a stop` : `${name} may change`);
    }
  }

  function row(index, leg, sofar, reached) {
    const { doc, plan } = model, place = plan.stops[index], name = labelOf(doc, place), role = roleOf(doc, place);
    const first = doc.depot === place;
    const tool = (text, label, run, pressed, disabled = false) => el("button", { type: "button", class: "icon small", "aria-label": `${label} ${name}`, title: label, disabled,
      "aria-pressed": pressed === undefined ? undefined : String(pressed), "data-tool": label, onclick: run }, text);
    return el("tr", { "data-index": String(index), class: app.selected === place ? "lit" : "", draggable: !first,
      ondragstart: (event) => { dragged = index; event.dataTransfer.effectAllowed = "move"; event.dataTransfer.setData("text/plain", name); },
      ondragover: (event) => { if (dragged !== null) { event.preventDefault(); event.currentTarget.classList.add("target"); } },
      ondragleave: (event) => event.currentTarget.classList.remove("target"),
      ondrop: (event) => { event.preventDefault(); event.currentTarget.classList.remove("target"); if (dragged !== null) move(dragged, index); dragged = null; },
      ondragend: () => { dragged = null; } },
    el("td", {}, el("span", { class: `badge ${role}` }, String(index + 1))),
    el("td", {}, el("button", { type: "button", class: "name", onclick: () => { app.select(place); app.map.goTo(place); } }, name)),
    el("td", { class: "number way" }, measure(doc, sofar), leg ? el("small", {}, `+ ${measure(doc, leg)}`) : ""),
    el("td", { class: "number" }, number(reached)),
    el("td", { class: "tools" }, first ? el("span", { class: "hint" }, "start") : "",
      ...(first ? [] : [
        tool("↑", "Earlier:", () => refocus(index - 1, "Earlier:", () => move(index, index - 1)), undefined, index === 0),
        tool("↓", "Later:", () => refocus(index + 1, "Later:", () => move(index, index + 1)), undefined, index === plan.stops.length - 1),
        tool("★", "Always stop at", () => refocus(index, "Always stop at", () => setRole(place, "must")), role === "must"),
        tool("✕", "Never stop at", () => setRole(place, "not"), role === "not")])));
  }

  /** Do something that draws the table anew, and put the focus back on the same kind of button. */
  function refocus(index, tool, act) {
    act();
    body.querySelector(`tr[data-index="${index}"] [data-tool="${tool}"]`)?.focus();
  }

  function renderItinerary() {
    const { doc, plan } = model;
    empty.hidden = Boolean(plan);
    table.hidden = !plan;
    missed.hidden = pager.hidden = true;
    if (!plan) { body.replaceChildren(); return; }
    const found = app.evaluateNow();
    table.querySelectorAll("th")[3].textContent = doc.weight ? "People" : "Reaches";
    const reached = new Float64Array(plan.stops.length);
    found.served.forEach((index, i) => { if (index >= 0) reached[index] += weightOf(doc, i); });
    const pages = Math.ceil(plan.stops.length / PAGE);
    page = Math.min(page, pages - 1);
    const rows = [];
    const routes = routesOf(doc, plan.stops);
    let index = 0, sofar = 0;
    routes.forEach((route, k) => {
      sofar = 0;
      const shown = () => index >= page * PAGE && index < (page + 1) * PAGE;
      if (routes.length > 1 && shown()) rows.push(el("tr", { class: "route" }, el("th", { colSpan: 5, scope: "rowgroup", class: `route-${k % 10}` }, `Route ${k + 1} · ${measure(doc, lengthOf(doc, route))} · ${count(route.length - 1, "stop")}`)));
      route.forEach((stop, at) => {
        const leg = at ? distance(doc, route[at - 1], stop) : 0;
        sofar += leg;
        if (shown()) rows.push(row(index, leg, sofar, reached[index]));
        index++;
      });
      if (!doc.open && route.length > 1 && index > page * PAGE && index <= (page + 1) * PAGE) {
        const back = distance(doc, route[route.length - 1], route[0]);
        rows.push(el("tr", { class: "back" }, el("td", {}), el("td", {}, `back to ${labelOf(doc, route[0])}`),
          el("td", { class: "number way" }, measure(doc, sofar + back), el("small", {}, `+ ${measure(doc, back)}`)), el("td", {}), el("td", {})));
      }
    });
    const focus = document.activeElement?.closest?.("tr[data-index]");
    const kept = focus && body.contains(focus) ? [focus.dataset.index, document.activeElement.dataset.tool ?? "name"] : null;
    body.replaceChildren(...rows);
    if (kept) body.querySelector(`tr[data-index="${kept[0]}"] ${kept[1] === "name" ? ".name" : `[data-tool="${kept[1]}"]`}`)?.focus();
    const left = doc.n - found.places;
    missed.hidden = left === 0;
    if (left) {
      const names = [];
      for (let i = 0; i < doc.n && names.length < 6; i++) if (!found.covered[i]) names.push(labelOf(doc, i));
      missed.textContent = `Not reached: ${names.join(", ")}${left > names.length ? ` and ${number(left - names.length)} more` : ""} (${percent(1 - found.weight / (found.total || 1))} of the ${people(doc)})`;
    }
    pager.hidden = pages < 2;
    const turn = (step) => { page += step; renderItinerary(); };
    pager.replaceChildren(
      el("button", { type: "button", disabled: page === 0, onclick: () => turn(-1), "aria-label": "Stops before" }, "‹"),
      el("span", { class: "grow center" }, `${number(page * PAGE + 1)}–${number(Math.min(plan.stops.length, (page + 1) * PAGE))} of ${count(plan.stops.length, "stop")}`),
      el("button", { type: "button", disabled: page >= pages - 1, onclick: () => turn(1), "aria-label": "Stops after" }, "›"));
  }

  function render(old) {
    const { doc } = model;
    if (solving.running && doc !== solving.running.doc) {
      solving.abandon();
      announce("The search was ended, as what is asked has changed");
    }
    if (old.doc && old.doc.n !== doc.n) before = null;
    if (old.doc?.at !== doc.at) last = last?.doc.n === doc.n ? last : null;
    if (!doc.n) return;
    renderBar();
    if (pane.hidden) {
      stale = true;
      if ($("show-before").checked) renderCompared();
      return;
    }
    show();
  }

  /** Draw the pane, which is not done while another one is shown. */
  function show() {
    stale = false;
    renderCompared();
    renderChart();
    renderItinerarySoon();
  }

  /** Draw the itinerary: at once, but while a search runs only now and then, so that it can be used. */
  function renderItinerarySoon() {
    if (!solving.running || !body.childElementCount) {
      clearTimeout(drawing);
      drawing = null;
      renderItinerary();
    } else {
      drawing ??= setTimeout(() => { drawing = null; renderItinerary(); }, 500);
    }
  }

  return {
    render,
    shown: () => { if (stale) show(); },
    start: () => { renderBar(); solving.resume(); },
    select: (place) => {
      if (pane.hidden) { stale = true; return; }
      for (const line of body.querySelectorAll("tr[data-index]")) {
        const lit = model.plan?.stops[Number(line.dataset.index)] === place;
        line.classList.toggle("lit", lit);
        if (lit && !pane.hidden && !body.contains(document.activeElement)) line.scrollIntoView({ block: "nearest" });
      }
    },
  };
}
