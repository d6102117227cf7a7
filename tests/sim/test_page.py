#!/usr/bin/python3
"""The fleet page of the real program, in a simulated cluster: what it shows equals what the API
server has, while a rollout goes on and after another Ostler leads. Needs build/ostler and
build/ostler-sim. Prints "fleet page: N passed, N failed"."""

import http.client
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "kubectl"))

import test_kubectl_gpu as common  # noqa: E402  the path above is what finds it

TESTS = []


def test(function):
    """Adds a test; its docstring says what must be."""
    TESTS.append(function)
    return function


class Ostler:
    """One replica, with its page."""

    def __init__(self, cluster, name):
        with socket.create_server(("127.0.0.1", 0)) as s, socket.create_server(
            ("127.0.0.1", 0)
        ) as other:
            self.port, self.metrics_port = s.getsockname()[1], other.getsockname()[1]
        self.log = cluster.folder / f"{name}.log"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [
                    common.BUILD / "ostler", "--kubeconfig", cluster.folder / "ostler",
                    "--namespace", "ostler-system", "--log-format", "text",
                    "--listen", f"127.0.0.1:{self.metrics_port}",
                    "--fleet-listen", f"127.0.0.1:{self.port}",
                ],
                stderr=log,
            )  # fmt: skip
        self.stream = None

    def get(self, path):
        """(status, the object)"""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            c.request("GET", path)
            answer = c.getresponse()
            return answer.status, json.loads(answer.read())
        except OSError:
            return 0, None
        finally:
            c.close()

    def requests(self):
        """How many requests it has sent to the API server."""
        c = http.client.HTTPConnection("127.0.0.1", self.metrics_port, timeout=10)
        c.request("GET", "/metrics")
        text = c.getresponse().read().decode()
        c.close()
        found = re.findall(r"^rest_client_requests_total{.*} (\S+)$", text, re.M)
        assert found, text[:500]
        return sum(map(float, found))

    def states(self):
        """The state of each node on the page."""
        status, fleet = self.get("/fleet.json")
        if status != 200:
            return None
        states = fleet["dictionary"]["state"]
        columns = fleet["columns"]
        return {n: states[s] for n, s in zip(columns["name"], columns["state"])}

    def follow(self, after):
        """The stream after an id."""
        self.stream = self.stream_of(f"/events?after={after}")
        assert self.stream.status == 200, self.stream.status

    def stream_of(self, path):
        """An answer that never ends."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        c.request("GET", path)
        return c.getresponse()

    def event(self):
        """The next event that is no beat: (its name, its data, its id)."""
        while True:
            lines = {}
            while (line := self.stream.readline().decode()) != "\n":
                assert line, "the stream has ended"
                name, _, value = line.rstrip("\n").partition(":")
                lines[name] = value.strip()
            if lines.get("event") not in (None, "beat"):
                return lines["event"], json.loads(lines["data"]), lines.get("id")


def leader_of(a, b):
    """The one that serves data."""
    return a if a.get("/fleet.json")[0] == 200 else b


def shown_equals_written(cluster, ostler):
    """Whether page and API server agree, on some node at least."""
    return ostler.states() == cluster.states() != {}


@test
def states_equal_those_of_the_api_server(c, a, b):
    """At rest the page of the leader has the state of each GpuNode."""
    c.until(lambda: set(c.states().values()) == {"Ready"} and len(c.states()) == 4, "the fleet")
    leader = leader_of(a, b)
    c.until(lambda: shown_equals_written(c, leader), "the same states")


@test
def a_standby_names_the_leader(c, a, b):
    """Who does not lead serves the page's files, and names who leads."""
    standby = b if leader_of(a, b) is a else a
    lease = c.ask("GET", "/apis/coordination.k8s.io/v1/namespaces/ostler-system/leases/ostler")
    pod = lease["spec"]["holderIdentity"].rpartition("_")[0]
    for path in ("/fleet.json", "/events", "/node/gpu-1.json"):
        status, answer = standby.get(path)
        assert (status, answer.get("leader")) == (503, pod), (path, status, answer)
    page = http.client.HTTPConnection("127.0.0.1", standby.port, timeout=10)
    page.request("GET", "/")
    assert page.getresponse().status == 200
    page.close()


@test
def changes_come_as_events(c, a, b):
    """A snapshot and the events after it give what a later snapshot has, through a rollout; each
    id is the one before plus one."""
    leader = leader_of(a, b)
    _, fleet = leader.get("/fleet.json")
    states = leader.states()
    leader.follow(fleet["id"])
    c.ask("PATCH", common.POLICY, {"spec": {"driver": {"version": "580.65.06"}}}, common.MERGE)
    last, seen, messages = int(fleet["id"].rpartition("-")[2]), set(), set()
    end = time.time() + 60
    while time.time() < end and not (
        len(seen) > 2 and set(states.values()) == {"Ready"} and "580.65.06" in messages
    ):
        event, data, number = leader.event()
        assert int(number.rpartition("-")[2]) == last + 1, (number, last)
        last += 1
        for row in data["set"] if event == "nodes" else ():
            states[row[0]] = row[4]
            seen.add(row[4])
            messages.add(row[7])
        for name in data.get("removed", ()):
            states.pop(name, None)  # one without GPUs was never there
    assert len(seen) > 2, seen
    c.until(lambda: leader.states() == states == c.states(), (states, c.states()))


