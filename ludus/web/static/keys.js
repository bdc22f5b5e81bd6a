// Keys: which are down, and the action that they stand for.

const NAMES = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", " ": "space", Enter: "enter", Backspace: "backspace" };
const WRITING = "input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable], dialog, [role=tab], summary";
const PRESSING = "button, a[href], input[type=checkbox]";
const SLIDING = "input[type=range]";

export class Keys {
  /** `act(action)` is called for each press that means something, `restart()` for r. */
  constructor(table, { act, restart }) {
    this.chords = table.keys.map(({ keys, action }) => ({ keys: new Set(keys), action }));
    this.act = act;
    this.restart = restart;
    this.held = new Set();
    this.listeners = { keydown: (event) => this.#down(event), keyup: (event) => this.#up(event), blur: () => this.held.clear() };
    for (const [name, listener] of Object.entries(this.listeners)) addEventListener(name, listener);
  }

  /** The action of the most keys that are down; undefined when nothing fits. */
  chosen() {
    const fitting = this.chords.filter(({ keys }) => [...keys].every((key) => this.held.has(key)));
    fitting.sort((one, other) => other.keys.size - one.keys.size);
    return fitting[0]?.action;
  }

  close() {
    for (const [name, listener] of Object.entries(this.listeners)) removeEventListener(name, listener);
  }

  #down(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || taken(event)) return;
    const key = NAMES[event.key] ?? event.key.toLowerCase();
    if (key === "r") {
      event.preventDefault();
      if (!event.repeat) this.restart();
      return;
    }
    if (!this.chords.some(({ keys }) => keys.has(key))) return;
    event.preventDefault();
    this.held.add(key);
    const action = this.chosen();
    if (action !== undefined) this.act(action);
  }

  #up(event) {
    this.held.delete(NAMES[event.key] ?? event.key.toLowerCase());
  }
}

/** Whether the key belongs to the control that has the focus. */
function taken({ target, key }) {
  if (!(target instanceof Element)) return false;
  if (target.closest(WRITING)) return true;
  if (target.matches(SLIDING)) return key.startsWith("Arrow");
  return Boolean(target.closest(PRESSING)) && (key === " " || key === "Enter");
}
