// Building the page's elements. Everything that comes from data goes through here, as text or as one of the
// attributes below: none of them can run anything. No other file sets HTML, and this one does not either.

const SVG = "http://www.w3.org/2000/svg";
const ATTRIBUTES = new Set([
  "alt", "class", "colspan", "controls", "cx", "cy", "d", "decoding", "disabled", "download", "for", "height", "hidden",
  "href", "id", "loading", "max", "min", "name", "open", "placeholder", "points", "preload", "preserveAspectRatio",
  "r", "role", "scope", "spellcheck", "src", "step", "tabindex", "title", "type", "value", "viewBox", "width", "x",
  "x1", "x2", "y", "y1", "y2", "autocomplete", "rows", "rel", "target", "vector-effect",
]);

// An element with attributes, listeners ({on: {click: f}}), properties of its style ({style: {left: "3px"}}) and
// children: nodes, or strings that become text.
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [kind, listener] of Object.entries(value)) node.addEventListener(kind, listener);
    } else if (name === "style") {
      for (const [key, part] of Object.entries(value)) node.style.setProperty(key, part);
    } else if (ATTRIBUTES.has(name) || /^(aria|data)-[a-z-]+$/.test(name)) {
      if ((name === "href" || name === "src") && !leadsInside(String(value))) continue;
      node.setAttribute(name, value === true ? "" : String(value));
    } else {
      throw new Error(`the attribute ${name} is not among those that are safe`);
    }
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Only places of this page and of its own server.
function leadsInside(address) {
  return address.startsWith("#") || new URL(address, location.href).origin === location.origin;
}

export function button(label, run, attributes = {}) {
  return element("button", { type: "button", on: { click: run }, ...attributes }, label);
}

export function replace(parent, ...children) {
  parent.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return parent;
}
