// The head of a column: what is in it, and bars that filter by a click.

import { holds } from "./clauses.js";
import { element } from "./element.js";
import { count, line, number, percent, plotted, short, size } from "./formats.js";

// `pick(clause, others)` is called by a click on a bar; `where` is the filter that stands.
export function columnHead(column, where, pick) {
  const foot = element("div", { class: "head-foot" });
  const graph = column.histogram?.length > 1 ? histogram(column, where, pick, foot) : values(column, where, pick) ?? contents(column);
  return element(
    "div",
    { class: "head-body" },
    columnName(column.name),
    element("div", { class: "head-kind" }, kind(column), presence(column)),
    element("div", { class: "head-graph" }, graph),
    foot,
  );
}

// Of a path, the end tells most: it stays when there is not enough room.
function columnName(name) {
  const text = line(name) || "(no name)";
  const cut = text.lastIndexOf("/", text.length - 2) + 1;
  return element("div", { class: "head-name", title: text }, cut ? element("bdi", { class: "head-path" }, text.slice(0, cut)) : null, element("bdi", { class: "head-end" }, text.slice(cut)));
}

function kind(column) {
  const kinds = Object.keys(column.kinds ?? {});
  const texts = [kinds.length > 1 ? kinds.join(" or ") : column.kind];
  const counts = column.count;
  if (counts && (counts.min !== 1 || counts.max !== 1)) {
    texts.push(`${range(counts)} values`);
  }
  if (column.list) texts.push(column.steps ? `${range(column.steps)} steps` : "list of steps");
  if (column.role === "tensor") texts.push("tensor");
  const wrong = kinds.length > 1;
  return element("span", { class: wrong ? "kinds wrong" : "kinds", title: wrong ? "Records disagree about the kind of this feature" : null }, texts.join(" · "));
}

function range({ min, max }) {
  return min === max ? count(min) : `${count(min)}–${count(max)}`;
}

function presence(column) {
  if (column.presence === undefined || column.presence >= 1) return null;
  const text = percent(column.presence);
  return element(
    "span",
    { class: "presence", title: `in ${count(column.present)} records, missing in ${count(column.missing)}` },
    element("span", { class: "presence-bar" }, element("span", { style: { width: `${column.presence * 100}%` } })),
    text,
  );
}

function histogram(column, where, pick, foot) {
  const bars = column.histogram;
  const most = Math.max(1, ...bars.map((bar) => bar.count));
  const all = bars.map((bar) => bar.where).filter(Boolean);
  const numbers = column.numbers ?? {};
  const told = numbers.nan ? `${short(numbers.nan)} NaN` : typeof numbers.mean === "number" && bars[0].low !== bars[0].high ? `mean ${rough(numbers.mean)}` : "";
  const ends = [rough(numbers.min ?? bars[0].low), rough(numbers.max ?? bars.at(-1).high)];
  const room = ends.join("").length + told.length < 16;
  const resting = () => foot.replaceChildren(element("span", {}, ends[0]), element("span", {}, room ? told : ""), element("span", {}, ends[1]));
  resting();
  const group = element("div", { class: "bars", role: "group", "aria-label": `Values of ${line(column.name)}` });
  bars.forEach((bar, place) => {
    const what = bar.low === bar.high ? number(bar.low) : `${number(bar.low)} to ${number(bar.high)}`;
    const active = bar.where && holds(where, bar.where);
    group.append(
      element(
        "button",
        {
          type: "button", class: active ? "bar active" : "bar", tabindex: place === 0 ? 0 : -1, disabled: !bar.where,
          "aria-label": `${what}: ${count(bar.count)} records`, "aria-pressed": String(Boolean(active)), "data-where": bar.where,
          on: {
            click: () => pick(bar.where, all),
            mouseenter: () => foot.replaceChildren(element("span", { class: "strong" }, what), element("span", {}, count(bar.count))),
            focus: () => foot.replaceChildren(element("span", { class: "strong" }, what), element("span", {}, count(bar.count))),
            mouseleave: resting,
            blur: resting,
          },
        },
        element("span", { style: { height: bar.count ? `${Math.max(3, (bar.count / most) * 100)}%` : "0" } }),
      ),
    );
  });
  group.addEventListener("keydown", (event) => stepAmong(event, group, ["ArrowLeft", "ArrowRight"]));
  return group;
}

