// Choices: what one may do now, as buttons, as places of the picture that one clicks, and as texts that one writes.
// An environment tells them after each step; where it does not, they are its named actions and the regions of its picture.

import { brief, fill, h } from "./dom.js";
import { chord } from "./environment.js";
import { field } from "./form.js";

const MAX_BUTTONS = 64;
const MAX_FORMS = 2;
const LONG_LABEL = 40;
const MAX_KEYS = 18;
const LONGEST_LABEL = 160;

export class Choices {
  /** `act(action)` is called with what was chosen, `trouble(error)` with what is wrong with it. */
  constructor(env, { act, trouble, mark }) {
    Object.assign(this, { env, act, trouble, mark, kept: new Map(), written: "", path: [], left: [] });
    this.fixed = fixed(env);
    this.hint = h("p", { class: "muted hint-line" });
    this.asked = h("div", { class: "asked" });
    this.forms = h("div", { class: "asks" });
    this.buttons = h("div", { class: "actions", role: "group", "aria-label": "Actions" });
    this.moves = h("details", { class: "moves" });
    this.form = this.#form();
    this.node = h("div", { class: "choices" }, this.hint, this.asked, this.forms, this.buttons, this.moves, this.form.node);
    this.show(null);
  }

  /** Show what can be done now; null: what can always be done. */
  show(told) {
    this.list = Array.isArray(told) ? told.filter((one) => one && typeof one === "object") : this.fixed;
    this.#from(this.list.filter((one) => places(one).length));
    const written = JSON.stringify(this.list);
    if (written === this.written) return;
    this.written = written;
    const plain = this.list.filter((one) => !places(one).length);
    const placed = this.list.filter((one) => places(one).length && one.label);
    const asks = plain.filter((one) => one.ask);
    const forms = asks.length <= MAX_FORMS ? asks : [];
    fill(this.forms, forms.map((one) => this.#kept(one, () => this.#ask(one))));
    const buttons = plain.filter((one) => !forms.includes(one)).slice(0, MAX_BUTTONS);
    this.buttons.classList.toggle("long", buttons.some((one) => String(one.label).length > LONG_LABEL));
    fill(this.buttons, buttons.map((one) => this.#kept(one, () => this.#button(one))));
    this.buttons.hidden = !buttons.length;
    this.moves.hidden = !placed.length;
    fill(this.moves, placed.length ? [h("summary", {}, `All ${placed.length} as buttons`), h("div", { class: "actions" }, placed.slice(0, MAX_BUTTONS * 4).map((one) => this.#button(one)))] : []);
    this.form.shown(this.list.length > 0 || Array.isArray(told));
    this.#hinted();
  }

  // --- buttons and texts ---

  /** The node of a choice that was there before: who writes in it, or has the focus on it, goes on. */
  #kept(one, make) {
    const key = JSON.stringify(one.ask ? [one.label, one.ask, one.lines] : one);
    if (!this.kept.has(key)) this.kept.set(key, make());
    const node = this.kept.get(key);
    node.choice = one;
    return node;
  }

  #button(one) {
    const own = this.env.keys.keys.find((key) => JSON.stringify(key.action) === JSON.stringify(one.action)) ?? this.env.keys.keys.find((key) => within(one.action, key.action));
    return h("button", { type: "button", class: "action", onClick: () => this.#chosen(one, {}) }, h("span", {}, cut(one.label)), own ? h("span", { class: "keys", "aria-hidden": "true" }, chord(own.keys)) : null);
  }

  /** A text to write: one line that Enter sends, or several that Ctrl+Enter sends. */
  #ask(one, done = () => {}) {
    const lines = Number(one.lines) || 1;
    const id = `ask-${(Choices.asks = (Choices.asks ?? 0) + 1)}`;
    const input = lines > 1 ? h("textarea", { id, rows: lines, class: "code", spellcheck: "false" }) : h("input", { id, type: "text", autocomplete: "off" });
    const said = lines > 1 ? h("span", { class: "hint" }, "Ctrl+Enter sends it.") : null;
    const node = h(
      "form",
      { class: "ask", onSubmit: send, onKeydown: keys },
      h("label", { for: id }, one.ask),
      h("div", { class: "row" }, input, h("button", { type: "submit", class: "main" }, String(one.label).length > LONG_LABEL ? "Send" : one.label)),
      said,
    );
    const self = this;
    function send(event) {
      event.preventDefault();
      const text = input.value;
      input.value = "";
      self.act(filled((node.choice ?? one).action, { text }));
      done();
    }
    function keys(event) {
      if (lines > 1 && event.key === "Enter" && (event.ctrlKey || event.metaKey)) node.requestSubmit();
    }
    return node;
  }

  /** The form of any action at all: open where nothing else is offered. */
  #form() {
    if (this.env.keys.buttons.length) return { node: null, shown: () => {} };
    const form = field(this.env.action_space.schema, "");
    const legend = this.env.keys.keys.slice(0, MAX_KEYS).map((one) => h("span", {}, chord(one.keys), ` ${brief(one.action, 60)}`));
    const keys = legend.length ? h("div", { class: "legend" }, legend) : null;
    const body = h("form", { class: "action-form", novalidate: true, "aria-label": "Action", onSubmit: send, onKeydown: enter }, h("div", { class: "form-body" }, form.node), h("div", { class: "row" }, h("button", { type: "submit", class: "main", id: "step" }, "Step")), keys);
    const more = h("details", { class: "panel", open: true }, h("summary", {}, "Any action"), body);
    const self = this;
    function send(event) {
      event.preventDefault();
      let action;
      try {
        action = form.read();
      } catch (error) {
        self.trouble(error);
        return;
      }
      self.act(action);
    }
    function enter(event) {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || !event.target.matches("textarea:not(.code)")) return;
      event.preventDefault();
      body.requestSubmit();
    }
    let before = false;
    function shown(others) {
      if (others !== before) more.open = !others;
      before = others;
      more.classList.toggle("only", !others);
      if (keys) keys.hidden = others;
    }
    shown(false);
    return { node: more, shown };
  }

  // --- places of the picture ---

  /** The place under a point, the smallest; what it is called, and whether it can be clicked. */
  under(x, y) {
    const found = this.#hit(this.left, this.path.length, x, y) ?? (this.path.length ? this.#hit(this.#placed(), 0, x, y) : null);
    return found && { place: found.place, label: found.choices.length === 1 ? found.choices[0].label : "" };
  }

  clicked(x, y) {
    let hit = this.#hit(this.left, this.path.length, x, y);
    if (!hit && this.path.length) {
      this.#from(this.#placed());  // another piece, or nothing
      hit = this.#hit(this.left, 0, x, y);
    }
    if (!hit) return;
    this.path.push(hit.place);
    const point = { x: (x - hit.place[0]) / hit.place[2], y: (y - hit.place[1]) / hit.place[3] };
    const complete = hit.choices.filter((one) => places(one).length === this.path.length);
    if (complete.length && complete.length === hit.choices.length) {
      if (complete.length === 1) this.#chosen(complete[0], point);
      else fill(this.asked, h("p", { class: "muted" }, "Which one?"), h("div", { class: "actions" }, complete.map((one) => this.#button(one))));
      return;
    }
    this.left = hit.choices;
    this.#paint();
  }

  #placed() {
    return this.list.filter((one) => places(one).length);
  }

  #from(list) {
    this.path = [];
    this.left = list;
    fill(this.asked);
    this.#paint();
  }

  #hit(list, depth, x, y) {
    let best = null;
    for (const one of list) {
      const place = places(one)[depth];
      if (place && contains(place, x, y) && (!best || area(place) < area(best))) best = place;
    }
    return best && { place: best, choices: list.filter((one) => same(places(one)[depth], best)) };
  }

  /** Where a path goes on. */
  #paint() {
    const depth = this.path.length;
    const next = depth ? this.left.map((one) => places(one)[depth]).filter(Boolean) : [];
    this.mark(this.path, next);
  }

  #chosen(one, point) {
    const where = one.pixels ? { x: Math.round(point.x * one.pixels[0]), y: Math.round(point.y * one.pixels[1]) } : point;
    if (one.ask) {
      const form = this.#ask({ ...one, action: filled(one.action, where) }, () => fill(this.asked));
      fill(this.asked, form);
      form.querySelector("input, textarea").focus();
      return;
    }
    this.#from(this.#placed());
    this.act(filled(one.action, where));
  }

  #hinted() {
    const most = Math.max(0, ...this.list.map((one) => places(one).length));
    const said = ["", "Click on the picture.", "Click a piece, then where it goes."][Math.min(most, 2)];
    this.hint.textContent = said;
    this.hint.hidden = !said;
  }
}

/** What can be done at any time: named actions, and regions of the picture. */
function fixed(env) {
  const regions = Array.isArray(env.metadata.regions) ? env.metadata.regions : [];
  return [...env.keys.buttons, ...regions.map(({ x, y, width, height, action, label = "" }) => ({ label, action, places: [[x, y, width, height]] }))];
}

function cut(label) {
  const text = String(label);
  return text.length > LONGEST_LABEL ? `${text.slice(0, LONGEST_LABEL)}…` : text;
}

function places(one) {
  return Array.isArray(one.places) ? one.places : [];
}

function contains([left, top, width, height], x, y) {
  return x >= left && x < left + width && y >= top && y < top + height;
}

function area([, , width, height]) {
  return width * height;
}

function same(one, other) {
  return Boolean(one) && one.every((number, at) => number === other[at]);
}

/** Whether every field of one action is in another: keys name defaults that choices leave out. */
function within(one, other) {
  if (one === null || typeof one !== "object" || Array.isArray(one)) return false;
  return other !== null && typeof other === "object" && Object.entries(one).every(([key, value]) => JSON.stringify(other[key]) === JSON.stringify(value));
}

/** An action with what was written, and where was clicked, in its texts. */
function filled(action, { text, x, y }) {
  if (typeof action === "string") {
    const known = { text, quoted: text === undefined ? undefined : JSON.stringify(text), x, y };
    return action.replace(/\{(text|quoted|x|y)\}/g, (all, name) => (known[name] === undefined ? all : String(known[name])));
  }
  if (Array.isArray(action)) return action.map((one) => filled(one, { text, x, y }));
  if (action && typeof action === "object") return Object.fromEntries(Object.entries(action).map(([key, one]) => [key, filled(one, { text, x, y })]));
  return action;
}
