/* The page: holds what is known and what is looked at, and draws each frame what has changed.
 *
 *   live.js    the connection            map.js     places and drawing
 *   fleet.js   nodes as data             panels.js  the panels
 *   look.js    how a node looks          table.js   the rows
 *   dom.js     small tools               drawer.js  the story of a node
 *
 * The fragment of the address holds the view: a link shows the same to others. */

import { byId, clock, el, glyph, many, number, setAttribute, setText, span } from "./dom.js";
import { apply, count, decode, matcher, movesNodes, sorted, sortKey, totals } from "./fleet.js";
import { connect } from "./live.js";
import { FACETS, MODES, NO_DRIVER, SHAPES, legend, lookOf } from "./look.js";
import { draw, layout, neighbour, nodeAt, stamps, tree } from "./map.js";
import * as panels from "./panels.js";
import { makeDrawer } from "./drawer.js";
import { makeTable } from "./table.js";

const SILENT_MS = 60000, AGAIN_MS = 15000, ANNOUNCE_MS = 10000, FLASH_MS = 1600, LATEST = 8;
const NARROW = 480, DEFAULT_SORT = "state";

/* ---- what is known */

const fleet = { nodes: new Map(), policy: null, ostler: null, versions: [], pools: [] };
const link = { kind: "waiting", reason: "connecting", leader: null, asOf: 0, heardAt: Date.now(),
  ahead: 0 };
let latest = [], changesSeen = 0;

/* Ostler's time in seconds: the page's clock may be wrong. */
const now = () => (Date.now() + link.ahead) / 1000;

/* ---- what is looked at: the fragment of the address */

const view = { by: "state", q: "", sort: DEFAULT_SORT, node: null, chosen: {} };

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  view.by = MODES[said.get("by")] ? said.get("by") : "state";
  view.q = said.get("q") ?? "";
  view.sort = said.get("sort") ?? DEFAULT_SORT;
  view.node = said.get("node");
  view.chosen = {};
  for (const facet of Object.keys(FACETS))
    if (said.has(facet)) view.chosen[facet] = said.getAll(facet);
}

function address() {
  const said = new URLSearchParams();
  if (view.by !== "state") said.set("by", view.by);
  for (const [facet, values] of Object.entries(view.chosen))
    for (const value of values) said.append(facet, value);
  if (view.q) said.set("q", view.q);
  if (view.sort !== DEFAULT_SORT) said.set("sort", view.sort);
  if (view.node) said.set("node", view.node);
  return `#${said}`;
}

/* Changes the view. Another node is a step back in the browser's history. */
function look(change) {
  const step = "node" in change && change.node !== view.node;
  Object.assign(view, change);
  history[step ? "pushState" : "replaceState"](null, "", address());
  showView();
}

function toggle(facet, value) {
  const old = view.chosen[facet] ?? [];
  const values = old.includes(value) ? old.filter((one) => one !== value) : [...old, value];
  const chosen = { ...view.chosen, [facet]: values };
  if (!values.length) delete chosen[facet];
  look({ chosen });
}

/* ---- drawing: each frame what has changed since the last one */

const stale = { layout: true, data: true, view: true };
const scene = { stamp: null, colours: {}, scale: 1, hovered: null, flashes: new Map() };
const canvas = byId("canvas"), pen = canvas.getContext("2d");
const drawn = { placed: layout([], 0), matches: () => true, shown: [], ms: 0, width: 0 };
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let frame = 0;

function redraw(...parts) {
  for (const part of parts) stale[part] = true;
  frame ||= requestAnimationFrame(paint);
}

const lookNow = (node) => lookOf(view.by, node, fleet.versions);
const stateLook = (node) => lookOf("state", node, fleet.versions);

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const tone of ["ink", "quiet", "accent", "paper", "ok", "bad", "sick", "wait", "work", "gone",
    "use", "c0", "c1", "c2", "c3", "c4", "c5"])
    scene.colours[tone] = style.getPropertyValue(`--${tone}`).trim();
}

