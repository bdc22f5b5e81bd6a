// Forms from JSON schemas. A field is { node, read() }: `read` gives the value, or throws an Error that says what is
// missing. Every shape that the spaces of an environment have is here; what is not can be written as JSON.

import { fill, h } from "./dom.js";

const MAX_ITEMS = 24;
const MAX_CHOICES = 12;
const LONG_TEXT = 120;
let names = 0;

/** The field of a schema. */
export function field(schema, label) {
  const kind = KINDS.find(([fits]) => fits(schema ?? {}));
  return kind[1](schema ?? {}, label);
}

const KINDS = [
  [(one) => "const" in one, constant],
  [(one) => Array.isArray(one.enum), choice],
  [(one) => Boolean(nullable(one)), perhaps],
  [(one) => Boolean(numeric(one)), (one, label) => number(numeric(one), label)],
  [(one) => Array.isArray(one.oneOf ?? one.anyOf), alternatives],
  [(one) => one.type === "boolean", check],
  [(one) => isSmallRange(one), (one, label) => choice({ ...one, enum: range(one) }, label)],
  [(one) => one.type === "integer" || one.type === "number", number],
  [(one) => one.type === "string", text],
  [(one) => one.type === "object" && one.properties, object],
  [(one) => one.type === "object" && isSchema(one.additionalProperties), dictionary],
  [(one) => one.type === "array" && Array.isArray(one.prefixItems), (one, label) => fixed(one.prefixItems, one, label)],
  [(one) => isFixedArray(one), (one, label) => fixed(Array(one.minItems).fill(one.items), one, label)],
  [(one) => one.type === "array" && isSchema(one.items) && !(one.minItems > MAX_ITEMS), list],
  [() => true, json],
];

function isSchema(one) {
  return one !== null && typeof one === "object" && !Array.isArray(one);
}

function nullable(schema) {
  const parts = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(parts) || parts.length < 2 || !parts.some((one) => one?.type === "null")) return null;
  const rest = parts.filter((one) => one?.type !== "null");
  return rest.length === 1 ? { ...rest[0], description: schema.description ?? rest[0].description } : { ...schema, anyOf: rest, oneOf: undefined };
}

/** A number that may be one of JSON's missing ones is a number all the same. */
function numeric(schema) {
  const parts = schema.anyOf;
  if (!Array.isArray(parts) || parts.length !== 2) return null;
  const found = parts.find((one) => one?.type === "number");
  return found && parts.some((one) => one?.enum?.includes?.("NaN")) ? { ...found, description: schema.description } : null;
}

function isSmallRange({ type, minimum, maximum }) {
  return type === "integer" && Number.isFinite(minimum) && Number.isFinite(maximum) && maximum - minimum < MAX_CHOICES;
}

function range({ minimum, maximum }) {
  return Array.from({ length: maximum - minimum + 1 }, (_, at) => minimum + at);
}

function isFixedArray({ type, items, minItems, maxItems }) {
  return type === "array" && isSchema(items) && minItems === maxItems && Number.isInteger(minItems) && minItems <= MAX_ITEMS;
}

// --- single values ---

function labelled(label, control, schema, ...more) {
  const id = `field-${++names}`;
  control.id = id;
  const hint = schema.description ? h("span", { class: "hint", id: `${id}-hint` }, schema.description) : null;
  if (hint) control.setAttribute("aria-describedby", hint.id);
  return h("div", { class: "field" }, h("div", { class: "caption" }, h("label", { for: id }, label), hint), control, more);
}

function constant(schema, label) {
  return { node: h("p", { class: "field muted" }, `${label}: `, h("code", {}, JSON.stringify(schema.const))), read: () => schema.const };
}

function choice(schema, label) {
  const control = h("select", {}, schema.enum.map((one, at) => h("option", { value: String(at) }, typeof one === "string" ? one : JSON.stringify(one))));
  const start = schema.enum.findIndex((one) => JSON.stringify(one) === JSON.stringify(schema.default));
  control.value = String(Math.max(0, start));
  return { node: labelled(label, control, schema), read: () => schema.enum[Number(control.value)] };
}

