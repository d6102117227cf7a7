/* The map: a place for each node, by pool, zone and rack; drawing; finding a node by a point or in
 * a direction. Layout is pure: the same nodes and width give the same places. */

import { SHAPES } from "./look.js";

const SIZES = [34, 28, 24, 20, 17, 14, 12, 10], HEIGHT = 560;
const HEAD = 30, ZONE_GAP = 10, POOL_GAP = 18, LABEL = 15, RACK_ROWS = 8, INDENT = 92, WIDE = 620;

/* ---- layout */

function split(nodes, member) {
  const parts = new Map();
  for (const node of nodes) {
    const name = node[member] ?? "";
    if (!parts.has(name)) parts.set(name, []);
    parts.get(name).push(node);
  }
  const key = (name) => name.replace(/\d+/g, (d) => d.padStart(12, "0"));
  return [...parts].sort(([a], [b]) => (key(a) < key(b) ? -1 : 1));
}

/* The nodes as a tree: pools of zones of racks, each in the order of names. */
export function tree(nodes) {
  const inOrder = [...nodes].sort((a, b) => (a.key < b.key ? -1 : 1));
  return split(inOrder, "pool").map(([name, members]) => ({
    name, nodes: members,
    zones: split(members, "zone").map(([zone, there]) => ({
      name: zone, nodes: there,
      racks: split(there, "rack").map(([rack, nodes]) => ({ name: rack, nodes })),
    })),
  }));
}

/* A rack stands: its nodes go down, then to the next column. Nodes without a rack fill rows. */
function rackShape(rack, room, size) {
  const n = rack.nodes.length, most = Math.max(1, Math.floor(room / size));
  if (!rack.name) return { cols: Math.min(n, most), rows: Math.ceil(n / most), down: false };
  const cols = Math.min(Math.ceil(n / RACK_ROWS), most);
  return { cols, rows: Math.ceil(n / cols), down: true };
}

/* Places the racks of a zone from `top` on, in lines. Returns the bottom. */
function placeZone(zone, left, top, width, size, out) {
  const gap = Math.max(6, size / 2), labelled = zone.racks.some((rack) => rack.name);
  const shapes = zone.racks.map((rack) => rackShape(rack, width - left, size));
  const names = labelled && size >= 17;
  let x = left, y = top, tallest = 0;
  zone.racks.forEach((rack, i) => {
    const { cols, rows, down } = shapes[i], wide = cols * size;
    if (x > left && x + wide > width) [x, y, tallest] = [left, y + tallest + gap, 0];
    const head = names ? LABEL : 0;
    if (names) out.labels.push({ text: rack.name, x, y: y + 10, kind: "rack", room: wide + gap - 4 });
    out.blocks.push({ x, y: y + head, cols, rows, down, nodes: rack.nodes });
    x += wide + gap;
    tallest = Math.max(tallest, rows * size + head);
  });
  return y + tallest;
}

function place(pools, width, size) {
  const out = { size, width, blocks: [], labels: [], height: 0 };
  const beside = width >= WIDE, left = beside ? INDENT : 0;
  let y = 0;
  for (const pool of pools) {
    out.labels.push({ text: pool.name || "no pool", note: String(pool.nodes.length), x: 0, y: y + 14,
      kind: "pool", room: width });
    y += HEAD;
    for (const zone of pool.zones) {
      const named = beside || zone.name;
      if (named) out.labels.push({ text: zone.name, x: 0, y: y + 11, kind: "zone",
        room: beside ? INDENT - 12 : width });
      if (named && !beside) y += LABEL + 3;
      y = placeZone(zone, left, y, width, size, out) + ZONE_GAP;
    }
    y += POOL_GAP - ZONE_GAP;
  }
  out.height = Math.max(0, y - POOL_GAP);
  return out;
}

/* The largest size at which the map is not too high. Result: {size, width, height, blocks, labels,
 * cells: Map name → [x, y]}. */
export function layout(pools, width) {
  let placed;
  for (const size of SIZES) {
    placed = place(pools, width, size);
    if (placed.height <= HEIGHT) break;
  }
  placed.cells = new Map();
  for (const block of placed.blocks)
    block.nodes.forEach((node, i) => {
      const [col, row] = block.down ? [Math.floor(i / block.rows), i % block.rows] :
        [i % block.cols, Math.floor(i / block.cols)];
      placed.cells.set(node.name, [block.x + col * placed.size, block.y + row * placed.size]);
    });
  return placed;
}

/* ---- finding */