function placeNodes() {
  fleet.pools = tree(fleet.nodes.values());
  drawn.width = byId("canvas-room").clientWidth;
  drawn.placed = layout(fleet.pools, Math.max(0, drawn.width - 8));
  scene.scale = Math.min(3, devicePixelRatio || 1);
  const { size, height } = drawn.placed;
  canvas.width = drawn.width * scene.scale;
  canvas.height = (height + 8) * scene.scale;
  canvas.style.height = `${height + 8}px`;
  readColours();
  scene.stamp = stamps(size, scene.scale, scene.colours);
}

/* Forgets flashes that have faded; the others as name → 0…1. */
function flashesNow() {
  const faded = new Map();
  for (const [name, began] of scene.flashes) {
    const part = (performance.now() - began) / FLASH_MS;
    if (part < 1) faded.set(name, part);
    else scene.flashes.delete(name);
  }
  return faded;
}

function drawMap() {
  const began = performance.now();
  draw(pen, drawn.placed, { ...scene, nodes: fleet.nodes, lookOf: lookNow, matches: drawn.matches,
    selected: view.node ?? scene.at, flashes: flashesNow() });
  drawn.ms = performance.now() - began;
  if (scene.flashes.size) redraw();
}

function summary(counts) {
  return counts.map(([value, n]) => `${number(n)} ${value}`).join(", ");
}

function showCounts() {
  const states = count(fleet.nodes.values(), FACETS.state);
  panels.showChips(byId("states"), "state", states, [], view.chosen.state ?? [], toggle);
  byId("legend").hidden = view.by === "state";
  const values = count(fleet.nodes.values(), FACETS[view.by]);
  if (view.by !== "state") panels.showChips(byId("legend"), view.by, values, fleet.versions,
    view.chosen[view.by] ?? [], toggle);
  setAttribute(canvas, "aria-label", `Map of ${many(fleet.nodes.size, "node")} by ` +
    `${MODES[view.by].title}: ${summary(legend(view.by, values, fleet.versions))}`);
}

function showTable() {
  drawn.matches = matcher(view.q, view.chosen, FACETS);
  const all = [...fleet.nodes.values()], matching = all.filter(drawn.matches);
  drawn.shown = view.sort === DEFAULT_SORT ? byUrgency(matching) : sorted(matching, view.sort);
  const filtered = view.q || Object.keys(view.chosen).length;
  byId("clear").hidden = !filtered;
  setText(byId("shown"), filtered ? `${number(matching.length)} of ${number(all.length)}` :
    number(all.length));
  table({ nodes: drawn.shown, sort: view.sort, lookOf: stateLook, selected: view.node, now: now() });
}

/* The usual order: what needs a look first. */
function byUrgency(nodes) {
  const place = (node) => MODES.state.order.indexOf(node.state) + 1 || 99;
  return [...nodes].sort((a, b) => place(a) - place(b) || (a.key < b.key ? -1 : 1));
}

function showPanels() {
  const { nodes, policy } = fleet;
  panels.showHeadline(policy, fleet.ostler);
  panels.showFigures(nodes.values(), policy);
  panels.showRollout(policy, nodes, now(), stateLook, openNode);
  panels.showBlockers(policy, now(), openNode);
  panels.showFaults(policy, nodes.values(), now(), openNode);
  panels.showLatest(latest, openNode);
  const all = totals(nodes.values());
  document.title = `${number(all.ready)} of ${number(all.nodes)} ready · Ostler`;
}

function paint() {
  frame = 0;
  const { layout: places, data, view: seen } = stale;
  Object.assign(stale, { layout: false, data: false, view: false });
  if (data) {
    const used = count(fleet.nodes.values(), FACETS.driver);
    fleet.versions = [...used.keys()].filter((version) => version !== NO_DRIVER)
      .sort((a, b) => (sortKey(a) > sortKey(b) ? -1 : 1));
    showPanels();
  }
  if (places) placeNodes();
  if (places || data || seen) {
    showCounts();
    showTable();
    if (drawn.width < NARROW) panels.showGroups(fleet.pools, (nodes) =>
      legend("state", count(nodes, FACETS.state), []), ({ pool, zone }) =>
      look({ chosen: { ...view.chosen, pool: [pool], zone: [zone] } }));
    showReadout();
  }
  drawMap();
}

/* ---- the view */

