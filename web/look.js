/* How a node looks: a tile of 12 × 12 units with a shape and a tone, by state, driver, use or
 * health. The shape says the same as the colour. The map and the chips draw from these tables. */

const TILE = "M3 0h6a3 3 0 0 1 3 3v6a3 3 0 0 1-3 3h-6a3 3 0 0 1-3-3v-6a3 3 0 0 1 3-3z";
const EDGE = "M3 .75h6a2.25 2.25 0 0 1 2.25 2.25v6a2.25 2.25 0 0 1-2.25 2.25h-6" +
  "a2.25 2.25 0 0 1-2.25-2.25v-6a2.25 2.25 0 0 1 2.25-2.25z";
const RING = "M6 3a3 3 0 0 1 0 6a3 3 0 0 1 0-6z";
const disc = (r) => `M6 ${6 - r}a${r} ${r} 0 0 1 0 ${2 * r}a${r} ${r} 0 0 1 0-${2 * r}z`;

/* Filled from the bottom to this height, as a gauge. */
const level = (h) => (h < 3 ? `M1 ${12 - h}h10v${h - 1}a1 1 0 0 1-1 1h-8a1 1 0 0 1-1-1z` :
  h > 9 ? TILE : `M0 ${12 - h}h12v${h - 3}a3 3 0 0 1-3 3h-6a3 3 0 0 1-3-3z`);

/* Each shape is a list of strokes: how, path. full and faint fill with the tone, line draws with
 * it, thin is a finer line, cut draws with the colour of the paper. */
export const SHAPES = {
  solid: [["full", TILE]],
  slash: [["faint", TILE], ["line", "M3 9 9 3"]],
  corner: [["faint", TILE], ["full", "M12 1.5v7.5a3 3 0 0 1-3 3h-7.5z"]],
  lower: [["faint", TILE], ["full", level(6)]],
  ring: [["faint", TILE], ["line", RING]],
  target: [["faint", TILE], ["line", disc(3.6)], ["full", disc(1.5)]],
  seed: [["faint", TILE], ["full", disc(2)]],
  turn: [["faint", TILE], ["line", "M9 6a3 3 0 1 1-3-3h2.6M6.9 1.2 8.8 3 6.9 4.8"]],
  cross: [["full", TILE], ["cut", "M3.4 3.4 8.6 8.6M8.6 3.4 3.4 8.6"]],
  alarm: [["full", TILE], ["cut", "M6 2.6v4M6 9v.4"]],
  notch: [["faint", TILE], ["line", "M6 2.6v4M6 9v.4"]],
  hollow: [["thin", EDGE]],
  dot: [["full", disc(1.7)]],
  bar: [["faint", TILE], ["line", "M3 6h6"]],
};
for (let eighths = 0; eighths <= 8; eighths++)
  SHAPES[`gauge${eighths}`] = [["faint", TILE],
    ...(eighths ? [["full", level(eighths * 1.5)]] : [])];

/* States in the order of the chips: shape, tone, what it means. */
const STATES = {
  Failed: ["cross", "bad", "an upgrade or an operand failed"],
  Unhealthy: ["alarm", "sick", "closed: a GPU has a fault"],
  Lost: ["hollow", "gone", "the node is down"],
  Unsupported: ["bar", "bad", "no driver or runtime is known for it"],
  Waiting: ["slash", "wait", "takes no new pods; its jobs run on"],
  Draining: ["corner", "wait", "GPU pods are evicted"],
  Unloading: ["lower", "wait", "the old driver is removed"],
  Resetting: ["turn", "work", "GPUs are reset"],
  Rebooting: ["turn", "work", "the node reboots"],
  Discovered: ["seed", "work", "a GPU was found"],
  Installing: ["ring", "work", "driver and operands come up"],
  Validating: ["target", "work", "a program runs on a GPU"],
  Removing: ["bar", "wait", "Ostler removes what it installed"],
  Ready: ["solid", "ok", "in service"],
  ForeignStack: ["dot", "gone", "another GPU stack serves it"],
  Unmanaged: ["dot", "gone", "not Ostler's"],
};
const UNKNOWN = ["dot", "gone", ""];
const AWAY = ["Lost", "ForeignStack", "Unmanaged"];

const USES = {
  full: ["gauge8", "use", "every GPU is in use"],
  partly: ["gauge4", "use", "some GPUs are in use"],
  idle: ["gauge0", "use", "no GPU is in use"],
  away: ["hollow", "gone", "down, or not Ostler's"],
};
function useOf(node) {
  if (AWAY.includes(node.state) || !node.gpus) return "away";
  return node.used >= node.gpus ? "full" : node.used ? "partly" : "idle";
}

const HEALTHS = {
  closed: ["alarm", "sick", "closed for new pods"],
  faulty: ["notch", "sick", "a GPU has a fault, the others go on"],
  unknown: ["hollow", "gone", "down, or not Ostler's"],
  healthy: ["solid", "ok", "no fault is known"],
};
function healthOf(node) {
  if (node.state === "Unhealthy") return "closed";
  return node.bad ? "faulty" : AWAY.includes(node.state) ? "unknown" : "healthy";
}

const DRIVER_LOOKS = [["solid", "c0"], ["lower", "c1"], ["ring", "c2"], ["corner", "c3"],
  ["slash", "c4"], ["target", "c5"]];
export const NO_DRIVER = "none";

/* What a node has in each facet. A filter may name any of them. */
export const FACETS = {
  state: (node) => node.state ?? "Unmanaged",
  driver: (node) => node.driver ?? NO_DRIVER,
  use: useOf,
  health: healthOf,
  pool: (node) => node.pool ?? "",
  zone: (node) => node.zone ?? "",
  rack: (node) => node.rack ?? "",
  reason: (node) => node.reason ?? "",
};

/* The looks of drivers: the newest version comes first. */
function driverLook(value, versions) {
  const at = versions.indexOf(value);
  return value === NO_DRIVER || at < 0 ? ["hollow", "gone", "no driver of Ostler's"] :
    [...DRIVER_LOOKS[at % DRIVER_LOOKS.length], "driver version"];
}

/* The modes of the map: its name, the facet by which the legend counts and filters, the look of
 * each value, the order of the values, and the look of one node where it differs from that. */
const fixed = (table) => ({ look: (value) => table[value] ?? UNKNOWN, order: Object.keys(table) });
export const MODES = {
  state: { title: "State", ...fixed(STATES) },
  driver: { title: "Driver", look: driverLook, order: [] },
  use: { title: "GPUs in use", ...fixed(USES),
    ofNode: (node) => useOf(node) === "away" ? USES.away :
      [`gauge${Math.min(8, Math.round(8 * node.used / node.gpus))}`, "use"] },
  health: { title: "Health", ...fixed(HEALTHS) },
};

/* The look of a node in a mode. `versions` are the drivers of the fleet, newest first. */
export function lookOf(mode, node, versions) {
  const { ofNode, look } = MODES[mode];
  return ofNode ? ofNode(node) : look(FACETS[mode](node), versions);
}

/* The values of a mode that are there, in order: [[value, number]]. */
export function legend(mode, counts, versions) {
  const order = mode === "driver" ? versions : MODES[mode].order;
  const place = (value) => (order.indexOf(value) + 1) || order.length + 1;
  return [...counts].sort(([a], [b]) => place(a) - place(b) || (a < b ? -1 : 1));
}
