/* The panels around the map. They remember nothing. */

import { bar, byId, clock, command, el, glyph, join, many, number, say, seconds, show, span, toned }
	from "./dom.js";
import { planOf, rails, timeline, windowsSaid } from "./fleet.js";
import { MODES, legend } from "./look.js";

/* ---- headline */

const READY = { True: ["ok", "Ready"], False: ["bad", "Not ready"], Unknown: ["wait", "Unknown"] };

export function showHeadline(policy, ostler) {
	const [tone, word] = !policy ? ["gone", "No policy"] : policy.paused ? ["wait", "Paused"] :
		READY[policy.ready];
	show(byId("verdict"), [el("span", { style: toned(tone) }, word)]);
	say("message", policy ? policy.message || policy.reason || "" :
		"Ostler changes nothing before there is a policy.");
	say("policy", join(policy && `policy ${policy.name}`, `Ostler ${ostler.version ?? ""}`));
}

export function showFigures(all, rollout) {
	const { done = 0, pending = 0, active = 0, waiting = 0, failed = 0 } = rollout ?? {};
	show(byId("figures"), [
		["nodes ready", all.ready, all.nodes],
		["GPUs in service", all.usable, all.gpus],
		["GPUs in use", all.used, all.gpus],
		["nodes on their target", done, done + pending + active + waiting + failed],
		["faulty GPUs", all.bad],
	].map(([title, part, whole]) => el("div.card", el("b", number(part)),
		el("small", whole > 0 && `of ${number(whole)}, ${Math.floor(100 * part / whole)} %`),
		el("p", title), whole > 0 && bar([["ok", part], ["soft", whole - part]]))));
}

export function showChips(parent, mode, counts, versions, chosen, onToggle) {
	show(parent, legend(mode, counts, versions).map(([value, n]) => {
		const look = MODES[mode].look(value, versions);
		return el("button.chip", { "data-key": value || "none", title: look[2] ?? "",
			"aria-pressed": chosen.includes(value), onclick: () => onToggle(mode, value) },
		glyph(look), el("b", number(n)), value);
	}));
}

/* ---- rollout */

const SHARES = [["done", "ok"], ["active", "work", "under way"], ["failed", "bad"],
	["waiting", "wait", "waiting for jobs"], ["pending", "gone", "to come"], ["skipped", "none"]];

const SAID = { done: ["done", "ok"], active: ["now", "accent"], failed: ["failed", "bad"],
	pending: ["", "gone"] }, TICKS = 12;

/* When a step begins or a wait ends, and how long the nodes soak. */
function whenOf({ at, word, status, soak }, now) {
	const left = seconds(at) - now;
	return status !== "done" && join(at && `${word} ${clock(seconds(at), now)}`,
		left > 0 && `in ${span(left)}`, soak > 0 && `soaks ${span(soak)}`);
}

function stepLine(step, { now, stateLook, onOpen }) {
	const { kind, title, status, nodes, steps, more } = step, [said, tone] = SAID[status];
	const rest = more || Math.max(0, nodes.length - TICKS);
	function tick(node, i) {
		const pending = steps[i] === "pending";
		const about = `${node.name}: ${pending ? "to come" : node.state}`;
		return el("button", { "data-key": node.name, title: about, onclick: () => onOpen(node.name) },
			glyph(pending ? ["gauge0", "gone"] : stateLook(node)));
	}
	return el(`li.${kind}.${status}`, { "data-key": kind + title, style: toned(tone),
		"aria-current": status === "active" ? "step" : "false" },
	el("b", title), el("em", said), el("p.quiet", whenOf(step, now)),
	el("div.ticks", nodes.slice(0, TICKS).map(tick)),
	el("p.quiet", rest > 0 && `and ${many(rest, "node")} more`));
}

/* A pool on the line of time: windows, when its waves begin, now, the end, and when each node was
 * done or failed. */
