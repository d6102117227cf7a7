"""What a test of upgrades sees: every node's way through a rollout, in the order in which the
API server wrote it."""

import datetime
import json
import threading

import kube
from names import CLAIM, COMPONENT, DRIVER, OPERANDS, STACK, UPGRADE_TAINT

# Phases in which a node takes a slot of maxParallel.
AT_WORK = ("Draining", "Unloading", "Resetting", "Rebooting", "Installing", "Validating")


def claim_of(node):
    """The claim that a node bears, or None."""
    text = node["metadata"].get("annotations", {}).get(CLAIM)
    return json.loads(text) if text else None


def phase_of(node):
    """The phase of its claim, or None."""
    return (claim_of(node) or {}).get("phase")


def closed(node):
    """Whether it bears the taint that goes with a claim."""
    return kube.taint(node, UPGRADE_TAINT) is not None


def ago(seconds):
    """A time in the past as objects have it."""
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


class Ways(threading.Thread):
    """Follows all nodes while its block runs, and checks at its end what holds in every rollout.

    A claim and its taint come and go in the same write, and spec.unschedulable is only ever what
    a person made it.
    """

    def __init__(self, env, most=1, cordoned=(), rule=None):
        """most: nodes that may be changed at the same time. rule(at work, closed): what is wrong
        with these nodes, or None."""
        super().__init__(name="ways", daemon=True)
        self._client = env.k.clone()
        self._most = most
        self._cordoned = set(cordoned)
        self._rule = rule
        self._ending = threading.Event()
        self._followed = False  # to the end
        self._phases = {}
        self.way = {}  # node -> phases in their order, None where it is in service
        self.labels = {}  # node -> assignments in their order, as (driver, stack)
        self.order = []  # nodes in the order in which they were first closed
        self.at_once = 0  # the most nodes that took a slot at the same time
        self.out_at_once = 0  # the most nodes that were closed at the same time
        self.wrong = []  # what never should be

    def __enter__(self):
        answer = self._client.request("GET", kube.path_of("Node"))
        for node in answer["items"]:
            self._see(node)
        self._since = answer["metadata"]["resourceVersion"]
        self.start()
        return self

    def __exit__(self, kind, *_):
        self._ending.set()
        self.join(10)
        if kind is None:
            assert not self.wrong, "; ".join(self.wrong[:5])
            assert self._followed, "nodes were not followed to the end"
            assert (
                self.at_once <= self._most
            ), f"{self.at_once} nodes were changed at the same time, {self._most} may be"

    def phases(self, node):
        """The phases that a node went through, without Validating, which is often over in the
        write that begins it."""
        return [p for p in self.way[node] if p != "Validating"]

    def run(self):
        while not self._ending.is_set():
            try:
                with self._client.watch("Node", since=self._since, timeout=1) as events:
                    for kind, node in events:
                        self._since = node["metadata"]["resourceVersion"]
                        self._on_event(kind, node)
            except Exception as e:  # whatever it is, what nodes did since then is not known
                self.wrong.append(f"the watch of nodes has ended: {type(e).__name__}: {e}")
                return
        self._followed = True

    def _on_event(self, kind, node):
        if kind == "DELETED":
            self._phases.pop(node["metadata"]["name"], None)
        else:
            self._see(node)

    def _see(self, node):
        name, phase = node["metadata"]["name"], phase_of(node)
        labels = node["metadata"].get("labels", {})
        self._append(self.way, name, phase)
        self._append(self.labels, name, (labels.get(DRIVER), labels.get(STACK)))
        self._phases[name] = (phase, closed(node))
        if closed(node) and name not in self.order:
            self.order.append(name)
        if bool(node["spec"].get("unschedulable")) and name not in self._cordoned:
            self.wrong.append(f"{name} is cordoned")
        self._count()

    def _count(self):
        at_work = {n for n, (p, _) in self._phases.items() if p in AT_WORK}
        out = {n for n, (_, c) in self._phases.items() if c}
        self.at_once = max(self.at_once, len(at_work))
        self.out_at_once = max(self.out_at_once, len(out))
        broken = self._rule and self._rule(at_work, out)
        if broken:
            self.wrong.append(broken)

    @staticmethod
    def _append(rows, name, value):
        row = rows.setdefault(name, [])
        if not row or row[-1] != value:
            row.append(value)


class Drivers:
    """The driver pods of each node while its block runs: at its end, no node ever had two of
    them."""

    def __init__(self, env):
        self._client = env.k.clone()
        self._labels = f"{COMPONENT}=driver"
        self._there = {}  # node -> names of its driver pods

    def __enter__(self):
        answer = self._client.request(
            "GET", kube.path_of("Pod", None, OPERANDS), query={"labelSelector": self._labels}
        )
        for pod in answer["items"]:
            self._pods_of(pod).add(pod["metadata"]["name"])
        self._since = answer["metadata"]["resourceVersion"]
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            return
        with self._client.watch(
            "Pod", OPERANDS, since=self._since, timeout=1, labels=self._labels
        ) as events:
            for change, pod in events:
                self._on_event(change, pod)

    def _pods_of(self, pod):
        return self._there.setdefault(pod["spec"].get("nodeName"), set())

    def _on_event(self, change, pod):
        pods = self._pods_of(pod)
        if change == "DELETED":
            pods.discard(pod["metadata"]["name"])
        else:
            pods.add(pod["metadata"]["name"])
        node = pod["spec"].get("nodeName")
        assert not node or len(pods) < 2, f"{node} had two drivers: {sorted(pods)}"
