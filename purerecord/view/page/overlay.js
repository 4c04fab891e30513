// A picture with what was found on it: boxes, masks and class names. Coordinates are shares of the picture.

import { colour, ink } from "./colours.js";
import { button, element, svg } from "./element.js";
import { line, number } from "./formats.js";

// What is drawn; the switches of the gallery and of the record's page change it.
export const shown = { boxes: true, labels: true, masks: true, only: null };

// A frame around a picture's element, with the overlay over it. `side` bounds how finely masks are drawn.
export function withOverlay(image, overlay, side = 320) {
  const frame = element("div", { class: "framed" }, image);
  if (!overlay) return frame;
  if (shown.masks) overlay.masks.forEach((mask) => frame.append(maskCanvas(mask, overlay.boxes[mask.box], side)));
  const boxes = overlay.boxes.filter((box) => shown.only === null || nameOf(box) === shown.only);
  if (shown.boxes && boxes.length) frame.append(outlines(boxes));
  if (shown.boxes && shown.labels) boxes.forEach((box) => frame.append(caption(box)));
  return frame;
}

export function nameOf(box) {
  return box.text ?? (box.label === null || box.label === undefined ? "?" : String(box.label));
}

export function colourOf(box) {
  return colour(box.label, nameOf(box));
}

// The classes of boxes by name: {count, colour}.
export function classesOf(overlay) {
  const found = new Map();
  for (const box of overlay?.boxes ?? []) {
    const name = nameOf(box);
    if (found.has(name)) found.get(name).count += 1;
    else found.set(name, { count: 1, colour: colourOf(box) });
  }
  return found;
}

// A class as a button that shows only its boxes; `draw` is called when that has changed.
export function chip(name, background, label, draw) {
  const press = () => {
    shown.only = shown.only === name ? null : name;
    draw();
  };
  return button([element("bdi", {}, line(name)), label], press, {
    class: "class-chip", "aria-pressed": String(shown.only === name), title: "Show only boxes of this class", style: { background, color: ink(background) },
  });
}

function outlines(boxes) {
  return svg(
    "svg",
    { class: "boxes", viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" },
    boxes.map((box) =>
      svg("rect", {
        x: box.xmin,
        y: box.ymin,
        width: Math.max(0, box.xmax - box.xmin),
        height: Math.max(0, box.ymax - box.ymin),
        class: box.detection ? "box detection" : "box",
        "vector-effect": "non-scaling-stroke",
        style: { stroke: colourOf(box) },
      }),
    ),
  );
}

function caption(box) {
  const background = colourOf(box);
  const score = typeof box.score === "number" ? ` ${number(+box.score.toFixed(2))}` : "";
  const place = { background, color: ink(background) };
  // From the left of the box, or up to its right where the picture ends soon.
  if (box.xmin < 0.75) place.left = share(box.xmin);
  else place.right = share(1 - box.xmax);
  // Above the box, or within it where it touches the picture's upper edge.
  if (box.ymin > 0.07) place.bottom = share(1 - box.ymin);
  else place.top = share(box.ymin);
  return element("bdi", { class: "caption", style: place }, line(nameOf(box)) + score + (box.crowd ? " (crowd)" : ""));
}

function share(value) {
  return `${(Math.min(1, Math.max(0, value)) * 100).toFixed(3)}%`;
}

// A mask is a picture whose pixels are not zero where the object is: drawn in the colour of its class. The values
// of such files differ (1, 255, white), so they are looked at.
function maskCanvas(mask, box, side) {
  const canvas = element("canvas", { class: "mask", width: 1, height: 1, "aria-hidden": "true" });
  const image = new Image();
  image.decoding = "async";
  image.addEventListener("load", () => {
    const scale = Math.min(1, side / Math.max(image.naturalWidth, image.naturalHeight, 1));
    canvas.width = Math.max(1, Math.round(image.naturalWidth * scale));
    canvas.height = Math.max(1, Math.round(image.naturalHeight * scale));
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
    const hex = box ? colourOf(box) : "#1971c2";
    const parts = [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
    for (let at = 0; at < pixels.data.length; at += 4) {
      const inside = pixels.data[at] + pixels.data[at + 1] + pixels.data[at + 2] > 0 && pixels.data[at + 3] > 0;
      for (let part = 0; part < 3; part += 1) pixels.data[at + part] = parts[part];
      pixels.data[at + 3] = inside ? 115 : 0;
    }
    context.putImageData(pixels, 0, 0);
  });
  image.src = mask.media; // not a thumbnail: its pixels would be mixed
  return canvas;
}