/* The name of the node at a point, or null. */
export function nodeAt(placed, x, y) {
  const { size } = placed;
  for (const block of placed.blocks) {
    const col = Math.floor((x - block.x) / size), row = Math.floor((y - block.y) / size);
    if (col < 0 || row < 0 || col >= block.cols || row >= block.rows) continue;
    const i = block.down ? col * block.rows + row : row * block.cols + col;
    return block.nodes[i]?.name ?? null;
  }
  return null;
}

/* The nearest node in a direction; the same one if there is none. */
export function neighbour(placed, from, dx, dy) {
  const start = placed.cells.get(from);
  if (!start) return placed.cells.keys().next().value ?? null;
  let best = from, least = Infinity;
  for (const [name, [x, y]] of placed.cells) {
    const ahead = (x - start[0]) * dx + (y - start[1]) * dy;
    const aside = Math.abs((x - start[0]) * dy) + Math.abs((y - start[1]) * dx);
    if (ahead > 0 && ahead + 3 * aside < least) [best, least] = [name, ahead + 3 * aside];
  }
  return best;
}

/* ---- drawing */

/* The pictures of the looks at one size, each drawn once. `colours` has each tone and the paper. */
export function stamps(size, scale, colours) {
  const made = new Map(), side = size - Math.max(1.5, size / 10);
  const draw = ([shape, tone]) => {
    const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
    canvas.width = canvas.height = Math.ceil(side * scale);
    pen.scale(canvas.width / 12, canvas.width / 12);
    pen.lineCap = "round";
    for (const [how, d] of SHAPES[shape]) {
      const path = new Path2D(d);
      pen.globalAlpha = how === "faint" ? 0.24 : 1;
      pen.strokeStyle = how === "cut" ? colours.paper : colours[tone];
      pen.fillStyle = colours[tone];
      pen.lineWidth = how === "thin" ? 1.2 : 1.9;
      if (how === "full" || how === "faint") pen.fill(path);
      else pen.stroke(path);
    }
    return canvas;
  };
  return (look) => {
    const key = look[0] + look[1];
    if (!made.has(key)) made.set(key, draw(look));
    return made.get(key);
  };
}

const FONTS = { pool: "600 14px system-ui, sans-serif", zone: "12px system-ui, sans-serif",
  rack: "10px system-ui, sans-serif" };

/* The text, shortened in the middle of nothing: its end counts, so the beginning goes. */
function fit(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let rest = text.slice(-60);
  while (rest.length > 1 && pen.measureText("…" + rest).width > room) rest = rest.slice(1);
  return rest.length > 1 ? "…" + rest : "";
}

function drawLabels(pen, placed, colours) {
  for (const { text, note, x, y, kind, room } of placed.labels) {
    pen.font = FONTS[kind];
    pen.fillStyle = kind === "pool" ? colours.ink : colours.quiet;
    const shown = fit(pen, text, room - (note ? 50 : 0));
    pen.fillText(shown, x, y);
    if (!note) continue;
    const after = x + pen.measureText(shown).width + 8;
    pen.font = FONTS.zone;
    pen.fillStyle = colours.quiet;
    pen.fillText(note, after, y);
  }
}

function outline(pen, placed, name, colour, width) {
  const at = placed.cells.get(name);
  if (!at) return;
  const grow = 1.5, side = placed.size - Math.max(1.5, placed.size / 10) + 2 * grow;
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.roundRect(at[0] - grow, at[1] - grow, side, side, placed.size / 4);
  pen.stroke();
}

/* Draws everything. `scene` has: nodes, lookOf(node), matches(node), stamp, colours, scale,
 * selected, hovered, flashes (Map name → 0…1, how far it has faded). */
export function draw(pen, placed, scene) {
  pen.setTransform(scene.scale, 0, 0, scene.scale, 0, 0);
  pen.clearRect(0, 0, placed.width + 8, placed.height + 8);
  pen.translate(2, 2);
  drawLabels(pen, placed, scene.colours);
  const side = placed.size - Math.max(1.5, placed.size / 10);
  for (const [name, [x, y]] of placed.cells) {
    const node = scene.nodes.get(name);
    pen.globalAlpha = scene.matches(node) ? 1 : 0.13;
    pen.drawImage(scene.stamp(scene.lookOf(node)), x, y, side, side);
  }
  for (const [name, faded] of scene.flashes) {
    pen.globalAlpha = 1 - faded;
    outline(pen, placed, name, scene.colours.ink, 1 + 2 * (1 - faded));
  }
  pen.globalAlpha = 1;
  outline(pen, placed, scene.hovered, scene.colours.quiet, 1.5);
  outline(pen, placed, scene.selected, scene.colours.accent, 2.5);
}
