// An episode: its frames as a strip, curves of its numbers below, and one scrubber for all.

import { lines } from "./chart.js";
import { lineColour } from "./colours.js";
import { button, element, replace } from "./element.js";
import { count, line, number, plural } from "./formats.js";
import { ask } from "./requests.js";
import { link } from "./route.js";
import { brief } from "./value.js";

const PER_SECOND = 10;

export class EpisodeView {
  constructor(root, app) {
    Object.assign(this, { root, app, at: 0, asking: new AbortController(), cursors: [], tellers: [] });
    replace(root, element("p", { class: "empty" }, "Reading the episode …"));
    this.#load();
  }

  async #load() {
    const { file, row } = this.app.place;
    try {
      this.episode = await ask("api/episode", { file, row }, this.asking.signal);
      this.#draw();
    } catch (error) {
      if (error.name !== "AbortError") replace(this.root, element("div", { class: "empty" }, element("p", { class: "wrong" }, error.message), element("a", { href: this.app.backLink() }, "Back to the records")));
    }
  }

  get last() {
    return Math.max(0, this.episode.steps - 1);
  }

  #draw() {
    const episode = this.episode;
    const { file, row } = episode;
    // What never changes is told in words.
    const curves = (episode.curves ?? []).filter((curve) => !constant(curve));
    const still = (episode.curves ?? []).filter(constant);
    const scrubber = element("input", { type: "range", id: "scrubber", min: 0, max: this.last, value: 0, step: 1, "aria-label": "Step" });
    scrubber.addEventListener("input", () => this.goTo(Number(scrubber.value)));
    this.scrubber = scrubber;
    this.clock = element("output", { class: "clock" });
    this.player = button("Play", () => this.play(), { class: "plain button", title: "Space" });
    const address = (to) => link({ ...this.app.filterOf(), view: "episode", ...to });
    const step = (forth) => this.app.neighbour({ file, row, previous: row ? row - 1 : null, next: row + 1 }, forth);
    const arrow = (label, place, hint) => (place ? element("a", { class: "step-link", href: address(place), title: hint, "aria-label": hint }, label) : null);
    const texts = (episode.texts ?? []).map((text) => this.#text(text));
    replace(this.root, element("div", { class: "record episode", id: "episode", tabindex: -1 },
      element("div", { class: "record-head" },
        element("div", { class: "record-steps" },
          element("a", { class: "step-link", href: this.app.backLink(), title: "Back (Escape)" }, "←  Back"),
          arrow("↑", step(false), "Previous episode (k)"), arrow("↓", step(true), "Next episode (j)")),
        element("h2", {}, `Episode ${count(row)}`),
        element("p", { class: "about" }, `${plural(episode.steps, "step")}${episode.cut ? " · cut: the rest is not shown" : ""}`),
        element("div", { class: "record-tools" }, element("a", { class: "plain button", href: this.app.recordLink({ file, row }) }, "As a record"))),
      element("div", { class: "episode-top" },
        element("div", { class: "cameras" }, (episode.frames ?? []).map((frames) => this.#camera(frames))),
        element("div", { class: "episode-facts" }, element("div", { class: "texts" }, texts), (episode.context ?? []).map((cell) => element("p", {}, element("span", { class: "muted" }, line(cell.name), ": "), brief(cell))),
          still.map((curve) => element("p", {}, element("span", { class: "muted" }, line(curve.name), ": "), `always ${curve.series.slice(0, 8).map((values) => number(values[0])).join(", ")}`)))),
      element("div", { class: "timeline" },
        element("div", { class: "scrub" }, this.player, this.clock),
        element("div", { class: "scrubber" }, scrubber, this.#marks()),
        (episode.frames ?? []).map((frames) => [element("div", { class: "curve-name" }, element("bdi", {}, line(frames.name))), this.#strip(frames)]),
        curves.map((curve) => this.#curve(curve)))));
    this.goTo(0);
    this.root.scrollTop = 0;
    this.root.firstChild.focus({ preventScroll: true });
  }

  #address(frames, at, side) {
    return `${frames.thumb}&${frames.by}=${Math.min(at, frames.count - 1)}&size=${side}`;
  }

  #camera(frames) {
    const image = element("img", { src: this.#address(frames, 0, 512), alt: line(frames.name), decoding: "async", class: "camera" });
    if (frames.width) image.style.setProperty("aspect-ratio", `${frames.width} / ${frames.height}`);
    let shown = 0;
    this.tellers.push((at) => {
      if (at === shown) return;
      shown = at;
      image.src = this.#address(frames, at, 512);
    });
    return element("figure", {}, image, this.episode.frames.length < 2 ? null : element("figcaption", { class: "about" }, element("bdi", {}, line(frames.name))));
  }

  // As many frames as there is room for, evenly apart; a click goes there.
  #strip(frames) {
    const wide = Math.max(48, Math.min(120, 64 * ((frames.width || 4) / (frames.height || 3))));
    const room = Math.max(4, Math.floor((Math.min(1180, this.root.clientWidth) - 250) / wide));
    const many = Math.min(room, frames.count);
    // The middle of a frame is where its step is on the axis.
    const places = Array.from({ length: many }, (_, at) => Math.round(((at + 0.5) / many) * (frames.count - 1)));
    const cursor = element("div", { class: "cursor" });
    this.cursors.push(cursor);
    const box = element("div", { class: "film", "aria-label": `Frames of ${line(frames.name)}`, role: "group" },
      places.map((at) => element("button", { type: "button", tabindex: -1, "aria-label": `step ${at}`, on: { click: () => this.goTo(at) } },
        element("img", { src: this.#address(frames, at, 96), alt: "", loading: "lazy", decoding: "async" }))), cursor);
    return box;
  }

  #curve(curve) {
    const names = curve.names?.length === curve.series.length ? curve.names : curve.series.map((_, part) => String(part));
    const colours = curve.series.length === 1 ? ["var(--accent)"] : curve.series.map((_, part) => lineColour(part));
    const { drawing, low, high } = lines(curve.series.map((values, part) => ({ name: names[part], values })), { height: 84, label: line(curve.name), colours });
    const cursor = element("div", { class: "cursor" });
    this.cursors.push(cursor);
    const told = element("span", { class: "curve-values" });
    this.tellers.push((at) => replace(told, curve.series.slice(0, 12).map((values, part) => {
      // A series may have been thinned out.
      const place = values.length > 1 ? Math.round((at / this.last) * (values.length - 1)) : 0;
      return element("span", { style: { color: colours[part] } }, number(values[Number.isFinite(place) ? place : 0] ?? ""), " ");
    })));
    const area = element("div", { class: "curve-area" }, drawing, cursor, element("span", { class: "chart-high" }, high), element("span", { class: "chart-low" }, low));
    const drag = (event) => {
      if (event.type !== "pointerdown" && !event.buttons) return;
      const box = area.getBoundingClientRect();
      this.goTo(Math.round(((event.clientX - box.left) / box.width) * this.last));
    };
    area.addEventListener("pointerdown", drag);
    area.addEventListener("pointermove", drag);
    return [element("div", { class: "curve-name" }, element("bdi", {}, line(curve.name)), told), area];
  }

  #text(text) {
    const shown = element("bdi", { class: "text-now" });
    this.tellers.push((at) => (shown.textContent = line(String(text.values[text.constant ? 0 : Math.min(at, text.values.length - 1)] ?? ""))));
    return element("p", {}, element("span", { class: "muted" }, line(text.name)), shown);
  }

  #marks() {
    return element("div", { class: "marks", "aria-hidden": "true" }, (this.episode.marks ?? []).flatMap((mark) => mark.at.slice(0, 500).map((at) =>
      element("span", { style: { left: `${(at / Math.max(1, this.last)) * 100}%` }, title: `${line(mark.name)}, step ${at}` }))));
  }

  goTo(at) {
    this.at = Math.max(0, Math.min(this.last, at));
    this.scrubber.value = this.at;
    this.clock.textContent = `${count(this.at)} / ${count(this.last)}`;
    for (const cursor of this.cursors) cursor.style.setProperty("left", `${(this.at / Math.max(1, this.last)) * 100}%`);
    for (const tell of this.tellers) tell(this.at);
  }

  play() {
    if (this.timer) {
      clearInterval(this.timer);
      this.timer = null;
    } else {
      if (this.at === this.last) this.goTo(0);
      this.timer = setInterval(() => {
        if (this.at === this.last) this.play();
        else this.goTo(this.at + 1);
      }, 1000 / PER_SECOND);
    }
    this.player.textContent = this.timer ? "Pause" : "Play";
  }

  key(event) {
    if (!this.episode) return event.key === "Escape" && ((location.hash = this.app.backLink()), true);
    const { file, row } = this.episode;
    const forth = ["j", "n"].includes(event.key);
    const back = ["k", "p"].includes(event.key);
    const moves = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (event.key in moves) this.goTo(this.at + moves[event.key]);
    else if (event.key === " ") this.play();
    else if (forth || back) {
      const place = this.app.neighbour({ file, row, previous: row ? row - 1 : null, next: row + 1 }, forth);
      if (place) location.hash = link({ ...this.app.filterOf(), view: "episode", ...place });
    } else if (event.key === "Escape") location.hash = this.app.backLink();
    else return false;
    return true;
  }

  rowsChanged() {}

  summaryChanged() {}

  close() {
    clearInterval(this.timer);
    this.asking.abort();
  }
}

function constant(curve) {
  return curve.series.every((values) => values.length > 1 && values.every((value) => value === values[0]));
}
