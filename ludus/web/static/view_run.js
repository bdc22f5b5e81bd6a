// A run: what it is, and its episodes as a table that is sorted, filtered and searched.

import { announce, fill, h, pretty, short } from "./dom.js";

const SIZE = 100;
/** What was chosen for each run, as long as the page is open. */
const views = new Map();
/** Episodes to be put side by side, as "run.n". */
const picked = new Set();

export async function showRun(enter, source, told, number) {
  const run = told.runs[number];
  if (!run) throw new Error(`There is no run ${number}; ${told.runs.length} are open.`);
  const node = enter();
  const view = views.get(number) ?? { sort: "number", down: false, outcomes: new Set(), text: "", page: 0 };
  views.set(number, view);
  const table = h("div", { class: "table-box" });
  const count = h("p", { class: "count muted", role: "status" });
  const bar = h("div", { class: "pickbar", hidden: true });
  const paint = () => paintTable({ table, count, bar, source, told, run, number, view, paint });
  const opened = node.querySelector("details.about")?.open && node.querySelector("h1")?.dataset.run === String(number);
  fill(
    node,
    h("div", { class: "head", "data-follows": true }, h("div", { class: "title" }, h("h1", { "data-run": number }, run.header.environment), tags(run)), search(view, paint)),
    notices(run, told),
    cards(run),
    outcomes(run, view, paint),
    about(run, opened),
    count,
    table,
    bar,
  );
  document.title = `${run.name} · Ludus`;
  await paint();
}

function tags(run) {
  const found = [run.name, `level ${run.level}`, run.lanes > 1 ? `${run.lanes.toLocaleString("en")} lanes` : null, size(run.bytes), run.live ? "being recorded" : null];
  return h("p", { class: "tags" }, found.filter(Boolean).map((text) => h("span", { class: "tag" }, text)), evaluation(run.header.metadata?.evaluation));
}

/** Of an evaluation: whose, and whether its seeds could be picked. */
function evaluation(told) {
  if (!told || typeof told !== "object") return null;
  return [h("span", { class: "tag" }, `agent ${told.agent}`), told.seeds === "chosen" ? h("span", { class: "tag warn" }, "seeds chosen by hand") : h("span", { class: "tag" }, `seeds ${told.seeds}`)];
}

