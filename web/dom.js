/* Tools for the document and for words. Text stays text: no markup is ever parsed. */

import { SHAPES } from "./look.js";

/* Makes an element: el("button.chip", {onclick: …}, "text", child, null, …). */
export function el(name, attributes = {}, ...children) {
	const [tag, ...classes] = name.split("."), made = document.createElement(tag);
	if (classes.length) made.className = classes.join(" ");
	if (tag === "button") made.type = "button";
	for (const [key, value] of Object.entries(attributes)) set(made, key, value);
	made.append(...children.filter((child) => child ?? false));
	return made;
}

export function set(element, key, value) {
	if (key.startsWith("on")) element[key] = value;
	else if (value === null) element.removeAttribute(key);
	else if (element.getAttribute(key) !== String(value)) element.setAttribute(key, value);
}

export const byId = (id) => document.getElementById(id);

/* A screen reader hears only changes. */
export function say(element, text) {
	if (element.textContent !== text) element.textContent = text;
}

export const sayEach = (element, ...texts) =>
	texts.forEach((text, i) => say(element.children[i], text));

/* Shows a list. The element of a key stays, and with it focus and hover. */
export function showList(parent, items, key, make, fill) {
	const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
	items.forEach((item, i) => {
		const id = String(key(item)), child = old.get(id) ?? make(item);
		child.dataset.key = id;
		old.delete(id);
		if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] ?? null);
		fill(child, item);
	});
	for (const child of old.values()) child.remove();
}

export const tone = (element, name) => element.style.setProperty("--tone", `var(--${name})`);

const svg = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);

export function showGlyph(parent, look) {
	const key = look[0] + look[1];
	if (parent.dataset.look === key) return;
	parent.dataset.look = key;
	const picture = svg("svg");
	set(picture, "viewBox", "0 0 12 12");
	set(picture, "aria-hidden", "true");
	tone(picture, look[1]);
	for (const [how, path] of SHAPES[look[0]]) {
		const part = svg("path");
		set(part, "d", path);
		set(part, "class", how);
		picture.append(part);
	}
	parent.replaceChildren(picture);
}

async function copy(button, text) {
	try {
		await navigator.clipboard.writeText(text);
		say(button, "Copied");
	} catch {
		say(button, "Not allowed");
	}
}

export const command = (text) => el("div.command", {}, el("code", {}, text), el("button", {
	"aria-label": `Copy ${text}`, onclick: ({ target }) => copy(target, text) }, "Copy"));

/* ---- words */

/* A span of time in its largest unit: "12 min". */
export function span(seconds) {
	const s = Math.max(0, Math.floor(seconds));
	const units = [[86400, "d"], [3600, "h"], [60, "min"]];
	const [size, unit] = units.find(([size]) => s >= size) ?? [1, "s"];
	return `${Math.floor(s / size)} ${unit}`;
}

/* The driver of a node, and the one it is to get. */
export const driverOf = ({ driver, target }) => (!target || target === driver ? driver :
	`${driver ?? "none"} → ${target}`);

export const number = (n) => n.toLocaleString("en");
export const many = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
export const join = (...parts) => parts.filter(Boolean).join(" · ");
export const seconds = (time) => Date.parse(time) / 1000 || 0;

/* A second as the time of day; with the date, if that is another day than `now`. */
export function clock(second, now) {
	const [date, today] = [second, now].map((s) => new Date(s * 1000)), time = date.toTimeString();
	return date.toDateString() === today.toDateString() ? time.slice(0, 8) :
		`${date.toLocaleDateString("en-CA")} ${time.slice(0, 5)}`;
}
