// An observation as one reads it: numbers with a gauge where their bounds are known, text as text, the rest as JSON.

import { fill, h, pretty, short } from "./dom.js";

const MAX_GAUGES = 32;
const MAX_NUMBERS = 96;
const MAX_SAID = 60;

/** What is in an observation, in the shape that its schema gives. */
export function observation(value, { schema, low, high } = {}) {
  const space = { schema, low, high };
  if (isRow(value) && (value.length > MAX_GAUGES || isList(value, space))) return row(value);
  if (isTalk(value)) return talk(value);
  if (isRow(value)) return gauges(value.map((one, at) => [String(at), one, bounds(space, at)]));
  if (typeof value === "number") return gauges([["value", value, schema]]);
  if (value && typeof value === "object" && !Array.isArray(value)) return fields(value, schema);
  if (typeof value === "string") return h("p", { class: "said" }, value || "(empty text)");
  return h("pre", { class: "wrap" }, pretty(value));
}

function isRow(value) {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "number");
}

/** Whole numbers without bounds are names of something, as those of actions: a list, not measures. */
function isList(value, space) {
  return value.every(Number.isInteger) && !space.low && !Number.isFinite(bounds(space, 0)?.maximum) && space.schema?.items?.type === "integer";
}

function row(value) {
  const shown = value.slice(0, MAX_NUMBERS).map(short).join(", ");
  const more = value.length - MAX_NUMBERS;
  return h("code", { class: "row-of-numbers" }, more > 0 ? `${shown}, … and ${more} more` : shown);
}

/** Messages: who said what. */
function isTalk(value) {
  return Array.isArray(value) && value.length > 0 && value.every((one) => one && typeof one.content === "string");
}

function talk(messages) {
  const who = (one) => one.role ?? (one.sender_id === -1 ? one.category ?? "game" : `player ${one.sender_id ?? "?"}`);
  return h("dl", { class: "said-by" }, messages.slice(-MAX_SAID).map((one) => [h("dt", {}, String(who(one)).toLowerCase().replaceAll("_", " ")), h("dd", {}, one.content)]));
}

function bounds({ schema, low, high }, at) {
  return low && high ? { minimum: low[at], maximum: high[at] } : schema?.prefixItems?.[at] ?? schema?.items;
}

function fields(value, schema) {
  const rows = Object.entries(value).map(([key, one]) => [
    h("dt", {}, key),
    h("dd", {}, typeof one === "object" && one !== null ? observation(one, { schema: schema?.properties?.[key] }) : String(one === "" ? "–" : one)),
  ]);
  return h("dl", { class: "pairs" }, rows);
}

function gauges(rows) {
  return h("ul", { class: "gauges" }, rows.map(([label, value, schema]) => h("li", {}, h("span", { class: "muted" }, label), gauge(value, schema), h("code", {}, short(value)))));
}

/** Where a number stands between its bounds; an unbounded one is bent into view. */
function gauge(value, schema) {
  const { minimum, maximum } = schema ?? {};
  const bounded = Number.isFinite(minimum) && Number.isFinite(maximum) && maximum > minimum && maximum - minimum < 1e9;
  const share = bounded ? (value - minimum) / (maximum - minimum) : 0.5 + Math.atan(value) / Math.PI;
  const zero = bounded ? Math.min(1, Math.max(0, -minimum / (maximum - minimum))) : 0.5;
  const at = Math.min(1, Math.max(0, share));
  const mark = h("span", { class: "mark" });
  mark.style.left = `${100 * Math.min(at, zero)}%`;
  mark.style.width = `${Math.max(1, 100 * Math.abs(at - zero))}%`;
  return h("span", { class: "gauge", "aria-hidden": "true" }, mark);
}

/** Fill a node with an observation and its info. */
export function showObservation(node, last, space) {
  if (!last) return fill(node, h("p", { class: "muted" }, "Nothing yet."));
  const info = last.info && Object.keys(last.info).length ? [h("h3", {}, "Info"), h("pre", { class: "wrap" }, pretty(last.info))] : [];
  const raw = h("details", {}, h("summary", {}, "As JSON"), h("pre", { class: "wrap" }, pretty(last.observation, "", MAX_NUMBERS)));
  const open = node.querySelector("details")?.open;
  fill(node, observation(last.observation, space), info, raw);
  raw.open = Boolean(open);
  return node;
}
