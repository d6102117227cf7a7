/* The map. The same nodes and width give the same places. */

import { sortKey } from "./fleet.js";
import { SHAPES } from "./look.js";

const SIZES = [64, 48, 36, 30, 26, 22, 19, 16, 14, 12, 10], HEIGHT = 560, RACK_ROWS = 8, LABEL = 16;
/* Room around the cells for the outline of a chosen one. */
export const CORNER = 3;

/* ---- layout */

const byKey = (a, b) => (a.key < b.key ? -1 : 1);

const split = (all, member) => [...Map.groupBy(all, (node) => node[member] ?? "")]
	.map(([name, nodes]) => ({ name, key: sortKey(name || "~"), nodes })).sort(byKey);

/* The nodes as a tree: pools of zones of racks, each in the order of names. */
export function tree(nodes) {
	const racks = (zone) => ({ ...zone, racks: split(zone.nodes, "rack") });
	return split([...nodes].sort(byKey), "pool")
		.map((pool) => ({ ...pool, zones: split(pool.nodes, "zone").map(racks) }));
}

/* Packs boxes {wide, high, blocks, labels} in lines, below a head with a label. */
function pack(boxes, width, gap, head, label) {
	const all = { wide: 0, high: 0, blocks: [], labels: label ? [label] : [] };
	let x = 0, y = head;
	for (const box of boxes) {
		if (x && x + box.wide > width) [x, y] = [0, all.high + gap];
		for (const part of ["blocks", "labels"])
			for (const one of box[part]) all[part].push({ ...one, x: one.x + x, y: one.y + y });
		x += box.wide + gap;
		all.wide = Math.max(all.wide, x - gap);
		all.high = Math.max(all.high, y + box.high);
	}
	if (label) {
		all.wide = Math.max(all.wide, Math.min(width, 8 * label.text.length, 160));
		label.room = all.wide + gap / 2;
	}
	return all;
}

/* A rack's nodes go down; nodes without a rack fill rows. */
function rackBox({ name, nodes }, width, size) {
	const n = nodes.length, most = Math.max(1, Math.floor(width / size)), named = name && size >= 19;
	const cols = Math.min(most, Math.ceil(name ? n / RACK_ROWS : Math.max(8, 2 * Math.sqrt(n))));
	const rows = Math.ceil(n / cols), head = named ? LABEL - 2 : 0, wide = Math.min(n, cols) * size;
	return { wide, high: head + rows * size, blocks: [{ nodes, cols, rows, down: Boolean(name), x: 0,
		y: head }], labels: named ? [{ text: name, x: 0, y: 9, kind: "rack", room: wide + 4 }] : [] };
}

const zoneBox = ({ name, racks }, width, size) =>
	pack(racks.map((rack) => rackBox(rack, width, size)), width, size / 3, name ? LABEL : 0,
		name && { text: name, x: 0, y: 10, kind: "zone" });

const poolBox = ({ name, nodes, zones }, width, room, size) =>
	pack(zones.map((zone) => zoneBox(zone, room, size)), width, 16, 24,
		{ text: `${name || "no pool"}  ${nodes.length}`, x: 0, y: 13, kind: "pool" });

/* The largest size at which the map is not too high; zones may share the width: {size, width, high,
 * blocks, labels, cells: Map name → [x, y]}. */
export function layout(pools, width) {
	let placed;
	for (const size of SIZES) {
		const [best] = [width, width / 2 - 16, width / 3 - 16].map((room) =>
			pack(pools.map((pool) => poolBox(pool, width, room, size)), width, 30, 0))
			.sort((a, b) => a.high - b.high);
		placed = { ...best, size, width, cells: new Map() };
		if (placed.high <= HEIGHT) break;
	}
	for (const { nodes, x, y, cols, rows, down } of placed.blocks)
		nodes.forEach((node, i) => {
			const [col, row] = down ? [Math.floor(i / rows), i % rows] : [i % cols, Math.floor(i / cols)];
			placed.cells.set(node.name, [x + col * placed.size, y + row * placed.size]);
		});
	return placed;
}

/* ---- finding */

