// The rewards of an episode: a bar for each step, and a line for what they add up to. Drawn by hand as SVG.

import { fill, h, s, short } from "./dom.js";

const HEIGHT = 148;
const LEFT = 50;
const RIGHT = 50;
const MARGIN = 12;
const MOST = 400;

export class Chart {
  constructor() {
    this.svg = s("svg", { role: "img", class: "chart" });
    this.node = h("div", { class: "chart-box" }, this.svg);
    this.rewards = [];
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.node);
  }

  show(rewards) {
    this.rewards = rewards;
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.draw();
    });
  }

  draw() {
    const width = Math.max(200, this.node.clientWidth);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.svg.setAttribute("height", HEIGHT);
    const points = gathered(this.rewards);
    this.svg.setAttribute("aria-label", `Rewards of ${this.rewards.length} steps, return ${short(points.at(-1)?.total ?? 0)}`);
    if (!points.length) {
      fill(this.svg, s("text", { x: width / 2, y: HEIGHT / 2, class: "axis middle" }, "Rewards appear with the first step."));
      return;
    }
    const across = (at) => LEFT + ((width - LEFT - RIGHT) * (at + 0.5)) / points.length;
    const bars = scale(points.map((one) => one.reward));
    const line = scale(points.map((one) => one.total));
    const slot = (width - LEFT - RIGHT) / points.length;
    const broad = slot > 8 ? slot * 0.7 : Math.max(1, slot);
    fill(
      this.svg,
      s("line", { x1: LEFT, x2: width - RIGHT, y1: bars.y(0), y2: bars.y(0), class: "zero" }),
      points.map((one, at) => bar(across(at), bars, one.reward, Math.min(broad, 24))),
      s("polyline", { points: points.map((one, at) => `${across(at).toFixed(1)},${line.y(one.total).toFixed(1)}`).join(" "), class: "return" }),
      s("circle", { cx: across(points.length - 1), cy: line.y(points.at(-1).total), r: 3.5, class: "now" }),
      labels(bars, LEFT - 8, "axis reward end"),
      labels(line, width - RIGHT + 8, "axis total"),
    );
  }

  close() {
    this.observer.disconnect();
  }
}

function bar(x, { y }, reward, broad) {
  const [top, bottom] = [Math.min(y(0), y(reward)), Math.max(y(0), y(reward))];
  return s("rect", { x: x - broad / 2, y: top, width: broad, height: Math.max(1, bottom - top), rx: Math.min(2, broad / 2), class: "bar-of-reward" });
}

function labels({ low, high, y }, x, kind) {
  return [...new Set([low, high])].map((value) => s("text", { x, y: y(value) + 4, class: kind }, short(Number(value.toPrecision(3)))));
}

function scale(values) {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const span = high - low || 1;
  return { low, high, y: (value) => HEIGHT - MARGIN - ((value - low) / span) * (HEIGHT - 2 * MARGIN) };
}

/** At most so many points: of a long episode each is the mean of some steps. */
function gathered(rewards) {
  const numbers = rewards.map((one) => (typeof one === "number" ? one : 0));
  const size = Math.ceil(numbers.length / MOST) || 1;
  const points = [];
  let total = 0;
  for (let at = 0; at < numbers.length; at += size) {
    const some = numbers.slice(at, at + size);
    const sum = some.reduce((a, b) => a + b, 0);
    total += sum;
    points.push({ reward: sum / some.length, total });
  }
  return points;
}
