// What was said and done around the steps: messages, reasoning, tool calls and results, diffs, usage, limits, failures.

import { brief, fill, h, pretty, short } from "./dom.js";

const NAMES = { message: "Messages", reasoning: "Reasoning", tool_call: "Tool calls", tool_result: "Results", file_diff: "File diffs", model_usage: "Usage", score: "Scores", limit: "Limits", resource: "Resources", failure: "Failures", note: "Notes" };
const FOLD_LINES = 14;
const NEAR = "800px";
/** Events of a step that are shown beside those of another episode. */
const MAX_BESIDE = 12;

/** The events of an episode, in parts that are there only while they are near what is seen. */
export class Talk {
  constructor({ source, run, n, episode, onSeek }) {
    Object.assign(this, { source, run, n, episode, onSeek });
    this.kinds = new Set();
    this.text = "";
    this.step = -1;
    this.list = h("div", { class: "talk-list scroller", tabindex: "0", role: "region", "aria-label": "Events" });
    this.count = h("p", { class: "hint", role: "status" });
    this.node = h("div", { class: "talk-box" }, this.#filters(), this.count, this.list);
    this.observer = new IntersectionObserver((seen) => seen.forEach((one) => this.#near(one)), { root: this.list, rootMargin: NEAR });
    this.found = null;
    this.filling = new WeakMap();
    this.#lay();
  }

  /** Mark what belongs to the step that is shown, and have it in view. */
  async follow(step) {
    this.mark(step);
    if (this.found || this.sought === step) return;
    this.sought = step;
    const { run, n } = this;
    const { found } = await this.source.ask("find", { run, n, step }).catch(() => ({ found: [] }));
    if (this.found || this.sought !== step || !found.length) return;
    const part = this.list.querySelector(`[data-part="${Math.floor(found[0] / this.episode.page_events)}"]`);
    await this.#fill(part);
    const event = part.querySelector(`[data-step="${step}"]`);
    if (event && this.sought === step) this.list.scrollTop += event.getBoundingClientRect().top - this.list.getBoundingClientRect().top - 4;
  }

  mark(step) {
    this.step = step;
    for (const one of this.list.querySelectorAll("[data-step]")) one.classList.toggle("current", Number(one.dataset.step) === step);
  }

  close() {
    this.observer.disconnect();
  }

  #filters() {
    let waiting = 0;
    const kinds = Object.entries(this.episode.kinds).map(([kind, count]) =>
      h("button", { type: "button", class: "chip", "aria-pressed": "false", onClick: (event) => {
        if (!this.kinds.delete(kind)) this.kinds.add(kind);
        event.currentTarget.setAttribute("aria-pressed", String(this.kinds.has(kind)));
        this.#find();
      } }, `${NAMES[kind] ?? kind} `, h("span", { class: "of" }, count.toLocaleString("en"))),
    );
    const search = h("input", { type: "search", placeholder: "Find in messages, calls, outputs", "aria-label": "Find in events", onInput: (event) => {
      this.text = event.currentTarget.value;
      clearTimeout(waiting);
      waiting = setTimeout(() => this.#find(), 200);
    } });
    return h("div", { class: "talk-filters" }, search, h("div", { class: "chips", role: "group", "aria-label": "Kinds of events" }, kinds));
  }

  async #find() {
    const asked = (this.asked = {});
    const filtered = this.kinds.size || this.text.trim();
    const { run, n } = this;
    const answer = filtered ? await this.source.ask("find", { run, n, kind: [...this.kinds].join(), text: this.text }).catch((error) => ({ error })) : null;
    if (this.asked !== asked) return;
    if (answer?.error) {
      this.count.textContent = answer.error.message;
      return;
    }
    this.found = answer?.found ?? null;
    this.#lay();
  }

  /** Empty parts, one for each page of events. */
  #lay() {
    const size = this.episode.page_events;
    const total = this.found ? this.found.length : this.episode.events;
    this.count.textContent = this.found ? `${total.toLocaleString("en")} of ${this.episode.events.toLocaleString("en")} events` : "";
    this.observer.disconnect();
    const parts = Array.from({ length: Math.ceil(total / size) }, (_, at) => h("section", { "data-part": at }));
    for (const part of parts) part.style.minHeight = "400px";
    fill(this.list, parts.length ? parts : h("p", { class: "muted" }, "Nothing found."));
    this.list.scrollTop = 0;
    parts.forEach((part) => this.observer.observe(part));
  }

  #near({ target, isIntersecting, boundingClientRect }) {
    if (isIntersecting) {
      this.#fill(target);
      return;
    }
    if (target.childElementCount) target.style.minHeight = `${boundingClientRect.height}px`;
    fill(target);
    target.dataset.shown = "";
  }

