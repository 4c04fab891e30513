// A colour for each class: by its number, or by its name where it has none. So it is the same in all records, in
// all views and tomorrow.

const COLOURS = [
  "#e8590c", "#1c7ed6", "#2f9e44", "#9c36b5", "#e03131", "#0c8599", "#f08c00", "#6741d9", "#c2255c", "#66a80f",
  "#3b5bdb", "#846358", "#099268", "#d6336c", "#5c940d", "#a61e4d", "#1098ad", "#7048e8", "#d9480f", "#495057",
];

export function colour(number, name = "") {
  if (Number.isInteger(number)) return COLOURS[((number % COLOURS.length) + COLOURS.length) % COLOURS.length];
  let mixed = 2166136261; // FNV-1a
  for (const letter of String(name)) mixed = Math.imul(mixed ^ letter.codePointAt(0), 16777619) >>> 0;
  return COLOURS[mixed % COLOURS.length];
}

// Text on the colour of a class: white or nearly black, whichever reads better.
export function ink(hex) {
  const [red, green, blue] = [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 150 ? "#111" : "#fff";
}
