// The stage: frames of an environment. They are a stranger's work, so pictures are shown as images and nothing else:
// no script in an SVG runs there, and text stays text.

import { drawing } from "./api.js";
import { brief, fill, h, short } from "./dom.js";

const MAX_SAID = 40;
const LONGEST = 600;
/** Pictures narrower than this are made of pixels that one wants to see. */
const SMALL = 240;
const KINDS = ["svg", "png"];

export class Stage {
  /** `clicked(x, y)` is told where the picture was clicked, in fractions of its sides; `under(x, y)` says what is there. */
  constructor(name, { clicked = () => {}, under = () => null } = {}) {
    this.name = name;
    this.node = h("div", { class: "stage" });
    this.under = under;
    this.marks = h("div", { class: "marks", "aria-hidden": "true" });
    this.pointed = h("span", { class: "pointed", hidden: true });
    this.caption = "";
    this.address = null;
    this.drawing = false;
    this.next = undefined;
    this.node.addEventListener("click", (event) => {
      const point = this.#point(event);
      if (point) clicked(...point);
    });
    this.node.addEventListener("pointermove", (event) => this.#hover(this.#point(event)));
    this.node.addEventListener("pointerleave", () => this.#hover(null));
    this.resized = new ResizeObserver(() => this.#place());
    this.say("Starting…");
  }

  /** Show a frame; while one is being decoded only the newest of the others waits. */
  async show(frame, caption) {
    this.caption = caption;
    if (this.drawing) {
      this.next = frame;
      return;
    }
    this.drawing = true;
    try {
      for (this.next = frame; this.next !== undefined; ) {
        const one = this.next;
        this.next = undefined;
        await this.#draw(one);
      }
    } finally {
      this.drawing = false;
    }
  }

  say(text) {
    fill(this.node, h("p", { class: "empty" }, text));
  }

  /** For environments that draw nothing: what was said to them, and what they said. */
  talk(first, steps) {
    const rows = steps.slice(-MAX_SAID).flatMap((one) => [
      h("li", { class: "mine" }, said(one.action, isChosen)),
      h("li", {}, said(one.observation), one.reward ? h("span", { class: "tag" }, `reward ${short(one.reward)}`) : null),
    ]);
    const list = h("ol", { class: "talk", tabindex: "0", "aria-label": "Actions and observations" }, h("li", {}, said(first.observation)), rows);
    fill(this.node, list);
    list.scrollTop = list.scrollHeight;
  }

  /** Show places of the picture: those of a path, and where it may go on. */
  mark(path, next) {
    const one = (place, kind) => {
      const node = h("span", { class: kind });
      put(node, place);
      return node;
    };
    fill(this.marks, path.map((place) => one(place, "from")), next.map((place) => one(place, "next")), this.pointed);
    this.pointed.hidden = true;
  }

  #hover(point) {
    const found = point && this.under(...point);
    this.node.classList.toggle("clickable", Boolean(found));
    this.pointed.hidden = !found;
    this.node.title = found?.label ?? "";
    if (found) put(this.pointed, found.place);
  }

  /** The box of the picture: it keeps its shape, and may leave room at two sides of its element. */
  #box() {
    const image = this.node.querySelector("img");
    if (!image?.naturalWidth) return null;
    const box = image.getBoundingClientRect();
    const scale = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
    const [width, height] = [image.naturalWidth * scale, image.naturalHeight * scale];
    return { left: box.left + (box.width - width) / 2, top: box.top + (box.height - height) / 2, width, height };
  }

  #point(event) {
    const box = this.#box();
    if (!box) return null;
    const point = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    return point.every((one) => one >= 0 && one < 1) ? point : null;
  }

  /** Lay the marks over the picture. */
  #place() {
    const box = this.#box();
    this.marks.hidden = !box;
    if (!box) return;
    const around = this.node.getBoundingClientRect();
    Object.assign(this.marks.style, { left: `${box.left - around.left - this.node.clientLeft}px`, top: `${box.top - around.top - this.node.clientTop}px`, width: `${box.width}px`, height: `${box.height}px` });
  }

  async #draw(frame) {
    if (!frame) this.say("No frame was asked for.");
    else if (KINDS.includes(frame.kind)) await this.#image(frame);
    else if (frame.kind === "text") fill(this.node, h("pre", { class: "ansi", role: "img", "aria-label": this.caption }, spans(frame.data)));
    else this.say(`It could not be drawn. ${frame.data}`);
  }

  async #image({ kind, data }) {
    const address = kind === "svg" ? drawing(data) : picture(data);
    const image = new Image();
    image.alt = this.caption;
    image.src = address;
    try {
      await image.decode();
      image.classList.toggle("small", kind === "png" && image.naturalWidth < SMALL);
      fill(this.node, image, this.marks);
      this.resized.disconnect();
      this.resized.observe(image);
      this.#place();
    } catch {
      this.say("Its picture is broken.");
    }
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = kind === "svg" ? null : address;
  }

  close() {
    this.resized.disconnect();
    if (this.address) URL.revokeObjectURL(this.address);
  }
}

/** Lay a node over a place of the picture. */
function put(node, [left, top, width, height]) {
  Object.assign(node.style, { left: `${100 * left}%`, top: `${100 * top}%`, width: `${100 * width}%`, height: `${100 * height}%` });
}

/** What an observation tells: no is what most of its fields say. */
function isTold(one) {
  return isChosen(one) && one !== null && one !== false;
}

/** What an action tells: no is a choice like any other; an object with nothing in it says nothing. */
function isChosen(one) {
  return one !== "" && !(one !== null && typeof one === "object" && !Array.isArray(one) && !Object.keys(one).length);
}

/** A value as one would say it: text as it is, a single field by itself, the rest as JSON. */
function said(value, tells = isTold) {
  if (typeof value === "string") return cut(value) || "(nothing)";
  if (value === null || typeof value !== "object" || Array.isArray(value)) return h("code", {}, brief(value, 400));
  if (typeof value.tool === "string" && value.arguments) return h("code", {}, `${value.tool}(${Object.entries(value.arguments).map(([key, one]) => `${key}=${brief(one, 200)}`).join(", ")})`);
  const told = Object.entries(value).filter(([, one]) => tells(one));
  if (!told.length) return "(nothing yet)";
  if (told.length === 1 && typeof told[0][1] === "string") return cut(told[0][1]);
  return h("code", {}, told.map(([key, one]) => `${key}: ${typeof one === "string" ? cut(one) : brief(one, 300)}`).join("\n"));
}

function cut(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Text of a terminal: its colours become classes, everything else that is not text is dropped. */
export function spans(text) {
  const found = [];
  let classes = new Set();
  for (const [, codes, plain] of text.matchAll(/(?:\x1b\[([\d;]*)m)?([^\x1b]*)(?:\x1b(?!\[[\d;]*m)(?:\[[^@-~]*[@-~])?)?/g)) {
    if (codes !== undefined) classes = styled(classes, codes);
    if (plain) found.push(classes.size ? h("span", { class: [...classes].join(" ") }, plain) : plain);
  }
  return found;
}

function styled(before, codes) {
  let classes = new Set(before);
  for (const code of codes.split(";").map(Number)) {
    if (code === 0) classes = new Set();
    else if (code === 1 || code === 7) classes.add(`sgr-${code}`);
    else if (code >= 30 && code <= 49) classes = new Set([...classes].filter((one) => one[4] !== String(code)[0]).concat([`sgr-${code}`]));
  }
  return classes;
}

function picture(data) {
  const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  return URL.createObjectURL(new Blob([bytes], { type: "image/png" }));
}
