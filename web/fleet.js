/* The fleet as data: decodes a snapshot, applies changes, filters, sorts, counts; without document
 * and clock. */

/* The members of a node, in the order of the event `nodes`; the first nine are texts. */
const FIELDS = ["name", "pool", "zone", "rack", "state", "reason", "product", "driver", "target",
	"gpus", "used", "bad", "since"], TEXTS = FIELDS.slice(0, 9);

/* Orders by numbers in names, too: gpu-2 comes before gpu-10. */
export const sortKey = (name) => name.replace(/\d+/g, (digits) => digits.padStart(12, "0"));

function makeNode(value) {
	const node = Object.fromEntries(FIELDS.map((field, i) => [field, value(field, i) ?? null]));
	node.key = sortKey(node.name);
	node.words = TEXTS.map((field) => node[field] ?? "").join(" ").toLowerCase();
	return node;
}

/* The nodes of a snapshot by name. Columns with a dictionary have indices, -1 for none. */
export function decode({ columns, dictionary }) {
	const texts = { ...dictionary, target: dictionary.driver };
	return new Map(columns.name.map((name, i) => [name, makeNode((field) =>
		(texts[field] ? texts[field][columns[field][i]] : columns[field][i]))]));
}

/* Applies an event `nodes`, and tells what changed: [{name, before, after}]. */
export function apply(nodes, { set = [], removed = [] }) {
	const changes = set.map((values) => makeNode((_, i) => values[i]))
		.map((after) => ({ name: after.name, before: nodes.get(after.name), after }));
	for (const { name, after } of changes) nodes.set(name, after);
	for (const name of removed) if (nodes.has(name)) {
		changes.push({ name, before: nodes.get(name) });
		nodes.delete(name);
	}
	return changes;
}

/* Whether a change moves nodes on the map: one came, went, or has another place. */
export const moves = ({ before, after }) => !before || !after ||
	["pool", "zone", "rack"].some((field) => before[field] !== after[field]);

/* The test of a filter: each word of `text` is in the node, and each facet has a chosen value. */
export function matcher(text, chosen, facets) {
	const words = text.toLowerCase().split(/\s+/), picks = Object.entries(chosen);
	return (node) => words.every((word) => node.words.includes(word)) &&
		picks.every(([facet, values]) => values.includes(facets[facet](node)));
}

/* Sorts by a member, or by what the function of that name in `others` gives; "-gpus" is the other
 * way round. Nodes without a value come last. */
export function sorted(nodes, by, others) {
	const member = by.replace("-", ""), value = others[member] ?? ((node) => node[member]);
	return nodes.sort((a, b) => {
		const x = value(a), y = value(b);
		if (x === y) return a.key < b.key ? -1 : 1;
		return x === null ? 1 : y === null ? -1 : (x < y) === (by === member) ? -1 : 1;
	});
}

/* How many nodes have each value of a function: Map value → number. */
export function count(nodes, of) {
	const counts = new Map();
	for (const node of nodes) counts.set(of(node), (counts.get(of(node)) ?? 0) + 1);
	return counts;
}

/* Sums for the figures at the top. */
export function totals(nodes) {
	const all = { nodes: 0, ready: 0, gpus: 0, usable: 0, used: 0, bad: 0 };
	for (const { state, gpus, used, bad } of nodes) {
		const serves = state === "Ready";
		all.nodes++;
		all.ready += serves;
		all.gpus += gpus;
		all.usable += serves * (gpus - bad);
		all.used += used;
		all.bad += bad;
	}
	return all;
}

/* ---- the rollout */

const AWAY = ["Unhealthy", "Lost", "Unmanaged", "ForeignStack", "Unsupported"];

/* How far a node is in the plan of that second. */
function progress(node, madeAt) {
	if (!node || AWAY.includes(node.state)) return "away";
	if (node.since < madeAt) return "pending";
	if (node.state !== "Ready") return node.state === "Failed" ? "failed" : "active";
	return node.driver === node.target ? "done" : "pending";
}

function statusOf(steps) {
	const all = (...kinds) => steps.every((step) => kinds.includes(step));
	return steps.includes("failed") ? "failed" : steps.length && all("done", "away") ? "done" :
		all("pending", "away") ? "pending" : "active";
}

const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

/* The steps of the rollout in order: [{kind, title, status, names, steps of these nodes, more, at,
 * sure}]. Waves that are done become one step; of the others the first ones remain. */
export function rail({ plan, reason, until }, nodes, shown = 4) {
	const madeAt = Date.parse(plan.madeAt) / 1000, { waveCount = 0, waves = [] } = plan;
	const step = (kind, title, status, rest) =>
		({ kind, title, status, names: [], more: 0, ...rest });
	const wait = (kind, title) => step(kind, title, "active", { at: until, sure: true });
	const all = waves.map(({ canary, names = [], nodes: n, begins, notBefore }, i) => {
		const steps = names.map((name) => progress(nodes.get(name), madeAt));
		return step(canary ? "canary" : "wave", canary ? "Canary" : `Wave ${i + 1} of ${waveCount}`,
			statusOf(steps), { names, steps, more: n - names.length, at: begins ?? notBefore,
				sure: begins });
	});
	const isWave = ({ kind }) => kind === "wave", done = ({ status }) => status === "done";
	const past = all.filter((one) => isWave(one) && done(one)).length;
	const left = all.filter((one) => isWave(one) && !done(one));
	const hidden = waveCount - waves.length + Math.max(0, left.length - shown);
	return [
		...all.filter((one) => !isWave(one)),
		past && step("wave", counted(past, "wave"), "done"),
		reason === "Soaking" && wait("soak", "Soak"),
		reason === "WaitingForWindow" && wait("window", "No window is open"),
		...left.slice(0, shown),
		hidden > 0 && step("more", counted(hidden, "more wave"), "pending"),
	].filter(Boolean);
}
