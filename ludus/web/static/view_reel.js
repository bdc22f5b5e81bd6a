// The reel: frames and steps of one episode, shown at any step; what is not here yet is asked for, and the newest wish wins.

import { brief, fill, h, pretty, short } from "./dom.js";
import { observation } from "./observation.js";
import { Stage } from "./stage.js";

const MAX_OPEN = 400; // characters of an info that is shown without being asked for

export class Reel {
  /** Everything that is known of an episode before it is shown. */
  static async open(source, run, n) {
    const [about, episode] = await Promise.all([source.ask("about", { run }), source.ask("episode", { run, n })]);
    const again = about.executed ? { again: 1 } : {};
    return new Reel({ source, run, n, about, again, episode });
  }

  constructor(parts) {
    Object.assign(this, parts);
    this.stage = new Stage(`episode ${this.n}`);
    this.note = h("p", { class: "hint", role: "status" });
    this.wanted = 0;
  }

  get last() {
    return this.episode.length;
  }

  /** The curves; those that the file does not have are computed, which may take a moment. */
  async curves() {
    if (this.episode.kept.rewards || !this.about.executed) return this.episode.curves;
    const { run, n } = this;
    return (await this.source.ask("episode", { run, n, ...this.again })).curves;
  }

  /** What is known of some states, the first one before any step. */
  async steps(first, end) {
    const size = this.episode.page_steps;
    const { run, n } = this;
    const again = this.episode.kept.observations ? {} : this.again;
    const pages = [];
    for (let page = Math.floor(first / size); page * size < end; page += 1) pages.push(this.source.ask("steps", { run, n, page, ...again }));
    const found = (await Promise.all(pages)).flatMap((answer) => answer.steps);
    return found.filter(({ step }) => step >= first && step < end);
  }

  /** An action in words: by its name where it has one. */
  action(value) {
    if (value === null || value === undefined) return "–";
    const label = typeof value === "number" ? this.about.labels[value] : undefined;
    if (label !== undefined && label !== String(value)) return label;
    return typeof value === "string" ? value : brief(value, 200);
  }

  /** Draw a step; resolves once the newest wish is seen. One frame is asked for at a time, those between are skipped. */
  draw(step) {
    this.wanted = step;
    this.drawing ??= this.#drawn().finally(() => {
      this.drawing = null;
    });
    return this.drawing;
  }

  async #drawn() {
    for (let done = null; done !== this.wanted && this.wanted >= 0; ) {
      done = this.wanted;
      await this.#one(done);
    }
  }

  async #one(step) {
    const { run, n } = this;
    try {
      const { frame, differs, stride } = await this.source.frame(run, n, step);
      if (frame) await this.stage.show(frame, `Frame after ${step} steps`);
      else this.stage.say(this.why);
      const notes = [stride > 1 ? `This file has every ${stride}th frame.` : "", differs ? `The replay is not what was recorded: ${differs}` : ""];
      this.note.textContent = notes.filter(Boolean).join(" ");
      this.note.classList.toggle("bad", Boolean(differs));
      if (step + 8 <= this.last) this.source.frame(run, n, step + 8).catch(() => null); // while these are seen
    } catch (error) {
      if (this.wanted === step) this.stage.say(error.message);
    }
  }

  get why() {
    return this.about.needs_trust ? `Frames need trust: ${this.about.why}. Start with --trust, or with --isolation sandbox.` : this.about.why || "There are no frames.";
  }

  /** Whether there is something to be drawn. */
  async hasFrames() {
    if (this.about.frames) return !this.source.embedded || this.source.has("stride", { run: this.run, n: this.n });
    const found = await this.source.frame(this.run, this.n, 0).catch(() => null);
    return Boolean(found?.frame);
  }

  close() {
    this.wanted = -1;
    this.stage.close();
  }
}

/** One step in full: action, reward, observation, info. */
export function showStep(node, reel, one, total) {
  if (!one) return fill(node, h("p", { class: "muted" }, "…"));
  const pairs = [["Action", reel.action(one.action)], ["Reward", one.reward === null ? "–" : brief(one.reward)], ["Return", total === null ? "–" : short(total)]];
  const seen = "observation" in one && one.observation !== undefined ? observation(one.observation, reel.episode.bounds) : h("p", { class: "muted" }, reel.about.needs_trust ? "Observations are not in the file, and computing them needs trust." : "Observations are not in the file.");
  const info = one.info && Object.keys(one.info).length ? folded(node, pretty(one.info)) : null;
  return fill(node, h("dl", { class: "score three" }, pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { title: value }, value)))), h("h3", {}, one.step ? "Observation" : "First observation"), seen, info);
}

/** What is long is folded, and stays open once somebody has opened it. */
function folded(node, text) {
  const before = node.querySelector("details.info");
  const found = h("details", { class: "info" }, h("summary", {}, "Info"), h("pre", { class: "wrap" }, text));
  found.open = before ? before.open : text.length <= MAX_OPEN;
  return found;
}
