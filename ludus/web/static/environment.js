// An environment's page: what it is, what goes in and comes out, what it may touch, and how a program plays it.

import { ask, envPath } from "./api.js";
import { link, thumbnail } from "./catalogue.js";
import { announce, copy, fill, h, pretty, short } from "./dom.js";

export async function showEnvironment(enter, name) {
  const env = await ask(envPath(name));
  const main = enter();
  if (!main) return;
  document.title = `${env.name} · Ludus`;
  fill(
    main,
    h("nav", { class: "trail", "aria-label": "Where you are" }, h("a", { href: "#/" }, "Environments"), " / ", h("span", {}, env.name)),
    hero(env),
    h(
      "div",
      { class: "columns" },
      h("div", { class: "stack" }, docs(env), tools(env), space("Actions", env.action_space), space("Observations", env.observation_space)),
      h("div", { class: "stack" }, program(env), keys(env), permissions(env), facts(env)),
    ),
  );
}

function hero(env) {
  return h(
    "section",
    { class: "hero" },
    thumbnail(env),
    h(
      "div",
      {},
      h("h1", {}, env.name),
      h("p", { class: "lead" }, env.description || firstLine(env.docs)),
      h("p", { class: "tags" }, env.family && h("span", { class: "tag" }, env.family.replaceAll("_", " ")), env.tags.map((tag) => h("span", { class: "tag" }, tag))),
      h("p", {}, h("a", { class: "button main large", href: link("play", env.name) }, "Play")),
    ),
  );
}

function firstLine(text) {
  return text.split("\n")[0];
}

function panel(title, ...content) {
  return h("section", { class: "panel" }, h("h2", {}, title), content);
}

/** A docstring: paragraphs, and examples as they stand. */
function docs(env) {
  const parts = env.docs.split(/\n\s*\n/).filter((part) => part.trim());
  if (!parts.length) return null;
  const shown = parts.map((part) => (/^[ \t]*(>>>|\.\.\.)|^[ \t]{4,}|^[ \t]*[-*|]\s/m.test(part) ? h("pre", { tabindex: "0" }, part) : h("p", {}, part.split("\n").map((line) => line.trim()).join(" "))));
  return panel("About", shown);
}

function tools(env) {
  if (!env.tools.length) return null;
  const rows = env.tools.map((one) => [h("dt", {}, h("code", {}, one.name)), h("dd", {}, one.description || "No description.")]);
  return panel("Tools", h("dl", { class: "pairs" }, rows));
}

function space(title, { schema, text }) {
  return panel(
    title,
    h("pre", { class: "wrap" }, text),
    h("details", {}, h("summary", {}, "JSON schema"), h("pre", { tabindex: "0" }, pretty(schema))),
  );
}

function program(env) {
  const code = h("pre", { class: "code", tabindex: "0", "aria-label": "Python program" });
  const done = h("span", { class: "muted", role: "status" });
  const choices = Object.keys(env.python);
  const names = { remote: "This server", local: "Without a server" };
  const buttons = choices.map((choice) =>
    h("button", { type: "button", class: "chip", onClick: () => choose(choice) }, names[choice] ?? choice),
  );
  function choose(choice) {
    code.textContent = env.python[choice];
    done.textContent = "";
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(choices[at] === choice)));
  }
  async function take() {
    done.textContent = (await copy(code.textContent, code)) ? "Copied" : "Selected: press Ctrl+C";
    announce(done.textContent);
  }
  choose(choices[0]);
  return panel(
    "Python",
    h("div", { class: "row" }, h("div", { class: "chips", role: "group", "aria-label": "Which program" }, buttons), h("span", { class: "grow" }), done, h("button", { type: "button", id: "copy", onClick: take }, "Copy")),
    code,
  );
}

export const SIGNS = { left: "←", right: "→", up: "↑", down: "↓", enter: "↵", space: "space", backspace: "⌫" };

/** A chord as keys that one sees. */
export function chord(keys) {
  return keys.flatMap((key, at) => [at ? "+" : null, h("kbd", {}, SIGNS[key] ?? key)]);
}

function keys(env) {
  const table = env.keys;
  if (!table.keys.length) return null;
  const labels = new Map(table.buttons.map((one) => [JSON.stringify(one.action), one.label]));
  const byAction = new Map();
  for (const one of table.keys) {
    const action = JSON.stringify(one.action);
    byAction.set(action, [...(byAction.get(action) ?? []), one.keys]);
  }
  const rows = [...byAction].map(([action, chords]) => [
    h("dt", {}, chords.slice(0, 3).map((one, at) => [at ? " " : null, chord(one)])),
    h("dd", {}, labels.get(action) ?? action),
  ]);
  if (table.has_idle) rows.push([h("dt", {}, "no key"), h("dd", {}, labels.get(JSON.stringify(table.idle)) ?? JSON.stringify(table.idle))]);
  return panel("Keys", h("dl", { class: "pairs" }, rows));
}

function permissions(env) {
  const isolation = env.isolation === "none" ? "none: its code is trusted here" : `${env.isolation}${env.isolation_record?.backend ? ` (${env.isolation_record.backend})` : ""}`;
  const said = (list, nothing) => (list.length ? list.join(", ") : nothing);
  const rows = {
    Isolation: isolation,
    Network: said(env.permissions.network, "none"),
    Files: said(env.permissions.files, "its own only"),
    Programs: said(env.permissions.subprocesses, "none"),
    Dependencies: said(env.permissions.dependencies, "none"),
  };
  return panel("Permissions", pairs(rows));
}

function facts(env) {
  const { facts, metadata } = env;
  const rows = {
    "Time limit": facts.max_episode_steps === null ? "none" : `${facts.max_episode_steps} steps`,
    "Solved at": facts.reward_threshold === null ? null : `return ${short(facts.reward_threshold)}`,
    Deterministic: facts.deterministic ? "yes, by its seed" : "no",
    Author: facts.author || null,
    License: facts.license || null,
    Arguments: Object.keys(env.arguments).length ? pretty(env.arguments) : null,
  };
  return panel("Facts", pairs(rows), h("details", {}, h("summary", {}, "Metadata"), h("pre", { tabindex: "0" }, pretty(metadata))));
}

function pairs(rows) {
  const shown = Object.entries(rows).filter(([, value]) => value !== null);
  return h("dl", { class: "pairs" }, shown.map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]));
}
