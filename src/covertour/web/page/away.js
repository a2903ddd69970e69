// Take it away: every format of the library, a link that holds it all, and a view to print.

import { convert } from "./api.js";
import { distance, routesOf, weightOf } from "./geometry.js";
import { toLink } from "./link.js";
import { labelOf, toInstance } from "./model.js";
import { picture } from "./painting.js";
import { $, announce, count, el, measure, number, percent, toast } from "./words.js";

const ABOUT = {
  html: "a map for any browser, works offline", gpx: "for GPS devices and phones", csv: "the itinerary for spreadsheets",
  xlsx: "the itinerary for Excel", geojson: "for QGIS and other maps", kml: "for Google Earth", png: "a picture", svg: "a picture, any size",
  pdf: "sheets for the drivers", json: "the result for programs", tour: "for TSPLIB programs", ics: "for a calendar", gpkg: "for QGIS", docx: "a document",
};
const ABOUT_PLACES = { json: "all of it, to go on later", csv: "a table", geojson: "for QGIS and other maps", xlsx: "for Excel", kml: "for Google Earth", gpkg: "for QGIS", tsp: "for TSPLIB programs", npy: "the distances for numpy", png: "a picture", svg: "a picture, any size" };

export function setupAway(app) {
  const { model } = app;
  const pane = $("pane-away");
  const tours = el("ul", { class: "formats", id: "tour-formats" }), places = el("ul", { class: "formats", id: "place-formats" });
  const toursBox = el("div", {}, el("h3", {}, "The tour"), tours);
  const link = el("button", { type: "button", id: "link", onclick: copyLink }, "Copy a link that holds this plan");
  const printer = el("button", { type: "button", id: "print", onclick: () => window.print() }, "Print the plan");
  pane.append(el("h2", {}, "Take away"), el("div", { class: "row wrap" }, link, printer), toursBox, el("h3", {}, "The places"), places);

  async function download(format, withTour) {
    const { doc, plan } = model;
    const order = { instance: toInstance(doc), to: format };
    if (withTour) order.tour = plan.stops;
    try {
      const blob = await convert(order);
      const address = URL.createObjectURL(blob);
      const name = doc.name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+/, "") || "plan";
      el("a", { href: address, download: `${name}.${format}` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
      announce(`${name}.${format} is saved`);
    } catch (error) { app.fail(error); }
  }

  async function copyLink() {
    const address = await toLink(toInstance(model.doc), model.plan?.stops ?? null);
    if (address === null) {
      toast(`${count(model.doc.n, "place")} are too many for a link; take the JSON file instead.`);
      return;
    }
    try {
      await navigator.clipboard.writeText(address);
      toast("The link is copied. It holds the places and the plan; nothing is stored on the server.");
    } catch {
      toast("The browser does not let the page copy; the link is in the address bar now.");
      history.replaceState(null, "", address);
    }
    link.dataset.address = address;
  }

  const button = (format, text, withTour) => el("li", {}, el("button", { type: "button", "data-format": format, onclick: () => download(format, withTour) },
    el("b", {}, `.${format}`), el("span", {}, text ?? "")));

  /* The print view: written when the browser is about to print. */
  window.addEventListener("beforeprint", () => {
    const { doc, plan } = model, found = app.evaluateNow(), box = $("printed");
    box.replaceChildren();
    if (!plan) return;
    const reached = new Float64Array(plan.stops.length);
    found.served.forEach((index, i) => { if (index >= 0) reached[index] += weightOf(doc, i); });
    const served = plan.stops.map(() => []);
    found.served.forEach((index, i) => { if (index >= 0 && plan.stops[index] !== i) served[index].push(i); });
    const map = el("img", { src: picture(app.map, 1080, 640), alt: "Map of the tour", decoding: "sync" });
    box.append(el("h1", {}, doc.name), map, el("p", {}, [measure(doc, found.cost), count(new Set(plan.stops).size, "stop"),
      `${percent(found.total ? found.weight / found.total : 1)} of ${doc.weight ? "the people" : "the places"} reached`].join(" · ")));
    let index = 0;
    for (const [k, route] of routesOf(doc, plan.stops).entries()) {
      let sofar = 0;
      if (doc.fleet) box.append(el("h2", {}, `Route ${k + 1}`));
      box.append(el("table", {}, el("thead", {}, el("tr", {}, ...["", "Stop", "Leg", "So far", doc.weight ? "People" : "Reaches", "Reached from here"].map((text) => el("th", {}, text)))),
        el("tbody", {}, ...route.map((stop, at) => {
          const leg = at ? distance(doc, route[at - 1], stop) : 0;
          sofar += leg;
          const line = el("tr", {}, ...[String(index + 1), labelOf(doc, stop), at ? measure(doc, leg) : "", at ? measure(doc, sofar) : "", number(reached[index]),
            served[index].slice(0, 30).map((i) => labelOf(doc, i)).join(", ")].map((text) => el("td", {}, text)));
          index++;
          return line;
        }))));
    }
  });

  return {
    render: () => {
      const { doc, plan } = model;
      const formats = app.health?.formats;
      if (!formats || !doc.n) return;
      toursBox.hidden = printer.disabled = !plan;
      if (!tours.childElementCount) {
        tours.append(...formats.tour.map((format) => button(format, ABOUT[format], true)));
        places.append(...formats.instance.map((format) => button(format, ABOUT_PLACES[format], false)));
      }
    },
  };
}
