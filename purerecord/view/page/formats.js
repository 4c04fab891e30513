// Numbers, sizes and texts as people read them. Nothing here knows where a value comes from.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const brief = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

// "1,234,567". Numbers too large for JavaScript arrive as strings of digits, and stay exact.
export function count(value) {
  if (typeof value === "string") return /^-?\d+$/.test(value) ? whole.format(BigInt(value)) : value;
  return whole.format(value);
}

// "12.3k"
export function short(value) {
  return brief.format(value).toLowerCase();
}

export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

// "1.5 MB": powers of a thousand, as the command line has them.
export function size(bytes) {
  if (bytes === null || bytes === undefined) return "?";
  let left = bytes;
  for (const unit of ["bytes", "kB", "MB", "GB", "TB"]) {
    if (left < 1000 || unit === "TB") return unit === "bytes" ? `${left} ${left === 1 ? "byte" : unit}` : `${left.toPrecision(3)} ${unit}`;
    left /= 1000;
  }
  return "";
}

// A number in few characters. Integers keep all their digits.
export function number(value) {
  if (typeof value === "string") return value;
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  if (!Number.isFinite(value)) return String(value);
  const absolute = Math.abs(value);
  return absolute !== 0 && (absolute < 1e-4 || absolute >= 1e7) ? value.toExponential(3) : String(+value.toPrecision(5));
}

// A number with all its digits.
export function exact(value) {
  return Object.is(value, -0) ? "-0" : String(value);
}

// What can be drawn. Integers that are too large for JavaScript arrive as text; from `base` on they are small enough.
export function plotted(value, base = 0n) {
  if (typeof value === "string" && /^-?\d+$/.test(value)) return Number(BigInt(value) - base);
  return base && Number.isInteger(value) ? Number(BigInt(value) - base) : value;
}

export function percent(share) {
  if (share > 0 && share < 0.01) return "<1%";
  if (share < 1 && share > 0.99) return ">99%";
  return `${Math.round(share * 100)}%`;
}

// Text whose control characters, and those that reorder or hide text, can be seen.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

export function visible(text) {
  return text.replace(UNSEEN, (mark) => {
    const code = mark.charCodeAt(0);
    return code < 32 ? String.fromCharCode(0x2400 + code) : `‹${code.toString(16).padStart(4, "0")}›`;
  });
}

// The same in one line.
export function line(text) {
  return visible(text).replace(/[\n\t]/g, (mark) => (mark === "\n" ? "⏎" : "⇥"));
}
