/* The page: holds what is known and what is looked at, and draws what has changed in each frame.
 * The fragment of the address holds the view, so that a link shows it. */

import { byId, clock, driverOf, el, join, many, number, say, set, span } from "./dom.js";
import { makeDrawer } from "./drawer.js";
import { apply, count, decode, matcher, moves, sorted, sortKey, totals } from "./fleet.js";
import { connect } from "./live.js";
import { FACETS, MODES, legend, lookOf, versionsOf } from "./look.js";
import { CORNER, draw, layout, neighbour, nodeAt, stamps, tree } from "./map.js";
import * as panels from "./panels.js";
import { makeTable } from "./table.js";

const SILENT_MS = 60000, AGAIN_MS = 15000, ANNOUNCE_MS = 10000, FLASH_MS = 1500;

/* ---- what is known */

const fleet = { nodes: new Map(), ostler: {}, versions: [] };
/* asOf and now() are Ostler's time: the page's clock may be wrong. */
const link = { kind: "waiting", why: "Connecting", asOf: 0, heardAt: Date.now(), triedAt: 0 };
const now = () => link.asOf + (Date.now() - link.heardAt) / 1000;

/* ---- what is looked at */

const view = {};

function readAddress() {
	const said = new URLSearchParams(location.hash.slice(1)), by = said.get("by");
	Object.assign(view, { by: Object.hasOwn(MODES, by) ? by : "state", q: said.get("q") ?? "",
		sort: said.get("sort") ?? "state", node: said.get("node"), chosen: {} });
	for (const facet in FACETS) if (said.has(facet)) view.chosen[facet] = said.getAll(facet);
}

function address() {
	const said = new URLSearchParams();
	for (const key of ["by", "q", "sort", "node"])
		if (view[key] && (view[key] !== "state" || key === "q")) said.set(key, view[key]);
	for (const facet in view.chosen)
		for (const value of view.chosen[facet]) said.append(facet, value);
	return `#${said}`;
}

function look(change) {
	const step = "node" in change && change.node !== view.node;
	Object.assign(view, change);
	history[step ? "pushState" : "replaceState"](null, "", address());
	showView();
}

function toggle(facet, value) {
	const { [facet]: old = [], ...others } = view.chosen;
	const values = old.includes(value) ? old.filter((one) => one !== value) : [...old, value];
	look({ chosen: values.length ? { ...others, [facet]: values } : others });
}

const openNode = (node) => look({ node });

/* ---- drawing */

const stale = new Set(["places"]), canvas = byId("canvas"), pen = canvas.getContext("2d");
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const scene = { colours: {}, flashes: new Map() };
let frame = 0, placed = layout([], 0), matches = () => true, shown = [];
const drawn = { times: 0 };

function redraw(...parts) {
	for (const part of parts) stale.add(part);
	frame ||= requestAnimationFrame(paint);
}

const lookNow = (node) => lookOf(view.by, node, fleet.versions);
const stateLook = (node) => lookOf("state", node);
const stateCounts = (nodes) => legend("state", count(nodes, FACETS.state));
const urgency = (node) => MODES.state.order().indexOf(node.state);

function placeNodes() {
	const width = byId("room").clientWidth, style = getComputedStyle(document.body);
	fleet.pools = tree(fleet.nodes.values());
	placed = layout(fleet.pools, Math.max(0, width - 2 * CORNER));
	scene.scale = Math.min(3, devicePixelRatio);
	for (const name of "ink quiet accent paper ok bad sick wait work gone use none".split(" "))
		scene.colours[name] = style.getPropertyValue(`--${name}`);
	const height = placed.high + 2 * CORNER;
	canvas.width = width * scene.scale || 1;
	canvas.height = height * scene.scale;
	canvas.style.height = `${height}px`;
	scene.picture = pen.createImageData(canvas.width, canvas.height);
	scene.width = width;
	scene.stamp = stamps(placed.size, scene.scale, scene.colours);
}

