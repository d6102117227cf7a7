/* How a node looks: a tile of 12 × 12 units with a shape and a tone, which say the same. */

const disc = (r) => `M6 ${6 - r}a${r} ${r} 0 0 1 0 ${2 * r}a${r} ${r} 0 0 1 0-${2 * r}z`;
/* A tile that is filled up to a height. */
const level = (h) => `M0 ${12 - h}h12v${h - 3}a3 3 0 0 1-3 3h-6a3 3 0 0 1-3-3z`;
const TILE = "M3 0h6a3 3 0 0 1 3 3v6a3 3 0 0 1-3 3h-6a3 3 0 0 1-3-3v-6a3 3 0 0 1 3-3z";
const faint = ["faint", TILE], full = ["full", TILE], MARK = "M6 2.6v4M6 9v.4";

/* Strokes [how, path]: full and faint fill with the tone, line and thin draw with it, cut with the
 * colour of the paper. */
export const SHAPES = {
	solid: [full],
	slash: [faint, ["line", "M3 9 9 3"]],
	corner: [faint, ["full", "M12 1.5v7.5a3 3 0 0 1-3 3h-7.5z"]],
	ring: [faint, ["line", disc(3)]],
	target: [faint, ["line", disc(3.6)], ["full", disc(1.5)]],
	seed: [faint, ["full", disc(2)]],
	turn: [faint, ["line", "M9 6a3 3 0 1 1-3-3h2.6M6.9 1.2 8.8 3 6.9 4.8"]],
	cross: [full, ["cut", "M3.4 3.4 8.6 8.6M8.6 3.4 3.4 8.6"]],
	alarm: [full, ["cut", MARK]],
	notch: [faint, ["line", MARK]],
	hollow: [["thin", "M1 1h10v10h-10z"]],
	dot: [["full", disc(1.7)]],
	bar: [full, ["cut", "M3.2 6h5.6"]],
	gauge0: [faint],
	gauge8: [full],
};
for (let n = 1; n < 8; n++) SHAPES[`gauge${n}`] = [faint, ["full", level(2 + n)]];

/* Shape, tone, meaning; the most urgent first. */
const STATES = {
	Failed: ["cross", "bad", "an upgrade or an operand failed"],
	Unhealthy: ["alarm", "sick", "closed: a GPU has a fault"],
	Lost: ["hollow", "gone", "the node is down"],
	Unsupported: ["notch", "bad", "no driver or runtime is known for it"],
	Waiting: ["slash", "wait", "takes no new pods; its jobs run on"],
	Draining: ["corner", "wait", "GPU pods are evicted"],
	Unloading: ["gauge4", "wait", "the old driver is removed"],
	Resetting: ["turn", "work", "GPUs are reset"],
	Rebooting: ["turn", "sick", "the node reboots"],
	Discovered: ["seed", "work", "a GPU was found"],
	Installing: ["ring", "work", "driver and operands come up"],
	Validating: ["target", "work", "a program runs on a GPU"],
	Removing: ["ring", "wait", "Ostler removes what it installed"],
	Held: ["bar", "ok", "a user holds it: no upgrade begins"],
	Ready: ["solid", "ok", "in service"],
	ForeignStack: ["dot", "gone", "another GPU stack serves it"],
	Unmanaged: ["dot", "none", "not Ostler's"],
};
const USES = {
	full: ["gauge8", "use", "every GPU is in use"],
	partly: ["gauge4", "use", "some GPUs are in use"],
	idle: ["gauge0", "use", "no GPU is in use"],
	away: ["hollow", "gone", "down, or not Ostler's"],
};
const HEALTHS = {
	closed: ["alarm", "sick", "closed for new pods"],
	faulty: ["notch", "sick", "a GPU has a fault, the others go on"],
	unknown: USES.away,
	healthy: ["solid", "ok", "no fault is known"],
};
const DRIVERS = [["solid", "ok"], ["gauge4", "wait"], ["ring", "work"], ["corner", "sick"],
	["slash", "use"], ["target", "quiet"]];
const NO_DRIVER = "none";
/* States in which nothing is known or done. */
export const AWAY = ["Lost", "ForeignStack", "Unmanaged"];

/* What a node has in each facet. A filter may name any of them. */
export const FACETS = {
	state: ({ state, held }) => (held && state === "Ready" ? "Held" : state ?? "Unmanaged"),
	driver: ({ driver }) => driver ?? NO_DRIVER,
	use: ({ state, used, gpus }) => (AWAY.includes(state) || !gpus ? "away" :
		used >= gpus ? "full" : used ? "partly" : "idle"),
	health: ({ state, bad }) => (state === "Unhealthy" ? "closed" : bad ? "faulty" :
		AWAY.includes(state) ? "unknown" : "healthy"),
	pool: ({ pool }) => pool ?? "",
	zone: ({ zone }) => zone ?? "",
};

/* The modes of the map, by the facet that the legend counts: title, values in order, look of a
 * value, and of a node if it says more. `versions`: the newest driver first. */
const fixed = (title, looks) => ({ title, order: () => Object.keys(looks),
	look: (value) => (Object.hasOwn(looks, value) ? looks[value] : ["dot", "gone"]) });
export const MODES = {
	state: fixed("State", STATES),
	driver: { title: "Driver", order: (versions) => versions, look: (value, versions) =>
		(value === NO_DRIVER ? USES.away : DRIVERS[versions.indexOf(value) % DRIVERS.length]) },
	use: { ...fixed("GPUs in use", USES), nodeLook: (node) => FACETS.use(node) !== "away" &&
		[`gauge${Math.min(8, Math.ceil(8 * node.used / node.gpus))}`, "use"] },
	health: fixed("Health", HEALTHS),
};

export const lookOf = (mode, node, versions) => MODES[mode].nodeLook?.(node) ||
	MODES[mode].look(FACETS[mode](node), versions);

/* Counted values in the order of a mode: [[value, number]]. */
export function legend(mode, counts, versions) {
	const order = MODES[mode].order(versions), place = (value) => order.indexOf(value) + 1 || 99;
	return [...counts].sort(([a], [b]) => place(a) - place(b) || (a < b ? -1 : 1));
}

/* The drivers of counted nodes, the newest first. */
export const versionsOf = (counts, key) => [...counts.keys()].filter((one) => one !== NO_DRIVER)
	.sort((a, b) => (key(a) > key(b) ? -1 : 1));
