// The small chart of a solve: the tour getting better, the bound closing in.

import { el, measure, number, seconds } from "./words.js";

const WIDE = 420, HIGH = 110, LEFT = 8, RIGHT = 8, TOP = 10, BOTTOM = 20;
const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes) {
  const found = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, String(value));
  return found;
}

/** Draw the trace and the bounds of a run into a figure. */
export function chart(figure, run, doc) {
  const { trace, bounds } = run;
  const end = Math.max(0.05, run.best?.total ?? (performance.now() - run.began) / 1000, ...[...trace, ...bounds].map(([at]) => at));
  const usual = trace.length ? trace[trace.length - 1][1] : bounds[bounds.length - 1][1];
  const values = [...trace, ...bounds].map(([, value]) => value).filter((value) => value > usual * 0.5 && value < usual * 2);
  const low = Math.min(...values), high = Math.max(...values), span = Math.max(high - low, 0.002 * Math.abs(high)) || 1;
  const x = (at) => LEFT + ((WIDE - LEFT - RIGHT) * at) / end;
  const y = (value) => TOP + (HIGH - TOP - BOTTOM) * (1 - (Math.max(low, Math.min(high, value)) - low) / span);
  const steps = (points) => points.map(([at, value], k) => `${k ? `H${x(at).toFixed(1)}V` : `M${x(at).toFixed(1)} `}${y(value).toFixed(1)}`).join("") + `H${x(end).toFixed(1)}`;
  const picture = shape("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" });
  const last = trace.length ? amount(doc, trace[trace.length - 1][1]) : "";
  const bound = bounds.length ? amount(doc, bounds[bounds.length - 1][1]) : "";
  picture.setAttribute("aria-label", `The tour got better over ${seconds(end)}, to ${last}${bound ? `; the bound is ${bound}` : ""}`);
  picture.append(shape("line", { x1: LEFT, x2: WIDE - RIGHT, y1: HIGH - BOTTOM, y2: HIGH - BOTTOM, class: "axis" }));
  if (trace.length && bounds.length) {
    picture.append(shape("path", { d: `${steps(trace)}V${y(bounds[bounds.length - 1][1])}H${x(bounds[0][0])}Z`, class: "between" }));
  }
  if (bounds.length) picture.append(shape("path", { d: steps(bounds), class: "bound" }));
  if (trace.length) picture.append(shape("path", { d: steps(trace), class: "best" }));
  const label = shape("text", { x: WIDE - RIGHT, y: HIGH - 6, "text-anchor": "end" });
  label.textContent = seconds(end);
  picture.append(label);
  figure.replaceChildren(picture, el("figcaption", {},
    el("span", { class: "key best" }, `tour ${last}`), bounds.length ? el("span", { class: "key bound" }, `bound ${bound}`) : ""));
}

const amount = (doc, value) => (doc.budget === null ? measure(doc, value) : number(value));
