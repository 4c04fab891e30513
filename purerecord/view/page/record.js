// The page of one record: its pictures, its features, its bytes.

import { button, element, replace } from "./element.js";
import { count, line, plural, size, visible } from "./formats.js";
import { hexDump } from "./hex.js";
import { chip, classesOf, colourOf, nameOf, shown, withOverlay } from "./overlay.js";
import { ask } from "./requests.js";
import { link } from "./route.js";
import { full, tensor, told } from "./value.js";

export class RecordView {
  constructor(root, app) {
    Object.assign(this, { root, app, asking: new AbortController() });
    replace(root, element("p", { class: "empty" }, "Reading the record …"));
    this.#load();
  }

  async #load() {
    const { file, row } = this.app.place;
    try {
      this.record = await ask("api/record", { file, row }, this.asking.signal);
      this.#draw();
    } catch (error) {
      if (error.name === "AbortError") return;
      replace(this.root, element("div", { class: "empty" }, element("p", { class: "wrong" }, error.message), element("a", { href: this.app.backLink() }, "Back to the records")));
    }
  }

  #draw() {
    const record = this.record;
    const features = record.features ?? [];
    const main = element("div", { class: "record", id: "record", tabindex: -1 },
      this.#head(record),
      record.problem ? element("p", { class: record.damaged ? "notice wrong" : "notice plain", role: record.damaged ? "alert" : null }, record.problem) : null,
      this.#pictures(record),
      features.length ? this.#features(record) : null,
      record.more ? element("p", { class: "cut" }, `${plural(record.more, "more feature")} not shown`) : null,
      record.tensor ? section("Tensor", tensor(record.tensor)) : null,
      record.text ? section(record.kind === "other" ? "As a message" : `As ${record.kind}`, element("pre", { class: "message" }, visible(record.text))) : null,
      section("Bytes", element("p", { class: "about" }, line(record.place)), hexDump({ file: record.file, row: record.row })));
    replace(this.root, main);
    main.focus({ preventScroll: true });
    this.root.scrollTop = 0;
  }

  #head(record) {
    const app = this.app;
    const step = (forth) => app.neighbour(record, forth);
    const arrow = (label, place, hint) => place
      ? element("a", { class: "step-link", href: app.recordLink(place), title: hint, "aria-label": hint }, label)
      : element("span", { class: "step-link off", "aria-hidden": "true" }, label);
    const address = link({ view: "record", file: record.file, row: record.row });
    const copy = button("Copy link", async () => {
      try {
        await navigator.clipboard.writeText(location.href.split("#")[0] + address);
        copy.textContent = "Copied";
      } catch {
        copy.textContent = "Copying is not allowed here";
      }
    }, { class: "plain" });
    return element("div", { class: "record-head" },
      element("div", { class: "record-steps" },
        element("a", { class: "step-link", href: app.backLink(), title: "Back (Escape)" }, "←  Back"),
        arrow("↑", step(false), "Previous record (k)"), arrow("↓", step(true), "Next record (j)")),
      element("h2", {}, `Record ${count(record.row)}`, record.damaged ? element("span", { class: "tag wrong" }, "damaged") : null),
      element("p", { class: "about" },
        element("bdi", {}, line(record.name)), ` · ${record.kind ?? "bytes"} · ${size(record.length)} · `,
        record.begin === null ? line(record.place) : [record.compression === "none" ? "bytes " : "bytes of the uncompressed data ", `${count(record.begin)}–${count(record.end)}`]),
      element("div", { class: "record-tools" },
        record.episode ? element("a", { class: "plain button", href: link({ view: "episode", file: record.file, row: record.row }) }, "Play as episode") : null, copy));
  }

  #pictures(record) {
    const pictures = (record.pictures ?? []).slice(0, 24);
    if (!pictures.length || record.episode) return null;
    const area = element("div", { class: "record-pictures" });
    const draw = () => {
      const main = pictures.find((one) => one.feature === record.overlay?.feature && one.media);
      const nodes = pictures.map((picture) => {
        const name = element("div", { class: "about" }, element("bdi", {}, line(picture.feature)), ` · ${told(picture)}`);
        if (!picture.media) return element("figure", {}, element("p", { class: "wrong" }, picture.refused ?? "This picture is not shown."), name);
        const image = element("img", { src: picture.media, alt: told(picture), decoding: "async" });
        const overlay = picture === main ? record.overlay : null;
        const framed = withOverlay(image, overlay, 1024);
        framed.classList.add("large");
        // Small pictures are enlarged to be seen, large ones are made to fit.
        const wide = picture.width ? Math.min(720, Math.max(picture.width, Math.min(picture.width * 8, 240), overlay ? Math.min(picture.width * 16, 480) : 0), (560 * picture.width) / (picture.height || 1)) : 480;
        framed.style.setProperty("width", `${Math.round(wide)}px`);
        if (picture.width) framed.style.setProperty("aspect-ratio", `${picture.width} / ${picture.height}`);
        if (picture.width && picture.width < 64) framed.classList.add("pixels");
        image.addEventListener("error", () => framed.replaceWith(element("p", { class: "wrong" }, "This picture cannot be decoded.")));
        return element("figure", {}, framed, name, overlay?.note ? element("p", { class: "cut" }, overlay.note) : null);
      });
      const left = (record.pictures ?? []).length - pictures.length;
      replace(area, nodes, left > 0 ? element("p", { class: "cut" }, `${plural(left, "more picture")} among the features`) : null, this.#found(record, draw));
    };
    this.redraw = draw;
    draw();
    return area;
  }

  // The boxes as a list, with switches.
  #found(record, draw) {
    const overlay = record.overlay;
    if (!overlay || !(overlay.boxes.length || overlay.masks.length || overlay.labels.length)) return null;
    const toggle = (name, label, key) => button(label, () => {
      shown[name] = !shown[name];
      draw();
    }, { class: "plain toggle", "aria-pressed": String(shown[name]), title: key });
    const names = [...classesOf(overlay)].map(([name, one]) => chip(name, one.colour, one.count > 1 ? ` ×${one.count}` : "", draw));
    const boxes = overlay.boxes.slice(0, 200).map((box) => element("li", {},
      element("span", { class: "dot", style: { background: colourOf(box) } }), element("bdi", {}, line(nameOf(box))),
      element("span", { class: "muted" }, ` ${[box.xmin, box.ymin, box.xmax, box.ymax].map((value) => value.toFixed(3)).join("  ")}${typeof box.score === "number" ? `  score ${box.score.toFixed(2)}` : ""}`)));
    return element("div", { class: "found-boxes" },
      element("div", { class: "group" }, overlay.boxes.length ? [toggle("boxes", "Boxes", "b"), toggle("labels", "Names", "l")] : null, overlay.masks.length ? toggle("masks", "Masks", "m") : null),
      overlay.labels.length ? element("p", {}, overlay.labels.map((one) => element("span", { class: "tag" }, line(one.text ?? String(one.label))))) : null,
      names.length ? element("div", { class: "classes" }, names) : null,
      boxes.length ? element("ul", { class: "boxes-list", "aria-label": "Boxes: left, top, right, bottom" }, boxes) : null);
  }

  #features(record) {
    const drawn = new Set(record.episode ? [] : (record.pictures ?? []).slice(0, 24).map((one) => one.feature));
    const rows = record.features.map((feature) => {
      const asked = { file: record.file, row: record.row, feature: feature.name, list: feature.list ? 1 : 0 };
      // What stands above as a picture is not shown twice.
      const above = drawn.has(feature.name) && !feature.list && feature.kind === "bytes" && feature.values.every((value) => value.media || value.refused);
      const content = above ? element("div", { class: "about" }, feature.values.slice(0, 3).map((value) => told(value)).join("; ")) : full(feature, asked);
      const amount = feature.list ? plural(feature.step_count ?? feature.steps?.length ?? 0, "step") : feature.count === 1 ? "" : plural(feature.count, "value");
      return element("tr", {},
        element("th", { scope: "row" }, element("bdi", {}, line(feature.name) || "(no name)")),
        element("td", { class: "kind" }, [feature.kind, amount].filter(Boolean).join(" · ")),
        element("td", {}, content));
    });
    return section(plural(record.features.length, "feature"), element("table", { class: "features" }, element("tbody", {}, rows)));
  }

  key(event) {
    const { file, row } = this.app.place;
    // Keys may come faster than records.
    const record = this.record ?? { file, row, previous: row ? row - 1 : null, next: row + 1 };
    const toggles = { b: "boxes", l: "labels", m: "masks" };
    const forth = ["j", "n", "ArrowRight"].includes(event.key);
    const back = ["k", "p", "ArrowLeft"].includes(event.key);
    if (forth || back) {
      const place = this.app.neighbour(record, forth);
      if (place) location.hash = this.app.recordLink(place);
    } else if (event.key === "Escape") location.hash = this.app.backLink();
    else if (event.key === "e" && record.episode) location.hash = link({ view: "episode", file: record.file, row: record.row });
    else if (event.key in toggles && this.redraw) {
      shown[toggles[event.key]] = !shown[toggles[event.key]];
      this.redraw();
    } else return false;
    return true;
  }

  rowsChanged() {}

  summaryChanged() {}

  close() {
    this.asking.abort();
  }
}

function section(title, ...children) {
  return element("section", {}, element("h3", {}, title), children);
}
