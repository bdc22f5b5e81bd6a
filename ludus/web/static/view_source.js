// Where a page of runs has its answers from: the server it came from, or itself. Both answer the same questions.

import { fetchAgain } from "./again.js";

const PAGE_EPISODES = 100;
const PAGE_FRAMES = 8;
const MAX_KEPT = 300;

/** What was answered with no. */
export class Refusal extends Error {}

/** The answers of this page: those that are in it, or else the server's. */
export function openSource() {
  const own = document.getElementById("answers");
  return own ? new OwnAnswers(JSON.parse(own.textContent)) : new ServerAnswers(new URL(".", location.href.split("#")[0]));
}

class Answers {
  constructor() {
    this.kept = new Map();
  }

  /** The answer to a question; asked once as long as it is kept. */
  ask(name, question = {}) {
    const key = `${name}?${new URLSearchParams(question)}`;
    if (!this.kept.has(key)) {
      const answer = this.answer(name, question);
      answer.catch(() => this.kept.delete(key));
      this.kept.set(key, answer);
      if (this.kept.size > MAX_KEPT) this.kept.delete(this.kept.keys().next().value);
    }
    return this.kept.get(key);
  }

  /** Forget what was answered: files have grown. */
  forget() {
    this.kept.clear();
  }
}

class ServerAnswers extends Answers {
  constructor(base) {
    super();
    this.base = base;
    this.embedded = false;
  }

  async answer(name, question) {
    let response;
    try {
      response = await fetchAgain(new URL(`ask/${name}?${new URLSearchParams(question)}`, this.base), { credentials: "same-origin" });
    } catch {
      throw new Refusal("The server does not answer. Is `ludus view` still running?");
    }
    const data = await response.json().catch(() => null);
    if (!response.ok || data === null) throw new Refusal(data?.error?.message ?? data?.detail ?? `status ${response.status}`);
    return data;
  }

  /** The frame after so many steps, and whether the replay differs. */
  async frame(run, n, step) {
    const page = Math.floor(step / PAGE_FRAMES);
    const { frames, differs } = await this.ask("frames", { run, n, page });
    return { frame: frames[step % PAGE_FRAMES], differs, stride: 1 };
  }
}

/** A document that stands alone: answers are in it, compressed; sorting, filtering and finding happen here. */
class OwnAnswers extends Answers {
  constructor(stored) {
    super();
    this.stored = stored;
    this.embedded = true;
  }

  async answer(name, question) {
    if (name === "episodes") return page(chosen(await this.#read(`table?run=${question.run}`), question), Number(question.page ?? 0));
    if (name === "find") return this.#find(question);
    const { again, ...rest } = question;
    return this.#read(name === "runs" ? "runs" : `${name}?${decodeURIComponent(new URLSearchParams(rest))}`);
  }

  async frame(run, n, step) {
    const { stride, drawn } = await this.ask("stride", { run, n });
    const at = Math.min(Math.floor(step / stride), drawn - 1);
    if (at < 0) return { frame: null, differs: "", stride };
    const { frames, differs } = await this.ask("frames", { run, n, page: Math.floor(at / PAGE_FRAMES) });
    return { frame: frames[at % PAGE_FRAMES], differs, stride };
  }

  has(name, question) {
    return `${name}?${decodeURIComponent(new URLSearchParams(question))}` in this.stored;
  }

  async #read(key) {
    const packed = Object.hasOwn(this.stored, key) ? this.stored[key] : null;
    if (packed === null) throw new Refusal("This is not in the file: it was left out when the file was written, for its size.");
    const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Response(stream).json();
  }

  async #find({ run, n, kind, text, step }) {
    const { events, page_events: size } = await this.ask("episode", { run, n });
    const kinds = kind ? kind.split(",") : [];
    const wanted = (text ?? "").trim().toLowerCase();
    const found = [];
    for (let at = 0; at * size < events; at += 1) {
      for (const event of (await this.ask("events", { run, n, page: at })).events) {
        if (step !== undefined && event.step !== Number(step)) continue;
        if ((!kinds.length || kinds.includes(event.kind)) && (!wanted || said(event).includes(wanted))) found.push(event.number);
      }
    }
    return { found };
  }
}

function said(event) {
  const texts = [event.kind];
  const walk = (value) => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (value && typeof value === "object") for (const [key, one] of Object.entries(value)) texts.push(key), walk(one);
    else if (value !== null && value !== undefined) texts.push(String(value));
  };
  walk(event.fields);
  return texts.join("\n").toLowerCase();
}

// --- the table, as the server has it ---

function chosen(rows, { sort = "number", down, outcome, text }) {
  const outcomes = outcome ? outcome.split(",") : [];
  const words = (text ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const kept = rows.filter((row) => (!outcomes.length || outcomes.includes(row.outcome)) && words.every((word) => fits(row, word)));
  const sign = down === "1" ? -1 : 1;
  return kept.sort((a, b) => compared(value(a, sort), value(b, sort), sign) || a.number - b.number);
}

function fits(row, word) {
  const plain = word.replace(/^#/, "");
  if (!/^\d{1,20}$/.test(plain)) return row.outcome.includes(word);
  return row.number === Number(plain) || (!word.startsWith("#") && String(row.seed) === String(BigInt(plain)));
}

function value(row, sort) {
  const one = Array.isArray(row[sort]) ? row[sort][0] : row[sort];
  return typeof one === "boolean" ? Number(one) : one;
}

/** What is no number comes last, whichever way it goes. */
function compared(a, b, sign) {
  if (typeof a === "string" && typeof b === "string" && Number.isNaN(Number(a))) return sign * (a < b ? -1 : a > b ? 1 : 0);
  const [x, y] = [a, b].map((one) => (one === null || one === "NaN" ? NaN : Number(one)));
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return sign * (x - y);
}

function page(rows, at) {
  return { total: rows.length, page: at, rows: rows.slice(at * PAGE_EPISODES, (at + 1) * PAGE_EPISODES) };
}
