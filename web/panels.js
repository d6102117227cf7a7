/* The panels around the map: headline, figures, chips, rollout, blockers, faults, what changed. Each
 * shows what it is given, and remembers nothing. */

import { byId, clock, command, el, glyph, many, number, percent, setAttribute, setText, showList,
  span } from "./dom.js";
import { MODES, SHAPES, legend } from "./look.js";
import { progress, rail, totals } from "./fleet.js";

const seconds = (time) => Date.parse(time) / 1000;
const newLine = (name) => () => el(name);

/* ---- headline */

const READY = { True: ["ok", "Ready"], False: ["bad", "Not ready"], Unknown: ["wait", "Unknown"] };
const NO_POLICY = "There is no policy: Ostler changes nothing.";

/* A policy's verdict: its tone and word. */
function verdict(policy) {
  if (!policy) return ["gone", "No policy"];
  if (policy.paused) return ["wait", "Paused"];
  return READY[policy.ready] ?? READY.Unknown;
}

export function showHeadline(policy, ostler) {
  const [tone, word] = verdict(policy);
  const pill = byId("verdict");
  setText(pill, word);
  pill.className = `pill tone-${tone}`;
  setText(byId("message"), policy ? policy.message || policy.reason || "" : NO_POLICY);
  setText(byId("policy"), policy ? `policy ${policy.name}` : "");
  setText(byId("version"), ostler?.version ? `Ostler ${ostler.version}` : "Ostler");
  setAttribute(byId("version"), "title", ostler?.holder ? `leader: ${ostler.holder}` : null);
}

function figures(nodes, policy) {
  const all = totals(nodes), rollout = policy?.rollout;
  const toDo = (rollout?.pending ?? 0) + (rollout?.active ?? 0) + (rollout?.waiting ?? 0) +
    (rollout?.failed ?? 0);
  const done = rollout?.done ?? 0, idle = !toDo;
  return [
    ["nodes ready", number(all.ready), `of ${number(all.nodes)}`, all.ready / all.nodes],
    ["GPUs in service", number(all.usable), `of ${number(all.gpus)}`, all.usable / all.gpus],
    ["GPUs in use", number(all.used), percent(all.used, all.gpus), all.used / all.gpus],
    ["on the target", idle ? "all" : percent(done, done + toDo),
      idle ? "" : `${number(done)} of ${number(done + toDo)}`, idle ? 1 : done / (done + toDo)],
    ["faulty GPUs", number(all.bad), "", 0],
  ];
}

export function showFigures(nodes, policy) {
  const make = () => el("div.figure", {}, el("b"), el("small"), el("span"),
    el("i.gauge", { "aria-hidden": "true" }, el("i")));
  showList(byId("figures"), figures(nodes, policy), ([title]) => title, make,
    (box, [title, value, rest, part]) => {
      [value, rest, title].forEach((text, i) => setText(box.children[i], text));
      box.children[3].hidden = !part;
      box.children[3].firstChild.style.width = `${100 * (part || 0)}%`;
    });
}

/* ---- chips: counters that filter */

/* `facet` is the mode whose values are counted; `chosen` the values that the filter has. */
export function showChips(parent, facet, counts, versions, chosen, onToggle) {
  const make = ([value]) => el("button.chip", { type: "button", onclick: () => onToggle(facet, value) },
    el("span.mark"), el("b"), el("span"));
  showList(parent, legend(facet, counts, versions), ([value]) => value, make, (chip, [value, n]) => {
    const look = MODES[facet].look(value, versions), key = look.slice(0, 2).join();
    if (chip.dataset.look !== key) chip.firstChild.replaceChildren(glyph(SHAPES, look));
    chip.dataset.look = key;
    setText(chip.children[1], number(n));
    setText(chip.children[2], value);
    setAttribute(chip, "title", look[2] || null);
    setAttribute(chip, "aria-pressed", String(chosen.includes(value)));
  });
}

/* ---- rollout */

const SHARES = [["done", "ok", "done"], ["active", "work", "under way"],
  ["waiting", "wait", "wait for jobs"], ["failed", "bad", "failed"], ["pending", "gone", "to come"],
  ["skipped", "none", "skipped"]];

