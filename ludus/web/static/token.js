// The dialog that asks for a token. One at a time: whoever else needs one meanwhile waits for the same answer.

import { h } from "./dom.js";

let asking = null;

export function askToken(wrong = false) {
  asking ??= show(wrong).finally(() => {
    asking = null;
  });
  return asking;
}

function show(wrong) {
  return new Promise((resolve) => {
    const input = h("input", { type: "password", id: "token", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "token-hint" });
    const dialog = h(
      "dialog",
      { class: "ask", "aria-labelledby": "token-title" },
      h(
        "form",
        { method: "dialog", onSubmit: submit },
        h("h2", { id: "token-title" }, "This server wants a token"),
        wrong && h("p", { class: "notice bad", role: "alert" }, "The server does not know the token that was given."),
        h("label", { for: "token" }, "Token"),
        input,
        h("p", { class: "hint", id: "token-hint" }, "Whoever started the server has it. This tab keeps it until it is closed."),
        h("div", { class: "row end" }, h("button", { type: "submit", class: "main" }, "Go on")),
      ),
    );
    function submit(event) {
      event.preventDefault();
      const given = input.value.trim();
      if (!given) return;
      dialog.close();
      dialog.remove();
      resolve(given);
    }
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}
