// Going through an episode: a scrubber, a play button with a pace, and the keys everybody tries.

import { fill, h } from "./dom.js";

const PACES = [["0.25", "¼×"], ["1", "1×"], ["4", "4×"], ["16", "16×"]];
const OWN_KEYS = "input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]";

/** Keys that belong to a list that scrolls, where one is in it. */
const SCROLLS = new Set(["PageUp", "PageDown", "Home", "End"]);

/** Emits `step` when another step is shown. `ready()` may be a promise to wait for before the next step while playing. */
export class Playback extends EventTarget {
  constructor({ last, fps, step = 0, name = "Step" }) {
    super();
    this.last = last;
    this.fps = fps;
    this.step = Math.min(last, Math.max(0, step));
    this.playing = false;
    this.ready = () => null;
    this.range = h("input", { type: "range", min: 0, max: last, value: this.step, id: "scrub", "aria-label": name, onInput: () => this.go(Number(this.range.value)) });
    this.shown = h("output", { for: "scrub", class: "at" });
    this.button = h("button", { type: "button", class: "main square", id: "play", onClick: () => this.toggle() });
    this.pace = h("select", { id: "pace", "aria-label": "Pace" }, PACES.map(([value, label]) => h("option", { value, selected: value === "1" }, label)));
    const jump = (label, sign, to) => h("button", { type: "button", class: "square quiet", "aria-label": label, title: label, onClick: () => this.go(to()) }, sign);
    this.node = h(
      "div",
      { class: "playback" },
      this.range,
      h("div", { class: "row" }, jump("First", "⇤", () => 0), jump("Step back", "←", () => this.step - 1), this.button, jump("Step on", "→", () => this.step + 1), jump("Last", "⇥", () => this.last), h("span", { class: "grow" }), this.shown, this.pace),
    );
    this.listen = (event) => this.#key(event);
    addEventListener("keydown", this.listen);
    this.#paint();
  }

  go(step) {
    const next = Math.min(this.last, Math.max(0, step));
    if (next === this.step) return;
    this.step = next;
    this.#paint();
    this.dispatchEvent(new Event("step"));
  }

  toggle() {
    if (this.playing) {
      this.stop();
      return;
    }
    if (this.step === this.last) this.go(0);
    this.playing = true;
    this.#paint();
    this.#run();
  }

  stop() {
    this.playing = false;
    this.#paint();
  }

  close() {
    this.playing = false;
    removeEventListener("keydown", this.listen);
  }

  /** By the clock: a step that took too long is followed by more than one at once, so that the pace stays. */
  async #run() {
    let due = performance.now();
    while (this.playing && this.step < this.last) {
      await new Promise(requestAnimationFrame);
      const between = 1000 / (this.fps * Number(this.pace.value));
      const count = Math.floor((performance.now() - due) / between);
      if (count < 1 || !this.playing) continue;
      due += count * between;
      this.go(this.step + count);
      const began = performance.now();
      await this.ready();
      due += performance.now() - began; // what is waited for is no part of the pace
    }
    this.stop();
  }

  #key(event) {
    const at = event.target instanceof Element ? event.target : document.body;
    if (event.ctrlKey || event.metaKey || event.altKey || at.closest(OWN_KEYS) || at.closest('[role="tab"]')) return;
    const wide = Math.max(10, Math.round(this.last / 20));
    const moves = { ArrowLeft: event.shiftKey ? -10 : -1, ArrowRight: event.shiftKey ? 10 : 1, PageUp: -wide, PageDown: wide, Home: -this.last, End: this.last };
    if (event.key === " " && !at.closest("button, a, summary, input")) this.toggle();
    else if (event.key in moves && !(SCROLLS.has(event.key) && at.closest(".scroller"))) this.go(this.step + moves[event.key]);
    else return;
    event.preventDefault();
  }

  #paint() {
    this.range.value = this.step;
    fill(this.shown, h("strong", {}, this.step.toLocaleString("en")), ` / ${this.last.toLocaleString("en")}`);
    this.button.textContent = this.playing ? "❚❚" : "▶";
    this.button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }
}
