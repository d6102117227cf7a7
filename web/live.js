/* The connection to Ostler: the snapshot, then the stream of changes. It connects again by itself.
 * `hear` gets: snapshot, nodes, policy, beat (each with data), standby (with the leader's name),
 * waiting (the stream is not there; with a reason), open. The result connects anew. */

const RETRY_MS = 4000, FULL_MS = 10000, HIDDEN_MS = 60000, KINDS = ["nodes", "policy", "beat"];

export function connect(hear) {
  let stream = null, timer = 0, hiddenTimer = 0, turn = 0;

  function later(ms) {
    clearTimeout(timer);
    timer = setTimeout(start, ms);
  }

  function close() {
    turn++;
    clearTimeout(timer);
    stream?.close();
    stream = null;
  }

  async function refused(answer) {
    const body = await answer.json().catch(() => ({}));
    if (body.leader !== undefined) hear("standby", body);
    else hear("waiting", body.error ?? `HTTP ${answer.status}`);
  }

  /* Fetches the snapshot, and listens from there on. */
  async function start() {
    close();
    const mine = turn;
    try {
      const answer = await fetch("fleet.json", { cache: "no-store" });
      if (mine !== turn) return;
      if (!answer.ok) {
        await refused(answer);
        return later(RETRY_MS);
      }
      const snapshot = await answer.json();
      if (mine !== turn) return;
      hear("snapshot", snapshot);
      listen(snapshot.id);
    } catch (error) {
      if (mine !== turn) return;
      hear("waiting", "Ostler does not answer");
      later(RETRY_MS);
    }
  }

  function listen(id) {
    let opened = false;
    stream = new EventSource(`events?after=${encodeURIComponent(id)}`);
    for (const kind of KINDS)
      stream.addEventListener(kind, (event) => hear(kind, JSON.parse(event.data)));
    stream.addEventListener("reset", start);
    stream.onopen = () => {
      opened = true;
      hear("open");
    };
    /* The browser connects again by itself, unless the answer was a refusal. Then the snapshot says
     * why: the leader changed; or all streams are taken, and the snapshot is fetched now and then. */
    stream.onerror = (event) => {
      if (event.target.readyState !== EventSource.CLOSED)
        return hear("waiting", "the connection is gone: trying again");
      if (!opened) hear("waiting", "no stream is free: the page is fetched every 10 seconds");
      later(opened ? 0 : FULL_MS);
    };
  }

  /* A tab that is not looked at gives its stream to others. */
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiddenTimer);
    if (document.hidden) hiddenTimer = setTimeout(close, HIDDEN_MS);
    else if (!stream) start();
  });
  start();
  return start;
}