/* A bar with a part per share: [[tone, number, word]]. */
function showBar(bar, shares) {
  const there = shares.filter(([, n]) => n > 0);
  setAttribute(bar, "aria-label", there.map(([, n, word]) => `${number(n)} ${word}`).join(", "));
  showList(bar, there, ([tone]) => tone, newLine("i"), (part, [tone, n, word]) => {
    part.className = `tone-${tone}`;
    part.style.flexGrow = n;
    part.title = `${number(n)} ${word}`;
  });
}

/* How far the nodes of each pool are, as shares of a bar. */
function poolShares(nodes, pools, madeAt) {
  const of = new Map();
  for (const node of nodes) {
    if (!of.has(node.pool)) of.set(node.pool, { done: 0, active: 0, failed: 0, pending: 0 });
    of.get(node.pool)[progress(node, madeAt)]++;
  }
  return (pools ?? []).filter((pool) => of.has(pool.name)).map((pool) => ({ ...pool,
    shares: SHARES.map(([id, tone, word]) => [tone, of.get(pool.name)[id] ?? 0, word]) }));
}

function stepNote(step, now) {
  if (!step.at) return "";
  const left = seconds(step.at) - now, when = clock(Date.parse(step.at), now * 1000);
  const what = step.kind === "soak" ? "until" : step.sure ? "at" : "not before";
  return `${what} ${when}${left > 0 ? `, in ${span(left)}` : ""}`;
}

const WORDS = { done: "done", active: "now", failed: "failed", pending: "" };

function fillStep(line, step, now, nodes, look, onOpen) {
  line.className = `${step.kind} ${step.status}`;
  setAttribute(line, "aria-current", step.status === "active" ? "step" : null);
  setText(line.children[0], step.title);
  setText(line.children[1], WORDS[step.status]);
  setText(line.children[2], stepNote(step, now));
  showList(line.children[3], step.status === "done" && step.kind !== "canary" ? [] :
    step.names.slice(0, 12), (name) => name,
  (name) => el("button.tick", { type: "button", onclick: () => onOpen(name) }), (tick, name) => {
    const node = nodes.get(name), key = node ? look(node).join() : "";
    setAttribute(tick, "title", node ? `${name}: ${node.state}` : name);
    setAttribute(tick, "aria-label", node ? `${name}: ${node.state}` : name);
    if (tick.dataset.look !== key && node) tick.replaceChildren(glyph(SHAPES, look(node)));
    tick.dataset.look = key;
  });
  const more = step.more + Math.max(0, step.names.length - 12);
  setText(line.children[4], more > 0 ? `and ${many(more, "node")}` : "");
}

export function showRollout(policy, nodes, now, look, onOpen) {
  const rollout = policy?.rollout, plan = rollout?.plan, part = byId("rollout");
  const quiet = !rollout || !plan || rollout.reason === "UpToDate";
  part.classList.toggle("quiet", quiet);
  setText(byId("rollout-reason"), rollout?.reason ?? "");
  setText(byId("rollout-message"), rollout?.message ?? "No rollout: no policy asks for one.");
  showBar(byId("rollout-bar"), quiet ? [] :
    SHARES.map(([id, tone, word]) => [tone, rollout[id] ?? 0, word]));
  setText(byId("rollout-ends"), quiet ? "" : [
    ...SHARES.filter(([id]) => rollout[id] > 0).map(([id, , word]) => `${number(rollout[id])} ${word}`),
    ...(plan.ends ? [`ends about ${clock(Date.parse(plan.ends), now * 1000)}`] : [])].join(" · "));
  showList(byId("rail"), quiet ? [] : rail(rollout, nodes), (step) => step.kind + step.title,
    () => el("li", {}, el("b"), el("em"), el("span.note"), el("span.ticks"), el("span.note")),
    (line, step) => fillStep(line, step, now, nodes, look, onOpen));
  const madeAt = seconds(plan?.madeAt) || 0;
  showList(byId("pools"), poolShares(nodes.values(), policy?.pools, quiet ? 0 : madeAt),
    (pool) => pool.name, () => el("li", {}, el("b"), el("span"), el("span.bar", { role: "img" })),
    (line, pool) => {
      setText(line.children[0], pool.name);
      setText(line.children[1], [pool.driverVersion && `driver ${pool.driverVersion}`,
        `${number(pool.upToDate ?? 0)} of ${many(pool.nodes ?? 0, "node")} on the target`]
        .filter(Boolean).join(" · "));
      showBar(line.children[2], pool.shares);
    });
}

