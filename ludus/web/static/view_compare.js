// Episodes side by side: one scrubber for all of them, aligned by steps or by actions, and a way to the next difference.

import { announce, brief, fill, h, short } from "./dom.js";
import { Curves } from "./view_curves.js";
import { Playback } from "./view_playback.js";
import { Reel, showStep } from "./view_reel.js";
import { badge } from "./view_run.js";
import { LongTable } from "./view_steps.js";
import { eventsAt, hasTalk } from "./view_talk.js";

const COLOURS = 8;

export async function showComparison(enter, source, told, places) {
  const of = places.map(({ run, n }) => `${run}.${n}`).join(",");
  const found = await source.ask("compare", { of });
  const reels = await Promise.all(places.map(({ run, n }) => Reel.open(source, run, n)));
  const frames = await Promise.all(reels.map((reel) => reel.hasFrames()));
  const view = { lines: byStep(reels), differing: found.differing, aligned: false };
  const parts = reels.map((reel, at) => column(told, reel, at, frames[at]));
  const fps = Math.min(...reels.map((reel, at) => (frames[at] ? reel.about.fps : 8)));
  const curves = new Curves(Math.max(...reels.map((reel) => reel.last)), (to) => playback.go(lineOf(view, to)));
  const holder = h("div", { class: "compare-lines" });
  let playback = null;
  let table = null;

  const summary = h("p", { class: "notice", role: "status" }, difference(found));
  const next = h("button", { type: "button", class: "main", id: "difference", disabled: !found.first, onClick: () => jump(view, playback) }, "First difference");
  const align = found.rows ? h("label", { class: "inline" }, h("input", { type: "checkbox", id: "align", onChange: (event) => realign(event.currentTarget.checked) }), "Align equal actions") : null;
  const control = h("div", { class: "compare-control" });
  const close = () => {
    for (const part of [playback, table, curves, ...reels]) part?.close();
  };
  const node = enter(close);
  if (!node) return close();
  fill(node, h("nav", { class: "trail", "aria-label": "Where this is" }, h("a", { href: "#/run/0" }, "All episodes"), " / ", h("span", {}, "side by side")), h("h1", {}, `${reels.length} episodes side by side`), summary, control, h("div", { class: "columns-of" }, parts.map((part) => part.node)), h("section", { class: "panel", "aria-label": "Curves" }, curves.node), h("section", { class: "panel", "aria-label": "Steps side by side" }, holder));
  document.title = "Side by side · Ludus";

  async function paint() {
    const line = view.lines[playback.step] ?? [];
    curves.mark(Math.max(0, ...line.filter((one) => one !== null)));
    table.show(playback.step);
    next.textContent = view.differing.some((one) => lineOf(view, one) > playback.step) && playback.step ? "Next difference" : "First difference";
    await Promise.all(parts.map((part, at) => part.show(line[at] ?? null)));
  }

  function realign(aligned) {
    view.aligned = aligned;
    view.lines = aligned ? found.rows : byStep(reels);
    const step = 0;
    playback?.close();
    table?.close();
    playback = new Playback({ last: view.lines.length - 1, fps, step, name: aligned ? "Line" : "Step" });
    table = lines(reels, view, playback);
    let painting = null;
    playback.ready = () => painting;
    playback.addEventListener("step", () => {
      painting = paint();
    });
    fill(control, playback.node, h("div", { class: "row" }, next, align));
    fill(holder, table.node);
    painting = paint();
    return painting;
  }

  Promise.all(reels.map((reel) => reel.curves().catch(() => []))).then((all) => {
    const names = [...new Set(all.flat().map((one) => one.name))];
    curves.show(names.map((name) => ({ name, marks: all.flat().find((one) => one.name === name)?.marks, lines: all.map((some, at) => [some.find((one) => one.name === name), at]).filter(([one]) => one).map(([one, at]) => ({ ...one, kind: `is-${at % COLOURS}` })) })));
  });
  await realign(false);
}

/** Each line is a step of all of them. */
function byStep(reels) {
  const last = Math.max(...reels.map((reel) => reel.last));
  return Array.from({ length: last + 1 }, (_, step) => reels.map((reel) => (step <= reel.last ? step : null)));
}