@test
def viewers_cause_no_requests(c, a, b):
    """Viewers who take snapshots, stories and the stream cause no request to the API server: what
    Ostler sends meanwhile is what it sends without them."""
    leader = leader_of(a, b)
    before, began = leader.requests(), time.time()
    viewers = [leader.stream_of(f"/events?after={n}") for n in range(20)]
    for _ in range(200):
        assert leader.get("/fleet.json")[0] == leader.get("/node/gpu-1.json")[0] == 200
    took, sent = time.time() - began, leader.requests() - before
    for viewer in viewers:
        viewer.close()
    # Leases and watches are renewed, and late reports of the rollout before may be written.
    assert sent < 20 + 2 * took, (sent, took)


@test
def a_hold_and_windows_are_there(c, a, b):
    """A node that a user holds says so in its column, and the policy has the windows ahead."""
    leader = leader_of(a, b)

    def held():
        columns = leader.get("/fleet.json")[1]["columns"]
        return [n for n, h in zip(columns["name"], columns["held"]) if h]

    assert held() == []
    node = "/api/v1/nodes/gpu-2"
    c.ask("PATCH", node, {"metadata": {"labels": {"ostler.dev/hold": "true"}}}, common.MERGE)
    c.until(lambda: held() == ["gpu-2"], "the hold")
    c.ask("PATCH", node, {"metadata": {"labels": {"ostler.dev/hold": None}}}, common.MERGE)
    c.until(lambda: held() == [], "the release")
    windows = [{"schedule": "0 2 * * 6", "duration": "4h"}]
    c.ask("PATCH", common.POLICY, {"spec": {"rollout": {"windows": windows}}}, common.MERGE)
    c.until(lambda: leader.get("/fleet.json")[1]["policy"]["windows"], "the windows")
    spans = leader.get("/fleet.json")[1]["policy"]["windows"]
    assert len(spans) == 8 and all(w["closes"].endswith("T06:00:00Z") for w in spans), spans
    c.ask("PATCH", common.POLICY, {"spec": {"rollout": {"windows": None}}}, common.MERGE)
    c.until(lambda: leader.get("/fleet.json")[1]["policy"]["windows"] is None, "no windows")


@test
def another_leader_begins_anew(c, a, b):
    """When the leader dies, the other serves the same states, and refuses to continue after an
    id of the first."""
    leader, other = (a, b) if leader_of(a, b) is a else (b, a)
    _, before = leader.get("/fleet.json")
    leader.process.kill()
    leader.process.wait()
    c.until(lambda: other.get("/fleet.json")[0] == 200, "another leader", seconds=60)
    c.until(lambda: shown_equals_written(c, other), "the same states")
    _, after = other.get("/fleet.json")
    assert after["ostler"]["holder"] != before["ostler"]["holder"]
    other.follow(before["id"])
    assert other.event()[0] == "reset"


@test
def one_node_in_full(c, a, b):
    """The status is that of the GpuNode, and the text that of kubectl gpu explain."""
    leader = leader_of(a, b)

    def same():
        status, node = leader.get("/node/gpu-1.json")
        assert status == 200 and node["name"] == "gpu-1", (status, node)
        real = c.ask("GET", "/apis/ostler.dev/v1alpha1/gpunodes/gpu-1")["status"]
        return all(
            node["status"].get(member) == real.get(member)
            for member in ("state", "reason", "driver", "stack")
        )

    c.until(same, "the same status")  # a report is written some seconds later
    _, node = leader.get("/node/gpu-1.json")
    assert "gpu-1" in node["text"] and node["commands"], node
    assert leader.get("/node/web-1.json")[0] == 404


def main():
    """Runs all tests, in this order, on one cluster with two replicas."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ostler-fleet-page-") as folder:
        cluster = common.Cluster(folder)
        replicas = []
        try:
            replicas = [Ostler(cluster, "a"), Ostler(cluster, "b")]
            for one in TESTS:
                began = time.time()
                try:
                    one(cluster, *replicas)
                except Exception as e:  # pylint: disable=broad-except
                    failed += 1
                    places = [f"line {w.lineno}" for w in traceback.extract_tb(e.__traceback__)]
                    print(f"not ok {one.__name__} ({', '.join(places)}): {type(e).__name__}: {e}")
                else:
                    print(f"ok {one.__name__} ({time.time() - began:.1f} s)")
        finally:
            for replica in replicas:
                replica.process.kill()
                replica.process.wait()
            cluster.stop()
    print(f"fleet page: {len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
