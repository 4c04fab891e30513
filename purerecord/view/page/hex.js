// Bytes as hexadecimal and as characters, with the fields of a frame marked; any length, scrolled.

import { element, replace } from "./element.js";
import { count } from "./formats.js";
import { ask } from "./requests.js";
import { Scroller } from "./scroller.js";

const WIDE = 16;
const PIECE = 4096;
const ROW = 20;

// `asked` names the bytes to the server: {file, row} or {file, offset, size}; `damage` is a range of the latter.
export function hexDump(asked, damage = null) {
  const space = element("div", { class: "hex-space" });
  const box = element("div", { class: "hex", tabindex: 0, role: "region", "aria-label": "Bytes in hexadecimal" }, space);
  const notes = element("div", { class: "legend" });
  const root = element("div", { class: "hex-dump" }, notes, box);
  const pieces = new Map();
  const base = asked.row === undefined ? asked.offset : 0;
  let fields = [];
  let total = 0;
  let offset = 0;

  const get = async (piece) => {
    if (pieces.has(piece)) return;
    pieces.set(piece, null);
    const begin = piece * PIECE;
    const where = asked.row === undefined ? { file: asked.file, offset: base + begin, size: Math.min(PIECE, asked.size - begin) } : { ...asked, begin, size: PIECE };
    try {
      const answer = await ask("api/hex", where);
      pieces.set(piece, Uint8Array.from(answer.hex.match(/../g) ?? [], (pair) => parseInt(pair, 16)));
      if (piece === 0) {
        total = asked.row === undefined ? Math.min(asked.size, answer.total - base) : answer.total;
        offset = asked.row === undefined ? base : answer.offset;
        fields = damage ? [{ name: "damage", begin: damage.begin - base, end: damage.end - base, value: null, ok: false }] : (answer.fields ?? []);
        box.style.setProperty("height", `${Math.min(18, Math.ceil(total / WIDE)) * ROW + 2}px`);
        replace(notes, damage ? null : legend(fields), answer.note ? element("span", { class: "muted" }, answer.note) : null);
        scroller.resize(Math.ceil(total / WIDE));
      }
      draw(...last);
    } catch (error) {
      replace(notes, element("span", { class: "wrong" }, error.message));
    }
  };
  let last = [0, 0];
  const draw = (first, end) => {
    last = [first, end];
    const rows = [];
    for (let row = first; row < end; row += 1) rows.push(hexRow(row));
    space.replaceChildren(...rows);
  };
  const hexRow = (row) => {
    const begin = row * WIDE;
    const piece = Math.floor(begin / PIECE);
    const data = pieces.get(piece);
    if (!data) get(piece);
    const octets = data ? data.slice(begin % PIECE, (begin % PIECE) + WIDE) : new Uint8Array();
    return element(
      "div",
      { class: "hex-row", style: { transform: `translateY(${scroller.place(row)}px)` } },
      element("span", { class: "hex-at" }, count(offset + begin)),
      element("span", { class: "hex-bytes" }, runs(octets, begin, (octet) => octet.toString(16).padStart(2, "0"), " ")),
      element("span", { class: "hex-text" }, runs(octets, begin, (octet) => (octet >= 32 && octet < 127 ? String.fromCharCode(octet) : "·"), "")),
    );
  };
  // Neighbouring bytes of one field become one element.
  const runs = (octets, begin, form, between) => {
    const nodes = [];
    let at = 0;
    while (at < octets.length) {
      const field = fieldAt(begin + at);
      let end = at + 1;
      while (end < octets.length && fieldAt(begin + end) === field) end += 1;
      const text = Array.from(octets.slice(at, end), form).join(between) + between;
      nodes.push(field ? element("span", { class: fieldClass(field) }, text) : text);
      at = end;
    }
    return nodes;
  };
  const fieldAt = (at) => fields.find((field) => at >= field.begin && at < field.end);
  const scroller = new Scroller(box, space, ROW, draw);
  get(0);
  return root;
}

function fieldClass(field) {
  const known = { length: "field-length", "length checksum": "field-check", data: "field-data", "data checksum": "field-check" };
  return `field ${known[field.name] ?? "field-data"}${field.ok === false ? " bad" : ""}`;
}

export function legend(fields) {
  return fields.map((field) =>
    element("span", { class: "legend-item" },
      element("span", { class: fieldClass(field) }, field.name),
      field.value === null || field.value === undefined ? ` ${count(field.end - field.begin)} bytes` : ` ${field.value}`,
      field.ok === false ? element("strong", { class: "wrong" }, " does not match") : null),
  );
}
