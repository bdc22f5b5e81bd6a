// One episode: its frames with a scrubber, its curves, its steps, and what was said around them.

import { brief, fill, h, pretty, short } from "./dom.js";
import { tabs } from "./tabs.js";
import { Curves } from "./view_curves.js";
import { Playback } from "./view_playback.js";
import { Reel, showStep } from "./view_reel.js";
import { badge } from "./view_run.js";
import { LongTable } from "./view_steps.js";
import { Talk, hasTalk } from "./view_talk.js";

const KINDS = { reward: "is-reward", return: "is-return" };

let before = null; // where an episode under way was, and what was its end, before the page was made anew

export async function showEpisode(enter, source, told, { run, n, step: asked = 0 }) {
  const address = location.hash;
  const reel = await Reel.open(source, run, n);
  const { episode } = reel;
  const follows = isUnderWay(told, run, episode);
  const frames = await reel.hasFrames();
  const playback = new Playback({ last: reel.last, fps: frames ? reel.about.fps : 8 });
  const curves = new Curves(reel.last, (to) => playback.go(to));
  const talk = hasTalk(episode) ? new Talk({ source, run, n, episode, onSeek: (to) => playback.go(to) }) : null;
  const stepPanel = h("div", { class: "step-panel" });
  const table = stepTable(reel, playback);
  const panels = { Step: stepPanel, Steps: table.node };
  const stage = frames ? h("div", { class: "frame" }, reel.stage.node) : null;
  const why = frames || (talk && !reel.about.needs_trust) ? null : h("p", { class: "notice" }, reel.why);
  const curvePanel = h("section", { class: "panel", "aria-label": "Curves" }, curves.node);
  const left = talk && !frames ? [h("section", { class: "panel", "aria-label": "Events" }, talk.node)] : [stage, playback.node, reel.note, curvePanel];
  const right = talk && !frames ? [playback.node, curvePanel, tabs("Episode", panels, () => table.redraw())] : [tabs("Episode", talk ? { Events: talk.node, ...panels } : panels, () => table.redraw())];
  const close = () => {
    for (const part of [playback, curves, talk, table, reel]) part?.close();
  };
  const node = enter(() => {
    before = follows && address === location.hash ? { address, step: playback.step, last: reel.last } : null;
    close();
  });
  if (!node) return close();
  playback.go(begin(reel.last, asked, follows));
  fill(node, head(source, told, run, episode), why, usage(episode), h("div", { class: "play watch" }, h("div", { class: "left" }, left), h("div", { class: "right" }, right)));
  document.title = `#${n} · ${told.runs[run]?.name ?? ""} · Ludus`;

  const returns = { curve: null };
  async function paint() {
    const at = playback.step;
    curves.mark(at);
    table.show(at);
    talk?.follow(at);
    const drawing = frames ? reel.draw(at) : null;
    const [one] = await reel.steps(at, at + 1).catch((error) => [{ step: at, action: null, reward: null, info: { error: error.message } }]);
    if (playback.step === at) showStep(stepPanel, reel, one, totalAt(returns.curve, at));
    await drawing;
  }
  playback.ready = () => painting;
  let painting = paint();
  playback.addEventListener("step", () => {
    painting = paint();
  });
  reel.curves().then((found) => {
    returns.curve = found.find((one) => one.name === "return") ?? null;
    curves.show(found.map((one) => ({ name: one.name, marks: one.marks, lines: [{ ...one, kind: KINDS[one.name] ?? "is-other" }] })));
    curvePanel.hidden = !found.length;
    paint();
  }, () => {
    curvePanel.hidden = true;
  });
  await painting;
}

/** Whether the file is not whole and the episode has not ended: it may grow. */
function isUnderWay(told, run, episode) {
  return Boolean(told.runs[run].missing) && !episode.terminated && !episode.truncated;
}

/** Whoever looked at the newest step sees the newest again; whoever looked elsewhere stays there. */
function begin(last, asked, follows) {
  if (before?.address === location.hash) return before.step >= before.last ? last : before.step;
  return follows && !asked ? last : asked;
}

/** The return at a step; of long episodes it is known at some of them only. */
function totalAt(curve, step) {
  if (!curve) return null;
  if (step === 0) return 0;
  const place = curve.steps.indexOf(step);
  return place < 0 ? null : curve.high[place];
}

function head(source, told, run, episode) {
  const { number } = episode;
  const link = (to, label, sign) => {
    const open = to >= 0 && to < told.runs[run].episodes && (!told.document || told.document.opened.some(([one, n]) => one === run && n === to));
    return open ? h("a", { class: "button quiet", href: `#/run/${run}/${to}`, "aria-label": label, title: label }, sign) : null;
  };
  const open = isUnderWay(told, run, episode);
  const facts = [open ? null : `return ${Array.isArray(episode.return) ? episode.return.map(short).join(", ") : short(episode.return)}`, `${episode.length.toLocaleString("en")} steps`, episode.seed === null ? "no seed of its own" : `seed ${episode.seed}`, told.runs[run].lanes > 1 ? `lane ${episode.lane}` : null, episode.terminated ? "terminated" : episode.truncated ? "truncated" : open ? null : "not ended"];
  const state = open && told.runs[run].live ? h("span", { class: "outcome" }, "under way") : badge(episode);
  return [
    h("nav", { class: "trail", "aria-label": "Where this is" }, h("a", { href: `#/run/${run}` }, told.runs[run].name), " / ", h("span", {}, `episode ${number}`)),
    h("div", { class: "head", "data-follows": open || null }, h("div", { class: "title" }, h("h1", {}, `${told.runs[run].header.environment} #${number}`), h("p", { class: "tags" }, state, facts.filter(Boolean).map((text) => h("span", { class: "tag" }, text)))), h("div", { class: "row" }, link(number - 1, "Episode before", "← before"), link(number + 1, "Next episode", "next →"))),
    episode.options ? h("details", {}, h("summary", {}, "Reset options"), h("pre", { class: "wrap" }, pretty(episode.options))) : null,
  ];
}

function usage({ usage: used }) {
  if (!used) return null;
  const rows = [["Model calls", used.calls], ["Tokens in", used.prompt_tokens], ["Tokens out", used.completion_tokens], ["Cost", used.cost_usd === null ? "–" : `$${short(used.cost_usd)}`]];
  return h("dl", { class: "score cards" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, typeof value === "number" ? value.toLocaleString("en") : value))));
}

function stepTable(reel, playback) {
  return new LongTable({
    label: "Steps",
    columns: ["Step", "Action", "Reward", "Observation"],
    count: reel.last + 1,
    rows: async (first, end) =>
      (await reel.steps(first, end)).map((one) => [one.step.toLocaleString("en"), h("span", { class: "cut" }, reel.action(one.action)), one.reward === null ? "–" : brief(one.reward, 40), h("code", { class: "cut" }, one.observation === undefined ? "–" : brief(one.observation, 120))]),
    onPick: (row) => playback.go(row),
  });
}
