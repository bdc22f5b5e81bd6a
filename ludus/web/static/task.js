// A task for a person: what is asked, what was done and what came of it, and the next call.

import { announce, brief, fill, h, short } from "./dom.js";
import { field } from "./form.js";
import { bindTheme } from "./scheme.js";
import { spans } from "./stage.js";
import { tabs } from "./tabs.js";

const AGAIN_MS = 2000;
const MAX_LINES = 2000;
/** A line that was broken for its length alone, and goes on. */
const BROKEN = /^(\S.{79,})\n(?=[^\s|*-])/gm;
const NUMBERED = /^ *\d+ {2}(.*)$/;
const main = document.getElementById("main");

class TaskPage {
  constructor() {
    Object.assign(this, { version: 0, known: 0, waiting: false, over: false, history: [], at: 0, opening: null, begun: 0 });
    this.title = h("h1", {}, "…");
    this.figures = h("dl", { class: "score" });
    this.marks = h("div", { class: "marks-of-task" });
    this.asked = h("div", { class: "asked-of-me" });
    this.log = h("ol", { class: "calls", "aria-label": "Calls and what came of them" });
    this.under = h("p", { class: "muted under-way", hidden: true });
    this.alert = h("div", { role: "alert", id: "trouble" });
    this.end = h("section", { class: "panel the-end", hidden: true });
    this.line = this.#line();
    this.editor = this.#editor();
    this.tools = h("form", { class: "action-form", novalidate: true, "aria-label": "Any tool", onSubmit: (event) => this.#useTool(event), onKeydown: sendByEnter });
    this.node = this.#layout();
    this.busy();
  }

  // --- what is there ---

  #layout() {
    this.validate = h("button", { type: "button", id: "validate", onClick: () => this.act("validate") }, "Validate");
    this.submit = h("div", { class: "row" });
    this.#offerSubmit();
    const side = tabs("The task, its files and tools", { "The task": this.asked, "A file": this.editor.node, "All tools": this.tools });
    return h(
      "div",
      { class: "play task" },
      this.title,
      h("div", { class: "left" }, this.log, this.end, this.line.node, this.alert),
      h("div", { class: "right" }, h("section", { class: "panel standing", "aria-label": "Standing" }, this.figures, this.marks, h("div", { class: "row" }, this.validate, h("span", { class: "grow" }), this.submit)), side),
    );
  }

  /** The line of the shell: Enter runs it, the arrows bring back what was run. */
  #line() {
    const input = h("textarea", { id: "command", class: "code", rows: 1, spellcheck: "false", autocapitalize: "off", autocomplete: "off", placeholder: "A command of the shell" });
    const fit = () => (input.rows = Math.min(12, input.value.split("\n").length));
    const send = () => {
      const command = input.value;
      if (!command.trim() || !this.waiting) return;
      this.history.push(command);
      this.at = this.history.length;
      input.value = "";
      fit();
      this.act("shell", { command });
    };
    const recall = (by) => {
      this.at = Math.max(0, Math.min(this.history.length, this.at + by));
      input.value = this.history[this.at] ?? "";
      fit();
    };
    input.addEventListener("input", fit);
    input.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      const alone = !input.value.includes("\n");
      if (event.key === "Enter" && !event.shiftKey) send();
      else if (event.key === "ArrowUp" && alone) recall(-1);
      else if (event.key === "ArrowDown" && alone) recall(1);
      else return;
      event.preventDefault();
    });
    const run = h("button", { type: "submit", class: "main", id: "run" }, "Run");
    const form = h("form", { class: "prompt", onSubmit: (event) => (event.preventDefault(), send()) }, h("label", { for: "command", class: "unseen" }, "Command"), h("span", { class: "dollar", "aria-hidden": "true" }, "$"), input, run);
    return { node: h("div", { class: "line" }, this.under, form, h("p", { class: "hint" }, "Enter runs it, Shift+Enter begins a line, ↑ brings back what was run. Each call is a step.")), input, run };
  }

  /** A file: opened and saved by the same tools that every agent has, a step each. */
  #editor() {
    const path = h("input", { id: "path", type: "text", class: "code", autocomplete: "off", spellcheck: "false", placeholder: "solution.py" });
    const text = h("textarea", { id: "content", class: "code", rows: 8, spellcheck: "false" });
    const open = h("button", { type: "button", id: "open", onClick: () => path.value.trim() && this.#open(path.value.trim()) }, "Open");
    const save = h("button", { type: "button", class: "main", id: "save", onClick: () => path.value.trim() && this.act("write", { path: path.value.trim(), content: text.value }) }, "Save");
    const node = h("div", { class: "form-body" }, h("div", { class: "field" }, h("label", { for: "path" }, "Path"), path), h("div", { class: "field" }, h("label", { for: "content" }, "Text"), text), h("div", { class: "row" }, open, save, h("span", { class: "hint" }, "A step each.")));
    return { node, path, text, open, save };
  }

  #open(path) {
    this.opening = path;
    this.act("read", { path, lines: MAX_LINES });
  }

  /** What `read` showed, without its numbers; a file that was not shown whole is not put where it could be saved. */
  #opened(entry) {
    if (this.opening === null || entry.call.tool !== "read" || entry.call.arguments.path !== this.opening) return;
    this.opening = null;
    if (entry.error) return;
    const [head, ...rest] = entry.result.split("\n");
    const lines = rest.slice(0, -1).map((one) => NUMBERED.exec(one)?.[1] ?? one);
    if (Number(/, (\d+) lines$/.exec(head)?.[1]) !== lines.length) this.trouble(`${entry.call.arguments.path}: too long to be edited here; the shell can.`);
    else this.editor.text.value = lines.map((one) => `${one}\n`).join("");
  }

  #offerSubmit() {
    const ask = h("button", { type: "button", id: "submit", onClick: () => sure() }, "Submit");
    const sure = () => {
      const yes = h("button", { type: "button", class: "main", id: "submit-now", onClick: () => this.act("submit") }, "Hand it in, and end");
      fill(this.submit, yes, h("button", { type: "button", class: "quiet", onClick: () => fill(this.submit, ask) }, "Not yet"));
      yes.focus();
    };
    fill(this.submit, ask);
  }

  #useTool(event) {
    event.preventDefault();
    try {
      const { tool, arguments: given } = this.form.read();
      this.act(tool, given);
    } catch (error) {
      this.trouble(error.message);
    }
  }

  // --- what is done ---

  async act(tool, given = {}) {
    if (!this.waiting) return;
    this.trouble("");
    this.waiting = false;
    this.begun = Date.now();
    this.busy([tool, ...Object.values(given).slice(0, 1).map((one) => brief(one, 60))].join(" "));
    try {
      const answer = await fetch("act", { method: "POST", body: JSON.stringify({ tool, arguments: given }), headers: { "content-type": "application/json" } });
      if (answer.ok) return;
      this.trouble((await answer.json()).error ?? "It was refused.");
    } catch {
      this.trouble("The run does not answer. Is its command still there?");
    }
    this.waiting = true;
    this.busy();
  }

  trouble(text) {
    fill(this.alert, text ? h("p", { class: "notice bad" }, text) : null);
  }

  /** Show that something runs, and for how long; or that the next call is awaited. */
  busy(what = "") {
    clearInterval(this.clock);
    const idle = this.waiting && !this.over;
    for (const button of [this.line.run, this.validate, this.editor.open, this.editor.save, ...this.submit.querySelectorAll("button"), ...this.tools.querySelectorAll("button[type=submit]")]) button.disabled = !idle;
    this.under.hidden = !what;
    if (!what) return;
    const paint = () => (this.under.textContent = `${what} … ${Math.round((Date.now() - this.begun) / 1000)} s`);
    paint();
    this.clock = setInterval(paint, 1000);
  }

  // --- what is heard ---

  async listen() {
    for (;;) {
      try {
        const answer = await fetch(`news?version=${this.version}&known=${this.known}`);
        if (!answer.ok) throw new Error(String(answer.status));
        this.hear(await answer.json());
        this.lost = false;
        if (this.closed) return;
      } catch {
        if (this.over) return;
        if (!this.lost) this.trouble("The run does not answer: its command has ended. `--resume` goes on with one that has a folder.");
        this.lost = true;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  hear(told) {
    if (this.lost) this.trouble("");
    const { about } = told;
    this.#about(about);
    for (const entry of told.entries) this.#enter(entry);
    Object.assign(this, { version: told.version, known: told.first + told.entries.length, waiting: told.waiting, closed: told.closed });
    if (told.waiting || about.over) this.busy();
    if (told.waiting && told.entries.length) this.line.input.focus({ preventScroll: true });
    if (told.entries.length) this.log.lastElementChild?.scrollIntoView({ block: "nearest" });
    if (about.over && !this.over) this.#ended(about);
    else if (told.closed && !about.over) this.trouble("The run has ended before its task.");
  }

  #about(about) {
    document.title = `${about.name} · Ludus`;
    this.title.textContent = about.name;
    if (about.description) this.asked.textContent = about.description.replace(BROKEN, "$1 ");
    if (about.tools && !this.form) {
      this.form = field(about.tools, "");
      fill(this.tools, this.form.node, h("div", { class: "row" }, h("button", { type: "submit", class: "main" }, "Call it")));
    }
    const { budget = {} } = about;
    const rows = { "Steps left": budget.steps, "Validations left": budget.validations, "Score so far": this.best ?? 0 };
    fill(this.figures, Object.entries(rows).map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, short(value)))));
    this.#scale(about.marks ?? {});
  }

  /** Where the score stands between nothing and the reference. */
  #scale(marks) {
    const most = Math.max(1, ...Object.values(marks));
    const place = (node, value) => ((node.style.left = `${(100 * Math.min(most, Math.max(0, value))) / most}%`), node);
    const bar = h("span", { class: "bar-of-score" });
    bar.style.width = `${(100 * Math.min(most, this.best ?? 0)) / most}%`;
    const names = Object.entries(marks).filter(([name]) => name !== "floor");
    fill(this.marks, h("div", { class: "scale" }, bar, names.map(([name, value]) => place(h("span", { class: `mark-at ${name}`, title: `${name} ${short(value)}` }), value))), h("p", { class: "hint" }, names.map(([name, value]) => `${name} ${short(value)}`).join(" · ")));
  }

  #enter(entry) {
    const { tool, arguments: given } = entry.call;
    const words = tool === "shell" ? given.command : `${tool} ${Object.entries(given).map(([key, value]) => `${key}=${brief(value, 120)}`).join(" ")}`;
    const said = [entry.result, entry.error].filter(Boolean).join("\n").replace(/\n$/, "");
    const output = h("pre", { class: entry.error ? "wrap bad" : "wrap" }, said ? spans(said) : h("span", { class: "muted" }, "(nothing printed)"));
    const worth = entry.reward ? h("span", { class: "tag" }, `reward ${short(entry.reward)}`) : null;
    if (entry.reward > 0) this.best = (this.best ?? 0) + entry.reward;
    this.log.append(h("li", {}, h("p", { class: tool === "shell" ? "ran" : "ran called" }, h("code", {}, words), worth), output));
    this.#opened(entry);
    announce(entry.error ? `${tool}: ${entry.error.slice(0, 200)}` : `${tool} has ended.`);
  }

  #ended(about) {
    this.over = true;
    const { outcome, score } = about.over;
    const value = score.value === null || score.value === undefined ? "no score" : `${about.metric} ${short(score.value)}`;
    this.best = score.normalised ?? this.best;
    this.#about(about);
    this.line.node.hidden = true;
    this.end.hidden = false;
    const why = score.reason ? h("p", { class: "notice bad" }, score.reason) : null;
    fill(this.end, h("h2", {}, outcome === "success" ? "Done, and good enough" : `The end: ${outcome.replaceAll("_", " ")}`), h("p", { id: "score" }, `${value} on data that you have not seen, ${short(score.normalised ?? 0)} normalised.`), why, h("p", { class: "muted" }, "You may close this page."));
    this.end.scrollIntoView({ block: "nearest" });
    announce(`The task has ended: ${outcome}, ${value}.`);
    this.busy();
  }
}

function sendByEnter(event) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || !event.target.matches("textarea:not(.code)")) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}

bindTheme(document.getElementById("theme"));
const page = new TaskPage();
fill(main, page.node);
page.listen();
