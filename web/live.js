/* The connection to Ostler: a snapshot, then the stream of changes. `hear` gets snapshot, nodes,
 * policy, beat, standby with their data, open, waiting (why). The result connects anew. */

import { ask } from "./dom.js";

const AGAIN_MS = 4000, FULL_MS = 10000;

export function connect(hear) {
	let stream = null, timer = 0, turn = 0;

	function close() {
		turn++;
		clearTimeout(timer);
		stream?.close();
		stream = null;
	}

	const later = (ms) => (timer = setTimeout(start, ms));

	/* Fetches the snapshot, and listens from there on. */
	async function start() {
		close();
		const mine = turn;
		const [ok, body] = await ask("fleet.json");
		if (mine !== turn) return;
		if (ok) {
			hear("snapshot", body);
			return listen(body.id);
		}
		if ("leader" in body) hear("standby", body);
		else hear("waiting", body.error);
		later(AGAIN_MS);
	}

	function listen(id) {
		let opened = false;
		stream = new EventSource(`events?after=${encodeURIComponent(id)}`);
		for (const kind of ["nodes", "policy", "beat"])
			stream.addEventListener(kind, ({ data }) => hear(kind, JSON.parse(data)));
		stream.addEventListener("reset", start);
		stream.onopen = () => {
			opened = true;
			hear("open");
		};
		/* The browser connects again by itself, unless refused. Then the snapshot says why. */
		stream.onerror = ({ target }) => {
			const refused = target.readyState === EventSource.CLOSED;
			hear("waiting", refused && !opened ? "No stream is free: the page updates every 10 s" :
				"The connection is gone: trying again");
			if (refused) later(opened ? 0 : FULL_MS);
		};
	}

	/* A hidden tab leaves its stream to others. */
	document.onvisibilitychange = () => (document.hidden ? close() : start());
	start();
	return start;
}
