/* Tools for the document and for words. Text stays text: no markup is ever parsed. */

import { SHAPES } from "./look.js";

/* Makes an element: el("button.chip", {onclick, style}, "text", child, [children]). */
export function el(name, ...children) {
	const attributes = children[0]?.constructor === Object ? children.shift() : {};
	const [tag, ...classes] = name.split("."), graphic = tag === "svg" || tag === "path";
	const made = graphic ? document.createElementNS("http://www.w3.org/2000/svg", tag) :
		document.createElement(tag);
	if (classes.length) made.setAttribute("class", classes.join(" "));
	for (const [key, value] of Object.entries(attributes))
		if (key.startsWith("on")) made[key] = value;
		else if (key === "style") for (const one in value) made.style.setProperty(one, value[one]);
		else made.setAttribute(key, value);
	made.append(...children.flat().filter(Boolean));
	return made;
}

/* An element that is there becomes like a fresh one. What a person has opened stays open. */
function become(old, fresh) {
	if (old.nodeType === Node.TEXT_NODE) {
		if (old.data !== fresh.data) old.data = fresh.data;
		return;
	}
	for (const name of new Set([...old.getAttributeNames(), ...fresh.getAttributeNames()])) {
		const value = fresh.getAttribute(name);
		if (name === "style" || name === "open" || value === old.getAttribute(name)) continue;
		if (value === null) old.removeAttribute(name);
		else old.setAttribute(name, value);
	}
	if (old.style.cssText !== fresh.style.cssText) old.style.cssText = fresh.style.cssText;
	old.onclick = fresh.onclick;
	show(old, [...fresh.childNodes]);
}

/* Makes `parent` show these elements. What is there stays, with focus, hover and scrolling;
 * `data-key` tells which is which where places change. */
export function show(parent, wanted) {
	const keyOf = (child) => child.dataset?.key, keys = new Set(wanted.map(keyOf));
	const keyed = new Map();
	for (const child of [...parent.childNodes])
		if (!keyOf(child)) continue;
		else if (keys.has(keyOf(child))) keyed.set(keyOf(child), child);
		else child.remove();
	wanted.forEach((fresh, i) => {
		const at = parent.childNodes[i] ?? null, key = keyOf(fresh);
		const old = key ? keyed.get(key) : at && !keyOf(at) && at.nodeName === fresh.nodeName && at;
		if (!old || old !== at) parent.insertBefore(old || fresh, at);
		if (old && !old.isEqualNode(fresh)) become(old, fresh);
	});
	while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

export const byId = (id) => document.getElementById(id);

/* A screen reader hears only changes. */
export function say(id, text) {
	if (byId(id).textContent !== text) byId(id).textContent = text;
}

/* Fetches JSON of Ostler: [whether it is the answer, else {error}]. */
export const ask = (path) => fetch(path).then(async (answer) => [answer.ok, await answer.json()])
	.catch(() => [false, { error: "Ostler does not answer" }]);

export const toned = (name) => ({ "--tone": `var(--${name})` });

export const glyph = ([shape, tone]) => el("svg", { viewBox: "0 0 12 12", "aria-hidden": "true",
	style: toned(tone) }, SHAPES[shape].map(([how, d]) => el(`path.${how}`, { d })));

/* Parts of a whole: [[tone, number], …]. */
export const bar = (shares) => el("div.bar", shares.filter(([, n]) => n > 0)
	.map(([tone, n]) => el("i", { style: { ...toned(tone), "flex-grow": n } })));

const copy = (button, text) => navigator.clipboard.writeText(text)
	.then(() => "Copied", () => "Not allowed").then((said) => (button.textContent = said));

export const command = (text) => el("div.command", el("code", text), el("button", {
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

export const { format: number } = new Intl.NumberFormat("en");
export const many = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
export const join = (...parts) => parts.filter(Boolean).join(" · ");
export const seconds = (time) => Date.parse(time) / 1000 || 0;

/* A second as the time of day; with the date, if that is another day than `now`. */
export function clock(second, now) {
	/* Sweden writes 2026-11-20 10:30:00. */
	const [time, today] = [second, now].map((s) => new Date(s * 1000).toLocaleString("sv"));
	return time.slice(0, 10) === today.slice(0, 10) ? time.slice(11) : time.slice(0, 16);
}