/* While nodes flash, another frame follows. */
function drawMap() {
	const began = performance.now(), flashes = new Map();
	for (const [name, since] of scene.flashes)
		if (began - since < FLASH_MS) flashes.set(name, Math.max(0, began - since) / FLASH_MS);
		else scene.flashes.delete(name);
	draw(pen, placed, { ...scene, nodes: fleet.nodes, lookOf: lookNow, matches, flashes,
		selected: view.node ?? scene.at });
	if (flashes.size) redraw();
	const end = performance.now(), first = drawn.first || (fleet.nodes.size && end);
	Object.assign(drawn, { placed, shown, first, times: drawn.times + 1, ms: end - began });
}

function showCounts() {
	const { nodes, versions } = fleet, { by, chosen } = view;
	const chips = (id, mode, counts) =>
		panels.showChips(byId(id), mode, counts, versions, chosen[mode] ?? [], toggle);
	const counts = count(nodes.values(), FACETS[by]);
	chips("states", "state", count(nodes.values(), FACETS.state));
	byId("legend").hidden = by === "state";
	if (by !== "state") chips("legend", by, counts);
	set(canvas, "aria-label", `Map of ${many(nodes.size, "node")} by ${MODES[by].title}: ` +
		legend(by, counts, versions).map(([value, n]) => `${n} ${value}`).join(", "));
	panels.showGroups(fleet.pools, stateCounts, (pool, zone) =>
		look({ chosen: { ...chosen, pool: [pool], zone: [zone] } }));
}

function showTable() {
	const { q, chosen, sort, node } = view, all = [...fleet.nodes.values()];
	matches = matcher(q, chosen, FACETS);
	shown = sorted(all.filter(matches), sort, { name: ({ key }) => key, state: urgency });
	byId("clear").hidden = !q && !Object.keys(chosen).length;
	say(byId("shown"), `${number(shown.length)} of ${number(all.length)}`);
	table({ nodes: shown, sort, lookOf: stateLook, selected: node, now: now() });
}

function showPanels() {
	const { nodes, policy, ostler } = fleet, all = totals(nodes.values());
	const given = { nodes, now: now(), stateLook, onOpen: openNode };
	fleet.versions = versionsOf(count(nodes.values(), FACETS.driver), sortKey);
	panels.showHeadline(policy, ostler);
	panels.showFigures(nodes.values(), policy);
	panels.showRollout(policy, given);
	panels.showBlockers(policy, given);
	panels.showFaults(policy, given);
	document.title = `${number(all.ready)} of ${number(all.nodes)} ready · Ostler`;
}

function paint() {
	frame = 0;
	const parts = new Set(stale);
	stale.clear();
	if (parts.has("data")) showPanels();
	if (parts.has("places")) placeNodes();
	if (parts.size) {
		showCounts();
		showTable();
		showWords();
	}
	drawMap();
}

/* ---- the view */

function showView() {
	for (const button of byId("modes").children)
		set(button, "aria-pressed", button.dataset.mode === view.by);
	if (byId("filter").value !== view.q) byId("filter").value = view.q;
	drawer.show(view.node);
	redraw("view");
}

const words = ({ name, state, reason, pool, zone, rack, used, gpus, bad, since, ...node }) =>
	join(name, state, reason, [pool, zone, rack].filter(Boolean).join(" / "), driverOf(node),
		`${used} of ${many(gpus, "GPU")} in use`, bad && `${bad} faulty`,
		since > 0 && `for ${span(now() - since)}`);

function showWords() {
	const node = fleet.nodes.get(scene.hovered ?? scene.at), open = fleet.nodes.get(view.node);
	say(byId("readout"), node ? words(node) : "Point at a node, or move with the arrow keys.");
	say(byId("story-state"), open ? words({ ...open, name: "" }) : "Ostler shows no such node.");
}

/* ---- the connection */

function heard({ asOf }) {
	Object.assign(link, { kind: "live", heardAt: Date.now(), asOf: Date.parse(asOf) / 1000 });
}

