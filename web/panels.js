/* The panels around the map. Each shows what it is given, and remembers nothing. */

import { byId, clock, command, el, join, many, number, say, sayEach, seconds, set, showGlyph,
	showList, span, tone } from "./dom.js";
import { rail, totals } from "./fleet.js";
import { MODES, legend } from "./look.js";

/* ---- headline */

const READY = { True: ["ok", "Ready"], False: ["bad", "Not ready"], Unknown: ["wait", "Unknown"] };

export function showHeadline(policy, ostler) {
	const [colour, word] = !policy ? ["gone", "No policy"] : policy.paused ? ["wait", "Paused"] :
		READY[policy.ready];
	say(byId("verdict"), word);
	tone(byId("verdict"), colour);
	say(byId("message"), policy ? policy.message || policy.reason || "" :
		"Ostler changes nothing before there is a policy.");
	say(byId("policy"), policy ? `policy ${policy.name}` : "");
	say(byId("version"), `Ostler ${ostler.version ?? ""}`);
}

function figures(nodes, rollout) {
	const all = totals(nodes), share = (part, whole) => (whole ? part / whole : 0);
	const percent = (part) => `${Math.floor(100 * part)} %`;
	const { done = 0, pending = 0, active = 0, waiting = 0, failed = 0 } = rollout ?? {};
	const wanted = done + pending + active + waiting + failed, part = share(done, wanted);
	const used = share(all.used, all.gpus);
	return [
		["nodes ready", all.ready, `of ${number(all.nodes)}`, share(all.ready, all.nodes)],
		["GPUs in service", all.usable, `of ${number(all.gpus)}`, share(all.usable, all.gpus)],
		["GPUs in use", all.used, percent(used), used],
		["nodes on their target", done, `of ${number(wanted)}, ${percent(part)}`, part],
		["faulty GPUs", all.bad, "", 0],
	];
}

export function showFigures(nodes, policy) {
	showList(byId("figures"), figures(nodes, policy?.rollout), ([title]) => title,
		() => el("div.card", {}, el("b"), el("small"), el("p"), el("div", {}, el("i"))),
		(figure, [title, value, rest, share]) => {
			sayEach(figure, number(value), rest, title);
			figure.lastChild.firstChild.style.width = `${100 * share}%`;
		});
}

/* Chips: counters that filter. */
export function showChips(parent, mode, counts, versions, chosen, onToggle) {
	showList(parent, legend(mode, counts, versions), ([value]) => value,
		([value]) => el("button.chip", { onclick: () => onToggle(mode, value) }, el("span"), el("b"),
			el("span")),
		(chip, [value, n]) => {
			const look = MODES[mode].look(value, versions);
			showGlyph(chip.firstChild, look);
			say(chip.children[1], number(n));
			say(chip.lastChild, value);
			chip.title = look[2] ?? "";
			set(chip, "aria-pressed", chosen.includes(value));
		});
}

/* ---- rollout */

const SHARES = [["done", "ok"], ["active", "work", "under way"], ["failed", "bad"],
	["waiting", "wait", "waiting for jobs"], ["pending", "gone", "to come"], ["skipped", "none"]];

function showBar(bar, shares) {
	showList(bar, shares.filter(([, n]) => n > 0), ([colour]) => colour, () => el("i"),
		(part, [colour, n]) => {
			tone(part, colour);
			part.style.flexGrow = n;
		});
}

const SAID = { done: ["done", "ok"], active: ["now", "accent"], failed: ["failed", "bad"],
	pending: ["", "gone"] }, TICKS = 12;

function whenOf({ at, kind, sure }, now) {
	if (!at) return "";
	const left = seconds(at) - now;
	return `${kind === "soak" || kind === "window" ? "until" : sure ? "at" : "not before"} ` +
		clock(seconds(at), now) + (left > 0 ? `, in ${span(left)}` : "");
}

function fillStep(line, step, { nodes, now, stateLook, onOpen }) {
	line.className = `${step.kind} ${step.status}`;
	set(line, "aria-current", step.status === "active" ? "step" : null);
	const more = step.more + Math.max(0, step.names.length - TICKS);
	const [said, colour] = SAID[step.status];
	tone(line, colour);
	sayEach(line, step.title, said, whenOf(step, now));
	showList(line.children[3], step.names.slice(0, TICKS).filter((name) => nodes.has(name)),
		(name) => name, (name) => el("button", { onclick: () => onOpen(name) }), (tick, name) => {
			const node = nodes.get(name), pending = step.steps[step.names.indexOf(name)] === "pending";
			set(tick, "aria-label", tick.title = `${name}: ${pending ? "to come" : node.state}`);
			showGlyph(tick, pending ? ["gauge0", "gone"] : stateLook(node));
		});
	say(line.lastChild, more > 0 ? `and ${many(more, "node")}` : "");
}

