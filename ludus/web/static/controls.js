// Controls: reset, actions by button and by form, the random agent, and the clock.

import { Choices } from "./choices.js";
import { h } from "./dom.js";

const SPEEDS = [1, 2, 5, 10, 15, 20, 30, 60];
/** Steps that one message asks for at full speed. */
const FULL_SPEED = 25;
/** Environments meant for fewer pictures a second wait for the player instead of the clock. */
const CLOCK_FROM = 15;
/** Milliseconds for which the end of an episode is seen, before the next one. */
const LAST_LOOK = 700;

export class Controls {
  /** `mark(path, next)` shows places of the picture: those that were clicked, and where one may click next. */
  constructor(env, player, { trouble, mark }) {
    Object.assign(this, { env, player, trouble, keys: null, running: "", loop: 0, queued: null, busy: false, current: null, held: null });
    const fps = Number(env.metadata.render_fps) || 10;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const table = env.keys;
    this.seed = h("input", { type: "number", id: "seed", min: 0, step: 1, placeholder: "random", inputmode: "numeric" });
    this.options = h("textarea", { id: "options", rows: 2, class: "code", spellcheck: "false", placeholder: "{}" });
    this.speed = h("select", { id: "speed" }, SPEEDS.map((one) => h("option", { value: String(one) }, `${one} steps/s`)), h("option", { value: "0" }, "full speed"));
    this.speed.value = String(SPEEDS.findLast((one) => one <= (calm ? 5 : Math.min(fps, 30))) ?? 1);
    this.again = h("input", { type: "checkbox", id: "again" });
    this.frames = h("input", { type: "checkbox", id: "frames", checked: true, onChange: () => (player.frames = this.frames.checked) });
    this.clock = h("input", { type: "checkbox", id: "clock", checked: table.has_idle && fps >= CLOCK_FROM && !calm, onChange: () => this.stop() });
    this.run = h("button", { type: "button", id: "run", class: "main", "aria-pressed": "false", onClick: () => this.toggle() });
    this.choices = new Choices(env, { act: (action) => player.underWay && this.act(action), trouble, mark });
    this.actions = this.choices.node;
    this.node = this.#layout(env);
    this.#paint();
  }

  #layout(env) {
    const pick = (control, text) => h("label", { class: "inline" }, control, ` ${text}`);
    const pair = (control, text) => h("div", { class: "field" }, h("label", { for: control.id }, text), control);
    return h(
      "section",
      { class: "panel controls", "aria-label": "Controls" },
      h(
        "div",
        { class: "row" },
        h("button", { type: "button", id: "reset", onClick: () => this.reset() }, "Reset ", h("kbd", { "aria-hidden": "true" }, "R")),
        h("button", { type: "button", id: "random", onClick: () => this.once(() => this.player.random()) }, "Random step"),
        this.run,
      ),
      h("div", { class: "row fieldrow" }, pair(this.seed, "Seed"), pair(this.speed, "Speed")),
      h(
        "div",
        { class: "row" },
        env.keys.keys.length ? pick(this.clock, "Real time") : null,
        pick(this.again, "Start over at the end"),
        env.metadata.render_modes?.length ? pick(this.frames, "Frames") : null,
      ),
      h("details", {}, h("summary", {}, "Reset options"), h("label", { for: "options", class: "unseen" }, "Reset options as JSON"), this.options),
    );
  }

  // --- what is done ---

  async reset() {
    this.stop();
    let options = null;
    const text = this.options.value.trim();
    try {
      if (text) options = JSON.parse(text);
    } catch {
      this.trouble(new Error("Reset options: expected JSON, like {\"key\": 1}"));
      return;
    }
    const seed = this.seed.value.trim() === "" ? null : Number(this.seed.value);
    while (this.busy) await this.current;
    await this.once(() => this.player.reset(seed, options));
  }

  /** Do one thing, unless another one is under way; what goes wrong is shown. Whether it was done. */
  once(work) {
    if (this.busy) return false;
    this.busy = true;
    this.current = this.#done(work);
    return this.current;
  }

  async #done(work) {
    try {
      await work();
      return true;
    } catch (error) {
      if (!this.player.closed) this.trouble(error);
      this.stop();
      return false;
    } finally {
      this.busy = false;
      this.#paint();
    }
  }

  /** A step with an action, by hand: of those that come while one is under way, the last one follows. */
  async act(action) {
    if (this.running) this.stop();
    this.queued = { action };
    while (this.queued) {
      if (this.busy) {
        await this.current;
        continue;
      }
      const { queued } = this;
      this.queued = null;
      if (!(await this.once(() => this.player.step(queued.action)))) return;
      if (this.player.over) this.queued = null;
    }
  }

  /** A key: a step, or, by the clock, the action from now on. */
  pressed(action) {
    if (!this.player.underWay) return;
    if (!this.clock.checked) {
      this.act(action);
      return;
    }
    this.held = action;
    if (this.running !== "clock") this.start("clock");
  }

  async toggle() {
    if (this.running === "random") {
      this.stop();
      return;
    }
    if (!this.player.underWay) await this.reset();
    if (this.player.underWay) this.start("random");
  }

  /** Let somebody play until the end, or until they are stopped. */
  async start(kind) {
    this.stop();
    this.running = kind;
    const mine = this.loop;
    this.#paint();
    while (mine === this.loop) {
      const begin = performance.now();
      const speed = Number(this.speed.value);
      if (!this.busy && !(await this.#tick(kind, speed))) break;
      if (this.player.over && !this.again.checked) break;
      const due = speed ? (this.player.over ? LAST_LOOK : 1000 / speed) : 0;
      const rest = due - (performance.now() - begin);
      await new Promise((resolve) => (rest > 1 ? setTimeout(resolve, rest) : requestAnimationFrame(resolve)));
    }
    if (mine === this.loop) this.stop();
  }

  /** One step of whoever plays; false where there is nothing more to do. Only the first episode has the seed. */
  #tick(kind, speed) {
    const { player } = this;
    if (player.over) return this.once(() => player.reset(null, player.options));
    if (kind === "random") return this.once(() => player.random(speed ? 1 : FULL_SPEED));
    const idle = this.env.keys.has_idle ? this.env.keys.idle : this.held;
    return this.once(() => player.step(this.keys.chosen() ?? idle));
  }

  stop() {
    this.loop += 1;
    this.running = "";
    this.queued = null;
    this.#paint();
  }

  #paint() {
    const on = this.running === "random";
    this.run.textContent = on ? "Pause" : "Random agent";
    this.run.setAttribute("aria-pressed", String(on));
    this.actions.classList.toggle("done", !this.player.underWay);
  }

  close() {
    this.stop();
  }
}
