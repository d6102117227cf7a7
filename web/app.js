/* What is known and looked at; draws what has changed in each frame. The address's fragment holds
 * the view. */

import { byId, clock, el, join, many, number, say, seconds, show, span } from "./dom.js";
import { makeDrawer } from "./drawer.js";
import { apply, count, decode, matcher, sorted, sortKey, totals } from "./fleet.js";
import { connect } from "./live.js";
import { FACETS, MODES, legend, lookOf, versionsOf } from "./look.js";
import { CORNER, draw, layout, neighbour, nodeAt, stamps, tree } from "./map.js";
import * as panels from "./panels.js";
import { makeTable, textsOf } from "./table.js";

const SILENT_MS = 60000, AGAIN_MS = 15000, ANNOUNCE_MS = 10000;

/* ---- what is known */

const fleet = { nodes: new Map(), pools: [], ostler: {}, versions: [] };
/* asOf and now() are Ostler's time: the page's clock may be wrong. */
const link = { kind: "waiting", why: "Connecting", asOf: 0, heardAt: Date.now(), triedAt: 0 };
const now = () => link.asOf + (Date.now() - link.heardAt) / 1000;

/* ---- what is looked at */

const view = {}, USUAL = { by: "state", q: "", sort: "state", node: null };

function readAddress() {
	const said = new URLSearchParams(location.hash.slice(1));
	view.chosen = {};
	for (const key in USUAL) view[key] = said.get(key) ?? USUAL[key];
	if (!Object.hasOwn(MODES, view.by)) view.by = USUAL.by;
	for (const facet in FACETS) if (said.has(facet)) view.chosen[facet] = said.getAll(facet);
}