export function showRollout(policy, scene) {
	const rollout = policy?.rollout ?? {}, plan = rollout.reason !== "UpToDate" && rollout.plan;
	sayEach(byId("rollout-head"), "Rollout", rollout.reason ?? "");
	say(byId("rollout-message"), rollout.message ?? "No policy asks for one.");
	const shares = !plan ? [] : SHARES.filter(([id]) => rollout[id] > 0)
		.map(([id, colour, words = id]) => [colour, rollout[id], `${number(rollout[id])} ${words}`]);
	showBar(byId("rollout-bar"), shares);
	say(byId("rollout-sums"), join(...shares.map(([, , words]) => words), plan?.ends &&
		`ends about ${clock(seconds(plan.ends), scene.now)}`));
	showList(byId("rail"), plan ? rail(rollout, scene.nodes) : [], ({ kind, title }) => kind + title,
		() => el("li", {}, el("b"), el("em"), el("p.quiet"), el("div.ticks"), el("p.quiet")),
		(line, step) => fillStep(line, step, scene));
	showList(byId("pools"), policy?.pools ?? [], ({ name }) => name,
		() => el("li", {}, el("b"), el("span"), el("div.bar")),
		(line, { name, nodes = 0, upToDate = 0, driverVersion }) => {
			sayEach(line, name, join(driverVersion, `${number(upToDate)} of ${many(nodes, "node")}`));
			showBar(line.lastChild, [["ok", upToDate], ["gone", nodes - upToDate]]);
		});
}

/* ---- lists of nodes */

function showLines(id, items, none, onOpen) {
	say(byId(`${id}-none`), items.length ? "" : none);
	showList(byId(id), items, ({ key }) => key, ({ node }) => el("li", {},
		el("button.name", { onclick: () => onOpen(node) }), el("span.when"), el("p"), el("p.quiet")),
	(line, { node, when, text, next = "" }) => sayEach(line, node, when, text, next));
}

const age = (now, since) => since > 0 && span(now - since);

export function showBlockers(policy, { now, onOpen }) {
	const blockers = policy?.blockers ?? [];
	showLines("blockers", blockers.map(({ node, pod, reason, message, since, next }) => ({
		key: `${node} ${pod}`, node, when: join(reason, age(now, seconds(since))),
		text: join(pod, message), next: next && `Next: ${next}`,
	})), "Nothing: no node waits for a pod or for you.", onOpen);
}

const FAULTS = 20;

export function showFaults(policy, { nodes, now, onOpen }) {
	say(byId("brake"), policy?.health?.braked ? policy.health.message : "");
	const faulty = [...nodes.values()].filter(({ bad, state }) => bad || state === "Unhealthy")
		.sort((a, b) => b.since - a.since);
	say(byId("faults-count"), faulty.length ? number(faulty.length) : "");
	showLines("faults", faulty.slice(0, FAULTS).map(({ name, state, reason, bad, gpus, since }) => ({
		key: name, node: name, when: join(reason, age(now, since)),
		text: `${bad} of ${many(gpus, "GPU")}: ` +
			(state === "Unhealthy" ? "closed for new pods" : "the node stays open"),
	})), "None is known.", onOpen);
}

/* ---- the banner */

export function showBanner(text, ...commands) {
	byId("banner").hidden = !text;
	sayEach(byId("banner"), text ?? "");
	showList(byId("banner").lastElementChild, commands, (one) => one, command, () => {});
}

/* ---- counters, for small screens instead of the map */

export function showGroups(pools, stateCounts, onPick) {
	const groups = pools.flatMap(({ name, zones }) => zones.map((zone) => ({ pool: name, zone })));
	showList(byId("groups"), groups, ({ pool, zone }) => `${pool}/${zone.name}`,
		({ pool, zone }) => el("li", {},
			el("button", { onclick: () => onPick(pool, zone.name) }, el("b"), el("span"))),
		(line, { pool, zone }) => sayEach(line.firstChild, join(pool || "no pool", zone.name),
			join(...stateCounts(zone.nodes).map(([state, n]) => `${number(n)} ${state}`))));
}
