// The filter: an expression, a text to search for, how many records they find, and the found ones as a file.

import { button, element, replace } from "./element.js";
import { count, plural } from "./formats.js";
import { address } from "./requests.js";

export class FilterBar {
  // `changed({where, text})` is called when another filter is entered.
  constructor(root, changed) {
    this.where = element("input", {
      id: "where", type: "text", class: "where", spellcheck: "false", autocomplete: "off", "aria-label": "Filter: an expression over features",
      placeholder: "filter, for example  label == 7 and score > 0.5",
    });
    this.text = element("input", { id: "text", type: "search", class: "search", autocomplete: "off", spellcheck: "false", "aria-label": "Search for text in names and values", placeholder: "search text  /" });
    this.found = element("div", { id: "found", class: "found" });
    this.error = element("div", { id: "filter-error", class: "filter-error", role: "alert", hidden: true });
    this.exports = element("details", { class: "menu" }, element("summary", {}, "Export"), element("div", { class: "menu-list" }));
    this.clear = button("Clear", () => changed({ where: "", text: "" }), { class: "plain", hidden: true });
    const enter = () => changed({ where: this.where.value.trim(), text: this.text.value.trim() });
    for (const input of [this.where, this.text]) {
      input.addEventListener("change", enter);
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter") enter();
        if (event.key === "Escape") input.blur();
        event.stopPropagation();
      });
      input.addEventListener("search", enter);
    }
    this.exports.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.exports.open = false;
      event.stopPropagation();
    });
    document.addEventListener("click", (event) => {
      if (!this.exports.contains(event.target)) this.exports.open = false;
    });
    replace(root, this.where, this.text, this.clear, this.found, this.exports, this.error);
  }

  show(place) {
    if (document.activeElement !== this.where || this.where.value.trim() !== place.where) this.where.value = place.where;
    if (document.activeElement !== this.text || this.text.value.trim() !== place.text) this.text.value = place.text;
    this.clear.hidden = !(place.where || place.text);
    const what = place.where || place.text ? "what is found" : place.scope === "all" ? "all records" : "this file";
    const list = [["tfrecord", "TFRecord"], ["jsonl", "JSON lines"], ["csv", "CSV"]].map(([format, name]) =>
      element("a", { href: address("export", { format, scope: place.scope, where: place.where, text: place.text }), download: true, on: { click: () => (this.exports.open = false) } }, `Save ${what} as ${name}`),
    );
    replace(this.exports.querySelector(".menu-list"), list);
  }

  // How many rows there are, as far as is known.
  tell(rows, totals) {
    this.error.hidden = !(rows?.error && rows.filtered);
    this.error.textContent = rows?.error && rows.filtered ? rows.error : "";
    if (!rows || !this.error.hidden) return replace(this.found);
    if (!rows.filtered) return replace(this.found, element("strong", {}, count(rows.size)), ` ${rows.size === 1 ? "record" : "records"}${rows.exact ? "" : " so far"}`);
    const all = totals ? ` of ${count(totals.records)}${totals.exact ? "" : "+"}` : "";
    return replace(
      this.found,
      element("strong", {}, count(rows.size)),
      rows.exact ? " found" : ` found in ${plural(rows.searched, "record")}${all}`,
      rows.running && !rows.exact ? [" ", button("Stop", () => rows.stop(), { class: "link" })] : null,
      !rows.running && !rows.exact ? [" ", button("Search on", () => rows.goOn(), { class: "link" })] : null,
    );
  }
}
