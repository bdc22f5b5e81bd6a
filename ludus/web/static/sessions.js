// The sessions of the server, for whoever runs it.

import { ask } from "./api.js";
import { announce, fill, h } from "./dom.js";

const AGAIN = 5000;

export async function showSessions(main) {
  document.title = "Sessions · Ludus";
  const body = h("tbody");
  const count = h("p", { class: "muted", role: "status" });
  const trouble = h("div", { role: "alert" });
  let asked = null;
  const heads = ["Environment", "Session", "Owner", "Steps", "Open for", "Idle", "Isolation"];
  fill(
    main,
    h("section", { class: "head" }, h("h1", {}, "Sessions"), h("button", { type: "button", onClick: load }, "Refresh")),
    count,
    trouble,
    h("table", { class: "sessions" }, h("caption", { class: "unseen" }, "Sessions of this server"), h("thead", {}, h("tr", {}, heads.map((one) => h("th", { scope: "col" }, one)), h("th", { scope: "col" }, h("span", { class: "unseen" }, "End")))), body),
  );
  await load();
  const timer = setInterval(() => document.visibilityState === "visible" && !body.contains(document.activeElement) && load(), AGAIN);
  return () => clearInterval(timer);

  /** Of answers that come out of their order, the newest counts. */
  async function load() {
    const mine = (asked = {});
    try {
      const data = await ask("v1/sessions");
      if (mine !== asked) return;
      const sessions = Array.isArray(data) ? data : data.sessions;
      count.textContent = sessions.length ? `${sessions.length} open` : "No session is open.";
      fill(body, sessions.map(row));
      fill(trouble);
    } catch (error) {
      fill(trouble, h("p", { class: "notice bad" }, error.message));
    }
  }

  async function end(session) {
    try {
      await ask(`v1/sessions/${encodeURIComponent(session.id)}`, { method: "DELETE" });
      announce("The session was ended.");
    } catch (error) {
      fill(trouble, h("p", { class: "notice bad" }, error.message));
    }
    await load();
  }

  function row(session) {
    const cells = {
      Environment: session.lanes ? `${session.env} × ${session.lanes}` : session.env,
      Session: `${session.id.slice(0, 10)}…`,
      Owner: session.owner,
      Steps: String(session.steps),
      "Open for": lasting(Date.now() / 1000 - session.opened),
      Idle: session.connected ? `${lasting(session.idle)}, connected` : lasting(session.idle),
      Isolation: session.isolation,
    };
    const close = h("button", { type: "button", class: "danger", "aria-label": `End the session of ${session.env}`, onClick: () => end(session) }, "End");
    return h("tr", {}, Object.entries(cells).map(([label, value]) => h("td", { "data-label": label }, value)), h("td", {}, close));
  }
}

function lasting(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.floor(whole / 60)} min` : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
