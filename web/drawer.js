/* The story of one node: what `kubectl gpu explain` says, its GPUs, commands to copy. */

import { byId, clock, command, el, many, setAttribute, setText, span } from "./dom.js";

const KINDS = { gpu: "sick", claim: "work", event: "wait", policy: "work" };

const section = (title, ...children) => el("section", {}, el("h3", {}, title), ...children);
const list = (name, items, fill) => (items?.length ? el(name, {}, ...items.map(fill)) : null);
const titled = (title, part) => (part ? section(title, part) : null);

/* ---- parts */

function facts(body) {
  const { explain = {}, status = {} } = body, tier = (name) => {
    const { version, revision, target } = explain[name] ?? status[name] ?? {};
    if (!version && !revision) return null;
    return `${version ?? revision}${target && target !== revision ? ` (${revision} → ${target})` : ""}`;
  };
  const rows = [
    ["GPUs", [explain.gpus ?? status.gpus, explain.product ?? status.product].filter(Boolean)
      .join(" × ")], ["Driver", tier("driver")], ["Loaded", explain.loaded], ["Stack", tier("stack")],
    ["Held open by", explain.holders], ["Machine", status.inventory?.machine],
    ["System", [status.inventory?.os?.name, status.inventory?.kernel].filter(Boolean).join(", ")],
    ["Held", explain.held ? "by a user" : null], ["Cordoned", explain.cordoned ? "yes" : null],
  ];
  return el("dl", {}, ...rows.filter(([, text]) => text)
    .flatMap(([title, text]) => [el("dt", {}, title), el("dd", {}, String(text))]));
}

function healthOf(gpu, inventory) {
  const said = inventory.health?.find(({ address }) => address === gpu.address) ?? {};
  const faults = (inventory.faults ?? []).filter(({ address }) => address === gpu.address)
    .map(({ xid, nvswitch, count }) => `${nvswitch ? "SXid" : "Xid"} ${xid}` +
      (count > 1 ? ` × ${count}` : ""));
  if (said.lost || gpu.bus !== "Answers" && gpu.bus) faults.unshift(gpu.bus ?? "lost");
  if (said.recovery && said.recovery !== "None") faults.push(`recovery: ${said.recovery}`);
  if (said.remapFailed) faults.push("row remap failed");
  else if (said.remapPending) faults.push("row remap pending");
  return faults;
}

function gpus(inventory) {
  return list("ol.gpus", inventory?.gpus, (gpu) => {
    const faults = healthOf(gpu, inventory);
    return el(faults.length ? "li.faulty" : "li", {}, el("code", {}, gpu.address),
      el("span", {}, [gpu.product, gpu.migInstances && many(gpu.migInstances, "MIG instance")]
        .filter(Boolean).join(", ")), el("b", {}, faults.length ? faults.join(", ") : "no fault"));
  });
}

/* The history with the time that passed until the next line. */
function story(lines, now) {
  const last = (lines ?? []).slice(-40);
  return list("ol.story", last, (line) => {
    const at = Date.parse(line.time), next = last[last.indexOf(line) + 1];
    const lasted = next ? (Date.parse(next.time) - at) / 1000 : 0;
    return el("li", { class: `tone-${line.warning ? "bad" : KINDS[line.what] ?? "gone"}` },
      el("time", { datetime: line.time, title: line.time }, clock(at, now)),
      el("span", {}, line.text ?? ""), lasted >= 1 ? el("em", {}, span(lasted)) : null);
  });
}

const waits = (items) => list("ul", items, (one) => el("li", {}, el("b", {}, one.kind ?? ""), " ",
  [one.namespace, one.name].filter(Boolean).join("/"), el("p", {}, one.message ?? "")));

const pods = (items) => list("ul", items, (pod) => el("li", {}, el("code", {}, pod.name), " ",
  el("b", {}, pod.state ?? ""), pod.message ? el("p", {}, pod.message) : null));

function next(steps, now) {
  return list("ul", steps, (step) => {
    const left = step.at ? Date.parse(step.at) / 1000 - now / 1000 : 0;
    return el("li", {}, step.text ?? "", left > 0 ? el("em", {}, ` in ${span(left)}`) : null);
  });
}

function health(about) {
  return about?.level ? el("p.fault", {}, el("b", {}, `${about.reason}: ${about.level}`),
    about.state ? `, ${about.state}. ` : ". ", about.message ?? "") : null;
}

/* ---- the whole */

function content(body) {
  const { explain = {}, status = {} } = body, now = Date.parse(body.asOf) || Date.now();
  const words = explain.lastWords ?? status.lastWords;
  return [
    el("p.said", {}, explain.message ?? status.message ?? ""),
    titled("What happens next", next(explain.next, now)),
    titled("It waits for", waits(explain.waitingFor ?? status.waitingFor)),
    titled("Health", health(explain.health ?? status.health)),
    titled("Commands", list("div", body.commands, command)),
    section("Facts", facts(body)),
    titled("GPUs", gpus(status.inventory)),
    titled("History", story(explain.story, now)),
    titled("Pods with GPUs", pods(explain.gpuPods)),
    titled("Pods of Ostler", pods(explain.operandPods)),
    titled("Last words of the log", words?.text ? el("pre", { tabindex: 0 }, words.text) : null),
    body.text ? el("details", {}, el("summary", {}, "The same as text"),
      el("pre", { tabindex: 0 }, body.text)) : null,
  ].filter(Boolean);
}

/* Makes the drawer: open(name), close(), refresh(). Focus goes to it and back. */
export function makeDrawer({ onClose }) {
  const drawer = byId("story"), body = byId("story-body");
  let name = null, before = null, turn = 0;

  async function load() {
    const mine = ++turn, wanted = name;
    let parts;
    try {
      const answer = await fetch(`node/${encodeURIComponent(wanted)}.json`, { cache: "no-store" });
      const got = await answer.json();
      parts = answer.ok ? content(got) : [el("p.said", {}, got.error ?? "Ostler has no such node.")];
    } catch {
      parts = [el("p.said", {}, "Ostler does not answer.")];
    }
    if (mine !== turn) return;
    const open = body.querySelector("details")?.open;
    body.replaceChildren(...parts);
    const details = body.querySelector("details");
    if (details && open) details.open = true;
    setAttribute(drawer, "data-loaded", wanted);
  }

  function close() {
    turn++;
    name = null;
    drawer.hidden = true;
    document.body.classList.remove("reading");
    before?.focus();
    before = null;
  }

  function open(wanted) {
    if (wanted === name) return;
    if (!name) before = document.activeElement;
    name = wanted;
    setText(byId("story-title"), wanted);
    body.replaceChildren(el("p.said", {}, "…"));
    drawer.hidden = false;
    document.body.classList.add("reading");
    byId("story-title").focus();
    load();
  }

  byId("story-close").onclick = onClose;
  return { open, close, refresh: () => name && load(), name: () => name };
}