const HEARD = {
	snapshot(data) {
		heard(data);
		Object.assign(fleet, { nodes: decode(data), policy: data.policy, ostler: data.ostler ?? {} });
		redraw("data", "places");
		drawer.refresh();
	},
	nodes(data) {
		heard(data);
		const changed = apply(fleet.nodes, data);
		if (!calm.matches) for (const { name, before, after } of changed)
			if (before?.state !== after?.state) scene.flashes.set(name, performance.now());
		redraw("data", ...(changed.some(moves) ? ["places"] : []));
		if (changed.some(({ name }) => name === view.node)) drawer.refresh();
	},
	policy(data) {
		heard(data);
		fleet.policy = data.policy;
		redraw("data");
	},
	beat: heard,
	open: () => (link.kind = "live"),
	waiting: (why) => Object.assign(link, { kind: "waiting", why }),
	standby: ({ leader }) => Object.assign(link, { kind: "standby", leader }),
};

function trouble(silent) {
	const { kind, leader, asOf, why } = link;
	if (kind === "standby" && !leader) return ["This is a standby, and no leader is known yet."];
	if (kind === "standby") return [`This is a standby; ${leader} leads. Forward its port instead:`,
		`kubectl port-forward -n ostler-system pod/${leader} 8081`];
	if (silent && asOf) return [`No word from Ostler since ${clock(asOf, now())}, for ` +
		`${span(now() - asOf)}: all below is as of then.`];
	return asOf ? [] : [`${why}.`];
}

function showLink() {
	const silent = Date.now() - link.heardAt > SILENT_MS, { kind, asOf, why, triedAt } = link;
	document.body.classList.toggle("stale", asOf > 0 && (silent || kind === "standby"));
	byId("link").className = silent ? "silent" : kind;
	const at = `as of ${clock(asOf, now())}`;
	const said = kind === "waiting" ? why : !silent && kind;
	say(byId("as-of"), asOf ? join(at, said) : kind);
	panels.showBanner(...trouble(silent));
	if (!silent || kind === "standby" || Date.now() - triedAt < AGAIN_MS) return;
	link.triedAt = Date.now();
	again();
}

/* Screen readers hear the policy's sentence, not each change of it. */
let announcedAt = 0;
function announce() {
	if (Date.now() - announcedAt < ANNOUNCE_MS) return;
	announcedAt = Date.now();
	say(byId("announce"), byId("message").textContent);
}

/* ---- keys and pointer */

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

canvas.onkeydown = (event) => {
	const step = STEPS[event.key];
	if (step) scene.at = neighbour(placed, scene.at ?? view.node, ...step);
	else if (event.key !== "Enter") return;
	else openNode(scene.at);
	event.preventDefault();
	scene.hovered = null;
	redraw("view");
};

const pointed = ({ offsetX, offsetY }) => nodeAt(placed, offsetX - CORNER, offsetY - CORNER);

canvas.onpointermove = canvas.onpointerleave = (event) => {
	const name = event.type === "pointerleave" ? null : pointed(event);
	if (name === scene.hovered) return;
	scene.hovered = name;
	canvas.style.cursor = name ? "pointer" : "";
	showWords();
	redraw();
};
canvas.onclick = (event) => openNode(scene.at = pointed(event));

document.onkeydown = (event) => {
	const typing = event.target.matches("input");
	if (event.key === "Escape") view.node ? openNode(null) : typing && event.target.blur();
	if (event.key !== "/" || typing) return;
	event.preventDefault();
	byId("filter").focus();
};

/* ---- begin */

const drawer = makeDrawer();
const table = makeTable((by) => look({ sort: view.sort === by ? `-${by}` : by }), openNode);
byId("story-close").onclick = () => openNode(null);
byId("filter").oninput = ({ target }) => look({ q: target.value });
byId("clear").onclick = () => look({ q: "", chosen: {} });
for (const mode in MODES) byId("modes").append(el("button.chip", { "data-mode": mode,
	onclick: () => look({ by: mode }) }, MODES[mode].title));
window.onpopstate = () => {
	readAddress();
	showView();
};
window.onpopstate();
matchMedia("(prefers-color-scheme: dark)").onchange = () => redraw("places");
new ResizeObserver(() => byId("room").clientWidth !== scene.width && redraw("places"))
	.observe(byId("room"));
const again = connect((kind, data) => {
	HEARD[kind](data);
	showLink();
});
setInterval(() => {
	showLink();
	announce();
	if (!document.hidden && link.kind === "live") redraw("data");
}, 1000);

/* For tests. */
window.page = { fleet, link, view, scene, drawn, lookNow };