  /** Resolves once the events of a part are there, whoever asked for them first. */
  #fill(target) {
    if (!target.dataset.shown) this.filling.set(target, this.#filled(target));
    return this.filling.get(target);
  }

  async #filled(target) {
    target.dataset.shown = "yes";
    try {
      const events = await this.#events(Number(target.dataset.part));
      if (!target.dataset.shown) return;
      fill(target, events.map((one) => this.#event(one)));
      target.style.minHeight = "";
      this.mark(this.step);
    } catch (error) {
      fill(target, h("p", { class: "notice bad" }, error.message));
    }
  }

  async #events(part) {
    const size = this.episode.page_events;
    const { run, n } = this;
    if (!this.found) return (await this.source.ask("events", { run, n, page: part })).events;
    return numbered(this, this.found.slice(part * size, (part + 1) * size));
  }

  #event(event) {
    const seek = () => {
      this.sought = event.step; // it is seen already
      this.onSeek(event.step);
    };
    return eventNode(event, h("button", { type: "button", class: "link small", onClick: seek }, `step ${event.step.toLocaleString("en")}`));
  }
}

/** Events by their numbers. */
async function numbered({ source, run, n, episode }, wanted) {
  const pages = [...new Set(wanted.map((number) => Math.floor(number / episode.page_events)))];
  const answers = await Promise.all(pages.map((page) => source.ask("events", { run, n, page })));
  const by = new Map(answers.flatMap((answer) => answer.events).map((one) => [one.number, one]));
  return wanted.map((number) => by.get(number)).filter(Boolean);
}

/** The first events of one step, as nodes. */
export async function eventsAt(reel, step) {
  const { source, run, n } = reel;
  if (!reel.episode.events) return [];
  const { found } = await source.ask("find", { run, n, step });
  const some = await numbered(reel, found.slice(0, MAX_BESIDE));
  const more = found.length - some.length;
  return [...some.map((one) => eventNode(one, null)), more > 0 ? h("p", { class: "muted small" }, `and ${more} more`) : null];
}

function eventNode(event, seek) {
  const show = Object.hasOwn(SHOWN, event.kind) ? SHOWN[event.kind] : unknown;
  const { title, body, kind } = show(event.fields, event.kind);
  return h(
    "article",
    { class: `event ${kind ?? `event-${Object.hasOwn(SHOWN, event.kind) ? event.kind : "other"}`}`, "data-step": event.step },
    h("header", {}, h("strong", {}, title), h("span", { class: "grow" }), h("span", { class: "muted small" }, clock(event.seconds)), seek),
    body,
  );
}

