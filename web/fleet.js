/* The fleet as data, without document and clock. */

import { clock, seconds, span } from "./dom.js";
import { AWAY } from "./look.js";

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

/* Applies an event `nodes`. Returns whether nodes come, go or move on the map. */
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

/* Sorts by a member, or by a function in `others`; "-gpus" is the other way round. Nodes without a
 * value come last. */
export function sorted(nodes, by, others) {
	const member = by.replace("-", ""), value = others[member] ?? ((node) => node[member]);
	return nodes.sort((a, b) => {
		const x = value(a), y = value(b);
		if (x === y) return a.key < b.key ? -1 : 1;
		return x === null ? 1 : y === null ? -1 : (x < y) === (by === member) ? -1 : 1;
	});
}

/* Map of each value of a function → number of nodes. */
export function count(nodes, of) {
	return new Map([...Map.groupBy(nodes, of)].map(([value, { length }]) => [value, length]));
}

/* The figures at the top; nodes: those that the policy manages. */
export function totals(nodes) {
	const all = { nodes: 0, ready: 0, gpus: 0, usable: 0, used: 0, bad: 0 };
	for (const { state, gpus, used, bad } of nodes) {
		const serves = state === "Ready";
		all.nodes += !["ForeignStack", "Unmanaged", "Removing"].includes(state);
		all.ready += serves;
		all.gpus += gpus;
		all.usable += serves * (gpus - bad);
		all.used += used;
		all.bad += bad;
	}
	return all;
}

/* ---- the rollout */

/* How far a node is in the plan of that second. */
function progress({ state, since, driver, target }, madeAt) {
	if (["Unhealthy", "Unsupported", ...AWAY].includes(state)) return "away";
	return since < madeAt ? "pending" : state === "Failed" ? "failed" : state !== "Ready" ? "active" :
		driver === target ? "done" : "pending";
}

function statusOf(steps) {
	const all = (...kinds) => steps.every((step) => kinds.includes(step));
	return steps.includes("failed") ? "failed" : steps.length && all("done", "away") ? "done" :
		all("pending", "away") ? "pending" : "active";
}

/* The plan of a rollout that is not over. */
export const planOf = (policy) => policy?.rollout?.reason !== "UpToDate" && policy?.rollout?.plan;

const WAITS = { Soaking: ["soak", "Soak"], WaitingForWindow: ["window", "No window is open"] };

/* The pools that have nodes, each with its nodes by how far they are, and its rail of steps {kind,
 * title, status, nodes, steps, more, at, soak}. The plan names the first nodes of the first waves:
 * the last step has others that are under way or failed. */
export function rails(policy, nodes) {
	const { rollout, pools = [], soak } = policy ?? {}, plan = planOf(policy);
	const { waveCount, waves = [], madeAt } = plan || {}, begin = seconds(madeAt);
	const named = new Map(waves.flatMap(({ names = [] }, i) => names.map((name) => [name, i])));
	const inPools = Map.groupBy(nodes.values(), ({ pool }) => pool);
	const far = (node) => progress(node, begin);
	const step = (kind, title, part, rest) => part?.length && { kind, title, nodes: part,
		steps: part.map(far), status: statusOf(part.map(far)), ...rest };

	function stepsOf(all) {
		const inWaves = Map.groupBy(all, ({ name }) => named.get(name));
		const steps = waves.map(({ canary, names = [], nodes: n, begins, notBefore }, i) =>
			step(canary ? "canary" : "wave",
				`${canary ? "Canary, wave" : "Wave"} ${i + 1} of ${waveCount}`, inWaves.get(i),
				{ more: n - names.length, at: begins ?? notBefore, word: begins ? "at" : "not before",
					soak: canary ? soak?.canary : soak?.wave })).filter(Boolean);
		const done = steps.filter(({ status }) => status === "done");
		const toCome = all.some((node) => far(node) === "pending" && node.driver !== node.target);
		const [kind, title] = WAITS[rollout.reason] ?? [], waits = kind === "window" || done.length;
		return [...done, kind && toCome && waits && { kind, title, nodes: [], steps: [],
			status: "active", at: rollout.until, word: "until" },
		...steps.filter(({ status }) => status !== "done"),
		step("more", "Later waves", inWaves.get()?.filter((node) =>
			["active", "failed"].includes(far(node))))].filter(Boolean);
	}

	return pools.filter((pool) => pool.nodes > 0).map((pool) => {
		const all = inPools.get(pool.name) ?? [];
		return { ...pool, ended: Map.groupBy(all, far), steps: plan ? stepsOf(all) : [] };
	});
}

const spansOf = (windows, now) => (windows ?? []).map(({ opens, closes }) =>
	[seconds(opens), closes ? seconds(closes) : Infinity]).filter(([, closes]) => closes > now);

/* The line of time, {from, to, part(second), open: the windows, ends}; null: nothing is ahead. */
export function timeline(policy, now) {
	const { madeAt, ends, waves = [] } = planOf(policy) || {}, open = spansOf(policy?.windows, now);
	if (!madeAt && !open.length) return null;
	const closes = open.slice(0, 2).map(([, at]) => at).filter(Number.isFinite);
	const to = Math.max(now + (madeAt ? 60 : 3600), ...ends ? [seconds(ends)] : closes,
		...waves.map(({ begins, notBefore }) => seconds(begins ?? notBefore)));
	const from = Math.min(now, seconds(madeAt) || now);
	return { from, to, open, ends: seconds(ends),
		part: (second) => ((Math.min(second, to) - from) / (to - from)).toFixed(3) };
}

/* The windows in words. */
export function windowsSaid(windows, now) {
	const [[opens, closes] = [Infinity]] = spansOf(windows, now);
	const until = closes < Infinity ? `until ${clock(closes, now)}` : "and stays open";
	return !windows ? "" : opens === Infinity ? "No window opens." :
		opens > now ? `The next window opens ${clock(opens, now)}, in ${span(opens - now)}, ${until}.` :
			`A window is open ${until}.`;
}
