// The damage of one file: where it lies, what it is, and its bytes.

import { button, element, replace } from "./element.js";
import { strip } from "./files.js";
import { count, line, plural, size } from "./formats.js";
import { hexDump } from "./hex.js";
import { ask } from "./requests.js";
import { link } from "./route.js";

const AROUND = 64; // bytes before and behind the damage

export class DamageView {
  constructor(root, app) {
    Object.assign(this, { root, app, asking: new AbortController() });
    replace(root, element("p", { class: "empty" }, "Asking …"));
    this.#load();
  }

  async #load() {
    const number = this.app.place.file;
    try {
      const found = await ask("api/damage", { file: number }, this.asking.signal);
      this.#draw(this.app.files.files.find((one) => one.file === number), found);
    } catch (error) {
      if (error.name !== "AbortError") replace(this.root, element("p", { class: "empty wrong" }, error.message));
    }
  }

  #draw(file, found) {
    const plain = !file.compression || file.compression === "none";
    const rows = found.damages.map((damage) => {
      const bytes = element("td", { colspan: 6, hidden: true });
      const show = () => {
        bytes.hidden = !bytes.hidden;
        const begin = Math.max(0, damage.begin - AROUND);
        if (!bytes.hidden && !bytes.firstChild) bytes.append(hexDump({ file: found.file, offset: begin, size: damage.end - begin + AROUND }, damage));
      };
      return [
        element("tr", {},
          element("td", {}, `${count(damage.begin)}–${count(damage.end)}`),
          element("td", {}, size(damage.size)),
          element("td", {}, element("span", { class: "wrong" }, damage.kind), damage.detail ? element("div", { class: "muted" }, line(damage.detail)) : null),
          element("td", {}, damage.records ? `${plural(damage.records, "record")} lost` : ""),
          element("td", {},
            damage.row === null || damage.row === undefined ? null : element("a", { href: link({ view: "table", scope: found.file, at: damage.row }) }, `record ${count(damage.row)}`)),
          element("td", {}, plain ? button("Bytes", show, { class: "link" }) : null)),
        element("tr", {}, bytes),
      ];
    });
    replace(this.root, element("div", { class: "record", id: "damage" },
      element("div", { class: "record-head" },
        element("div", { class: "record-steps" }, element("a", { class: "step-link", href: this.app.backLink(), title: "Back (Escape)" }, "←  Back")),
        element("h2", {}, element("span", {}, "Damage in ", element("bdi", {}, line(file.short)))),
        element("p", { class: "about" }, `${size(file.size)} · ${plural(found.damages.length, "place")}${found.cut ? ", more are not listed" : ""} · `, `${size(found.walked)} looked through, ${size(found.verified)} checked`)),
      strip(file, found, true),
      found.damages.length
        ? element("table", { class: "damages" },
          element("thead", {}, element("tr", {}, ["bytes", "size", "what", "", "in the table", ""].map((name) => element("th", { scope: "col" }, name)))),
          element("tbody", {}, rows))
        : element("p", { class: "empty" }, file.status !== "done" ? "No damage so far; the file is still being looked at." : found.verified >= found.walked ? "This file is sound." : "No damage was found, but not all checksums were compared.")));
  }

  key(event) {
    if (event.key !== "Escape") return false;
    location.hash = this.app.backLink();
    return true;
  }

  rowsChanged() {}

  summaryChanged() {}

  close() {
    this.asking.abort();
  }
}
