// The stage: frames of an environment. They are a stranger's work, so pictures are shown as images and nothing else:
// no script in an SVG runs there, and text stays text.

import { drawing } from "./api.js";
import { brief, fill, h, short } from "./dom.js";

const MOST_SAID = 40;
const LONGEST = 600;
/** Pictures narrower than this are made of pixels that one wants to see. */
const SMALL = 240;
const KINDS = ["svg", "png"];

export class Stage {
  /** `regions` are parts of the picture that one may click, in fractions of its sides; `pick` is told their action. */
  constructor(name, regions = [], pick = () => {}) {
    this.name = name;
    this.node = h("div", { class: "stage" });
    this.caption = "";
    this.address = null;
    this.drawing = false;
    this.next = undefined;
    if (Array.isArray(regions) && regions.length) {
      this.node.classList.add("clickable");
      this.node.addEventListener("click", (event) => this.#clicked(event, regions, pick));
    }
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
    const rows = steps.slice(-MOST_SAID).flatMap((one) => [
      h("li", { class: "mine" }, said(one.action)),
      h("li", {}, said(one.observation), one.reward ? h("span", { class: "tag" }, `reward ${short(one.reward)}`) : null),
    ]);
    const list = h("ol", { class: "talk", tabindex: "0", "aria-label": "Actions and observations" }, h("li", {}, said(first.observation)), rows);
    fill(this.node, list);
    list.scrollTop = list.scrollHeight;
  }

  #clicked(event, regions, pick) {
    const image = this.node.querySelector("img");
    if (!image || event.target !== image) return;
    const box = image.getBoundingClientRect();
    // The picture keeps its shape: it may leave room at two sides of its box.
    const scale = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
    const [width, height] = [image.naturalWidth * scale, image.naturalHeight * scale];
    const x = (event.clientX - box.left - (box.width - width) / 2) / width;
    const y = (event.clientY - box.top - (box.height - height) / 2) / height;
    const hit = regions.find((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height);
    if (hit) pick(hit.action);
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
      fill(this.node, image);
    } catch {
      this.say("Its picture is broken.");
    }
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = kind === "svg" ? null : address;
  }

  close() {
    if (this.address) URL.revokeObjectURL(this.address);
  }
}

/** A value as one would say it: text as it is, a single field by itself, the rest as JSON. */
function said(value) {
  if (typeof value === "string") return cut(value) || "(nothing)";
  if (value === null || typeof value !== "object" || Array.isArray(value)) return h("code", {}, brief(value, 400));
  if (typeof value.tool === "string" && value.arguments) return h("code", {}, `${value.tool}(${Object.entries(value.arguments).map(([key, one]) => `${key}=${brief(one, 200)}`).join(", ")})`);
  const told = Object.entries(value).filter(([, one]) => one !== "" && one !== null && one !== false);
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