function trackOf({ part, open, ends }, { ended, steps }, now) {
	const begins = steps.filter(({ at, nodes }) => at && nodes.length).map(({ at }) => seconds(at));
	const path = (how, tone, parts) => el(`path.${how}`, { style: toned(tone), d: parts.join("") });
	const ticks = (tone, times) => path("line", tone,
		[...new Set(times.map((at) => `M${part(at)} 0v1`))]);
	const timesOf = (how) => (ended.get(how) ?? []).map(({ since }) => since);
	return el("svg.track", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" },
		path("faint", "gone", open.map(([opens, closes]) => `M${part(opens)} 0H${part(closes)}v1H` +
			part(opens))), ticks("work", begins), ticks("quiet", [ends]), ticks("ok", timesOf("done")),
		ticks("bad", timesOf("failed")), ticks("ink", [now]));
}

function poolLine(pool, line, scene) {
	const { name, nodes, upToDate = 0, driverVersion, targets = [], ended, steps } = pool;
	const failed = ended.get("failed")?.length;
	return el("li", { "data-key": name }, el("b", name), el("span", join(driverVersion,
		`${number(upToDate)} of ${many(nodes, "node")}`, failed && `${failed} failed`,
		targets.some(({ knownGood }) => knownGood === false) && "not known good yet")),
	line && trackOf(line, pool, scene.now),
	el("ol.rail", steps.map((step) => stepLine(step, scene))));
}

export function showRollout(policy, scene) {
	const rollout = policy?.rollout ?? {}, plan = planOf(policy), { now, nodes } = scene;
	say("rollout-reason", rollout.reason ?? "");
	say("rollout-message", rollout.message ?? "None is known.");
	const shares = !plan ? [] : SHARES.filter(([id]) => rollout[id] > 0)
		.map(([id, tone, words = id]) => [tone, rollout[id], `${number(rollout[id])} ${words}`]);
	show(byId("rollout-bar"), plan ? [bar(shares)] : []);
	say("rollout-sums", join(...shares.map(([, , words]) => words),
		plan?.waveCount > 1 && `${plan.waveCount} waves over all pools`,
		plan?.ends && `ends about ${clock(seconds(plan.ends), now)}`));
	say("windows", windowsSaid(policy?.windows, now));
	const line = timeline(policy, now);
	show(byId("time"), line ? [line.from, line.to].map((at) => el("span", clock(at, now))) : []);
	show(byId("rails"), rails(policy, nodes).map((pool) => poolLine(pool, line, scene)));
}

/* ---- lists of nodes */

const age = (now, since) => since > 0 && span(now - since);
const lineOf = (onOpen, node, when, text, next) => el("li", { "data-key": `${node} ${text}` },
	el("button.name", { onclick: () => onOpen(node) }, node), el("span.when", when),
	el("p", text), el("p.quiet", next));
const showLines = (id, lines, none) =>
	show(byId(id), lines.length ? lines : [el("li.quiet", none)]);

export function showBlockers(policy, { now, onOpen }) {
	showLines("blockers", (policy?.blockers ?? []).map(({ node, pod, reason, message, since, next }) =>
		lineOf(onOpen, node, join(reason, age(now, seconds(since))),
			join(!message.includes(pod) && pod, message),
			next && !message.includes(next) && `Next: ${next}`)),
	"Nothing: no node waits for a pod or for you.");
}

const FAULTS = 20;

export function showFaults(policy, { nodes, now, onOpen }) {
	say("brake", policy?.health?.braked ? policy.health.message : "");
	const faulty = [...nodes.values()].filter(({ bad, state }) => bad || state === "Unhealthy")
		.sort((a, b) => b.since - a.since);
	say("faults-count", faulty.length ? number(faulty.length) : "");
	showLines("faults", faulty.slice(0, FAULTS).map(({ name, state, reason, bad, gpus, since }) =>
		lineOf(onOpen, name, join(reason, age(now, since)), `${bad} of ${many(gpus, "GPU")}: ` +
			(state === "Unhealthy" ? "closed for new pods" : "the node stays open"))), "None is known.");
}

/* ---- the banner */

export function showBanner(text, ...commands) {
	byId("banner").hidden = !text;
	show(byId("banner"), [el("p", text), ...commands.map(command)]);
}

/* ---- counters, for small screens instead of the map */

export function showGroups(pools, stateCounts, onPick) {
	show(byId("groups"), pools.flatMap(({ name, zones }) => zones.map((zone) => el("li",
		el("button", { onclick: () => onPick(name, zone.name) },
			el("b", join(name || "no pool", zone.name)), el("span",
				join(...stateCounts(zone.nodes).map(([state, n]) => `${number(n)} ${state}`))))))));
}
