/* The table of nodes. Only the rows in view, and a few around them, are in the document. */

import { byId, driverOf, el, glyph, show, span } from "./dom.js";
import { FACETS } from "./look.js";

const HEIGHT = 34, MARGIN = 10;

function stateOf(node) {
	const state = FACETS.state(node);
	return node.held && state !== "Held" ? `${state}, held` : state;
}

/* Title, member to sort by, text if it is another one. */
const COLUMNS = [
	["Node", "name"], ["State", "state", stateOf], ["Reason", "reason"],
	["Driver", "driver", driverOf],
	["In use", "used", ({ used, gpus }) => `${used} of ${gpus}`],
	["Faulty", "bad", ({ bad }) => bad || ""],
	["For", "since", ({ since }, now) => (since > 0 ? span(now - since) : "")],
	["Pool", "pool"], ["Zone", "zone"], ["Rack", "rack"], ["Product", "product"],
];

/* A node in words: [[title, text], …]. */
export const textsOf = (node, now) => COLUMNS.map(([title, member, text]) =>
	[title, String((text ? text(node, now) : node[member]) ?? "")]);

/* The rows in the document when the table is scrolled so far: [first, past the last]. */
export function windowOf(rows, scrolled, seen) {
	const size = seen + 2 * MARGIN;
	const first = Math.max(0, Math.min(Math.floor(scrolled / HEIGHT) - MARGIN, rows - size));
	return [first, Math.min(rows, first + size)];
}

/* Makes the table. The result shows {nodes in order, sort, lookOf, selected, now}. */
export function makeTable(onSort, onOpen) {
	const scroller = byId("rows");
	let shown = { nodes: [] }, first = 0, scrolled = 0;

	function head([title, member]) {
		const by = shown.sort === member ? "ascending" :
			shown.sort === `-${member}` ? "descending" : "none";
		return el("th", { scope: "col", "data-member": member, "aria-sort": by },
			el("button", { onclick: () => onSort(member) }, title));
	}

	function row(node, i) {
		const [name, state, ...others] = textsOf(node, shown.now).map(([, text]) => text);
		return el("tr", { "data-key": name, "aria-rowindex": first + i + 2,
			"aria-current": name === shown.selected },
		el("th", { scope: "row" }, el("button.name", { onclick: () => onOpen(name) }, name)),
		el("td", glyph(shown.lookOf(node)), state), others.map((text) => el("td", text)));
	}

	const space = (rows) => el("tr.space", { "aria-hidden": "true" },
		el("td", { style: { height: `${rows * HEIGHT}px` } }));
	const inView = () => windowOf(shown.nodes.length, scrolled, Math.ceil(innerHeight / HEIGHT));

	function paint() {
		const { nodes } = shown, [from, to] = inView();
		first = from;
		show(byId("rows-body"), [space(from), ...nodes.slice(from, to).map(row),
			space(nodes.length - to)]);
	}

	scroller.onscroll = () => {
		scrolled = scroller.scrollTop;
		const [from] = inView();
		if (Math.abs(from - first) > MARGIN / 2 || !from !== !first) requestAnimationFrame(paint);
	};

	return (next) => {
		if (next.sort !== shown.sort) scroller.scrollTop = 0;
		shown = next;
		show(byId("rows-head"), COLUMNS.map(head));
		scroller.firstElementChild.setAttribute("aria-rowcount", next.nodes.length + 1);
		paint();
	};
}
