/* The fleet as data: decodes a snapshot, applies changes, filters, sorts, counts. Everything here is
 * pure: no document, no clock. */

/* The members of a node, in the order of the event `nodes`. */
export const FIELDS = ["name", "pool", "zone", "rack", "state", "reason", "product", "driver",
  "target", "gpus", "used", "bad", "since"];
/* The members that a filter's words are looked for in. */
const SEARCHED = FIELDS.slice(0, 9);

/* Sorts by numbers in names, too: gpu-2 comes before gpu-10. */
export const sortKey = (name) => name.replace(/\d+/g, (digits) => digits.padStart(12, "0"));

function makeNode(values) {
  const node = {};
  FIELDS.forEach((field, i) => (node[field] = values[i] ?? null));
  node.key = sortKey(node.name);
  node.words = SEARCHED.map((field) => node[field] ?? "").join(" ").toLowerCase();
  return node;
}

/* The nodes of a snapshot by name. Columns with a dictionary have indices, -1 for none. */
export function decode(snapshot) {
  const { columns, dictionary } = snapshot;
  const texts = FIELDS.map((field) => dictionary[field === "target" ? "driver" : field]);
  const value = (k, i) => (texts[k] ? texts[k][columns[FIELDS[k]][i]] : columns[FIELDS[k]][i]);
  const nodes = new Map();
  columns.name.forEach((name, i) => nodes.set(name, makeNode(FIELDS.map((_, k) => value(k, i)))));
  return nodes;
}

/* Applies an event `nodes` to the map, and tells what changed: [{name, before, after}]. */
export function apply(nodes, delta) {
  const changes = [];
  for (const values of delta.set ?? []) {
    const after = makeNode(values);
    changes.push({ name: after.name, before: nodes.get(after.name), after });
    nodes.set(after.name, after);
  }
  for (const name of delta.removed ?? [])
    if (nodes.has(name)) {
      changes.push({ name, before: nodes.get(name) });
      nodes.delete(name);
    }
  return changes;
}

/* Whether the changes move nodes on the map: some came, went, or changed their place. */
export const movesNodes = (changes) =>
  changes.some(({ before, after }) => !before || !after || before.pool !== after.pool ||
    before.zone !== after.zone || before.rack !== after.rack);

/* The test of a filter: each word of `text` is in the node, and for each facet the node's value is
 * one of the chosen ones. `facets` has a function per name. */
export function matcher(text, chosen, facets) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const picks = Object.entries(chosen).filter(([, values]) => values.length);
  return (node) => words.every((word) => node.words.includes(word)) &&
    picks.every(([name, values]) => values.includes(facets[name](node)));
}

/* Sorts by a member; "-gpus" is the other way round. Nodes without a value come last. */
export function sorted(nodes, by) {
  const down = by.startsWith("-"), member = down ? by.slice(1) : by;
  const value = (node) => (member === "name" ? node.key : node[member]);
  return [...nodes].sort((a, b) => {
    const x = value(a), y = value(b);
    const order = x === y ? 0 : x === null ? 1 : y === null ? -1 : (x < y) === down ? 1 : -1;
    return order || (a.key < b.key ? -1 : 1);
  });
}

/* How many nodes have each value of a function: Map value → number. */
export function count(nodes, of) {
  const counts = new Map();
  for (const node of nodes) counts.set(of(node), (counts.get(of(node)) ?? 0) + 1);
  return counts;
}

const IN_SERVICE = ["Ready"];

/* Sums for the figures at the top. */
export function totals(nodes) {
  const all = { nodes: 0, ready: 0, gpus: 0, usable: 0, used: 0, bad: 0 };
  for (const node of nodes) {
    const serves = IN_SERVICE.includes(node.state);
    all.nodes++;
    all.ready += serves;
    all.gpus += node.gpus;
    all.usable += serves ? node.gpus - node.bad : 0;
    all.used += node.used;
    all.bad += node.bad;
  }
  return all;
}

/* ---- the rollout */

const RESTS = ["Ready", "Unhealthy", "Lost", "Unmanaged", "ForeignStack", "Unsupported"];

/* How far a node is in the plan that was made at that second: done, active, failed or pending. */
export function progress(node, madeAt) {
  if (!node) return "pending";
  if (node.state === "Failed") return "failed";
  if (!RESTS.includes(node.state)) return "active";
  const changed = node.driver === node.target && node.since >= madeAt;
  return node.state === "Ready" && changed ? "done" : "pending";
}

function waveStatus(wave, madeAt, nodes) {
  const steps = (wave.names ?? []).map((name) => progress(nodes.get(name), madeAt));
  if (steps.includes("failed")) return "failed";
  if (steps.length && steps.every((step) => step === "done")) return "done";
  return steps.some((step) => step !== "pending") ? "active" : "pending";
}

/* The steps of the rollout in order: [{kind, title, status, names, more, at}]. The waves that are
 * done become one step; of those to come the first ones remain. */
export function rail(rollout, nodes, shown = 4) {
  const plan = rollout?.plan, waves = plan?.waves ?? [], steps = [];
  const madeAt = Date.parse(plan?.madeAt) / 1000 || 0;
  const all = waves.map((wave, i) => ({
    kind: wave.canary ? "canary" : "wave",
    title: wave.canary ? "Canary" : `Wave ${i + 1} of ${plan.waveCount ?? waves.length}`,
    status: waveStatus(wave, madeAt, nodes), names: wave.names ?? [],
    more: wave.nodes - (wave.names ?? []).length, at: wave.begins ?? wave.notBefore,
    sure: Boolean(wave.begins),
  }));
  const done = all.filter((step) => step.status === "done");
  const canary = done.filter((step) => step.kind === "canary"), rest = done.length - canary.length;
  steps.push(...canary);
  if (rest) steps.push({ kind: "wave", status: "done", names: [], more: 0,
    title: rest === 1 ? "1 wave done" : `${rest} waves done` });
  const soaks = rollout?.reason === "Soaking", shut = rollout?.reason === "WaitingForWindow";
  const pause = { status: "active", names: [], more: 0, at: rollout?.until, sure: true };
  if (soaks) steps.push({ kind: "soak", title: "Soak", ...pause });
  if (shut) steps.push({ kind: "window", title: "Closed until the next window", ...pause });
  const left = all.filter((step) => step.status !== "done");
  steps.push(...left.slice(0, shown));
  const hidden = (plan?.waveCount ?? 0) - waves.length + Math.max(0, left.length - shown);
  if (hidden > 0) steps.push({ kind: "more", status: "pending", names: [], more: 0,
    title: hidden === 1 ? "and 1 more wave" : `and ${hidden} more waves` });
  return steps;
}