function size(bytes) {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** power).toPrecision(3))} ${["bytes", "kB", "MB", "GB"][power]}`;
}

function notices(run, told) {
  const found = [];
  if (run.missing && !run.live) found.push(`The file is not whole: ${run.missing}.`);
  if (told.document?.left_out) found.push(`${told.document.left_out.toLocaleString("en")} episodes are left out of this page, which may have ${size(told.document.limit)}; those that open are links.`);
  return found.map((text) => h("p", { class: "notice" }, text));
}

function cards(run) {
  const masked = run.masked ? `${run.masked.toLocaleString("en")} masked` : "none masked";
  const rows = [
    ["Episodes", run.episodes.toLocaleString("en"), masked],
    ["Steps", run.steps.toLocaleString("en"), run.episodes ? `${short(Math.round(run.steps / run.episodes))} an episode` : ""],
    ["Mean return", run.mean === null ? "–" : short(run.mean), run.mean === null ? "" : `${short(run.least)} to ${short(run.greatest)}${run.masked ? ", without masked ones" : ""}`],
  ];
  return h("dl", { class: "score cards" }, rows.map(([name, value, hint]) => h("div", {}, h("dt", {}, name), h("dd", {}, value), h("dd", { class: "small muted" }, hint))));
}

function outcomes(run, view, paint) {
  const names = Object.keys(run.outcomes);
  if (names.length < 2) return null;
  const chips = names.map((name) =>
    h("button", { type: "button", class: "chip", "aria-pressed": String(view.outcomes.has(name)), onClick: (event) => {
      if (!view.outcomes.delete(name)) view.outcomes.add(name);
      event.currentTarget.setAttribute("aria-pressed", String(view.outcomes.has(name)));
      view.page = 0;
      paint();
    } }, `${words(name)} `, h("span", { class: "of" }, run.outcomes[name].toLocaleString("en"))),
  );
  return h("div", { class: "chips", role: "group", "aria-label": "Outcomes" }, chips);
}

function search(view, paint) {
  let waiting = 0;
  const changed = (event) => {
    view.text = event.currentTarget.value;
    view.page = 0;
    clearTimeout(waiting);
    waiting = setTimeout(paint, 120);
  };
  return h("div", { class: "search" }, h("input", { id: "search", type: "search", value: view.text, placeholder: "Number, seed or outcome", "aria-label": "Find episodes by number, seed or outcome", onInput: changed }));
}

function about(run, opened) {
  const rows = Object.entries(run.header).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  const pairs = rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, typeof value === "object" ? h("pre", { class: "wrap" }, pretty(value)) : String(value))]);
  return h("details", { class: "about panel", open: Boolean(opened) }, h("summary", {}, "About this run"), h("dl", { class: "pairs" }, pairs));
}

// --- the table ---

async function paintTable(all) {
  const { table, count, source, run, number, view } = all;
  const question = { run: number, page: view.page, sort: view.sort, down: view.down ? "1" : "0", outcome: [...view.outcomes].join(), text: view.text };
  const asked = (view.asked = JSON.stringify(question));
  const { total, rows } = await source.ask("episodes", question);
  if (view.asked !== asked) return;
  const last = Math.max(0, Math.ceil(total / SIZE) - 1);
  if (view.page > last) {
    view.page = last;
    await paintTable(all);
    return;
  }
  const lanes = run.lanes > 1;
  const focused = document.activeElement?.dataset?.focus;
  fill(table, h("table", { class: "episodes" }, h("caption", { class: "unseen" }, "Episodes"), head(all, lanes), h("tbody", {}, rows.map((row) => line(all, row, lanes)))));
  count.textContent = total === run.episodes ? `${total.toLocaleString("en")} episodes` : `${total.toLocaleString("en")} of ${run.episodes.toLocaleString("en")} episodes`;
  if (total > SIZE) table.append(pager(all, total, last));
  if (focused) table.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
  paintBar(all);
}

function head({ view, run, paint }, lanes) {
  const columns = [["number", "Episode"], ["seed", "Seed", "wide"], lanes ? ["lane", "Lane", "wide"] : null, ["return", "Return"], ["length", "Length"], ["outcome", "Outcome"], ["terminated", "Ended by", "wide"]];
  const cells = columns.filter(Boolean).map(([key, label, kind]) => {
    const own = view.sort === key;
    const sort = () => {
      view.down = own ? !view.down : key === "return" || key === "length";
      view.sort = key;
      view.page = 0;
      paint();
    };
    const sortable = key !== "seed" || run.seeds;
    const text = sortable ? h("button", { type: "button", class: "sort", "data-focus": key, onClick: sort }, label, h("span", { "aria-hidden": "true" }, own ? (view.down ? " ↓" : " ↑") : "")) : label;
    return h("th", { scope: "col", class: `${kind ?? ""} ${NUMBERS.has(key) ? "number" : ""}`, "aria-sort": own ? (view.down ? "descending" : "ascending") : null }, text);
  });
  return h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "pick" }, h("span", { class: "unseen" }, "Compare")), cells));
}

const NUMBERS = new Set(["seed", "lane", "return", "length"]);

function line({ source, number, paint, told, table, bar }, row, lanes) {
  const place = `${number}.${row.number}`;
  const opens = !told.document || told.document.opened.some(([run, n]) => run === number && n === row.number);
  const pick = h("input", { type: "checkbox", checked: picked.has(place), "aria-label": `Compare episode ${row.number}`, onChange: (event) => {
    if (event.currentTarget.checked) picked.add(place);
    else picked.delete(place);
    paintBar({ bar, number, source });
  } });
  const ended = row.terminated ? "termination" : row.truncated ? "truncation" : "neither";
  return h(
    "tr",
    { class: row.masked ? "masked" : null },
    h("td", { class: "pick" }, source.embedded ? null : pick),
    h("th", { scope: "row" }, opens ? h("a", { href: `#/run/${number}/${row.number}` }, `#${row.number}`) : `#${row.number}`),
    h("td", { class: "number wide" }, row.seed ?? "–"),
    lanes ? h("td", { class: "number wide" }, row.lane) : null,
    h("td", { class: "number" }, Array.isArray(row.return) ? row.return.map(short).join(", ") : short(row.return)),
    h("td", { class: "number" }, row.length.toLocaleString("en")),
    h("td", {}, badge(row)),
    h("td", { class: "wide muted" }, ended),
  );
}

/** An outcome as a small label; masked ones say so. */
export function badge(row) {
  return h("span", { class: `outcome ${row.masked ? "is-masked" : `is-${row.outcome}`}` }, words(row.outcome), row.masked ? h("span", { class: "of" }, " masked") : null);
}

function words(name) {
  return String(name).replaceAll("_", " ");
}

function pager({ view, paint }, total, last) {
  const go = (page) => () => {
    view.page = Math.min(last, Math.max(0, page));
    announce(`Page ${view.page + 1} of ${last + 1}`);
    paint();
  };
  const button = (label, text, page, off) => h("button", { type: "button", class: "square", "aria-label": label, "data-focus": label, disabled: off, onClick: go(page) }, text);
  const field = h("input", { type: "number", min: 1, max: last + 1, value: view.page + 1, "aria-label": "Page", onChange: (event) => go((Number(event.currentTarget.value) || 1) - 1)() });
  return h("nav", { class: "pager", "aria-label": "Pages of the table" }, button("First page", "⇤", 0, view.page === 0), button("Page before", "←", view.page - 1, view.page === 0), field, h("span", { class: "muted" }, `of ${(last + 1).toLocaleString("en")}`), button("Next page", "→", view.page + 1, view.page === last), button("Last page", "⇥", last, view.page === last));
}

function paintBar({ bar, source }) {
  const places = [...picked];
  bar.hidden = places.length < 2 || source.embedded;
  const clear = () => {
    picked.clear();
    for (const box of document.querySelectorAll(".pick input")) box.checked = false;
    bar.hidden = true;
  };
  fill(bar, h("span", {}, `${places.length} episodes chosen`), h("span", { class: "grow" }), h("button", { type: "button", class: "quiet", onClick: clear }, "Clear"), h("a", { class: "button main", href: `#/compare/${places.slice(0, 8).join(",")}` }, "Side by side"));
}
