// Tabs, with the keys that everybody expects of them.

import { h } from "./dom.js";

let groups = 0;

/** Tabs of `{ name: node }`; `onShow(name)` is told which one is seen. */
export function tabs(label, panels, onShow = () => {}) {
  const group = ++groups;
  const names = Object.keys(panels);
  const buttons = names.map((name, at) =>
    h("button", { type: "button", role: "tab", id: `tab-${group}-${at}`, "aria-controls": `panel-${group}-${at}`, onClick: () => show(at), onKeydown: (event) => move(event, at) }, name),
  );
  const bodies = names.map((name, at) => h("div", { role: "tabpanel", id: `panel-${group}-${at}`, "aria-labelledby": `tab-${group}-${at}`, class: "tabpanel", tabindex: "0" }, panels[name]));
  function show(at) {
    buttons.forEach((button, one) => {
      button.setAttribute("aria-selected", String(one === at));
      button.tabIndex = one === at ? 0 : -1;
      bodies[one].hidden = one !== at;
    });
    onShow(names[at]);
  }
  function move(event, at) {
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const to = (next + names.length) % names.length;
    show(to);
    buttons[to].focus();
  }
  show(0);
  return h("section", { class: "panel tabs" }, h("div", { role: "tablist", "aria-label": label }, buttons), bodies);
}
