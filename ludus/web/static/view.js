// Recorded runs: which page is shown follows from the address behind the #.

import { fill, h } from "./dom.js";
import { bindTheme } from "./scheme.js";
import { showComparison } from "./view_compare.js";
import { showEpisode } from "./view_episode.js";
import { showRun } from "./view_run.js";
import { openSource } from "./view_source.js";

const POLL_MS = 2000;
const main = document.getElementById("main");
const source = openSource();
let leave = () => {};
let shown = 0;
let settled = 0;
let told = null;

/** Show the page of the address; the one before hears keys until the new one is ready, and is told then that it is left. */
async function show() {
  const mine = ++shown;
  /** What a page fills, from when it is ready until `close` is called; null to one that comes after a newer wish. */
  const enter = (close = () => {}) => {
    if (mine !== shown) return null;
    leave();
    leave = close;
    return main;
  };
  try {
    const answer = await source.ask("runs");
    if (mine !== shown) return;
    told = answer;
    paintBar();
    await page()(enter, source, told);
  } catch (error) {
    const node = enter();
    if (node) fill(node, failure(error));
  }
  if (mine !== shown) return;
  settled = mine;
  if (mine > 1 && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
}

/** What the address asks for; where it asks for nothing, what the command named. */
function page() {
  const [kind, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const chosen = told.chosen.map(({ run, n }) => `${run}.${n}`);
  const begins = !location.hash;
  if (begins && chosen.length === 1) return (enter, ...more) => showEpisode(enter, ...more, told.chosen[0]);
  if (begins && chosen.length > 1) return (enter, ...more) => showComparison(enter, ...more, told.chosen);
  if (kind === "compare") return (enter, ...more) => showComparison(enter, ...more, places(rest[0] ?? ""));
  const run = Number(rest[0] ?? 0) || 0;
  const [n, step] = (rest[1] ?? "").split("@");
  if (kind === "run" && n) return (enter, ...more) => showEpisode(enter, ...more, { run, n: Number(n) || 0, step: Number(step) || 0 });
  return (enter, ...more) => showRun(enter, ...more, run);
}

function places(text) {
  return text.split(",").map((one) => one.split(".").map((part) => Number(part) || 0)).map(([run, n]) => ({ run, n: n ?? 0 }));
}

function paintBar() {
  const [kind, at] = location.hash.replace(/^#\/?/, "").split("/");
  const current = kind === "compare" ? -1 : Number(at ?? 0) || 0;
  const links = told.runs.map((run, number) => h("a", { href: `#/run/${number}`, "aria-current": number === current ? "page" : null }, run.name));
  const chosen = told.chosen.map(({ run, n }) => `${run}.${n}`).join(",");
  if (told.chosen.length > 1) links.push(h("a", { href: `#/compare/${chosen}`, "aria-current": current < 0 ? "page" : null }, "Side by side"));
  fill(document.getElementById("runs"), links);
  document.getElementById("live-chip").hidden = !told.runs.some((run) => run.live);
  document.getElementById("reload").hidden = source.embedded;
}

function failure(error) {
  return h(
    "section",
    { class: "failure", role: "alert" },
    h("h1", {}, "That did not work"),
    h("p", {}, error.message),
    h("p", {}, h("a", { href: "#/run/0" }, "All episodes"), " · ", h("button", { type: "button", class: "link", onClick: reload }, "Try again")),
  );
}

// --- files that grow ---

async function reload() {
  source.forget();
  main.style.minHeight = `${main.offsetHeight}px`; // what is seen stays where it is
  await show();
  main.style.minHeight = "";
}

/** Ask whether files have grown; a table and an episode under way follow by themselves, others when they are told to. */
async function look() {
  if (document.hidden || settled !== shown) return; // a page on its way asks by itself
  const now = await source.answer("runs", {}).catch(() => null);
  if (!now || settled !== shown) return;
  const stamps = ({ runs }) => runs.map((run) => run.stamp).join();
  const changed = stamps(now) !== stamps(told);
  document.getElementById("live-chip").hidden = !now.runs.some((run) => run.live);
  document.getElementById("reload").classList.toggle("fresh", changed);
  if (changed && main.querySelector("[data-follows]") && !main.contains(document.activeElement?.closest("input, select"))) reload();
}

bindTheme(document.getElementById("theme"));
document.getElementById("reload").addEventListener("click", () => {
  document.getElementById("reload").classList.remove("fresh");
  reload();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", () => {
  scrollTo(0, 0);
  show();
});
if (!source.embedded) setInterval(look, POLL_MS);
show();
