// Elements. Whatever comes from a server becomes text: there is no way in here to give markup.

const FORBIDDEN = /^(on|style$|srcdoc$|innerhtml$|outerhtml$)/i;

/** An element with attributes, listeners (`onClick: function`) and children; text stays text. */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(node, name, value);
  node.append(...kept(children));
  return node;
}

function kept(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

function set(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") node.addEventListener(name.slice(2).toLowerCase(), value);
  else if (FORBIDDEN.test(name)) throw new Error(`no such attribute here: ${name}`);
  else if (name === "value" || name === "checked") node[name] = value;
  else node.setAttribute(name, value === true ? "" : String(value));
}

/** An element of SVG; attributes are ours, never a server's. */
export function s(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** Put other children into an element. */
export function fill(node, ...children) {
  node.replaceChildren(...kept(children));
  return node;
}

/** A number as short as it is readable. */
export function short(number) {
  if (typeof number !== "number") return number === null || number === undefined ? "–" : String(number);
  if (Number.isInteger(number) && Math.abs(number) < 1e9) return String(number);
  return String(Number(number.toPrecision(4)));
}

/** A value as JSON of at most so many characters. */
export function brief(value, most = 80) {
  const text = JSON.stringify(value, (_, one) => (typeof one === "number" && !Number.isInteger(one) ? Number(one.toPrecision(4)) : one)) ?? "–";
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** A value as JSON over several lines, with short lists, and numbers in their order, on one; of those at most so many. */
export function pretty(value, indent = "", numbers = 400) {
  if (Array.isArray(value) && value.length > numbers && value.every((one) => typeof one === "number")) {
    return `[${value.slice(0, numbers).map((one) => brief(one)).join(", ")}, … ${value.length} in all]`;
  }
  const flat = brief(value, Infinity);
  if (value === null || typeof value !== "object" || flat.length + indent.length <= 72) return flat;
  if (Array.isArray(value) && value.every((one) => typeof one === "number")) return flat.replaceAll(",", ", ");
  const inner = `${indent}  `;
  const list = Array.isArray(value);
  const rows = list ? value.map((one) => pretty(one, inner, numbers)) : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${pretty(one, inner, numbers)}`);
  return `${list ? "[" : "{"}\n${rows.map((row) => inner + row).join(",\n")}\n${indent}${list ? "]" : "}"}`;
}

/** Tell those who cannot see it. */
export function announce(text) {
  document.getElementById("live").textContent = text;
}

/** Text in the clipboard; pages without a secure address may not, and then the text is selected instead. */
export async function copy(text, source) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(source);
    return false;
  }
}
