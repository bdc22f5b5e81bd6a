// Curves over the steps of episodes, one below the other, with a line at the step that is shown. Drawn by hand as SVG.

import { fill, h, s, short } from "./dom.js";

const HEIGHT = 56;
const TALL = 120;
const MARGIN = 5;
const LABEL = 12;
const MAX_DOTS = 120;

/** `groups`: [{ name, lines: [{ steps, low, high, kind }], marks: [{ name, value }] }]; a click goes to its step. */
export class Curves {
  constructor(last, onSeek) {
    this.last = Math.max(1, last);
    this.onSeek = onSeek;
    this.groups = [];
    this.step = 0;
    this.node = h("div", { class: "curves" });
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.node);
  }

  show(groups) {
    this.groups = groups;
    this.draw();
  }

  /** Move the line. */
  mark(step) {
    this.step = step;
    const x = this.#across(step);
    for (const { cursor, group, value } of this.drawn ?? []) {
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      value.textContent = group.lines.map((line) => short(at(line, step))).join(" · ");
    }
  }

  draw() {
    this.width = Math.max(120, this.node.clientWidth);
    this.drawn = this.groups.map((group) => this.#group(group));
    fill(this.node, this.drawn.map((one) => one.node));
    this.mark(this.step);
  }

  close() {
    this.observer.disconnect();
  }

  #across(step) {
    return (step / this.last) * this.width;
  }

  #group(group) {
    const marks = group.marks ?? [];
    const height = marks.length ? TALL : HEIGHT;
    const values = [...group.lines.flatMap((line) => [...line.low, ...line.high]), ...marks.map((one) => one.value)].filter((one) => one !== null);
    const [low, high] = values.reduce(([a, b], one) => [Math.min(a, one), Math.max(b, one)], [Infinity, -Infinity]);
    const span = high - low || 1;
    const y = (value) => (high === low ? height / 2 : height - MARGIN - ((value - low) / span) * (height - 2 * MARGIN));
    const cursor = s("line", { y1: 0, y2: height, class: "cursor" });
    const svg = s("svg", { viewBox: `0 0 ${this.width} ${height}`, height, role: "img", "aria-label": `${group.name}: from ${short(low)} to ${short(high)}` });
    const zero = low < 0 && high > 0 ? s("line", { x1: 0, x2: this.width, y1: y(0), y2: y(0), class: "zero" }) : "";
    const paths = group.lines.map((line) => s("path", { d: this.#path(line, y), class: `curve ${line.kind}` }));
    const dots = group.lines.flatMap((line) => (line.steps.length > MAX_DOTS ? [] : line.steps.map((step, place) => (line.high[place] === null ? "" : s("circle", { cx: this.#across(step), cy: y(line.high[place]), r: 2.6, class: `dot ${line.kind}` })))));
    svg.append(zero, ...this.#marks(marks, y), ...paths, ...dots, cursor);
    svg.addEventListener("pointerdown", (event) => this.#seek(event, svg));
    svg.addEventListener("pointermove", (event) => event.buttons === 1 && this.#seek(event, svg));
    const value = h("code", { class: "value" });
    const range = values.length ? `${short(low)} … ${short(high)}` : "no numbers";
    return { group, cursor, value, node: h("figure", {}, h("figcaption", {}, h("span", { class: `key-of ${group.lines[0]?.kind ?? ""}` }, group.name), h("span", { class: "muted" }, range), h("span", { class: "grow" }), value), svg) };
  }

  /** Lines that scores are measured by; a name stands where the line before leaves room for it. */
  #marks(marks, y) {
    let above = Infinity;
    return [...marks].sort((a, b) => y(b.value) - y(a.value)).flatMap(({ name, value }) => {
      const at = y(value);
      const named = above - at >= LABEL;
      if (named) above = at;
      return [s("line", { x1: 0, x2: this.width, y1: at, y2: at, class: `mark is-${name}` }), named ? s("text", { x: 4, y: Math.max(LABEL - 2, at - 2), class: "mark-name" }, `${name} ${short(value)}`) : ""];
    });
  }

  #seek(event, svg) {
    const box = svg.getBoundingClientRect();
    this.onSeek(Math.round(((event.clientX - box.left) / box.width) * this.last));
  }

  /** A line; where a point stands for several steps, up and down between the least and the greatest of them. */
  #path({ steps, low, high }, y) {
    let path = "";
    let pen = "M";
    steps.forEach((step, place) => {
      if (low[place] === null) {
        pen = "M";
        return;
      }
      const x = this.#across(step).toFixed(1);
      path += `${pen}${x},${y(high[place]).toFixed(1)}`;
      if (low[place] !== high[place]) path += `L${x},${y(low[place]).toFixed(1)}`;
      pen = "L";
    });
    return path;
  }
}

/** What a curve has at a step, or had before it. */
function at({ steps, high }, step) {
  let [first, end] = [0, steps.length];
  while (first < end) {
    const middle = (first + end) >> 1;
    if (steps[middle] <= step) first = middle + 1;
    else end = middle;
  }
  // Points of long episodes stand for the steps up to theirs.
  const place = steps[first - 1] === step || first === steps.length ? first - 1 : steps.length > 599 ? first : first - 1;
  return place < 0 ? null : high[place];
}
