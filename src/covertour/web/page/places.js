// Places: open a file, paste, click, examples; and the table in which they are edited.

import { get, read } from "./api.js";
import { onGlobe } from "./geometry.js";
import { labelOf, roleOf, withLabel, withPlaces, withRole, withWeight } from "./model.js";
import { $, announce, count, el, number } from "./words.js";

const PAGE = 50; // rows at a time
const ROLES = [["free", "free"], ["depot", "start"], ["must", "must stop"], ["not", "never stop"]];

export function setupPlaces(app) {
  const { model } = app;
  const pane = $("pane-places");
  let page = 0, wanted = "", stale = false;

  const file = el("input", { type: "file", id: "file", class: "sr", tabIndex: -1, "aria-label": "Choose a file with places",
    onchange: () => { if (file.files[0]) openFile(file.files[0]); file.value = ""; } });

  async function openFile(chosen) {
    if (!chosen) return;
    const limit = app.health?.limits.body ?? Infinity;
    if (chosen.size > limit) {
      app.fail(new Error(`${chosen.name} is larger than ${number(limit / 1e6)} MB, the most that this server takes`));
      return;
    }
    announce(`Reading ${chosen.name}`);
    try {
      const { instance, notes } = await read(chosen, chosen.name);
      app.load(instance, chosen.name, notes);
    } catch (error) { app.fail(error); }
  }
  app.openFile = openFile;

  async function openExample(example) {
    try {
      app.load({ ...(await get(example.instance)), name: example.title }, example.title);
    } catch (error) { app.fail(error); }
  }

  function openPaste() {
    const dialog = $("paste");
    dialog.returnValue = "";
    dialog.showModal();
    $("paste-text").focus();
    dialog.onclose = async () => {
      const text = $("paste-text").value.trim();
      if (dialog.returnValue !== "use" || !text) return;
      try {
        // Rows copied from a spreadsheet come with tabs between the cells.
        const rows = text.includes("\t") ? text.split("\n").map((row) => row.split("\t").map(quoted).join(",")).join("\n") : text;
        const { instance, notes } = await read(rows, /^[[{]/.test(rows) ? "pasted.json" : "pasted.csv");
        app.load(instance, "pasted places", notes);
        $("paste-text").value = "";
      } catch (error) { app.fail(error); }
    };
  }
  const quoted = (cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell.trim());

  const tools = el("div", { class: "row wrap" },
    el("button", { type: "button", class: "main", onclick: () => file.click() }, "Open a file"), file,
    el("button", { type: "button", onclick: openPaste }, "Paste rows"),
    el("button", { type: "button", onclick: () => { app.setAdding(true); $("map").focus(); } }, "Click the map"));
  const welcome = el("div", { class: "welcome" });
  const editor = el("div", {});
  pane.append(el("h2", { id: "places-title" }, "Places"), tools, welcome, editor);

  function renderWelcome() {
    welcome.hidden = model.doc.n > 0;
    if (welcome.hidden || welcome.childElementCount) return;
    const formats = (app.health?.formats.read ?? []).map((name) => `.${name}`).join(", ");
    welcome.replaceChildren(
      el("p", { class: "lead" }, "Plan a round trip that passes near every place, without stopping at each."),
      el("p", { class: "hint" }, formats ? `A file with names and coordinates: ${formats}. Or drop it anywhere on this page.` : ""),
      el("h3", {}, "Or begin with an example"),
      el("ul", { class: "examples" }, ...(app.examples ?? []).map((example) => el("li", {},
        el("button", { type: "button", class: "example", onclick: () => openExample(example) },
          el("b", {}, example.title), el("span", {}, example.summary), el("small", {}, count(example.places, "place")))))));
  }

  /* The table: a page of rows, those that are looked for. */
  const search = el("input", { type: "search", placeholder: "Find a place", "aria-label": "Find a place",
    oninput: () => { wanted = search.value.trim().toLowerCase(); page = 0; renderTable(); } });
  const body = el("tbody", {});
  const pager = el("div", { class: "row pager" });
  const table = el("table", { class: "places", "aria-labelledby": "places-title" },
    el("thead", {}, el("tr", {}, ...["Name", "People", "On the tour", ""].map((text, k) =>
      el("th", { scope: "col" }, k === 3 ? el("span", { class: "sr" }, "Remove") : text)))), body);
  const name = el("input", { placeholder: "Name", "aria-label": "Name of the new place" });
  const x = el("input", { inputMode: "decimal", required: true }), y = el("input", { inputMode: "decimal", required: true });
  const adder = el("details", { class: "adder" }, el("summary", {}, "Add a place by its coordinates"),
    el("form", { class: "row wrap", onsubmit: (event) => { event.preventDefault(); addTyped(); } }, name, y, x,
      el("button", { type: "submit" }, "Add")));
  const anew = el("button", { type: "button", class: "text", onclick: () => app.clear() }, "Start anew");
  editor.append(el("div", { class: "row" }, search), table, pager, adder, anew);

  function addTyped() {
    const at = [x.value, y.value].map((text) => Number(text.replace(",", ".")));
    const far = onGlobe(model.doc) ? [360, 90] : [1e9, 1e9];
    if (!x.value.trim() || !y.value.trim() || at.some((value, k) => !(Math.abs(value) <= far[k]))) {
      app.fail(new Error(onGlobe(model.doc) ? "Latitude −90 to 90 and longitude, in degrees" : "x and y, two numbers"));
      return;
    }
    app.edit(withPlaces(model.doc, [at], name.value.trim() ? [name.value.trim()] : []), "add a place");
    announce(`${name.value.trim() || "A place"} added`);
    name.value = x.value = y.value = "";
    name.focus();
  }

  function rows() {
    const { doc } = model, found = [];
    for (let i = 0; i < doc.n; i++) if (!wanted || labelOf(doc, i).toLowerCase().includes(wanted)) found.push(i);
    return found;
  }

  /** A row for a place; its handlers ask the model anew, as the row outlives the doc it was made for. */
  function row(i) {
    const here = () => labelOf(model.doc, i);
    return el("tr", { "data-place": String(i), onfocusin: () => { if (app.selected !== i) { app.select(i); app.map.goTo(i); } } },
      el("td", {}, el("input", { maxLength: 200, onchange: (event) => app.edit(withLabel(model.doc, i, event.target.value), "rename a place") })),
      el("td", {}, el("input", { placeholder: "1", inputMode: "numeric", class: "number", onchange: (event) => setWeight(i, event.target) })),
      el("td", {}, el("select", { onchange: (event) => app.edit(withRole(model.doc, i, event.target.value), `${here()}: ${event.target.selectedOptions[0].textContent}`) },
        ...ROLES.map(([value, text]) => el("option", { value }, text)))),
      el("td", {}, el("button", { type: "button", class: "icon", onclick: () => { const name = here(); app.removePlace(i); announce(`${name} removed`); } }, "×")));
  }

  /** Write what a place is into its row. */
  function fill(line, i) {
    const { doc } = model, label = labelOf(doc, i);
    const [name, weight, role, remove] = line.querySelectorAll("input, select, button");
    const set = (input, text) => { if (input.value === text || input !== document.activeElement || input.value === input.defaultValue) input.value = input.defaultValue = text; };
    set(name, label);
    set(weight, doc.weight ? String(doc.weight[i]) : "");
    role.value = roleOf(doc, i);
    name.setAttribute("aria-label", `Name of ${label}`);
    weight.setAttribute("aria-label", `People of ${label}`);
    role.setAttribute("aria-label", `${label} on the tour`);
    remove.setAttribute("aria-label", `Remove ${label}`);
    line.classList.toggle("lit", app.selected === i);
    return line;
  }

  function setWeight(i, input) {
    const value = Number(input.value.replaceAll(",", "").trim() || 1);
    if (!(value >= 0 && value < 1e15)) {
      app.fail(new Error(`People: expected a number, 0 or more, got ${input.value.slice(0, 40)}`));
      renderTable();
      return;
    }
    app.edit(withWeight(model.doc, i, value), "change the people of a place");
  }

  function renderTable() {
    stale = false;
    const all = rows();
    const pages = Math.max(1, Math.ceil(all.length / PAGE));
    page = Math.min(page, pages - 1);
    // Rows stay where their place does, so that whoever types in one keeps the focus.
    const shown = all.slice(page * PAGE, (page + 1) * PAGE);
    shown.forEach((i, k) => {
      let line = body.children[k];
      if (line?.dataset.place !== String(i)) {
        const made = row(i);
        if (line) line.replaceWith(made);
        else body.append(made);
        line = made;
      }
      fill(line, i);
    });
    while (body.children.length > shown.length) body.lastChild.remove();
    const go = (step) => { page += step; renderTable(); };
    pager.replaceChildren(
      el("button", { type: "button", disabled: page === 0, onclick: () => go(-1), "aria-label": "Rows before" }, "‹"),
      el("span", { class: "grow center" }, all.length > PAGE ? `${number(page * PAGE + 1)}–${number(Math.min(all.length, (page + 1) * PAGE))} of ${number(all.length)}` : wanted ? `${number(all.length)} found` : count(all.length, "place")),
      el("button", { type: "button", disabled: page >= pages - 1, onclick: () => go(1), "aria-label": "Rows after" }, "›"));
    pager.classList.toggle("single", pages === 1);
    const globe = onGlobe(model.doc);
    x.placeholder = globe ? "Longitude" : "x";
    y.placeholder = globe ? "Latitude" : "y";
    x.setAttribute("aria-label", x.placeholder);
    y.setAttribute("aria-label", y.placeholder);
    adder.hidden = Boolean(model.doc.matrix) || model.doc.metric === "geo";
  }

  return {
    start: () => renderWelcome(),
    shown: () => { if (stale) renderTable(); },
    render: (before) => {
      editor.hidden = !model.doc.n;
      renderWelcome();
      if (before.doc === model.doc) return;
      if (pane.hidden) stale = true;
      else renderTable();
    },
    select: (place) => {
      if (pane.hidden) { stale = true; return; }
      for (const line of body.querySelectorAll("tr")) line.classList.toggle("lit", line.dataset.place === String(place));
      if (place === null || body.querySelector(`tr[data-place="${place}"]`)) {
        if (!pane.hidden && !body.contains(document.activeElement)) body.querySelector("tr.lit")?.scrollIntoView({ block: "nearest" });
        return;
      }
      const at = rows().indexOf(place);
      if (at >= 0) { page = Math.floor(at / PAGE); renderTable(); }
    },
  };
}
