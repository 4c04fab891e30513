// The files: of each its size, compression, how many records, and a strip that shows where in it damage lies.

import { button, element, replace } from "./element.js";
import { count, line, plural, size } from "./formats.js";
import { ask } from "./requests.js";
import { link } from "./route.js";

const LISTED = 500;

export class FileList {
  // `choose(scope)` is called with a file's number, or "all".
  constructor(root, choose) {
    Object.assign(this, { root, choose, damage: new Map(), items: new Map(), limit: LISTED, place: null });
    this.head = element("div", { class: "files-head" });
    this.list = element("ul", { class: "files-list" });
    this.more = element("div", {});
    replace(root, this.head, this.list, this.more);
  }

  update(answer, place) {
    Object.assign(this, { answer, place });
    this.#drawHead();
    for (const file of answer.files.slice(0, this.limit)) {
      if (file.damages && this.damage.get(file.file)?.damages.length !== file.damages) this.#askDamage(file);
      const state = JSON.stringify([file, this.damage.get(file.file)?.damages.length, place.scope === file.file]);
      const had = this.items.get(file.file);
      if (had?.state === state) continue;
      const node = this.#item(file);
      if (had) had.node.replaceWith(node);
      else this.list.append(node);
      this.items.set(file.file, { state, node });
    }
    const left = answer.files.length - this.limit;
    replace(this.more, left > 0 ? button(`Show ${count(Math.min(left, LISTED))} more files`, () => {
      this.limit += LISTED;
      this.update(this.answer, this.place);
    }, { class: "link" }) : []);
  }

  #drawHead() {
    const { files, totals } = this.answer;
    if (files.length < 2) return replace(this.head);
    const all = this.place.scope === "all";
    return replace(this.head, element("button", { type: "button", class: all ? "file all chosen" : "file all", "aria-pressed": String(all), on: { click: () => this.choose("all") } },
      element("span", { class: "file-name" }, `All ${count(files.length)} files`),
      element("span", { class: "file-facts" }, size(totals.size))));
  }

  #item(file) {
    const chosen = this.place.scope === file.file || this.answer.files.length === 1;
    const records = file.status === "failed" ? "" : file.status === "waiting" ? "waiting" : `${count(file.records)}${file.exact ? "" : "+"} ${file.records === 1 && file.exact ? "record" : "records"}`;
    const packed = file.compression && file.compression !== "none" ? file.compression : null;
    return element("li", {},
      element("button", { type: "button", class: chosen ? "file chosen" : "file", "aria-pressed": String(chosen), title: line(file.name), on: { click: () => this.choose(file.file) } },
        element("bdi", { class: "file-name" }, line(file.short)),
        element("span", { class: "file-facts" }, [records, file.size === null ? null : size(file.size), packed].filter(Boolean).join(" · "))),
      strip(file, this.damage.get(file.file)),
      file.message ? element("div", { class: file.status === "failed" ? "file-message wrong" : "file-message" }, file.message,
        file.can_go_on ? [" ", button("Go on", (event) => this.#goOn(file, event.target), { class: "link" })] : null) : null,
      file.damages && file.status !== "failed" ? element("a", { class: "file-message wrong", href: link({ view: "damage", file: file.file }) }, `${plural(file.damages, "damaged place")}`) : null);
  }

  // Asking for the record after the last one that is known lets the server go on.
  async #goOn(file, button) {
    button.disabled = true;
    await ask("api/rows", { scope: file.file, row: file.records, limit: 1 }).catch(() => null);
    button.disabled = false;
  }

  async #askDamage(file) {
    this.damage.set(file.file, { damages: { length: file.damages } }); // asked
    try {
      const answer = await ask("api/damage", { file: file.file });
      this.damage.set(file.file, answer);
      this.items.delete(file.file, this.items.get(file.file)?.node.remove());
      this.#sorted(file);
    } catch {
      this.damage.delete(file.file);
    }
  }

  #sorted(file) {
    const node = this.#item(file);
    const after = [...this.items.entries()].filter(([number]) => number > file.file).sort(([one], [other]) => one - other)[0];
    if (after) after[1].node.before(node);
    else this.list.append(node);
    this.items.set(file.file, { state: null, node });
  }
}

// A file from its first byte to its last: what has been looked at, what has been checked, and what is damaged.
export function strip(file, found, tall = false) {
  const whole = file.plain_size ?? found?.plain_size ?? Math.max(file.walked, 1);
  const share = (bytes) => `${Math.min(100, (bytes / Math.max(1, whole)) * 100)}%`;
  const marks = Array.isArray(found?.damages) ? found.damages : [];
  const told = file.status === "failed" ? "cannot be read"
    : file.damages ? plural(file.damages, "damaged place") : file.status !== "done" ? "being looked at" : file.verified >= file.walked ? "sound" : "no damage found; not all checksums were compared";
  return element(
    "div",
    { class: tall ? "strip tall" : "strip", role: "img", "aria-label": `${line(file.short)}: ${told}`, title: told },
    element("span", { class: "strip-walked", style: { width: share(file.walked) } }),
    element("span", { class: "strip-verified", style: { width: share(file.verified) } }),
    merged(marks, whole).map(([begin, end]) => element("span", { class: "strip-damage", style: { left: share(begin), width: `max(3px, ${share(end - begin)})` } })),
    file.status === "failed" ? element("span", { class: "strip-damage", style: { left: "0", width: "100%" } }) : null,
  );
}

// Places that would be drawn on the same pixel become one.
function merged(damages, whole) {
  const found = [];
  for (const { begin, end } of damages) {
    const last = found.at(-1);
    if (last && begin - last[1] < whole / 500) last[1] = Math.max(last[1], end);
    else found.push([begin, end]);
  }
  return found;
}
