// Play: the stage, what one can do, and what came of it.

import { ask, envPath } from "./api.js";
import { link } from "./catalogue.js";
import { Chart } from "./chart.js";
import { Controls } from "./controls.js";
import { announce, brief, fill, h, pretty, short } from "./dom.js";
import { Keys } from "./keys.js";
import { showObservation } from "./observation.js";
import { Player } from "./player.js";
import { Stage } from "./stage.js";
import { tabs } from "./tabs.js";

const MAX_ROWS = 200;
const SAID_EVERY = 1500;

export async function showPlay(enter, name) {
  const env = await ask(envPath(name));
  const main = enter();
  if (!main) return null;
  document.title = `Play ${env.name} · Ludus`;
  const page = new PlayPage(env);
  fill(main, page.node);
  document.body.classList.add("playing");
  page.controls.reset();  // not waited for: whoever leaves meanwhile has left
  return () => {
    document.body.classList.remove("playing");
    page.close();
  };
}

class PlayPage {
  constructor(env) {
    this.env = env;
    this.player = new Player(env.name);
    this.stage = new Stage(env.name, { clicked: (x, y) => this.controls.choices.clicked(x, y), under: (x, y) => this.controls.choices.under(x, y) });
    this.chart = new Chart();
    this.controls = new Controls(env, this.player, { trouble: (error) => this.trouble(error), mark: (path, next) => this.stage.mark(path, next) });
    this.keys = new Keys(env.keys, { act: (action) => this.controls.pressed(action), restart: () => this.controls.reset() });
    this.controls.keys = this.keys;
    this.alert = h("div", { role: "alert", id: "trouble" });
    this.score = h("dl", { class: "score" });
    this.over = h("p", { class: "over", hidden: true });
    this.panels = { Observation: h("div"), Steps: h("div"), State: h("div"), Messages: h("div") };
    this.seen = "Observation";
    this.said = 0;
    this.player.addEventListener("change", () => this.changed());
    this.player.addEventListener("message", () => this.seen === "Messages" && this.later());
    this.node = this.#layout();
  }

  #layout() {
    const download = h("button", { type: "button", id: "download", onClick: () => this.download() }, "Download episode");
    const seen = tabs("What came of it", this.panels, (name) => {
      this.seen = name;
      this.later();
      if (name === "State") this.loadState();
    });
    return h(
      "div",
      { class: "play" },
      h("nav", { class: "trail", "aria-label": "Where you are" }, h("a", { href: "#/" }, "Environments"), " / ", h("a", { href: link("env", this.env.name) }, this.env.name), " / ", h("span", {}, "Play")),
      h("h1", { class: "unseen" }, `Play ${this.env.name}`),
      h("div", { class: "left" }, h("div", { class: "frame" }, this.stage.node, this.over), this.score, this.controls.actions, this.alert),
      h(
        "div",
        { class: "right" },
        this.controls.node,
        h("section", { class: "panel" }, h("div", { class: "row" }, h("h2", {}, "Rewards"), h("span", { class: "key reward" }, "reward"), h("span", { class: "key total" }, "return"), h("span", { class: "grow" }), download), this.chart.node),
        seen,
      ),
    );
  }

  trouble(error) {
    if (error && !this.player.first) this.stage.say("No episode yet: Reset tries again.");
    fill(this.alert, error ? h("p", { class: "notice bad" }, error.message) : null);
  }

  // --- what is seen ---

  changed() {
    const { player } = this;
    const steps = player.steps.length;
    this.trouble(null);
    if (player.frames && player.frame === null) this.stage.talk(player.first, player.steps);
    else this.stage.show(player.frame, `${this.env.name} after step ${steps}`);
    this.controls.choices.show(player.over ? [] : player.choices);
    this.chart.show(player.steps.map((one) => one.reward));
    fill(this.score, this.#figures(steps));
    this.over.hidden = !player.over;
    if (player.over) this.over.textContent = `${this.#ending()} · return ${short(player.total)} · press R or Reset`;
    this.#say(steps);
    this.later();
    if (this.seen === "State") this.loadState();
  }

  #figures(steps) {
    const { player } = this;
    const rows = { Step: steps, Reward: short(player.last.reward), Return: short(player.total), Seed: player.seed ?? "–" };
    return Object.entries(rows).map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", { id: `score-${label.toLowerCase()}` }, String(value))));
  }

  #ending() {
    const { last } = this.player;
    if (last.infrastructure) return "Its process ended, and the episode with it";
    return last.terminated ? "The episode is over" : "Time is up";
  }

  /** For those who listen: the end at once, steps no faster than they can be heard. */
  #say(steps) {
    const { player } = this;
    const now = Date.now();
    if (player.over) announce(`${this.#ending()} after ${steps} steps, return ${short(player.total)}.`);
    else if (now - this.said > SAID_EVERY) announce(steps ? `Step ${steps}, reward ${short(player.last.reward)}, return ${short(player.total)}.` : "A new episode begins.");
    else return;
    this.said = now;
  }

  /** Draw the panel that is seen, once a frame. */
  later() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      const panel = this.panels[this.seen];
      if (this.seen === "Observation") showObservation(panel, this.player.last, this.env.observation_space);
      else if (this.seen === "Steps") fill(panel, this.#log());
      else if (this.seen === "Messages") fill(panel, this.#messages());
    });
  }

  #log() {
    const { steps } = this.player;
    if (!steps.length) return h("p", { class: "muted" }, "No step yet.");
    const names = new Map(this.env.keys.buttons.map((one) => [JSON.stringify(one.action), one.label]));
    const rows = steps.slice(-MAX_ROWS).reverse().map((one) =>
      h(
        "tr",
        {},
        h("td", { class: "number" }, String(one.step)),
        h("td", {}, names.get(JSON.stringify(one.action)) ?? brief(one.action, 60)),
        h("td", { class: "number" }, short(one.reward)),
        h("td", {}, h("code", {}, brief(one.observation, 90)), one.terminated && h("span", { class: "tag" }, "terminated"), one.truncated && h("span", { class: "tag" }, "truncated")),
      ),
    );
    const more = steps.length > MAX_ROWS ? h("p", { class: "muted" }, `The last ${MAX_ROWS} of ${steps.length}; the download has all.`) : null;
    return [more, h("table", { class: "log" }, h("thead", {}, h("tr", {}, ["#", "Action", "Reward", "Observation"].map((one) => h("th", { scope: "col" }, one)))), h("tbody", {}, rows))];
  }

  #messages() {
    const rows = this.player.messages.slice(-60).reverse();
    return h("ol", { class: "messages" }, rows.map(({ way, text }) => h("li", { class: way }, h("span", { "aria-label": way }, way === "sent" ? "→" : "←"), h("code", {}, text))));
  }

  async loadState() {
    if (!this.player.first || this.asking) return;
    this.asking = true;
    try {
      fill(this.panels.State, h("pre", { class: "wrap" }, pretty(await this.player.state())));
    } catch (error) {
      fill(this.panels.State, h("p", { class: "muted" }, error.message));
    } finally {
      this.asking = false;
    }
  }

  // --- the rest ---

  download() {
    const text = JSON.stringify(this.player.record(), null, 1);
    const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const safe = this.env.name.replace(/[^\w.-]+/g, "-");
    h("a", { href: address, download: `${safe}-episode.json` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  close() {
    this.controls.close();
    this.keys.close();
    this.chart.close();
    this.stage.close();
    this.player.close();
  }
}
