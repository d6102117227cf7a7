/* The table of nodes. Of all rows, at most 200 are in the document: those in view and around it. */

import { byId, driverOf, el, say, set, showGlyph, span } from "./dom.js";

const HEIGHT = 34, WINDOW = 200, MARGIN = 80;

/* Title, member to sort by, text if it is another one. */
const COLUMNS = [
	["Node", "name"], ["State", "state"], ["Reason", "reason"],
	["Driver", "driver", driverOf],
	["In use", "used", ({ used, gpus }) => `${used} of ${gpus}`],
	["Faulty", "bad", ({ bad }) => bad || ""],
	["For", "since", ({ since }, now) => (since > 0 ? span(now - since) : "")],
	["Pool", "pool"], ["Zone", "zone"], ["Rack", "rack"], ["Product", "product"],
];

/* The rows in the document when the table is scrolled so far: [first, past the last]. */
export function windowOf(rows, scrolled) {
	const first = Math.max(0, Math.min(Math.floor(scrolled / HEIGHT) - MARGIN, rows - WINDOW));
	return [first, Math.min(rows, first + WINDOW)];
}

/* Makes the table. The result shows {nodes in order, sort, lookOf, selected, now}. */
export function makeTable(onSort, onOpen) {
	const scroller = byId("rows"), body = byId("rows-body"), head = byId("rows-head"), rows = [];
	const space = () => body.appendChild(el("tr.space", { "aria-hidden": "true" }, el("td")));
	const above = space(), below = space();
	let shown = { nodes: [] }, first = 0;

	for (const [title, member] of COLUMNS)
		head.append(el("th", { scope: "col", "data-member": member },
			el("button", { onclick: () => onSort(member) }, title)));

	function makeRow() {
		const open = ({ target }) => onOpen(target.textContent);
		const row = el("tr", {}, el("th", { scope: "row" }, el("button.name", { onclick: open })),
			el("td", {}, el("span"), el("span")));
		for (let k = 2; k < COLUMNS.length; k++) row.append(el("td"));
		return row;
	}

	function fillRow(row, node, i) {
		set(row, "aria-rowindex", i + 2);
		set(row, "aria-current", node.name === shown.selected ? "true" : null);
		COLUMNS.forEach(([, member, text], k) => {
			const cell = k < 2 ? row.children[k].lastChild : row.children[k];
			say(cell, String((text ? text(node, shown.now) : node[member]) ?? ""));
		});
		showGlyph(row.children[1].firstChild, shown.lookOf(node));
	}

	function paint() {
		const [from, to] = windowOf(shown.nodes.length, scroller.scrollTop);
		first = from;
		while (rows.length < to - from) rows.push(makeRow());
		rows.forEach((row, k) => {
			if (k >= to - from) return row.remove();
			fillRow(row, shown.nodes[from + k], from + k);
			if (!row.isConnected) below.before(row);
		});
		above.firstChild.style.height = `${from * HEIGHT}px`;
		below.firstChild.style.height = `${(shown.nodes.length - to) * HEIGHT}px`;
	}

	scroller.onscroll = () => {
		const [from] = windowOf(shown.nodes.length, scroller.scrollTop);
		if (Math.abs(from - first) > MARGIN / 2 || !from !== !first) requestAnimationFrame(paint);
	};

	return (next) => {
		if (next.sort !== shown.sort) scroller.scrollTop = 0;
		shown = next;
		set(body.parentNode, "aria-rowcount", next.nodes.length + 1);
		for (const cell of head.children) {
			const { member } = cell.dataset;
			const by = next.sort === member ? "ascending" : next.sort === `-${member}` && "descending";
			set(cell, "aria-sort", by || null);
		}
		paint();
	};
}
