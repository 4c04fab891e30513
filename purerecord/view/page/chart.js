// Small drawings of numbers: a line for a list, lines over the steps of an episode. Nothing here asks the server.

import { svg } from "./element.js";
import { lineColour } from "./colours.js";
import { number, plotted } from "./formats.js";

const WIDTH = 1000;

// Lines over a shared axis: [{name, values}]; values that are no finite numbers leave a gap. `low` and `high` are texts.
export function lines(given, { height = 120, label, colours = null } = {}) {
  const base = baseOf(given.flatMap((one) => one.values));
  const series = given.map((one) => ({ ...one, values: one.values.map((value) => plotted(value, base)) }));
  const all = series.flatMap((one) => one.values.filter(Number.isFinite));
  const [low, high] = bounds(all);
  const length = Math.max(2, ...series.map((one) => one.values.length));
  const across = (at) => (at / (length - 1)) * WIDTH;
  const down = (value) => height - 4 - ((value - low) / (high - low)) * (height - 8);
  const drawing = svg("svg", {
    class: "lines", viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": label ?? `${series.length} curves from ${told(low, base)} to ${told(high, base)}`,
  });
  if (!base && low < 0 && high > 0) drawing.append(svg("line", { class: "zero", x1: 0, x2: WIDTH, y1: down(0), y2: down(0), "vector-effect": "non-scaling-stroke" }));
  series.forEach((one, place) => {
    drawing.append(svg("path", {
      class: "curve", d: path(one.values, across, down), "vector-effect": "non-scaling-stroke",
      style: { stroke: colours?.[place] ?? (series.length === 1 ? "var(--accent)" : lineColour(place)) },
    }));
  });
  return { drawing, low: told(low, base), high: told(high, base) };
}

// An integer that is subtracted before drawing, so that neighbours of 2^60 are not one and the same; 0 if none is so large.
function baseOf(values) {
  const large = values.find((value) => typeof value === "string" && /^-?\d+$/.test(value));
  return large === undefined || values.some((value) => Number.isFinite(value) && !Number.isInteger(value)) ? 0n : BigInt(large);
}

// A number on an axis.
function told(value, base) {
  if (!base) return number(value);
  const whole = base + BigInt(Math.round(value));
  return Math.abs(value) < 1e15 ? String(whole) : number(Number(whole));
}

function bounds(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [0, 1];
  const beside = Math.max(0.5, Math.abs(low) / 100);
  return low === high ? [low - beside, high + beside] : [low, high];
}

function path(values, across, down) {
  let text = "";
  let pen = "M";
  values.forEach((value, at) => {
    if (!Number.isFinite(value)) {
      pen = "M";
      return;
    }
    text += `${pen}${across(at).toFixed(1)} ${down(value).toFixed(1)}`;
    pen = "L";
  });
  return text;
}

// How low and high a long list goes at each place: [[index, min, max], ...].
export function band(given, { height = 120, label } = {}) {
  const base = baseOf(given.flatMap(([, min, max]) => [min, max]));
  const points = given.map(([at, min, max]) => [at, plotted(min, base), plotted(max, base)]);
  const [low, high] = bounds(points.flatMap(([, min, max]) => [min, max]).filter(Number.isFinite));
  const last = Math.max(1, points.at(-1)?.[0] ?? 1);
  const down = (value) => height - 4 - ((value - low) / (high - low)) * (height - 8);
  const good = points.filter(([, min, max]) => Number.isFinite(min) && Number.isFinite(max));
  const upper = good.map(([at, , max]) => `${((at / last) * WIDTH).toFixed(1)} ${down(max).toFixed(1)}`);
  const lower = good.map(([at, min]) => `${((at / last) * WIDTH).toFixed(1)} ${down(min).toFixed(1)}`).reverse();
  const drawing = svg("svg", {
    class: "lines", viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": label ?? `from ${told(low, base)} to ${told(high, base)}`,
  });
  if (good.length) drawing.append(svg("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z`, "vector-effect": "non-scaling-stroke" }));
  return { drawing, low: told(low, base), high: told(high, base) };
}