function check(schema, label) {
  const control = h("input", { type: "checkbox", checked: schema.default === true });
  const node = labelled(label, control, schema);
  node.classList.add("inline");
  return { node, read: () => control.checked };
}

function number(schema, label) {
  const whole = schema.type === "integer";
  const low = schema.minimum ?? schema.exclusiveMinimum;
  const high = schema.maximum ?? schema.exclusiveMaximum;
  const near = Number.isFinite(low) && Number.isFinite(high) && high - low <= 1e6;
  const start = schema.default ?? Math.min(Math.max(0, low ?? 0), high ?? 0);
  const bounds = near ? { min: low, max: high } : {};
  const control = h("input", { type: "number", inputmode: whole ? "numeric" : "decimal", step: whole ? 1 : "any", value: String(start), required: true, ...bounds });
  const slide = near && !whole ? h("input", { type: "range", step: "any", ...bounds, value: String(start), "aria-label": `${label}, slider` }) : null;
  slide?.addEventListener("input", () => {
    control.value = String(Number(Number(slide.value).toPrecision(3)));
  });
  control.addEventListener("input", () => {
    if (slide) slide.value = control.value;
  });
  const said = near ? `${low} to ${high}` : "";
  const about = [schema.description, said].filter(Boolean).join(" · ");
  const node = labelled(label, control, { description: about });
  if (slide) {
    control.before(slide);
    node.classList.add("sliding");
  }
  return {
    node,
    read: () => {
      if (control.value.trim() === "" || Number.isNaN(Number(control.value))) throw new Error(`${label}: a number is missing`);
      return Number(control.value);
    },
  };
}

function text(schema, label) {
  const long = (schema.maxLength ?? Infinity) > LONG_TEXT;
  const limits = { minlength: schema.minLength || null, maxlength: Number.isFinite(schema.maxLength) ? schema.maxLength : null };
  const control = long ? h("textarea", { rows: 3, ...limits }) : h("input", { type: "text", autocomplete: "off", ...limits });
  control.value = schema.default ?? "";
  const said = long ? h("span", { class: "hint" }, "Enter sends, Shift+Enter begins a line.") : null;
  return { node: labelled(label, control, schema, said), read: () => control.value };
}

function json(schema, label) {
  const control = h("textarea", { rows: 4, class: "code", spellcheck: "false" });
  control.value = "default" in schema ? JSON.stringify(schema.default) : "";
  return {
    node: labelled(`${label} (JSON)`, control, schema),
    read: () => {
      try {
        return JSON.parse(control.value);
      } catch {
        throw new Error(`${label}: expected JSON`);
      }
    },
  };
}

// --- values inside values ---

function group(label, schema, ...children) {
  const hint = schema.description ? h("p", { class: "hint" }, schema.description) : null;
  return h("fieldset", {}, h("legend", {}, label), hint, children);
}

/** A field that may be left out, or set to nothing. */
function optional(inner, label, without) {
  const on = h("input", { type: "checkbox", onChange: paint });
  const body = h("div", { class: "inner" }, inner.node);
  function paint() {
    body.hidden = !on.checked;
  }
  paint();
  const node = h("div", { class: "optional" }, h("label", { class: "inline" }, on, ` set ${label}`), body);
  return { node, read: () => (on.checked ? inner.read() : without) };
}

/** A boolean that may be left out, or be nothing, is one control: a box where yes or no is all, else a choice of three. */
function decision(schema, label, without, open) {
  const decided = typeof schema.default === "boolean";
  if (decided && !open) return check(schema, label);
  const values = [decided ? null : without, true, false];
  const control = h("select", {}, ["not set", "true", "false"].map((one, at) => h("option", { value: String(at), selected: values[at] === schema.default }, one)));
  return { node: labelled(label, control, schema), read: () => values[Number(control.value)] };
}

function perhaps(schema, label) {
  const inner = nullable(schema);
  return inner.type === "boolean" ? decision({ ...inner, default: schema.default }, label, null, true) : optional(field(inner, label), label, null);
}

