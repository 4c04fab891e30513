// Values as they are shown: briefly in a cell of the table, fully on the page of a record.

import { band, lines } from "./chart.js";
import { button, element, replace } from "./element.js";
import { count, exact, line, number, plural, size, visible } from "./formats.js";
import { ask } from "./requests.js";

export const PICTURES = new Set(["JPEG", "PNG", "GIF", "WebP", "BMP"]);
const SOUNDS = new Set(["WAV", "FLAC", "MP3", "OGG"]);
const LONG = 24; // numbers beyond these are a chart first

// The content of a cell: nodes and strings.
export function brief(cell) {
  if (!cell) return [element("span", { class: "absent", title: "this record has no such feature" }, "·")];
  if (cell.kind === "unset") return [element("span", { class: "muted" }, "unset")];
  if (!cell.count && !cell.list) return [element("span", { class: "muted" }, "empty")];
  const nodes = [];
  let amount = null;
  if (cell.list) nodes.push(element("span", { class: "tag" }, plural(cell.steps, "step")), " ");
  if (cell.kind === "bytes") nodes.push(...cell.values.slice(0, 4).flatMap((value, at) => (at ? [" ", briefBytes(value)] : [briefBytes(value)])));
  else nodes.push(element("span", { class: "numbers", title: cell.values.map(exact).join(", ") }, cell.values.map(number).join(", ")));
  if (cell.cut || cell.values.length < (cell.list ? 0 : cell.count)) amount = element("span", { class: "amount" }, `${count(cell.count)} values`);
  return [element("span", { class: "content" }, nodes), amount].filter(Boolean);
}

function briefBytes(value) {
  if (value.thumb) return element("img", { class: "tiny", src: `${value.thumb}&size=64`, alt: value.content, loading: "lazy", decoding: "async", title: told(value) });
  if (value.text !== null && value.text !== undefined) return element("bdi", { class: "text" }, line(value.text) + (value.cut ? "…" : ""));
  if (value.content === "empty") return element("span", { class: "muted" }, "empty");
  return element("span", { class: value.refused ? "tag wrong" : "tag", title: value.refused ?? value.hex ?? "" }, told(value));
}

// A record that is no Example, in one line.
export function whole(value, problem) {
  return [element("span", { class: "tag", title: problem }, "no Example"), value.text === null ? element("span", { class: "muted" }, told(value)) : briefBytes(value)];
}

// "JPEG 640 × 480, 12.3 kB"
export function told(value) {
  const sides = value.width ? ` ${count(value.width)} × ${count(value.height)}` : "";
  return `${value.content}${sides}, ${size(value.size)}`;
}

// A feature on the page of a record. `asked` are the parameters that name it to the server.
export function full(feature, asked) {
  if (feature.kind === "unset") return element("p", { class: "muted" }, "The feature is there, but holds no list.");
  if (feature.list) return steps(feature);
  if (!feature.count) return element("p", { class: "muted" }, "An empty list.");
  return feature.kind === "bytes" ? bytes(feature.values, asked, feature) : numbers(feature, asked);
}

function steps(feature) {
  const rows = feature.steps.map((values, at) =>
    element("li", {}, element("span", { class: "step" }, String(at)), feature.kind === "bytes" ? values.map(briefBytes) : element("span", { class: "numbers" }, values.map(exact).join(", "))),
  );
  const single = feature.kind !== "bytes" && feature.steps.length > 2 && feature.steps[0].length > 0 && feature.steps[0].length <= 16 && feature.steps.every((values) => values.length === feature.steps[0].length);
  const chart = single ? ranged(lines(feature.steps[0].map((_, part) => ({ name: String(part), values: feature.steps.map((values) => values[part]) })), { label: `${line(feature.name)} over its steps` })) : null;
  const left = feature.step_count - feature.steps.length;
  return element("div", {}, chart, element("ol", { class: "steps" }, rows), left > 0 ? element("p", { class: "cut" }, `${plural(left, "more step")} not shown`) : null);
}

function ranged({ drawing, low, high }) {
  return element("div", { class: "chart" }, drawing, element("span", { class: "chart-high" }, high), element("span", { class: "chart-low" }, low));
}

function numbers(feature, asked) {
  const list = element("div", { class: "numbers wrapped" });
  const more = element("div", { class: "cut" });
  const show = (values, through) => {
    list.textContent = values.map(exact).join(", ");
    replace(more, through < feature.count ? [`The first ${count(through)} of ${count(feature.count)} values. `, button("Show more", () => further(values), { class: "link" })] : []);
  };
  const further = async (values) => {
    try {
      const answer = await ask("api/values", { ...asked, begin: values.length, end: Math.min(feature.count, values.length + 5000) });
      show([...values, ...answer.values], values.length + answer.values.length);
    } catch (error) {
      replace(more, error.message);
    }
  };
  show(feature.values, feature.values.length);
  if (feature.count <= LONG || feature.kind === "bytes") return element("div", {}, list, more);
  return element("div", {}, chartOf(feature, asked), element("details", { open: feature.count <= 64 }, element("summary", {}, plural(feature.count, "value")), list, more));
}

