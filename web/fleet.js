/* The fleet as data: decodes a snapshot, applies changes, filters, sorts, counts; without document
 * and clock. */

import { clock, many, seconds, span } from "./dom.js";

/* The members of a node, in the order of the event `nodes`; the first nine are texts. */
const FIELDS = ["name", "pool", "zone", "rack", "state", "reason", "product", "driver", "target",
	"gpus", "used", "bad", "since", "held"], TEXTS = FIELDS.slice(0, 9);

/* Orders by numbers in names, too: gpu-2 comes before gpu-10. */
export const sortKey = (name) => name.replace(/\d+/g, (digits) => digits.padStart(12, "0"));

function makeNode(value) {
	const node = Object.fromEntries(FIELDS.map((field, i) => [field, value(field, i) ?? null]));
	node.key = sortKey(node.name);
	node.words = [...TEXTS.map((field) => node[field]), node.held && "held"].join(" ").toLowerCase();
	return node;
}

/* The nodes of a snapshot by name. Columns with a dictionary have indices, -1 for none. */
export function decode({ columns, dictionary }) {
	const texts = { ...dictionary, target: dictionary.driver };
	return new Map(columns.name.map((name, i) => [name, makeNode((field) =>
		(texts[field] ? texts[field][columns[field][i]] : columns[field][i]))]));
}

/* Applies an event `nodes`. Returns whether nodes move on the map: one came, went, or has another
 * place. */
export function apply(nodes, { set = [], removed = [] }) {
	let moved = false;
	for (const values of set) {
		const after = makeNode((_, i) => values[i]), before = nodes.get(after.name);
		moved ||= !before || ["pool", "zone", "rack"].some((key) => before[key] !== after[key]);
		nodes.set(after.name, after);
	}
	for (const name of removed) moved = nodes.delete(name) || moved;
	return moved;
}

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

/* The plan of a rollout that is not over. */
export const planOf = (policy) => policy?.rollout?.reason !== "UpToDate" && policy?.rollout?.plan;

/* The steps of the rollout in order: [{kind, title, status, names, steps of these nodes, more, at,
 * sure, soak}]. The plan names the first waves only: the last step has the nodes of others that are
 * under way or failed. */
export function rail({ rollout: { plan, reason, until }, soak }, nodes) {
	const madeAt = seconds(plan.madeAt), { waveCount = 0, waves = [] } = plan;
	function step(kind, title, names, rest) {
		const steps = names.map((name) => progress(nodes.get(name), madeAt));
		return { kind, title, names, steps, status: statusOf(steps), more: 0, ...rest };
	}
	const wait = (kind, title) => step(kind, title, [], { status: "active", at: until, sure: true });
	const all = waves.map(({ canary, names = [], nodes: n, begins, notBefore }, i) =>
		step(canary ? "canary" : "wave", canary ? "Canary" : `Wave ${i + 1} of ${waveCount}`, names,
			{ more: n - names.length, at: begins ?? notBefore, sure: begins,
				soak: canary ? soak?.canary : soak?.wave }));
	const named = new Set(all.flatMap(({ names }) => names)), hidden = waveCount - waves.length;
	const others = [...nodes.values()].filter((node) => !named.has(node.name) &&
		["active", "failed"].includes(progress(node, madeAt))).map(({ name }) => name);
	return [
		...all.filter(({ status }) => status === "done"),
		reason === "Soaking" && wait("soak", "Soak"),
		reason === "WaitingForWindow" && wait("window", "No window is open"),
		...all.filter(({ status }) => status !== "done"),
		hidden > 0 && step("more", many(hidden, "more wave"), others),
	].filter(Boolean);
}

const spansOf = (windows, now) => (windows ?? []).map(({ opens, closes }) =>
	[seconds(opens), closes ? seconds(closes) : Infinity]).filter(([, closes]) => closes > now);

/* The rollout on a line of time, {from, to, marks: [[kind, part of the line, another], …]}: the
 * spans of windows, the beginnings of waves, the end and now; null: nothing is ahead. */
export function timeline(policy, now) {
	const { madeAt, ends, waves = [] } = planOf(policy) || {}, open = spansOf(policy?.windows, now);
	if (!madeAt && !open.length) return null;
	const begins = waves.map(({ begins, notBefore }) => seconds(begins ?? notBefore));
	const to = Math.max(now + 3600, seconds(ends), ...begins,
		...open.slice(0, 2).map(([, closes]) => closes).filter(Number.isFinite));
	const from = Math.max(Math.min(now, seconds(madeAt) || now), now - (to - now) / 2);
	const at = (second) => Math.min(1, Math.max(0, (second - from) / (to - from)));
	const marks = [...open.map((span) => ["open", ...span]), ...begins.map((one) => ["wave", one]),
		["end", seconds(ends)], ["now", now]].filter(([, a, b = a]) => a <= to && b >= from);
	return { from, to, marks: marks.map(([kind, ...span]) => [kind, ...span.map(at)]) };
}

/* The windows in words. */
export function windowsSaid(windows, now) {
	const [[opens, closes] = [Infinity]] = spansOf(windows, now);
	const until = closes < Infinity ? `until ${clock(closes, now)}` : "and stays open";
	return !windows ? "" : opens === Infinity ? "No window opens." :
		opens > now ? `The next window opens ${clock(opens, now)}, in ${span(opens - now)}, ${until}.` :
			`A window is open ${until}.`;
}
