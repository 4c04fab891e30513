// A colour for each class: by its number, or by its name where it has none. So it is the same in all records, in
// all views and tomorrow.

const COLOURS = [
  "#d0480a", "#1971c2", "#2a853b", "#9c36b5", "#de2f2f", "#0b7a8c", "#f08c00", "#6741d9", "#c2255c", "#74b816",
  "#3b5bdb", "#846358", "#08805c", "#d6336c", "#4d7d0b", "#a61e4d", "#15aabf", "#7048e8", "#b43c0c", "#495057",
];

export function colour(number, name = "") {
  if (Number.isInteger(number)) return COLOURS[((number % COLOURS.length) + COLOURS.length) % COLOURS.length];
  let mixed = 2166136261; // FNV-1a
  for (const letter of String(name)) mixed = Math.imul(mixed ^ letter.codePointAt(0), 16777619) >>> 0;
  return COLOURS[mixed % COLOURS.length];
}

// The same for a line or a number on the page itself: lighter where the page is dark.
export function lineColour(number) {
  const hex = colour(number);
  return `color-mix(in srgb, ${hex}, light-dark(${hex}, #ffffff) 40%)`;
}

// Text on the colour of a class: white where its contrast is 4.5 or more, as WCAG asks for, else black.
export function ink(hex) {
  const [red, green, blue] = [1, 3, 5].map((place) => {
    const part = parseInt(hex.slice(place, place + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return 1.05 / (light + 0.05) >= 4.5 ? "#fff" : "#000";
}