function clock(seconds) {
  if (typeof seconds !== "number" || !seconds) return "";
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Text as it is; a long one is folded. */
function prose(text, mono = false) {
  const lines = text.split("\n");
  const node = (shown) => (mono ? h("pre", { class: "wrap" }, shown) : h("div", { class: "prose" }, shown));
  if (lines.length <= FOLD_LINES + 4 && text.length < 2400) return node(text);
  const start = lines.slice(0, FOLD_LINES).join("\n").slice(0, 1200);
  const rest = h("details", { class: "fold" }, h("summary", {}, `All ${lines.length.toLocaleString("en")} lines, ${text.length.toLocaleString("en")} characters`));
  rest.addEventListener("toggle", () => rest.childElementCount === 1 && rest.append(node(text)));
  return [node(`${start}…`), rest];
}

/** What was said: text, or parts as chat formats have them. */
function content(value, mono) {
  if (typeof value === "string") return value ? prose(value, mono) : h("p", { class: "muted" }, "(empty)");
  if (Array.isArray(value) && value.every((part) => typeof part?.text === "string")) return value.map((part) => prose(part.text, mono));
  return value === null || value === undefined ? null : prose(pretty(value), true);
}

function diff(text) {
  const kinds = { "+": "added", "-": "removed", "@": "hunk" };
  const lines = text.split("\n").map((line) => h("span", { class: /^(\+\+\+|---)/.test(line) ? "file" : kinds[line[0]] ?? null }, `${line}\n`));
  return lines.length > 400 ? prose(text, true) : h("pre", { class: "diff" }, lines);
}

const amount = (value) => (value === null || value === undefined ? "–" : Number(value).toLocaleString("en"));

const SHOWN = {
  message: ({ role, name, content: said }) => ({ title: name ? `${role} · ${name}` : String(role), body: content(said), kind: `event-message by-${/^(user|system|assistant|tool)$/.test(role) ? role : "other"}` }),
  reasoning: ({ text }) => ({ title: "reasoning", body: content(text) }),
  tool_call: ({ name, arguments: given, id }) => ({ title: `→ ${name}`, body: [given && typeof given === "object" && !Array.isArray(given) ? h("dl", { class: "pairs call" }, Object.entries(given).map(([key, one]) => [h("dt", {}, key), h("dd", {}, typeof one === "string" ? prose(one, true) : h("code", {}, brief(one, 400)))])) : content(given, true), id ? h("span", { class: "muted small" }, id) : null] }),
  tool_result: ({ content: said, error, id }) => ({ title: error ? "← failed" : "← result", body: [error ? h("p", { class: "bad" }, error) : null, content(said, true), id ? h("span", { class: "muted small" }, id) : null], kind: error ? "event-tool_result is-bad" : undefined }),
  file_diff: ({ path, diff: text }) => ({ title: path, body: diff(String(text ?? "")) }),
  model_usage: (used) => ({ title: used.model || "model", body: h("p", { class: "small" }, `${amount(used.prompt_tokens)} in, ${amount(used.completion_tokens)} out, ${amount(used.cached_tokens)} cached`, used.cost_usd === null ? "" : ` · $${short(used.cost_usd)}`, used.seconds === null ? "" : ` · ${short(used.seconds)} s`) }),
  score: ({ name, value, explanation }) => ({ title: `${name}: ${short(value)}`, body: explanation ? content(explanation) : null }),
  limit: ({ name, limit, used }) => ({ title: `Limit of ${name} reached`, body: h("p", { class: "small" }, `${amount(limit)} allowed`, used === null ? "" : `, ${amount(used)} used`) }),
  resource: (used) => ({ title: "resources", body: h("p", { class: "small" }, Object.entries(used).filter(([, one]) => one !== null).map(([key, one]) => `${key.replaceAll("_", " ")} ${amount(one)}`).join(" · ")) }),
  failure: ({ type, message, traceback }) => ({ title: type, body: [content(message), traceback ? prose(traceback, true) : null] }),
  note: ({ text, value }) => ({ title: "note", body: [content(text), value === null || value === undefined ? null : content(value, true)] }),
};

function unknown(fields, kind) {
  return { title: kind, body: prose(pretty(fields), true) };
}

/** Scores have curves of their own; an episode that has nothing else is not one that talks. */
export function hasTalk(episode) {
  return Boolean(episode.events) && Object.keys(episode.kinds).some((kind) => kind !== "score");
}