/* The name of the node at a point, or null. */
export function nodeAt({ cells, size }, x, y) {
	for (const [name, [left, top]] of cells)
		if (x >= left && y >= top && x < left + size && y < top + size) return name;
	return null;
}

/* The nearest node in a direction of those that count; the same one if there is none. */
export function neighbour({ cells }, from, dx, dy, counts) {
	if (!cells.has(from)) return [...cells.keys()].find(counts);
	const [left, top] = cells.get(from);
	let best = from, least = Infinity;
	for (const [name, [x, y]] of cells) {
		const ahead = (x - left) * dx + (y - top) * dy, aside = (x - left) * dy + (y - top) * dx;
		const far = ahead + 3 * Math.abs(aside);
		if (ahead > 0 && far < least && counts(name)) [best, least] = [name, far];
	}
	return best;
}

/* ---- drawing */

const sideOf = (size) => size - Math.max(1.5, size / 9);

/* The looks at one size as pixels, each drawn once. */
export function stamps(size, scale, colour) {
	const made = new Map(), side = Math.round(sideOf(size) * scale);
	function stamp([shape, tone], alpha) {
		const pen = new OffscreenCanvas(side, side).getContext("2d", { willReadFrequently: true });
		pen.scale(side / 12, side / 12);
		pen.lineCap = pen.lineJoin = "round";
		pen.fillStyle = colour(tone);
		for (const [how, d] of SHAPES[shape]) {
			pen.globalAlpha = how === "faint" ? alpha * 0.24 : alpha;
			pen.strokeStyle = colour(how === "cut" ? "paper" : tone);
			pen.lineWidth = how === "thin" ? 1.2 : 1.9;
			pen[how === "full" || how === "faint" ? "fill" : "stroke"](new Path2D(d));
		}
		return new Uint32Array(pen.getImageData(0, 0, side, side).data.buffer);
	}
	return ([shape, tone], pale) => {
		const key = shape + tone + pale;
		if (!made.has(key)) made.set(key, stamp([shape, tone], pale ? 0.13 : 1));
		return made.get(key);
	};
}

/* Puts a square of pixels into a picture that is so wide. */
function put(pixels, width, square, left, top) {
	const side = Math.sqrt(square.length);
	for (let y = 0; y < side; y++)
		for (let x = 0, at = (top + y) * width + left; x < side; x++)
			pixels[at + x] = square[y * side + x];
}

/* Font, colour, width of a letter. */
const FONTS = { pool: ["600 14px system-ui", "ink", 8], zone: ["12px system-ui", "quiet", 6.5],
	rack: ["10px system-ui", "quiet", 5.5] };

function drawLabels(pen, labels, colour) {
	for (const { text, x, y, kind, room } of labels) {
		const [font, tone, wide] = FONTS[kind], most = Math.max(2, Math.floor(room / wide));
		pen.font = font;
		pen.fillStyle = colour(tone);
		/* The end of a name tells more than its beginning. */
		pen.fillText(text.length > most ? `…${text.slice(1 - most)}` : text, x, y);
	}
}

function outline(pen, { cells, size }, name, colour, width) {
	const at = cells.get(name);
	if (!at) return;
	pen.strokeStyle = colour;
	pen.lineWidth = width;
	pen.beginPath();
	pen.roundRect(at[0] - 1.5, at[1] - 1.5, sideOf(size) + 3, sideOf(size) + 3, size / 3.5);
	pen.stroke();
}

/* Thousands of drawImage() would take longer. */
export function draw(pen, placed, scene) {
	const { nodes, colour, scale, picture } = scene, pixels = new Uint32Array(picture.data.buffer);
	const at = (place) => Math.round((place + CORNER) * scale);
	pixels.fill(0);
	for (const [name, [x, y]] of placed.cells) {
		const node = nodes.get(name), square = scene.stamp(scene.lookOf(node), !scene.matches(node));
		put(pixels, picture.width, square, at(x), at(y));
	}
	pen.putImageData(picture, 0, 0);
	pen.setTransform(scale, 0, 0, scale, CORNER * scale, CORNER * scale);
	drawLabels(pen, placed.labels, colour);
	outline(pen, placed, scene.at, colour("quiet"), 1.5);
	outline(pen, placed, scene.selected, colour("accent"), 2.5);
}
