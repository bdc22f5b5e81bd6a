// The player: one episode over a socket. It knows the rules of play, and nothing of how they are shown.

import { Refusal, socket } from "./api.js";

const MAX_MESSAGES = 200;
const LONGEST_MESSAGE = 4000;

/** Emits `change` after each reset and step, and `message` after each message. */
export class Player extends EventTarget {
  constructor(env) {
    super();
    this.env = env;
    this.frames = true;
    this.frame = null;
    this.choices = null;
    this.messages = [];
    this.turn = Promise.resolve();
    this.begin({ seed: null, options: null });
  }

  begin({ seed, options }) {
    this.seed = seed;
    this.options = options;
    this.started = new Date();
    this.first = null;
    this.steps = [];
    this.total = 0;
  }

  /** The latest answer of a reset or a step. */
  get last() {
    return this.steps.at(-1) ?? this.first;
  }

  get over() {
    return Boolean(this.last?.terminated || this.last?.truncated);
  }

  get underWay() {
    return Boolean(this.first) && !this.over;
  }

  // --- what can be done ---

  async reset(seed = null, options = null) {
    const answer = await this.#ask({ type: "reset", seed, options, frame: this.frames, choices: true });
    this.begin({ seed, options });
    this.first = kept(answer);
    this.#shown(answer);
  }

  async step(action) {
    const answer = await this.#ask({ type: "step", action, frame: this.frames, choices: true });
    this.#enter(answer);
    this.#shown(answer);
  }

  async random(count = 1) {
    const answer = await this.#ask({ type: "random", count, frame: this.frames, choices: true });
    for (const one of answer.steps) this.#enter(one);
    this.#shown(answer);
  }

  async state() {
    return (await this.#ask({ type: "state" })).state;
  }

  /** The episode as it would be kept: what was asked, and all that came back. */
  record() {
    const { env, seed, options, steps } = this;
    return {
      format: "ludus-episode-1",
      env,
      seed,
      options,
      started: this.started.toISOString(),
      return: this.total,
      terminated: Boolean(this.last?.terminated),
      truncated: Boolean(this.last?.truncated),
      reset: this.first,
      steps,
    };
  }

  close() {
    this.closed = true;
    this.ws?.close();
  }

  // --- how ---

  #enter(answer) {
    this.steps.push(kept(answer));
    if (typeof answer.reward === "number") this.total += answer.reward;
  }

  #shown(answer) {
    if ("frame" in answer) this.frame = answer.frame;
    this.choices = answer.choices ?? null;
    this.dispatchEvent(new Event("change"));
  }

  /** One question at a time, each answered in its turn. */
  #ask(message) {
    const answer = this.turn.then(() => this.#exchange(message));
    this.turn = answer.catch(() => {});
    return answer;
  }

  async #exchange(message) {
    const ws = await this.#open();
    const answer = await new Promise((resolve, reject) => {
      ws.onmessage = (event) => resolve(event.data);
      ws.onclose = () => reject(new Refusal("The connection was lost, and the session with it. Reset starts a new one.", 0, "ConnectionLost"));
      const text = JSON.stringify(message);
      this.#heard("sent", text);
      ws.send(text);
    });
    this.#heard("received", answer);
    const data = JSON.parse(answer);
    if (data.error) throw new Refusal(data.error.message, 0, data.error.kind);
    return data;
  }

  #open() {
    if (this.closed) throw new Refusal("The page was left.", 0, "ConnectionLost");
    if (this.ws?.readyState === WebSocket.OPEN) return this.ws;
    return new Promise((resolve, reject) => {
      const ws = (this.ws = socket(this.env));
      ws.onopen = () => resolve(ws);
      ws.onclose = () => reject(new Refusal("The server does not open a connection for play.", 0, "ConnectionLost"));
    });
  }

  #heard(way, text) {
    const shown = text.replace(/("frame":\{"kind":"\w+","data":")((?:[^"\\]|\\.)*)"/, (_, head, data) => `${head}… ${data.length} characters"`);
    this.messages.push({ way, time: new Date(), text: shown.length > LONGEST_MESSAGE ? `${shown.slice(0, LONGEST_MESSAGE)}…` : shown });
    if (this.messages.length > MAX_MESSAGES) this.messages.shift();
    this.dispatchEvent(new Event("message"));
  }
}

/** An answer as it is kept: without its picture, and what only the talk needed. */
function kept({ type, id, frame, choices, ...rest }) {
  return rest;
}