function chartOf(feature, asked) {
  if (!feature.cut && feature.values.every((value) => value === feature.values[0])) return element("p", { class: "muted" }, `All are ${exact(feature.values[0])}.`);
  if (!feature.cut) return ranged(lines([{ name: feature.name, values: feature.values }], { label: `${line(feature.name)}, a chart of ${count(feature.count)} values` }));
  const place = element("div", { class: "chart" }, element("span", { class: "muted" }, "drawing …"));
  ask("api/values", { ...asked, points: 1000 })
    .then((answer) => place.replaceWith(ranged(band(answer.points, { label: `${line(feature.name)}, a chart of ${count(feature.count)} values` }))))
    .catch((error) => replace(place, element("span", { class: "wrong" }, error.message)));
  return place;
}

function bytes(values, asked, feature) {
  const first = values[0];
  if (values.length > 1 && values.every((value) => value.media && PICTURES.has(value.content))) return thumbnails(values, feature);
  if (values.length > 8 && values.length === feature.count && first.text !== null && !first.cut && values.every((value) => value.text === first.text)) {
    return element("div", {}, element("p", { class: "muted" }, `All ${count(values.length)} are the same:`), longText(first, { ...asked, value: 0 }));
  }
  const nodes = values.map((value, at) => single(value, { ...asked, value: at }));
  const left = feature.count - values.length;
  return element("div", { class: "values" }, nodes, left > 0 ? element("p", { class: "cut" }, `${plural(left, "more value")} not shown`) : null);
}

// Several pictures, side by side; a click opens one in its full size.
function thumbnails(values, feature) {
  const nodes = values.map((value, at) => element("a", { href: value.media, target: "_blank", rel: "noopener", title: `${at}: ${told(value)}` },
    element("img", { src: `${value.thumb}&size=192`, alt: told(value), loading: "lazy", decoding: "async" })));
  const left = feature.count - values.length;
  return element("div", {}, element("div", { class: "thumbnails" }, nodes), element("div", { class: "about" }, `${plural(values.length, "picture")}; the first: ${told(values[0])}`),
    left > 0 ? element("p", { class: "cut" }, `${plural(left, "more value")} not shown`) : null);
}

function single(value, asked) {
  const about = element("div", { class: "about" }, told(value), value.refused ? [": ", element("span", { class: "wrong" }, value.refused)] : null);
  if (value.tensor) return element("div", {}, tensor(value.tensor), about);
  if (SOUNDS.has(value.content) && value.media) {
    const player = element("audio", { controls: true, preload: "metadata", src: value.media, "aria-label": told(value) });
    player.addEventListener("error", () => about.append(": this browser cannot play it"));
    return element("div", { class: "sound" }, player, about);
  }
  if (PICTURES.has(value.content) && value.media) {
    const image = element("img", { src: value.media, alt: told(value), loading: "lazy", decoding: "async", class: "picture" });
    image.addEventListener("error", () => image.replaceWith(element("p", { class: "wrong" }, "This picture cannot be decoded.")));
    return element("div", {}, image, about);
  }
  if (value.text !== null && value.text !== undefined) return longText(value, asked);
  const peek = value.hex ? element("code", { class: "hexline" }, value.hex.replace(/../g, "$& ").trim() + (value.size > 32 ? " …" : "")) : null;
  return element("div", {}, peek, about);
}

function longText(value, asked) {
  const text = element("bdi", { class: "long" }, visible(value.text));
  const more = element("div", { class: "cut" });
  const offer = (shown) => replace(more, `The beginning of ${size(value.size)}. `, button("Show more", () => further(shown), { class: "link" }));
  // The server counts in bytes; after the first piece, its own `end` says where the next one begins.
  const further = async (begin) => {
    try {
      const answer = await ask("api/text", { ...asked, begin });
      text.textContent = (begin ? text.textContent : "") + visible(answer.text);
      if (answer.cut) offer(answer.end);
      else replace(more);
    } catch (error) {
      replace(more, error.message);
    }
  };
  if (value.cut) offer(0);
  return element("div", {}, text, more);
}

export function tensor(found) {
  const dims = found.shape.map(count).join(" × ");
  const head = element("div", { class: "about" }, element("span", { class: "tag" }, "tensor"), ` ${found.dtype} ${found.shape.length ? `[${dims}]` : "scalar"}`);
  const flat = found.values.every((value) => typeof value === "number" || typeof value === "string");
  if (flat && found.shape.length === 2 && found.shape[0] <= 50 && found.shape[1] <= 30 && !found.cut) {
    const rows = Array.from({ length: found.shape[0] }, (_, row) =>
      element("tr", {}, found.values.slice(row * found.shape[1], (row + 1) * found.shape[1]).map((value) => element("td", {}, exact(value)))),
    );
    return element("div", {}, head, element("table", { class: "matrix" }, element("tbody", {}, rows)));
  }
  const drawn = flat && found.values.length > LONG && found.values.some((value) => value !== found.values[0]);
  const chart = drawn ? ranged(lines([{ name: "tensor", values: found.values }], { label: "values of the tensor, in order" })) : null;
  const texts = found.values.map((value) => (value !== null && typeof value === "object" ? line(value.text ?? value.hex ?? "") : exact(value)));
  return element("div", {}, head, chart, element("div", { class: "numbers wrapped" }, texts.join(", "), found.cut ? " …" : ""));
}