function object(schema, label) {
  const required = new Set(schema.required ?? []);
  const parts = Object.entries(schema.properties).map(([key, one]) => {
    if (required.has(key) || (isSchema(one) && "const" in one)) return [key, field(one, key)];
    // What is left out is what nothing would be, nearly always: one box for both.
    const open = nullable(one ?? {});
    const inner = open ?? one;
    return [key, inner?.type === "boolean" ? decision({ ...inner, default: one.default }, key, undefined, Boolean(open)) : optional(field(inner, key), key, undefined)];
  });
  const nodes = parts.map(([, part]) => part.node);
  const read = () => Object.fromEntries(parts.map(([key, part]) => [key, part.read()]).filter(([, value]) => value !== undefined));
  return { node: label === "" ? h("div", { class: "fields" }, nodes) : group(label, schema, nodes), read };
}

function fixed(schemas, schema, label) {
  const parts = schemas.map((one, at) => field(one, isSchema(one) && one.title ? one.title : schemas.length === 1 ? label || "action" : `${label || "action"}[${at}]`));
  const body = h("div", { class: "fields across" }, parts.map((part) => part.node));
  return { node: label === "" ? body : group(label, schema, body), read: () => parts.map((part) => part.read()) };
}

function list(schema, label) {
  let parts = [];
  const body = h("div", { class: "fields" });
  const most = schema.maxItems ?? MAX_ITEMS;
  const add = h("button", { type: "button", onClick: more }, "Add one");
  function more() {
    if (parts.length >= most) return;
    const part = field(schema.items, `${label || "action"}[${parts.length}]`);
    parts.push(part);
    body.append(removable(part.node, () => {
      parts = parts.filter((one) => one !== part);
    }));
  }
  for (let at = 0; at < (schema.minItems ?? 0); at += 1) more();
  return { node: group(label || "items", schema, body, add), read: () => parts.map((part) => part.read()) };
}

function dictionary(schema, label) {
  let parts = [];
  const body = h("div", { class: "fields" });
  function more() {
    const key = h("input", { type: "text", "aria-label": "key" });
    const part = { key, inner: field(schema.additionalProperties, "value") };
    parts.push(part);
    body.append(removable(h("div", { class: "fields across" }, h("div", { class: "field" }, h("span", {}, "key"), key), part.inner.node), () => {
      parts = parts.filter((one) => one !== part);
    }));
  }
  const add = h("button", { type: "button", onClick: more }, "Add an entry");
  return { node: group(label || "entries", schema, body, add), read: () => Object.fromEntries(parts.map(({ key, inner }) => [key.value, inner.read()])) };
}

function removable(node, remove) {
  const row = h("div", { class: "row item" }, node);
  row.append(h("button", { type: "button", class: "quiet square", "aria-label": "Remove", onClick: () => (remove(), row.remove()) }, "×"));
  return row;
}

function alternatives(schema, label) {
  const options = (schema.oneOf ?? schema.anyOf).map((one) => ({ ...schema, oneOf: undefined, anyOf: undefined, ...one }));
  const named = options.map((one, at) => one.title ?? one.type ?? `choice ${at}`);
  const tools = options.every((one) => one.properties?.tool && "const" in one.properties.tool);
  const body = h("div", { class: "inner" });
  const parts = new Map();
  const control = h("select", { onChange: paint }, named.map((name, at) => h("option", { value: String(at) }, named.indexOf(name) === at ? name : `${name} ${at}`)));
  const about = h("p", { class: "hint" });
  function current() {
    const at = Number(control.value);
    if (!parts.has(at)) parts.set(at, tools ? tool(options[at]) : field({ ...options[at], title: undefined, description: undefined }, ""));
    return parts.get(at);
  }
  function paint() {
    about.textContent = options[Number(control.value)].description ?? "";
    fill(body, current().node);
  }
  control.value = "0";
  paint();
  return { node: h("div", { class: "fields" }, labelled(tools ? "tool" : label || "kind", control, {}), about, body), read: () => current().read() };
}

/** A call of a tool: its name is chosen already, only its arguments are asked for. */
function tool(schema) {
  const inner = field(schema.properties.arguments ?? { type: "object", properties: {} }, "");
  return { node: inner.node, read: () => ({ tool: schema.properties.tool.const, arguments: inner.read() }) };
}
