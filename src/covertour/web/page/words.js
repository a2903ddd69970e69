// How things are worded and put on the page; text from files is only ever set as text.

import { unit } from "./geometry.js";

/** An element with properties, attributes, handlers (on…) and children. */
export function el(tag, properties = {}, ...children) {
  const found = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) found.addEventListener(key.slice(2), value);
    else if (key === "class") found.className = value;
    else if (key in found && key !== "list" && key !== "form") found[key] = value;
    else found.setAttribute(key, value === true ? "" : value);
  }
  found.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return found;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
export const count = (number, one, many = `${one}s`) => `${whole.format(number)} ${number === 1 ? one : many}`;
export const number = (value) => whole.format(value);

/** A distance with its unit, to about four digits. */
export function measure(doc, value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 1 : size >= 1 ? 2 : size > 0 ? 4 : 0;
  const text = new Intl.NumberFormat("en", { maximumFractionDigits: digits }).format(value);
  return unit(doc) ? `${text} ${unit(doc)}` : text;
}

export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const shown = share > 0.9995 && share < 1 ? 0.999 : share; // never 100 % of what is not all
  return new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: shown > 0 && shown < 0.0995 ? 2 : 1 }).format(shown);
}

export const seconds = (value) => (value < 10 ? `${value.toFixed(1)} s` : value < 120 ? `${Math.round(value)} s` : `${Math.round(value / 60)} min`);
export const people = (doc) => (doc.weight ? "people" : "places");

/** A change with its sign. */
export const signed = (text, value) => (value > 0 ? `+${text}` : value < 0 ? `−${text}` : "±0");

let announcedAt = 0;
let later = null;

/** Tell those who listen rather than look; news in quick succession wait for each other. */
export function announce(text, now = true) {
  const say = () => {
    announcedAt = Date.now();
    document.getElementById("live").textContent = text;
  };
  clearTimeout(later);
  if (now) say();
  else later = setTimeout(say, Math.max(0, announcedAt + 4000 - Date.now()));
}

/** A line at the top for all to see: what went wrong, or what was done. */
export function toast(text, kind = "info", action = null) {
  const box = document.getElementById("toasts");
  const line = el("div", { class: `toast ${kind}`, role: kind === "error" ? "alert" : "status" },
    el("span", {}, text),
    action && el("button", { type: "button", class: "text", onclick: () => { action.run(); line.remove(); } }, action.label),
    el("button", { type: "button", class: "icon", "aria-label": "Close this message", onclick: () => line.remove() }, "×"));
  while (box.children.length > 2) box.firstChild.remove();
  box.append(line);
  setTimeout(() => line.remove(), kind === "error" ? 12000 : 6000);
}

export const $ = (id) => document.getElementById(id);
