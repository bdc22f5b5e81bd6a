// The catalogue: every environment of the server, found by what one types.

import { picture } from "./api.js";
import { announce, fill, h } from "./dom.js";

/** The address of an environment's page, or of its play. */
export function link(page, name) {
  return `#/${page}/${name.split("/").map(encodeURIComponent).join("/")}`;
}

export function showCatalogue(main, { envs }) {
  document.title = "Environments · Ludus";
  let family = "";
  const search = h("input", { type: "search", id: "search", placeholder: "Name, description or tag", autocomplete: "off", onInput: draw });
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Families" });
  const count = h("p", { class: "muted count" });
  const grid = h("ul", { class: "grid", id: "environments" });
  const cards = new Map(envs.map((env) => [env, card(env)]));
  fill(
    main,
    h(
      "section",
      { class: "head" },
      h("h1", {}, "Environments"),
      h("div", { class: "search" }, h("label", { for: "search", class: "unseen" }, "Search environments"), search, h("kbd", { "aria-hidden": "true" }, "/")),
    ),
    chips,
    count,
    grid,
  );
  draw();

  function draw() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = envs.filter((env) => (!family || env.family === family) && words.every((word) => text(env).includes(word)));
    fill(chips, familyChips());
    fill(grid, found.map((env) => cards.get(env)));
    const said = found.length === envs.length ? `${envs.length} on this server` : `${found.length} of ${envs.length}`;
    count.textContent = found.length ? said : "Nothing fits. Try another word.";
    announce(count.textContent);
  }

  function familyChips() {
    const families = [...new Set(envs.map((env) => env.family))].filter(Boolean);
    if (families.length < 2) return [];
    return ["", ...families].map((one) =>
      h("button", { type: "button", class: "chip", "aria-pressed": String(one === family), onClick: () => choose(one) }, one ? one.replaceAll("_", " ") : "all"),
    );
  }

  function choose(one) {
    family = one;
    draw();
    [...chips.children].find((chip) => chip.getAttribute("aria-pressed") === "true")?.focus();
  }

  function slash(event) {
    if (event.key !== "/" || event.target.matches("input, textarea, select")) return;
    event.preventDefault();
    search.focus();
  }
  addEventListener("keydown", slash);
  return () => removeEventListener("keydown", slash);
}

function text(env) {
  return [env.name, env.family, env.description, ...env.tags].join(" ").toLowerCase();
}

function card(env) {
  return h(
    "li",
    { class: "card" },
    h("a", { class: "cover", href: link("env", env.name), "aria-hidden": "true", tabindex: "-1" }, thumbnail(env)),
    h(
      "div",
      { class: "about" },
      h("h2", {}, h("a", { href: link("env", env.name) }, env.name)),
      h("p", { class: "muted" }, env.description || "No description."),
      h(
        "div",
        { class: "foot" },
        h("span", { class: "tags" }, env.deprecated && h("span", { class: "tag warn" }, "deprecated"), env.tags.slice(0, 3).map((tag) => h("span", { class: "tag" }, tag))),
        env.missing ? null : h("a", { class: "button", href: link("play", env.name), "aria-label": `Play ${env.name}` }, "Play"),
      ),
      env.missing ? h("p", { class: "missing" }, "Not installed here: ", h("code", {}, env.missing)) : null,
    ),
  );
}

/** The first frame; for those that draw none, their name in a colour of its own. */
export function thumbnail(env) {
  const box = h("span", { class: "thumbnail" });
  const name = env.name.split("/").at(-1).replace(/-v\d+$/, "");
  box.style.setProperty("--hue", String(hue(env.name)));
  box.append(h("span", { class: "letters" }, name));
  const seen = new IntersectionObserver(async (entries) => {
    if (!entries.some((one) => one.isIntersecting)) return;
    seen.disconnect();
    const address = await picture(env.picture);
    if (address === null) return;
    const image = h("img", { alt: "", src: address });
    image.addEventListener("load", () => fill(box, image));
    image.addEventListener("error", () => image.remove());
  });
  seen.observe(box);
  return box;
}

function hue(name) {
  let sum = 0;
  for (const char of name) sum = (sum * 31 + char.codePointAt(0)) % 150;
  return 185 + sum;
}