function showView() {
  for (const button of byId("modes").children)
    setAttribute(button, "aria-pressed", String(button.dataset.mode === view.by));
  if (byId("filter").value !== view.q) byId("filter").value = view.q;
  if (view.node) drawer.open(view.node);
  else if (drawer.name()) drawer.close();
  showStoryState();
  redraw("view");
}

const openNode = (node) => look({ node });
const closeNode = () => look({ node: null });

function showStoryState() {
  const node = fleet.nodes.get(view.node), line = byId("story-state");
  if (!view.node) return;
  line.replaceChildren(...(node ? [glyph(SHAPES, stateLook(node)), el("b", {}, node.state ?? ""),
    [node.reason, node.since && span(now() - node.since)].filter(Boolean).join(" · ")] :
    ["The fleet has no such node now."]));
}

/* The node under the pointer or the keys, in words below the map. */
function showReadout() {
  const node = fleet.nodes.get(scene.hovered ?? scene.at ?? view.node), line = byId("readout");
  if (!node) return setText(line, "Point at a node, or move with the arrow keys.");
  setText(line, [node.name, node.state, node.reason, [node.pool, node.zone, node.rack]
    .filter(Boolean).join(" / "), node.driver && `driver ${node.driver}` +
    (node.target && node.target !== node.driver ? ` → ${node.target}` : ""),
  `${node.used} of ${many(node.gpus, "GPU")} in use`, node.bad && `${node.bad} faulty`,
  node.since && `for ${span(now() - node.since)}`].filter(Boolean).join(" · "));
}

/* ---- the connection */

function heard(data) {
  Object.assign(link, { kind: "live", heardAt: Date.now(), asOf: Date.parse(data.asOf) });
  link.ahead = link.asOf - link.heardAt;
}

/* Notes changes for the list and lets the nodes flash. */
function note(changes) {
  const at = clock(link.asOf, link.asOf);
  for (const { name, before, after } of changes) {
    if (before && after && before.state === after.state && before.driver === after.driver) continue;
    const text = !before ? `is new: ${after.state}` : !after ? "is gone" : before.state !== after.state ?
      `${before.state} → ${after.state}` : `driver ${before.driver ?? "none"} → ${after.driver ?? "none"}`;
    latest.unshift({ id: changesSeen++, node: name, at, text });
    if (!calm.matches) scene.flashes.set(name, performance.now());
  }
  latest.length = Math.min(latest.length, LATEST);
}

const HEARD = {
  snapshot(data) {
    heard(data);
    Object.assign(fleet, { nodes: decode(data), policy: data.policy, ostler: data.ostler });
    scene.flashes.clear();
    redraw("layout", "data");
    drawer.refresh();
  },
  nodes(data) {
    heard(data);
    const changes = apply(fleet.nodes, data);
    note(changes);
    redraw("data", ...(movesNodes(changes) ? ["layout"] : []));
    if (changes.some(({ name }) => name === view.node)) drawer.refresh();
  },
  policy(data) {
    heard(data);
    fleet.policy = data.policy;
    redraw("data");
  },
  beat: heard,
  open: () => (link.kind = "live"),
  waiting: (reason) => Object.assign(link, { kind: "waiting", reason }),
  standby: ({ leader }) => Object.assign(link, { kind: "standby", leader }),
};

/* What is wrong with the connection, for the banner; null: nothing. */
function trouble(silent) {
  const since = link.asOf ? `No word from Ostler since ${clock(link.asOf, Date.now() + link.ahead)}` : "";
  if (link.kind === "standby") {
    const text = link.leader ? `This is a standby of Ostler. The leader is ${link.leader}: end this ` +
      "port-forward, begin one to the leader, and this page goes on." :
      "This is a standby of Ostler, and no leader is known yet: trying again.";
    return { text, commands: link.leader ?
      [`kubectl port-forward -n ostler-system pod/${link.leader} 8081`] : [] };
  }
  if (silent) return { text: `${since || "No word from Ostler"}: what you see is as old as that. ` +
    `${link.kind === "live" ? "The connection is silent" : link.reason}.`, commands: [] };
  return link.kind === "waiting" && !link.asOf ? { text: `${link.reason} …`, commands: [] } : null;
}

