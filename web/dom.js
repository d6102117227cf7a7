/* Small tools for the document. Text becomes text only: no markup is ever parsed. */

/* Makes an element: el("button.chip", {type: "button", onclick: …}, "text", child, …). */
export function el(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) setAttribute(made, key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function setAttribute(element, key, value) {
  if (key.startsWith("on")) element[key] = value;
  else if (value === null || value === false) element.removeAttribute(key);
  else if (element.getAttribute(key) !== String(value)) element.setAttribute(key, value);
}

export const byId = (id) => document.getElementById(id);

/* Sets the text if it differs, so that a screen reader hears only changes. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/* Shows a list: an element per item, kept by key, so that focus and hover stay. `make` makes an
 * empty one, `fill` shows an item in it. */
export function showList(parent, items, key, make, fill) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  items.forEach((item, i) => {
    const id = String(key(item));
    const child = old.get(id) ?? make(item);
    child.dataset.key = id;
    old.delete(id);
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] ?? null);
    fill(child, item);
  });
  for (const child of old.values()) child.remove();
}

const SVG = "http://www.w3.org/2000/svg";

/* A shape of look.js as a small picture. */
export function glyph(shapes, [shape, tone]) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 12 12");
  picture.setAttribute("class", `glyph tone-${tone}`);
  picture.setAttribute("aria-hidden", "true");
  for (const [how, path] of shapes[shape]) {
    const part = document.createElementNS(SVG, "path");
    part.setAttribute("d", path);
    part.setAttribute("class", how);
    picture.append(part);
  }
  return picture;
}

/* ---- copying */

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    setText(button, "Copied");
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    setText(button, "Ctrl-C copies");
  }
  setTimeout(() => setText(button, "Copy"), 2000);
}

/* A command with a button that copies it. */
export const command = (text) => el("div.command", {}, el("code", { tabindex: 0 }, text),
  el("button", { type: "button", "aria-label": `Copy: ${text}`,
    onclick: (event) => copy(event.currentTarget, text) }, "Copy"));

/* ---- words */

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/* A span of time in its largest unit: "12 min". */
export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  const [size, unit] = UNITS.find(([size]) => s >= size) ?? [1, "s"];
  return `${Math.floor(s / size)} ${unit}`;
}

export const number = (n) => n.toLocaleString("en");
export const percent = (part, all) => (all ? `${Math.floor(100 * part / all)} %` : "–");
export const many = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

/* The time of day of a date, with the date if it is another day than `now` (milliseconds). */
export function clock(ms, now) {
  const date = new Date(ms), time = date.toTimeString().slice(0, 8);
  return date.toDateString() === new Date(now).toDateString() ? time :
    `${date.toLocaleDateString("en-CA")} ${time.slice(0, 5)}`;
}
