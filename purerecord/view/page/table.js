// The table of records: rows come as they are scrolled to, heads tell what is in the columns.

import { button, element, replace } from "./element.js";
import { count, plural } from "./formats.js";
import { columnHead } from "./head.js";
import { Scroller } from "./scroller.js";
import { brief, whole } from "./value.js";

const ROW = 30;
const FIRST = 50; // columns at the beginning
const MOST = 200;
const LONGEST = 50_000; // characters of their names in a URL
const WIDTHS = { picture: 150, sound: 170, text: 230, number: 132, tensor: 180, bytes: 190 };

export class TableView {
  constructor(root, app) {
    Object.assign(this, { root, app, selected: app.place.at, nodes: new Map(), widths: new Map(), wide: 1 });
    this.heads = element("div", { class: "heads", role: "row" });
    this.space = element("div", { class: "rows" });
    this.box = element("div", { class: "table", id: "table", role: "grid", tabindex: 0, "aria-label": "Records" }, this.heads, this.space);
    this.note = element("div", { class: "table-note" });
    replace(root, this.note, this.box);
    this.scroller = new Scroller(this.box, this.space, ROW, (first, last) => this.#show(first, last));
    this.limit = FIRST;
    this.box.addEventListener("click", (event) => this.#clicked(event));
    this.summaryChanged();
    this.rowsChanged();
    this.scroller.goTo(app.tops.get(app.key) ?? Math.max(0, this.selected - 3) * ROW);
    this.scroller.reveal(this.selected);
    this.box.focus({ preventScroll: true });
  }

  // What to ask of rows: by default a record's first features come; of many, those that are shown.
  static parameters(summary, limit = FIRST) {
    const columns = ordered(summary?.columns ?? []);
    return columns.length > FIRST ? { column: [...new Set(fitting(columns, limit).map((one) => one.name))] } : {};
  }

  summaryChanged() {
    const summary = this.app.summary;
    const known = summary?.columns?.length ? ordered(summary.columns) : this.#columnsOfRows();
    this.columns = fitting(known, this.limit);
    this.more = known.length - this.columns.length;
    this.#drawHeads();
    const drawn = this.columns.map((column) => `${key(column)} ${this.#width(column)}`).join();
    if (drawn !== this.drawn) {
      this.nodes.clear();
      this.space.replaceChildren();
    }
    this.drawn = drawn;
    this.#drawNote();
    this.#show(...(this.visible ?? [0, 0]));
  }

  // Before anything is known of the columns, those of the first rows are shown.
  #columnsOfRows() {
    const found = new Map();
    for (let at = 0; at < 20; at += 1) {
      for (const cell of this.app.rows?.at(at)?.features ?? []) {
        if (!found.has(key(cell))) found.set(key(cell), { name: cell.name, list: cell.list, kind: cell.kind, kinds: {}, role: cell.kind === "bytes" ? "text" : "number", guessed: true });
      }
    }
    return [...found.values()];
  }

  rowsChanged() {
    const rows = this.app.rows;
    if (!this.columns.length || this.columns[0].guessed) {
      const before = this.columns.length;
      if (!this.app.summary?.columns?.length) this.columns = this.#columnsOfRows();
      if (this.columns.length !== before) {
        this.#drawHeads();
        this.nodes.clear();
        this.space.replaceChildren();
      }
    }
    this.box.setAttribute("aria-rowcount", rows.exact ? rows.size + 1 : -1);
    if (this.scroller.rows !== rows.size) this.scroller.resize(rows.size);
    this.#drawNote();
    this.#show(...(this.visible ?? [0, 0]));
  }

  #drawNote() {
    const rows = this.app.rows;
    const texts = [];
    if (rows.error && !rows.filtered) texts.push(element("span", { class: "wrong" }, rows.error));
    if (!rows.size && rows.exact) texts.push(rows.filtered ? "No record is like this." : this.app.files.files.every((file) => file.status === "failed") ? "None of the files can be read; beside each stands why." : "There are no records.");
    if (!rows.size && !rows.exact && !rows.error) texts.push(rows.filtered ? "Searching …" : "Counting records …");
    if (this.more > 0) texts.push(`${plural(this.columns.length, "column")} of ${count(this.columns.length + this.more)} are shown. `, this.limit < MOST && this.columns.length === this.limit ? button("Show more", () => this.#moreColumns(), { class: "link" }) : "A record's page has all of them.");
    replace(this.note, texts);
  }

  #moreColumns() {
    this.limit = Math.min(MOST, this.limit + 50);
    this.app.reload(TableView.parameters(this.app.summary, this.limit));
    this.summaryChanged();
  }

  #width(column) {
    const digits = Math.max(...[column.numbers?.min, column.numbers?.max].map((value) => (column.kind === "int64" ? String(value ?? "").length : 0)));
    return this.widths.get(key(column)) ?? Math.max(digits > 13 ? 190 : 0, column.distinct === 1 ? 132 : (WIDTHS[column.role] ?? 150), column.count?.max > 1 ? 210 : 0);
  }