let tried = 0;
function showLink() {
  const silentMs = Date.now() - link.heardAt, silent = silentMs > SILENT_MS;
  document.body.classList.toggle("stale", link.asOf > 0 && (silent || link.kind === "standby"));
  byId("link").className = `link ${silent ? "silent" : link.kind}`;
  setText(byId("as-of"), !link.asOf ? link.kind : `${link.kind === "live" && !silent ? "live, " : ""}` +
    `as of ${clock(link.asOf, Date.now() + link.ahead)}`);
  panels.showBanner(trouble(silent && (link.asOf > 0 || silentMs > SILENT_MS)));
  if (silent && link.kind !== "standby" && Date.now() - tried > AGAIN_MS) {
    tried = Date.now();
    again();
  }
}

let announced = 0;
function announce() {
  const text = byId("message").textContent, line = byId("announce");
  if (line.textContent === text || Date.now() - announced < ANNOUNCE_MS) return;
  announced = Date.now();
  setText(line, text);
}

/* Once a second: ages, the state of the connection, the sentence for screen readers. */
function tick() {
  showLink();
  announce();
  if (!document.hidden && link.kind === "live") redraw("data");
}

/* ---- keys and pointer */

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

canvas.onkeydown = (event) => {
  if (event.key === "Enter" && scene.at) openNode(scene.at);
  else if (STEPS[event.key]) {
    scene.at = neighbour(drawn.placed, scene.at ?? view.node, ...STEPS[event.key]);
    scene.hovered = null;
    setAttribute(byId("readout"), "aria-live", "polite");
    redraw("view");
  } else return;
  event.preventDefault();
};

function pointed(event) {
  const { left, top } = canvas.getBoundingClientRect();
  return nodeAt(drawn.placed, event.clientX - left - 2, event.clientY - top - 2);
}

canvas.onpointermove = (event) => {
  const name = pointed(event);
  if (name === scene.hovered) return;
  scene.hovered = name;
  canvas.style.cursor = name ? "pointer" : "";
  setAttribute(byId("readout"), "aria-live", "off");
  showReadout();
  redraw();
};
canvas.onpointerleave = () => {
  scene.hovered = null;
  showReadout();
  redraw();
};
canvas.onclick = (event) => {
  const name = pointed(event);
  if (!name) return;
  scene.at = name;
  openNode(name);
};

document.onkeydown = (event) => {
  const typing = event.target.matches("input");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    byId("filter").focus();
  } else if (event.key === "Escape") {
    if (view.node) closeNode();
    else if (typing) event.target.blur();
  }
};
byId("filter").oninput = (event) => look({ q: event.target.value });
byId("clear").onclick = () => look({ q: "", chosen: {} });

/* ---- begin */

const drawer = makeDrawer({ onClose: closeNode });
const table = makeTable({ onOpen: openNode,
  onSort: (member) => look({ sort: view.sort === member ? `-${member}` : member }) });

byId("modes").append(...Object.entries(MODES).map(([mode, { title }]) => el("button", { type: "button",
  "data-mode": mode, onclick: () => look({ by: mode }) }, title)));

window.onpopstate = window.onhashchange = () => {
  readAddress();
  showView();
};
matchMedia("(prefers-color-scheme: dark)").onchange = () => redraw("layout");
new ResizeObserver(() => byId("canvas-room").clientWidth !== drawn.width && redraw("layout"))
  .observe(byId("canvas-room"));

readAddress();
showView();
const again = connect((kind, data) => {
  HEARD[kind](data);
  showLink();
});
setInterval(tick, 1000);

/* For tests: what is drawn, to read only. */
window.fleet = Object.freeze({
  read: () => ({ link: link.kind, asOf: link.asOf, nodes: fleet.nodes.size, view: { ...view },
    shown: drawn.shown.map(({ name }) => name), drawMs: drawn.ms, size: drawn.placed.size }),
  cells: () => [...drawn.placed.cells].map(([name, [x, y]]) => ({ name, x: x + 2, y: y + 2,
    look: lookNow(fleet.nodes.get(name)) })),
  redraw: () => {
    drawMap();
    return drawn.ms;
  },
  colours: () => ({ ...scene.colours }), scale: () => scene.scale,
});
