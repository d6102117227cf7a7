"""What happens while a case is played: how often each thing happened to whom, in which order nodes
were claimed, and how much was out of service at a time. The names are those of
tests/sweep/journal.h.
"""

import collections
import json
import re
import threading
import time

import kube
from names import CLAIM, DRIVER, OPERANDS
from rollouts import AT_WORK
from worker import Worker

ZONE = "topology.kubernetes.io/zone"
GPU = "nvidia.com/gpu"


def fits(pattern, text):
    """Whether a text fits a pattern in which * stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def claim_of(node):
    """The node's claim; {} where it has none, None where it cannot be read."""
    text = (node or {}).get("metadata", {}).get("annotations", {}).get(CLAIM)
    try:
        claim = json.loads(text) if text else {}
    except ValueError:
        return None
    return claim if isinstance(claim, dict) else None


def is_closed(node):
    """Whether it bears the taint that goes with a claim, under whatever key."""
    return any(t.get("value") in ("Upgrade", "Rollback") for t in node["spec"].get("taints", []))


def is_up(node):
    """Whether its kubelet says so."""
    return kube.condition(node, "Ready").get("status") == "True"


def _uses_gpus(pod):
    return any(GPU in c.get("resources", {}).get("limits", {}) for c in pod["spec"]["containers"])


def _runs(pod):
    return bool(
        pod
        and pod["spec"].get("nodeName")
        and "deletionTimestamp" not in pod["metadata"]
        and pod["status"].get("phase") not in ("Succeeded", "Failed")
    )


def _restarts(pod):
    return sum(c.get("restartCount", 0) for c in pod["status"].get("containerStatuses", []))


def _where(node):
    """Where a node is on its way."""
    claim = {**(claim_of(node) or {}), "since": None}
    return (
        claim,
        node["metadata"].get("labels"),
        node["spec"],
        is_up(node),
        node["status"].get("allocatable"),
    )


def _stage(pod):
    """How far a pod is."""
    return (
        pod["metadata"]["uid"],
        pod["status"].get("phase"),
        kube.pod_ready(pod),
        "deletionTimestamp" in pod["metadata"],
        _restarts(pod),
    )


class Journal:
    """Follows nodes and pods while its block runs."""

    def __init__(self, env):
        self._env = env
        self._began = time.time()
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._nodes = {}
        self._pods = {}
        self._gpus = collections.Counter()  # node -> the most that its kubelet ever had to give
        self._times = collections.Counter()  # (deed, name)
        self._names = set()
        self._most = collections.Counter()
        self.claims = []  # nodes in the order in which they were claimed
        self.changed = time.monotonic()  # when something last moved
        self.cordons = set()  # nodes that were seen cordoned
        self._followers = [Worker(self._follow, env.k.clone(), kind) for kind in ("Node", "Pod")]

    def __enter__(self):
        for one in self._followers:
            one.start()
        return self

    def __exit__(self, kind, *_):
        self._ending.set()
        if kind is None:
            for one in self._followers:
                one.finish(30)

    # ---- what is asked

    def times(self, deed, pattern):
        """How often it happened to those whose name fits; None: no such name was ever there."""
        if deed in ("evicted", "deleted", "written"):
            return self._asked(deed, pattern)
        with self._lock:
            if not any(fits(pattern, n) for n in self._names):
                return None
            return sum(
                n for (what, name), n in self._times.items() if what == deed and fits(pattern, name)
            )

    def most(self, figure):
        """The most that there was at a time."""
        with self._lock:
            return self._most[figure]

    def _asked(self, deed, pattern):
        """What Ostler asked of the API server, which its audit log knows."""

        def is_meant(r):
            if r.code >= 300 or "dryRun" in r.uri or not r.writes:
                return False
            if deed == "written":
                return fits(pattern, r.resource.partition("/")[0])
            asked = ("create", "pods/eviction") if deed == "evicted" else ("delete", "pods")
            return (r.verb, r.resource) == asked and fits(pattern, f"{r.namespace}/{r.name}")

        known = deed == "written" or any(fits(pattern, n) for n in self._names)
        return len(self._env.requests(since=self._began, where=is_meant)) if known else None

    # ---- what is seen

    def _follow(self, client, kind):
        since = None
        note = self._note_node if kind == "Node" else self._note_pod
        while not self._ending.is_set():
            with client.watch(kind, since=since, timeout=1) as events:
                for change, found in events:
                    since = found["metadata"]["resourceVersion"]
                    with self._lock:
                        note(None if change == "DELETED" else found, found)

    def _moved(self, before, after):
        """Ages, beats and words of a test's own are no movement."""
        if before != after:
            self.changed = time.monotonic()

    def _happened(self, deed, name, so, times=1):
        if so:
            self._times[deed, name] += times

    def _note_node(self, after, found):
        name = found["metadata"]["name"]
        before = self._nodes.get(name)
        self._names.add(name)
        self._moved(before and _where(before), after and _where(after))
        if before and after:
            self._note_claim(name, before, after)
        if after:
            self._nodes[name] = after
            self.cordons |= {name} if after["spec"].get("unschedulable") else set()
            gpus = int(after["status"].get("allocatable", {}).get(GPU, "0"))
            self._gpus[name] = max(self._gpus[name], gpus)
        else:
            self._nodes.pop(name, None)
        self._note_figures()

    def _note_claim(self, name, before, after):
        was, now = claim_of(before) or {}, claim_of(after) or {}
        driver, other = (n["metadata"].get("labels", {}).get(DRIVER) for n in (before, after))
        for phase, deed in (("Draining", "drained"), ("Failed", "failed")):
            self._happened(deed, name, now.get("phase") == phase and was.get("phase") != phase)
        self._happened("claimed", name, now and not was)
        self._happened("released", name, was and not now)
        kinds = (was.get("kind"), now.get("kind"))
        self._happened("rolledBack", name, kinds[1] == "Rollback" and kinds[0] != "Rollback")
        self._happened("unloaded", name, driver and driver != other)
        if now and not was:
            self.claims.append(name)

    def _note_figures(self):
        closed = [name for name, n in self._nodes.items() if is_closed(n)]
        changing = [n for n in self._nodes.values() if (claim_of(n) or {}).get("phase") in AT_WORK]
        figures = {
            "closed": len(closed),
            "changing": len(changing),
            "gpus": sum(self._gpus[n] for n in closed),
            "out": sum(
                is_closed(n) or not is_up(n) or bool(n["spec"].get("unschedulable"))
                for n in self._nodes.values()
            ),
            "zones": len({n["metadata"].get("labels", {}).get(ZONE) for n in changing} - {None}),
        }
        for figure, n in figures.items():
            self._most[figure] = max(self._most[figure], n)

    def _note_pod(self, after, found):
        name = f"{found['metadata']['namespace']}/{found['metadata']['name']}"
        before = self._pods.get(name)
        self._moved(before and _stage(before), after and _stage(after))
        if after:
            self._pods[name] = after
        else:
            self._pods.pop(name, None)
        operand = found["metadata"]["namespace"] == OPERANDS
        if operand or _uses_gpus(found):
            self._names.add(name)
        if operand or not _uses_gpus(found):
            return
        ended = not _runs(after) and (after or {}).get("status", {}).get("phase") != "Succeeded"
        self._happened("lost", name, _runs(before) and ended)
        if before and after:
            self._happened("restarted", name, True, max(0, _restarts(after) - _restarts(before)))
