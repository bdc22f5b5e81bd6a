// The pages: which one is shown follows from the address behind the #.

import { ask, setToken, token } from "./api.js";
import { showCatalogue } from "./catalogue.js";
import { fill, h } from "./dom.js";
import { showEnvironment } from "./environment.js";
import { showPlay } from "./play.js";
import { bindTheme } from "./scheme.js";
import { showSessions } from "./sessions.js";

const main = document.getElementById("main");
let leave = () => {};
let shown = 0;

/** Show the page of the address; the one before is told that it is left. */
async function show() {
  const mine = ++shown;
  leave();
  leave = () => {};
  const [page, name] = address();
  fill(main, h("p", { class: "waiting" }, "Loading…"));
  try {
    const catalogue = await ask("v1/envs");
    if (mine !== shown) return;
    told(catalogue.server, page);
    const next = await PAGES[page](() => (mine === shown ? main : null), name, catalogue);
    if (mine !== shown) next?.();
    else leave = next ?? leave;
  } catch (error) {
    if (mine === shown) fill(main, failure(error));
  }
  if (mine !== shown) return;
  scrollTo(0, 0);
  // Whoever came by a link starts at the top of the new page, with the keyboard and with the ear.
  if (mine > 1 && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
}

/** Pages: `enter()` gives what they fill, or null to one whose answers come when another page is shown already. */
const PAGES = {
  catalogue: (enter, _, catalogue) => showCatalogue(enter(), catalogue),
  env: (enter, name) => showEnvironment(enter, name),
  play: (enter, name) => showPlay(enter, name),
  sessions: (enter) => showSessions(enter()),
};

function address() {
  const [, page, rest] = /^#\/?(env|play|sessions)?\/?(.*)$/.exec(location.hash) ?? [];
  if (!page) return ["catalogue", ""];
  try {
    return [page, decodeURIComponent(rest ?? "")];
  } catch {
    return ["catalogue", ""];
  }
}

/** What the server said of itself and of us, in the bar at the top. */
function told(server, page) {
  document.querySelector("[data-page=sessions]").hidden = server.role !== "orchestrator";
  for (const link of document.querySelectorAll("[data-page]")) {
    if (link.dataset.page === page) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const role = document.getElementById("role");
  role.hidden = !server.tokens;
  role.textContent = server.role;
  document.getElementById("leave").hidden = !token();
}

function failure(error) {
  return h(
    "section",
    { class: "failure", role: "alert" },
    h("h1", {}, "That did not work"),
    h("p", {}, error.message),
    h("p", {}, h("a", { href: "#/" }, "All environments"), " · ", h("button", { type: "button", class: "link", onClick: show }, "Try again")),
  );
}

bindTheme(document.getElementById("theme"));
document.getElementById("leave").addEventListener("click", () => {
  setToken("");
  show();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", show);
show();