function address() {
	const said = new URLSearchParams();
	for (const key in USUAL) if (view[key] !== USUAL[key]) said.set(key, view[key]);
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

const onOpen = (node) => look({ node });

/* ---- drawing */

/* What a frame draws: the map; panels, too; the cells' places. */
const MAP = 1, ALL = 2, PLACES = 3;
const canvas = byId("canvas"), pen = canvas.getContext("2d");
const scene = {};
let stale = 0, placed = layout([], 0), matches = () => true, shown = [];

function redraw(what = MAP) {
	if (!stale) requestAnimationFrame(paint);
	stale = Math.max(stale, what);
}

const lookNow = (node) => lookOf(view.by, node, fleet.versions);
const stateLook = (node) => lookOf("state", node);
const urgency = (node) => MODES.state.order().indexOf(FACETS.state(node));

function placeNodes() {
	const width = byId("room").clientWidth, style = getComputedStyle(document.body);
	fleet.pools = tree(fleet.nodes.values());
	placed = layout(fleet.pools, Math.max(0, width - 2 * CORNER));
	scene.scale = Math.min(3, devicePixelRatio);
	scene.colour = (name) => style.getPropertyValue(`--${name}`);
	const height = placed.high + 2 * CORNER;
	canvas.width = width * scene.scale || 1;
	canvas.height = height * scene.scale;
	canvas.style.height = `${height}px`;
	scene.picture = pen.createImageData(canvas.width, canvas.height);
	scene.width = width;
	scene.stamp = stamps(placed.size, scene.scale, scene.colour);
}

function drawMap() {
	const began = performance.now();
	draw(pen, placed, { ...scene, nodes: fleet.nodes, lookOf: lookNow, matches, selected: view.node });
	scene.drawn = { placed, shown, ms: performance.now() - began };
}

function showCounts() {
	const { nodes, versions } = fleet, { by, chosen } = view;
	const counted = (mode, some) => count(some, FACETS[mode]), counts = counted(by, nodes.values());
	const chips = (id, mode) => panels.showChips(byId(id), mode, counted(mode, nodes.values()),
		versions, chosen[mode] ?? [], toggle);
	chips("states", "state");
	if (!(byId("legend").hidden = by === "state")) chips("legend", by);
	canvas.setAttribute("aria-label", `Map of ${many(nodes.size, "node")} by ${MODES[by].title}: ` +
		legend(by, counts, versions).map(([value, n]) => `${n} ${value}`).join(", "));
	panels.showGroups(fleet.pools, (some) => legend("state", counted("state",
		some.map(({ name }) => nodes.get(name)))),
	(pool, zone) => look({ chosen: { ...view.chosen, pool: [pool], zone: [zone] } }));
}

function showTable() {
	const { q, chosen, sort, node } = view, all = [...fleet.nodes.values()];
	matches = matcher(q, chosen, FACETS);
	shown = sorted(all.filter(matches), sort,
		{ __proto__: null, name: ({ key }) => key, state: urgency });
	byId("clear").hidden = !q && !Object.keys(chosen).length;
	say("shown", `${number(shown.length)} of ${number(all.length)}`);
	table({ nodes: shown, sort, lookOf: stateLook, selected: node, now: now() });
}

function showPanels() {
	const { nodes, policy, ostler } = fleet, all = totals(nodes.values());
	const given = { nodes, now: now(), stateLook, onOpen };
	fleet.versions = versionsOf(count(nodes.values(), FACETS.driver), sortKey);
	panels.showHeadline(policy, ostler);
	panels.showFigures(all, policy?.rollout);
	for (const part of ["Rollout", "Blockers", "Faults"]) panels[`show${part}`](policy, given);
	document.title = `${number(all.ready)} of ${number(all.nodes)} ready · Ostler`;
}

function paint() {
	const what = stale;
	stale = 0;
	if (what >= ALL) showPanels();
	if (what >= PLACES) placeNodes();
	if (what >= ALL) {
		showCounts();
		showTable();
		showWords();
	}
	drawMap();
}

/* ---- the view */

function showView() {
	show(byId("modes"), Object.keys(MODES).map((by) => el("button.chip", { "data-mode": by,
		"aria-pressed": by === view.by, onclick: () => look({ by }) }, MODES[by].title)));
	if (byId("filter").value !== view.q) byId("filter").value = view.q;
	drawer.open(view.node);
	redraw(ALL);
}

function showWords() {
	const words = (node) => textsOf(node, now()).slice(1).filter(([, text]) => text)
		.map((part) => part.join(" ")).join(" · ");
	const node = fleet.nodes.get(scene.at), open = fleet.nodes.get(view.node);
	say("readout", node ? `${node.name}: ${words(node)}` :
		"Point at a node, or move with the arrow keys.");
	say("story-state", open ? words(open) : "Ostler shows no such node.");
}

/* ---- the connection */

const HEARD = {
	snapshot(data) {
		Object.assign(fleet, { nodes: decode(data), policy: data.policy, ostler: data.ostler ?? {} });
		redraw(PLACES);
		drawer.refresh();
	},
	nodes(data) {
		redraw(apply(fleet.nodes, data) ? PLACES : ALL);
		if (data.set.some(([name]) => name === view.node)) drawer.refresh();
	},
	policy({ policy }) {
		fleet.policy = policy;
		redraw(ALL);
	},
	beat() {},
	open: () => (link.kind = "live"),
	waiting: (why) => Object.assign(link, { kind: "waiting", why }),
	standby: ({ leader }) => Object.assign(link, { kind: "standby", leader }),
};

function trouble(silent) {
	const { kind, leader, asOf, why } = link;
	if (kind === "standby") return !leader ? ["This is a standby, and no leader is known yet."] :
		[`This is a standby; ${leader} leads. Forward its port instead:`,
			`kubectl port-forward -n ostler-system pod/${leader} 8081`];
	if (silent && asOf) return [`No word from Ostler since ${clock(asOf, now())}, for ` +
		`${span(now() - asOf)}: all below is as of then.`];
	return asOf ? [] : [`${why}.`];
}

function showLink() {
	const silent = Date.now() - link.heardAt > SILENT_MS, { kind, asOf, why, triedAt } = link;
	document.body.classList.toggle("stale", asOf > 0 && (silent || kind === "standby"));
	byId("link").className = silent ? "silent" : kind;
	say("link", !asOf ? kind : join(`as of ${clock(asOf, now())}`,
		kind === "waiting" ? why : !silent && kind));
	panels.showBanner(...trouble(silent));
	if (document.hidden || !silent || kind === "standby" || Date.now() - triedAt < AGAIN_MS) return;
	link.triedAt = Date.now();
	again();
}

/* Screen readers do not hear each change of the sentence. */
let announcedAt = 0;
function announce() {
	if (Date.now() - announcedAt < ANNOUNCE_MS) return;
	announcedAt = Date.now();
	say("announce", byId("message").textContent);
}

/* ---- keys and pointer */

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function point(name) {
	scene.at = name;
	showWords();
	redraw();
}

canvas.onkeydown = (event) => {
	const step = STEPS[event.key];
	/* Not the pale ones. */
	const counts = (name) => matches(fleet.nodes.get(name));
	if (step) point(neighbour(placed, scene.at ?? view.node, ...step, counts));
	else if (event.key === "Enter") shown.some(({ name }) => name === scene.at) && onOpen(scene.at);
	else return;
	event.preventDefault();
};

const pointed = ({ offsetX, offsetY }) => nodeAt(placed, offsetX - CORNER, offsetY - CORNER);

canvas.onpointermove = (event) => {
	const name = pointed(event);
	if (name && name !== scene.at) point(name);
};
canvas.onclick = (event) => onOpen(pointed(event));

document.onkeydown = (event) => {
	const typing = event.target.matches("input");
	if (event.key === "Escape") view.node ? onOpen(null) : typing && event.target.blur();
	if (event.key !== "/" || typing) return;
	event.preventDefault();
	byId("filter").focus();
};

/* ---- begin */

const drawer = makeDrawer();
const table = makeTable((by) => look({ sort: view.sort === by ? `-${by}` : by }), onOpen);
byId("story-close").onclick = () => onOpen(null);
byId("filter").oninput = ({ target }) => look({ q: target.value });
byId("clear").onclick = () => look({ q: "", chosen: {} });
window.onpopstate = () => {
	readAddress();
	showView();
};
window.onpopstate();
redraw(PLACES);
matchMedia("(prefers-color-scheme: dark)").onchange = () => redraw(PLACES);
new ResizeObserver(() => byId("room").clientWidth !== scene.width && redraw(PLACES))
	.observe(byId("room"));
const again = connect((kind, data) => {
	/* A blind Ostler repeats its time; a new leader's may be earlier. */
	const asOf = seconds(data?.asOf), by = asOf - link.asOf;
	if (asOf) link.kind = "live";
	if (asOf && (by > 0 || by < -2)) Object.assign(link, { heardAt: Date.now(), asOf });
	HEARD[kind](data);
	showLink();
});
setInterval(() => {
	showLink();
	announce();
	if (!document.hidden && link.kind === "live") redraw(ALL);
}, 1000);

/* For tests. */
window.page = { fleet, link, view, scene, lookNow };