function values(column, where, pick) {
  // Values of which each is there once are not worth a list.
  if (!column.top?.length || !["text", "number"].includes(column.role) || (column.top[0].count === 1 && column.top.length > 1)) return null;
  const whole = Math.max(1, column.present || column.top.reduce((sum, one) => sum + one.count, 0));
  const all = column.top.map((one) => one.where).filter(Boolean);
  if (column.top.length === 1 && column.top[0].count === column.present && !holds(where, column.top[0].where ?? "")) return element("div", { class: "contents" }, element("span", { class: "muted" }, "always "), element("bdi", {}, shownValue(column.top[0].value)));
  const group = element("div", { class: "tops", role: "group", "aria-label": `Most frequent values of ${line(column.name)}` });
  column.top.forEach((one, place) => {
    const active = one.where && holds(where, one.where);
    const text = shownValue(one.value);
    group.append(
      element(
        "button",
        {
          type: "button", class: active ? "top-value active" : "top-value", tabindex: place === 0 ? 0 : -1, disabled: !one.where,
          title: `${text}: ${count(one.count)}`, "aria-pressed": String(Boolean(active)), "data-where": one.where,
          on: { click: () => pick(one.where, all) },
        },
        element("span", { class: "top-fill", style: { width: `${Math.min(100, (one.count / whole) * 100)}%` } }),
        element("bdi", {}, text || "(empty)"),
        element("span", { class: "top-count" }, short(one.count)),
      ),
    );
  });
  const left = (column.distinct ?? column.top.length) - column.top.length;
  if (left > 0) group.append(element("div", { class: "muted more-values" }, `and ${short(left)} other values`));
  group.addEventListener("keydown", (event) => stepAmong(event, group, ["ArrowUp", "ArrowDown"]));
  return group;
}

export function shownValue(value) {
  if (value !== null && typeof value === "object") return line(value.text ?? value.hex ?? "");
  return typeof value === "number" ? number(value) : line(String(value));
}

// A number in the room under a histogram.
function rough(given) {
  const value = plotted(given);
  if (typeof value !== "number") return number(value);
  if (Math.abs(value) >= 1e15) return value.toExponential(2);
  if (Math.abs(value) >= 1e6) return short(value);
  return number(Math.abs(value) >= 1000 ? Math.round(value) : +value.toPrecision(3));
}

// What bytes hold, where values are not worth listing.
function contents(column) {
  const found = Object.entries(column.content ?? {}).sort((one, other) => other[1] - one[1]);
  const total = column.count ? column.count.mean * column.present : 0;
  const each = total ? `${size(Math.round(column.size / total))} each` : "";
  if (column.histogram?.length === 1 && column.histogram[0].low === column.histogram[0].high) return element("div", { class: "contents" }, element("span", { class: "muted" }, "always "), number(column.histogram[0].low));
  const odd = [[column.numbers?.nan, "NaN"], [column.numbers?.infinite, "infinite"]].filter(([many]) => many).map(([many, what]) => element("div", {}, `${count(many)} ${what}`));
  if (odd.length) return element("div", { class: "contents" }, odd);
  const texts = found.slice(0, 3).map(([name, many]) => element("div", {}, `${count(many)} ${name}`));
  if (column.distinct > 1 && column.role === "text") texts.push(element("div", { class: "muted" }, `${count(column.distinct)} different`));
  return element("div", { class: "contents" }, texts.length ? texts : element("div", { class: "muted" }, column.kind === "bytes" ? "" : "no values"), each ? element("div", { class: "muted" }, each) : null);
}

// One stop of the tab key for many buttons; arrows move among them.
function stepAmong(event, group, [back, forth]) {
  const step = event.key === back ? -1 : event.key === forth ? 1 : 0;
  if (!step) return;
  const buttons = [...group.querySelectorAll("button")];
  const next = buttons[buttons.indexOf(document.activeElement) + step];
  if (next) {
    document.activeElement.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
  event.preventDefault();
  event.stopPropagation();
}
