// The pictures of the records, with what was found on them.

import { chip, classesOf, shown, withOverlay } from "./overlay.js";
import { button, element, replace } from "./element.js";
import { count, line } from "./formats.js";
import { Scroller } from "./scroller.js";
import { brief, told } from "./value.js";

const SIDES = { small: 120, medium: 190, large: 320 };
const CAPTION = 44;
const GAP = 12;
let side = "medium";

export class GalleryView {
  constructor(root, app) {
    Object.assign(this, { root, app, selected: app.place.at, nodes: new Map(), classes: new Map() });
    this.bar = element("div", { class: "gallery-bar" });
    this.space = element("div", { class: "cards" });
    this.box = element("div", { class: "gallery", id: "gallery", role: "listbox", tabindex: 0, "aria-label": "Pictures" }, this.space);
    replace(root, this.bar, this.box);
    this.scroller = new Scroller(this.box, this.space, this.#height(), (first, last) => this.#show(first, last));
    new ResizeObserver(() => this.#laidOut()).observe(this.box);
    this.box.addEventListener("click", (event) => {
      const card = event.target.closest?.(".card");
      if (!card) return;
      this.selected = Number(card.dataset.index);
      this.#open();
    });
    this.#drawBar();
    this.rowsChanged();
    this.scroller.goTo(app.tops.get(app.key) ?? Math.floor(this.selected / this.across) * this.scroller.rowHeight);
    this.scroller.reveal(Math.floor(this.selected / this.across));
    this.box.focus({ preventScroll: true });
  }

  // A few short features as captions; pictures come in any case.
  static parameters(summary) {
    const columns = summary?.columns ?? [];
    const short = columns.filter((column) => !column.list && column.count?.max === 1 && (column.role === "text" || column.role === "number"));
    const told = short.filter((column) => /label|class|caption|name|title|id$/i.test(column.name) && !/object|width|height|format/.test(column.name));
    const names = (told.length ? told : short).slice(0, 2).map((column) => column.name);
    return { draw: 1, column: names.length ? names : columns.slice(0, 1).map((column) => column.name) };
  }

  #height() {
    return Math.round(this.width * 0.75) + CAPTION + GAP + 2;
  }

  // Cards share the width that there is.
  get width() {
    return Math.floor((Math.max(this.box.clientWidth, 200) - GAP) / this.across) - GAP;
  }

  get across() {
    return Math.max(1, Math.floor((this.box.clientWidth - GAP) / (SIDES[side] + GAP)));
  }

  #drawBar() {
    const toggle = (name, label, hint) => button(label, () => {
      shown[name] = !shown[name];
      this.#redraw();
    }, { class: "plain toggle", "aria-pressed": String(shown[name]), title: hint, id: `toggle-${name}` });
    const sizes = Object.keys(SIDES).map((name) => button(name[0].toUpperCase(), () => {
      side = name;
      this.#redraw();
      this.#laidOut();
    }, { class: "plain toggle", "aria-pressed": String(side === name), "aria-label": `${name} pictures`, title: `${name} pictures` }));
    const classes = [...this.classes.keys()].sort().slice(0, 40).map((name) => chip(name, this.classes.get(name), "", () => this.#redraw()));
    replace(this.bar,
      element("div", { class: "group" }, toggle("boxes", "Boxes", "b"), toggle("labels", "Names", "l"), toggle("masks", "Masks", "m")),
      element("div", { class: "group" }, sizes),
      classes.length ? element("div", { class: "group classes", role: "group", "aria-label": "Classes" }, classes) : null,
      this.noteText ? element("span", { class: "muted" }, this.noteText) : null);
  }

  #redraw() {
    this.#drawBar();
    this.nodes.clear();
    this.space.replaceChildren();
    this.scroller.rowHeight = this.#height();
    this.#show(...(this.visible ?? [0, 0]));
  }

  #laidOut() {
    if (this.laidOut === this.box.clientWidth + side) return;
    const first = this.visible ? this.visible[0] * (this.acrossBefore ?? this.across) : 0;
    this.acrossBefore = this.across;
    const known = this.laidOut;
    this.laidOut = this.box.clientWidth + side;
    this.nodes.clear();
    this.space.replaceChildren();
    this.scroller.rowHeight = this.#height();
    this.scroller.resize(Math.ceil(this.app.rows.size / this.across));
    if (known) this.scroller.goTo(Math.floor(first / this.across) * this.scroller.rowHeight);
    this.#show(...(this.visible ?? [0, 0]));
  }

  summaryChanged() {}

  rowsChanged() {
    const rows = this.app.rows;
    const lines = Math.ceil(rows.size / this.across);
    if (this.scroller.rows !== lines) this.scroller.resize(lines);
    const error = rows.error && !rows.filtered ? rows.error : null;
    this.noteText = error ?? (!rows.size ? (rows.exact ? (rows.filtered ? "No record is like this." : "There are no records.") : "Looking for records …") : null);
    this.#drawBar();
    this.#show(...(this.visible ?? [0, 0]));
  }

