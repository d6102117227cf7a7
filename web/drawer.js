/* The story of one node: what `kubectl gpu explain` says, its GPUs, commands to copy. */

import { ask, byId, clock, command, el, join, say, seconds, show, span, toned } from "./dom.js";

/* ---- parts: each gives an element, or nothing if there is nothing to say */

const list = (name, items, make) => items?.length && el(name, items.map(make));
const part = (title, shown) => shown && el("section", el("h3", title), shown);

const next = (steps, now) => list("ul", steps, ({ text, at }) => el("li", text,
	seconds(at) > now && el("em", ` in ${span(seconds(at) - now)}`)));

const waits = (items) => list("ul", items, ({ kind, namespace, name, message }) => el("li",
	el("b", `${kind} ${namespace ? `${namespace}/` : ""}${name}`), el("p", message)));

const health = (about) => about?.level && el("p.fault", el("b",
	join(about.reason, about.level, about.state)), el("br"), about.message);

/* What is wrong with one GPU, by the bus, NVML and the kernel log. */
function faultsOf({ address, bus }, { health = [], faults = [] }) {
	const { lost, recovery, remapFailed } = health.find((one) => one.address === address) ?? {};
	return [bus !== "Answers" && bus, lost && "lost", remapFailed && "row remap failed",
		recovery && recovery !== "None" && `recovery: ${recovery}`,
		...faults.filter((one) => one.address === address).map(({ xid, nvswitch, count }) =>
			`${nvswitch ? "SXid" : "Xid"} ${xid}${count > 1 ? ` × ${count}` : ""}`)].filter(Boolean);
}

const gpus = (inventory) => list("ol.gpus", inventory?.gpus, (gpu) => {
	const faults = faultsOf(gpu, inventory);
	return el("li", el("code", gpu.address), el("span", gpu.product),
		el(faults.length ? "b" : "span", faults.join(", ") || "no fault"));
});

const TONES = { gpu: "sick", claim: "work", policy: "work", ostler: "ok" };

/* The history; each line with the time until the next one. */
const history = (lines, now) => list("ol.history", lines, ({ time, what, text, warning }, i) => {
	const at = seconds(time), lasted = seconds(lines[i + 1]?.time) - at;
	return el("li", { style: toned(warning ? "bad" : TONES[what] ?? "gone") },
		el("time", { title: time }, clock(at, now)), el("span", text),
		el("em", lasted > 0 && span(lasted)));
});

function content({ asOf, explain = {}, status = {}, commands, text }) {
	const now = seconds(asOf), known = { ...status, ...explain };
	return [
		el("p", known.message),
		part("Health", health(known.health)),
		part("It waits for", waits(known.waitingFor)),
		part("What happens next", next(explain.next, now)),
		part("Commands", list("div", commands, command)),
		part("GPUs", gpus(status.inventory)),
		part("History", history(explain.story?.slice(-40), now)),
		text && el("details", el("summary", "All of it, as kubectl gpu explain prints it"),
			el("pre", { tabindex: 0 }, text)),
	].filter(Boolean);
}

/* The drawer: open(name) shows a story, null none; refresh() fetches it anew. Focus goes to it, and
 * back. */
export function makeDrawer() {
	const drawer = byId("story"), title = byId("story-title");
	let name = null, before = null;

	async function refresh() {
		const wanted = name;
		if (!wanted) return;
		const [ok, got] = await ask(`node/${encodeURIComponent(wanted)}.json`);
		if (wanted === name) show(byId("story-body"), ok ? content(got) : [el("p", got.error)]);
	}

	function open(wanted) {
		if (wanted === name) return;
		if (!name) before = document.activeElement;
		name = wanted;
		drawer.hidden = !wanted;
		if (!wanted) return before?.focus();
		say("story-title", wanted);
		byId("story-body").replaceChildren();
		title.focus();
		refresh();
	}
	return { open, refresh };
}