/* ---- lists with a node in each line */

const nodeLine = (onOpen) => (item) => el("li", {},
  el("button.name", { type: "button", onclick: () => onOpen(item.node) }), el("span.when"), el("p"),
  el("p.next"));

function fillNodeLine(line, { node, when, text, next }) {
  [node, when, text, next ?? ""].forEach((shown, i) => setText(line.children[i], shown));
}

function showNodeList(id, items, empty, onOpen) {
  setText(byId(`${id}-none`), items.length ? "" : empty);
  setText(byId(`${id}-count`), items.length ? number(items.length) : "");
  showList(byId(id), items, (item) => item.node + (item.key ?? ""), nodeLine(onOpen), fillNodeLine);
}

/* Who holds Ostler up: a node, its pod, since when, what comes next. */
export function showBlockers(policy, now, onOpen) {
  showNodeList("blockers", (policy?.blockers ?? []).map((one) => ({
    node: one.node, key: one.pod,
    when: [one.reason, one.since && span(now - seconds(one.since))].filter(Boolean).join(" · "),
    text: [one.pod, one.message].filter(Boolean).join(": "),
    next: one.next ? `Next: ${one.next}` : "",
  })), "Nothing: no node waits for a pod or for you.", onOpen);
}

const FAULTS_SHOWN = 20;

export function showFaults(policy, nodes, now, onOpen) {
  const braked = policy?.conditions?.find(({ type }) => type === "HealthBraked");
  setText(byId("brake"), braked?.status === "True" ? `Storm brake: ${braked.message}` : "");
  const faulty = [...nodes].filter((node) => node.bad || node.state === "Unhealthy")
    .sort((a, b) => b.since - a.since);
  showNodeList("faults", faulty.slice(0, FAULTS_SHOWN).map((node) => ({
    node: node.name,
    when: [node.state === "Unhealthy" ? node.reason : node.state, node.since &&
      span(now - node.since)].filter(Boolean).join(" · "),
    text: `${node.bad || "a fault"} of ${many(node.gpus, "GPU")}` +
      (node.state === "Unhealthy" ? "; closed for new pods" : "; the others go on"),
  })), "None: no GPU has a known fault.", onOpen);
  setText(byId("faults-count"), faulty.length ? number(faulty.length) : "");
}

/* What changed since the page is open, the newest first: [{at, name, from, to}]. */
export function showLatest(changes, onOpen) {
  setText(byId("latest-none"), changes.length ? "" : "Nothing since this page is open.");
  showList(byId("latest"), changes, ({ id }) => id, nodeLine(onOpen), (line, change) =>
    fillNodeLine(line, { node: change.node, when: change.at, text: change.text }));
}

/* ---- the banner over the page */

/* `trouble`: {text, commands} or null. */
export function showBanner(trouble) {
  const banner = byId("banner");
  banner.hidden = !trouble;
  if (!trouble) return;
  setText(banner.firstElementChild, trouble.text);
  showList(banner.lastElementChild, trouble.commands ?? [], (text) => text, command, () => {});
}

/* ---- small screens: counters per group instead of the map */

export function showGroups(pools, lookAt, onPick) {
  const groups = pools.flatMap((pool) => pool.zones.map((zone) => ({ pool: pool.name,
    zone: zone.name, nodes: zone.nodes })));
  showList(byId("groups"), groups, ({ pool, zone }) => `${pool}/${zone}`,
    (group) => el("li", {}, el("button", { type: "button", onclick: () => onPick(group) }, el("b"),
      el("span"))), (line, { pool, zone, nodes }) => {
      const button = line.firstChild, counts = lookAt(nodes);
      setText(button.firstChild, [pool || "no pool", zone].filter(Boolean).join(" / "));
      setText(button.lastChild, counts.map(([value, n]) => `${number(n)} ${value}`).join(" · "));
    });
}