/** The line in which the first episode, or else any, is at a step. */
function lineOf({ lines, aligned }, step) {
  if (!aligned) return Math.min(step, lines.length - 1);
  const own = lines.findIndex((line) => line[0] === step);
  return own >= 0 ? own : Math.max(0, lines.findIndex((line) => line.includes(step)));
}

function difference({ first, lengths, more }) {
  if (!first) return "They do not differ in anything that all of their files have.";
  const rest = more ? ` ${more.toLocaleString("en")} later ones are not counted.` : "";
  return `They first differ at step ${first.step}: ${first.fields.join(", ")}. Lengths: ${lengths.map((one) => one.toLocaleString("en")).join(", ")}.${rest}`;
}

/** To the next step that differs; after the last, to the first again. */
function jump(view, playback) {
  const lines = [...new Set(view.differing.map((step) => lineOf(view, step)))].sort((a, b) => a - b);
  const to = lines.find((line) => line > playback.step) ?? lines[0];
  if (to === undefined) return;
  playback.go(to);
  announce(`Difference at ${to}`);
}

function column(told, reel, at, frames) {
  const { episode, run, n } = reel;
  const step = h("div", { class: "step-panel" });
  const said = h("div", { class: "said-here" });
  const where = h("p", { class: "where" });
  const talks = hasTalk(episode);
  const node = h(
    "section",
    { class: `column is-${at % COLOURS}`, "aria-label": `${told.runs[run].name}, episode ${n}` },
    h("header", {}, h("h2", {}, h("a", { href: `#/run/${run}/${n}` }, `${told.runs[run].name} #${n}`)), h("p", { class: "tags" }, badge(episode), h("span", { class: "tag" }, `return ${short(episode.return)}`), h("span", { class: "tag" }, `${episode.length.toLocaleString("en")} steps`))),
    frames ? reel.stage.node : talks && !reel.about.needs_trust ? null : h("p", { class: reel.about.needs_trust ? "notice" : "hint" }, reel.why),
    reel.note,
    where,
    talks ? [said, step] : [step, said],
  );
  let wanted = null;
  async function show(place) {
    wanted = place;
    node.classList.toggle("absent", place === null);
    if (place === null) {
      where.textContent = "No step here";
      return;
    }
    const drawing = frames ? reel.draw(place) : null;
    const [[one], events] = await Promise.all([reel.steps(place, place + 1).catch(() => [null]), eventsAt(reel, place).catch(() => [])]);
    if (wanted !== place) return; // another step is shown by now
    fill(said, events);
    where.textContent = place ? `Step ${place.toLocaleString("en")}: ${one ? reel.action(one.action) : "?"}` : "Before the first step";
    showStep(step, reel, one, null);
    await drawing;
  }
  return { node, show };
}

function lines(reels, view, playback) {
  const differing = new Set(view.differing.map((step) => lineOf(view, step)));
  const table = new LongTable({
    label: "Steps side by side",
    columns: ["Line", ...reels.flatMap((reel) => [`#${reel.n}`, "reward"])],
    count: view.lines.length,
    rows: async (first, end) => {
      const some = view.lines.slice(first, end);
      const known = await Promise.all(reels.map((reel, at) => stepsOf(reel, some.map((line) => line[at]))));
      return some.map((line, row) => [String(first + row), ...reels.flatMap((reel, at) => cells(reel, line[at], known[at]))]);
    },
    onPick: (row) => playback.go(row),
  });
  table.marked = (row) => differing.has(row);
  return table;
}

async function stepsOf(reel, places) {
  const known = places.filter((one) => one !== null);
  if (!known.length) return new Map();
  const found = await reel.steps(Math.min(...known), Math.max(...known) + 1);
  return new Map(found.map((one) => [one.step, one]));
}

function cells(reel, place, known) {
  const one = place === null ? null : known.get(place);
  return one ? [h("span", { class: "cut" }, `${place} ${reel.action(one.action)}`), one.reward === null ? "–" : brief(one.reward, 20)] : ["", ""];
}
