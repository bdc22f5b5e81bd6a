// Rows without end: a table that has only the rows that are seen, however many there are.

import { fill, h } from "./dom.js";

const ROW = 30;
const AROUND = 12;
const MAX_PIXELS = 8_000_000;

/** `rows(first, end)` gives a promise of cells, a list for each row; `onPick(row)` is told of clicks. */
export class LongTable {
  constructor({ label, columns, count, rows, onPick }) {
    Object.assign(this, { count, rows, onPick });
    this.current = -1;
    this.marked = () => false;
    this.body = h("tbody", { onClick: (event) => this.#picked(event) });
    this.before = h("tr", { "aria-hidden": "true" }, h("td", { colspan: columns.length }));
    this.after = h("tr", { "aria-hidden": "true" }, h("td", { colspan: columns.length }));
    const head = h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name))));
    this.table = h("table", { class: "long", "aria-rowcount": count + 1, "aria-label": label }, head, this.body);
    this.node = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": label, onScroll: () => this.#wanted() }, this.table);
    // Of more rows than a page can be high, each pixel stands for several.
    this.scale = Math.max(1, (count * ROW) / MAX_PIXELS);
    this.observer = new ResizeObserver(() => this.#wanted());
    this.observer.observe(this.node);
  }

  /** Mark a row as the current one, and have it in view. */
  show(row) {
    this.current = row;
    const top = (row * ROW) / this.scale;
    const height = this.node.clientHeight - ROW;
    if (height > 0 && (top < this.node.scrollTop || top > this.node.scrollTop + height - ROW)) this.node.scrollTop = Math.max(0, top - height / 2);
    this.#mark();
    this.#wanted();
  }

  /** Draw anew, where it was not to be seen before. */
  redraw() {
    this.first = this.end = undefined;
    this.after.firstChild.style.height = `${Math.min(this.count * ROW, MAX_PIXELS)}px`; // so that it can be scrolled
    this.after.hidden = false;
    fill(this.body, this.after);
    this.show(this.current);
  }

  close() {
    this.observer.disconnect();
  }

  #wanted() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.#draw();
    });
  }

  async #draw() {
    const height = this.node.clientHeight;
    if (!height) return;
    const top = Math.floor((this.node.scrollTop * this.scale) / ROW);
    const first = Math.max(0, Math.min(top, this.count - 1) - AROUND);
    const end = Math.min(this.count, top + Math.ceil(height / ROW) + AROUND);
    if (first === this.first && end === this.end) return;
    [this.first, this.end] = [first, end];
    const cells = await this.rows(first, end).catch((error) => [[error.message]]);
    if (first !== this.first || end !== this.end) return;
    const lines = cells.map((row, at) => h("tr", { "aria-rowindex": first + at + 2, "data-row": first + at }, row.map((cell) => h("td", {}, cell))));
    this.before.firstChild.style.height = `${this.scale > 1 ? Math.max(0, this.node.scrollTop - AROUND * ROW) : first * ROW}px`;
    this.after.firstChild.style.height = `${Math.max(0, ((this.count - end) * ROW) / this.scale)}px`;
    this.before.hidden = first === 0;
    this.after.hidden = end === this.count;
    fill(this.body, this.before, lines, this.after);
    this.#mark();
  }

  #mark() {
    for (const line of this.body.querySelectorAll("[data-row]")) {
      const row = Number(line.dataset.row);
      line.classList.toggle("differs", this.marked(row));
      if (row === this.current) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
    }
  }

  #picked(event) {
    const row = event.target.closest?.("[data-row]")?.dataset.row;
    if (row !== undefined) this.onPick(Number(row));
  }
}