  #drawHeads() {
    const focused = document.activeElement?.dataset?.where;
    const place = this.app.place;
    this.heads.setAttribute("aria-rowindex", 1);
    const heads = this.columns.map((column) => element(
      "div",
      { class: "head", role: "columnheader", style: { width: `${this.#width(column)}px` } },
      columnHead(column, place.where, (clause, others) => this.app.pick(clause, others)),
      this.#handle(column),
    ));
    replace(this.heads, element("div", { class: "head number", role: "columnheader" }, element("div", { class: "head-name" }, "#")), heads);
    this.wide = 76 + this.columns.reduce((sum, column) => sum + this.#width(column), 0);
    for (const part of [this.heads, this.space]) part.style.setProperty("width", `${this.wide}px`);
    this.box.setAttribute("aria-colcount", this.columns.length + 1);
    this.scroller.above = this.heads.offsetHeight;
    if (focused) [...this.heads.querySelectorAll("button")].find((one) => one.dataset.where === focused)?.focus({ preventScroll: true });
  }

  // The edge of a column, to be dragged.
  #handle(column) {
    const handle = element("div", { class: "handle", "aria-hidden": "true" });
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      handle.setPointerCapture(event.pointerId);
      const begin = event.clientX;
      const width = this.#width(column);
      const move = (moved) => {
        this.widths.set(key(column), Math.max(70, width + moved.clientX - begin));
        handle.parentElement.style.setProperty("width", `${this.#width(column)}px`);
      };
      handle.addEventListener("pointermove", move);
      handle.addEventListener("pointerup", () => {
        handle.removeEventListener("pointermove", move);
        this.summaryChanged();
      }, { once: true });
    });
    return handle;
  }

  #show(first, last) {
    this.visible = [first, last];
    const rows = this.app.rows;
    const begin = Math.max(0, first - 4);
    const end = Math.min(rows.size, last + 4);
    rows.want(begin, Math.max(end, 40));
    for (const [index, node] of this.nodes) {
      if (index >= begin && index < end) continue;
      node.remove();
      this.nodes.delete(index);
    }
    for (let index = begin; index < end; index += 1) {
      let node = this.nodes.get(index);
      if (!node || node.row !== rows.at(index)) {
        node?.remove();
        node = this.#row(index);
        node.row = rows.at(index);
        this.nodes.set(index, node);
        this.space.append(node);
      }
      node.style.setProperty("transform", `translateY(${this.scroller.place(index)}px)`);
    }
    this.#mark();
  }

  #row(index) {
    const row = this.app.rows.at(index);
    const attributes = { class: "row", role: "row", id: `row-${index}`, "data-index": index, "aria-rowindex": index + 2 };
    if (!row) return element("div", { ...attributes, class: "row coming", "aria-busy": "true" }, element("div", { class: "cell number" }, this.#label(index)));
    const damage = this.app.damageBefore(row.file, row.row);
    const number = element("div", { class: "cell number", role: "rowheader" }, this.#label(index));
    const classes = ["row", row.damaged ? "problem" : "", damage && !row.problem ? "after-damage" : "", row.row === 0 && index ? "first-of-file" : ""].filter(Boolean).join(" ");
    number.title = this.app.nameOf(row.file);
    if (damage) number.title = `Before this record: ${damage.kind}, bytes ${count(damage.begin)} to ${count(damage.end)}`;
    if (row.problem) return element("div", { ...attributes, class: classes }, number, element("div", { class: "cell problem-text", role: "gridcell" }, row.whole ? whole(row.whole, row.problem) : row.problem));
    const cells = new Map(row.features.map((cell) => [key(cell), cell]));
    const nodes = this.columns.map((column) => {
      const cell = cells.get(key(column));
      return element("div", { class: cell && cell.kind !== "bytes" && cell.count === 1 && !cell.list ? "cell right" : "cell", role: "gridcell", style: { width: `${this.#width(column)}px` } }, brief(cell));
    });
    return element("div", { ...attributes, class: classes }, number, nodes);
  }

  // Which record it is: its number within its file.
  #label(index) {
    const address = this.app.rows.address(index);
    return address ? count(address.row) : "";
  }

  #mark() {
    for (const [index, node] of this.nodes) {
      node.classList.toggle("selected", index === this.selected);
      node.setAttribute("aria-selected", String(index === this.selected));
    }
    this.box.setAttribute("aria-activedescendant", `row-${this.selected}`);
  }

  #clicked(event) {
    const node = event.target.closest?.(".row");
    if (!node || String(getSelection())) return;
    this.selected = Number(node.dataset.index);
    this.#mark();
    this.#open();
  }

  #open() {
    const address = this.app.rows.address(this.selected);
    if (address) this.app.openRecord(address, this.selected);
  }

  goTo(index) {
    this.selected = Math.max(0, Math.min(this.app.rows.size - 1, index));
    this.scroller.reveal(this.selected);
    this.#show(...(this.visible ?? [0, 0]));
    this.app.remember(this.selected);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.scroller.height / ROW) - 1);
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, " ": page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) this.goTo(Math.max(0, Math.min(this.app.rows.size - 1, this.selected + moves[event.key])));
    else if (event.key === "Enter") this.#open();
    else return false;
    return true;
  }

  close() {
    this.app.tops.set(this.app.key, this.scroller.top);
  }
}

function key(column) {
  return `${column.list ? "list" : "feature"} ${column.name}`;
}

// As many columns as are wanted; fewer if their names are too long to be asked for in one URL.
function fitting(columns, limit) {
  let left = LONGEST;
  return columns.slice(0, limit).filter((column) => (left -= encodeURIComponent(column.name).length + "&column=".length) > 0);
}

// Pictures and sounds first, then as the server has them.
function ordered(columns) {
  const rank = (column) => (column.role === "picture" ? 0 : column.role === "sound" ? 1 : 2);
  return [...columns].sort((one, other) => rank(one) - rank(other));
}