  #show(first, last) {
    this.visible = [first, last];
    const rows = this.app.rows;
    const across = this.across;
    const begin = Math.max(0, (first - 1) * across);
    const end = Math.min(rows.size, (last + 1) * across);
    rows.want(begin, Math.max(end, 24));
    for (const [index, node] of this.nodes) {
      if (index >= begin && index < end) continue;
      node.remove();
      this.nodes.delete(index);
    }
    for (let index = begin; index < end; index += 1) {
      let node = this.nodes.get(index);
      const row = rows.at(index);
      if (!node || node.row !== row) {
        node?.remove();
        node = this.#card(index, row);
        node.row = row;
        this.nodes.set(index, node);
        this.space.append(node);
      }
      const left = GAP + (index % across) * (this.width + GAP);
      node.style.setProperty("transform", `translate(${left}px, ${this.scroller.place(Math.floor(index / across)) + GAP}px)`);
    }
    this.#mark();
  }

  #card(index, row) {
    const { width } = this;
    const attributes = { class: "card", role: "option", id: `card-${index}`, "data-index": index, style: { width: `${width}px` } };
    const area = element("div", { class: "card-picture", style: { height: `${Math.round(width * 0.75)}px` } });
    if (!row) return element("div", { ...attributes, class: "card coming", "aria-busy": "true" }, area);
    area.append(...this.#picture(row, width));
    for (const [name, one] of classesOf(row.overlay)) {
      if (this.classes.has(name) || this.classes.size >= 200) continue;
      this.classes.set(name, one.colour);
      this.#barLater();
    }
    return element("div", { ...attributes, "aria-label": `record ${count(row.row)}` }, area, this.#caption(row));
  }

  #barLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#drawBar(), 60);
  }

  #picture(row, width) {
    if (row.problem) return [element("p", { class: "wrong none" }, row.problem)];
    const pictures = row.pictures ?? [];
    const main = pictures.find((one) => one.feature === row.overlay?.feature && one.thumb) ?? pictures.find((one) => one.thumb);
    if (!main) return [element("p", { class: pictures.length ? "wrong none" : "muted none" }, pictures[0]?.refused ?? "no picture")];
    const dense = Math.min(512, Math.round(width * Math.min(2, devicePixelRatio)));
    const image = element("img", { src: `${main.thumb}&size=${dense}`, alt: told(main), loading: "lazy", decoding: "async" });
    const framed = withOverlay(image, main.feature === row.overlay?.feature ? row.overlay : null, width);
    fit(framed, main, width, Math.round(width * 0.75));
    image.addEventListener("error", () => framed.replaceWith(element("p", { class: "wrong none" }, "This picture cannot be decoded.")));
    return [framed, pictures.length > 1 ? element("span", { class: "badge" }, `${pictures.length}${row.more_pictures ? "+" : ""} pictures`) : null].filter(Boolean);
  }

  #caption(row) {
    const names = [...classesOf(row.overlay)].map(([name, one]) => (one.count > 1 ? `${line(name)} ×${one.count}` : line(name)));
    const labels = (row.overlay?.labels ?? []).map((one) => line(one.text ?? String(one.label)));
    const cells = (row.features ?? []).filter((cell) => cell.kind !== "bytes" || !cell.values[0]?.thumb);
    const first = names.length ? names.join(", ") : labels.length ? labels.join(", ") : null;
    return element("div", { class: "card-caption" },
      element("div", { class: "card-line" }, element("span", { class: "card-number" }, count(row.row)), first ? element("bdi", {}, first) : cells[0] ? brief(cells[0]) : null),
      element("div", { class: "card-line muted" }, row.overlay?.note ?? (first ? cells.slice(0, 1) : cells.slice(1, 2)).map((cell) => brief(cell))));
  }

  #mark() {
    for (const [index, node] of this.nodes) {
      node.classList.toggle("selected", index === this.selected);
      node.setAttribute("aria-selected", String(index === this.selected));
    }
    this.box.setAttribute("aria-activedescendant", `card-${this.selected}`);
  }

  #open() {
    const address = this.app.rows.address(this.selected);
    if (address) this.app.openRecord(address, this.selected);
  }

  goTo(index) {
    this.selected = Math.max(0, Math.min(this.app.rows.size - 1, index));
    this.scroller.reveal(Math.floor(this.selected / this.across));
    this.#show(...(this.visible ?? [0, 0]));
    this.app.remember(this.selected);
  }

  key(event) {
    const across = this.across;
    const page = Math.max(1, Math.floor(this.scroller.height / this.scroller.rowHeight)) * across;
    const moves = { ArrowDown: across, ArrowUp: -across, ArrowRight: 1, ArrowLeft: -1, j: 1, k: -1, PageDown: page, " ": page, PageUp: -page, Home: -Infinity, End: Infinity };
    const toggles = { b: "boxes", l: "labels", m: "masks" };
    if (event.key in moves) this.goTo(Math.max(0, Math.min(this.app.rows.size - 1, this.selected + moves[event.key])));
    else if (event.key === "Enter") this.#open();
    else if (event.key in toggles) {
      shown[toggles[event.key]] = !shown[toggles[event.key]];
      this.#redraw();
    } else return false;
    return true;
  }

  close() {
    this.app.tops.set(this.app.key, this.scroller.top);
    clearTimeout(this.timer);
  }
}

// The largest size with the picture's proportions that fits: the overlay then lies exactly on the picture.
export function fit(framed, picture, width, height) {
  const wide = picture.width || 4;
  const tall = picture.height || 3;
  const scale = Math.min(width / wide, height / tall);
  framed.style.setProperty("width", `${Math.max(1, Math.round(wide * scale))}px`);
  framed.style.setProperty("height", `${Math.max(1, Math.round(tall * scale))}px`);
}

