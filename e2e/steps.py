"""How long after what allows it each step of a node's upgrade is taken.

A step is a change of a node's claim or assignment, or a task's pod. What allows it is seen by a
watch of nodes and operand pods, when the step is asked for is in the API server's audit log.
Both have one machine's clock.
"""

import collections
import dataclasses
import json
import threading
import time

import kube
from names import CLAIM, COMPONENT, DRIVER, OPERANDS, STACK
from worker import Worker

TASK = "ostler.dev/task"


@dataclasses.dataclass
class Step:
    """One step of one node."""

    node: str
    name: str
    target: tuple  # resource and name of what is written
    allowed: float  # when what allows it was seen
    seen: float  # when the step itself was seen
    asked: float = None  # when Ostler asked for it; None: not known

    @property
    def delay(self):
        """Seconds from what allows it to the request. What is seen a moment late counts as seen
        in time."""
        return max(0.0, self.asked - self.allowed)


class _Node:
    """What is known of one node, and since when."""

    def __init__(self):
        self.marks = None  # (phase, driver, stack)
        self.pods = {}  # pods that are there: name -> (component, ready)
        self.last = {}  # what happened -> when it last did

    def component(self, driver):
        """Pods of the driver, or of the stack, as a list of whether each is ready."""
        return [
            ready for component, ready in self.pods.values() if (component == "driver") == driver
        ]


def _phase(node):
    try:
        return json.loads(node["metadata"]["annotations"][CLAIM])["phase"]
    except (KeyError, ValueError):
        return None


def _pinned_to(pod):
    """The node that a task's pod is for."""
    if "nodeName" in pod["spec"]:
        return pod["spec"]["nodeName"]
    terms = pod["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    return terms[0]["matchFields"][0]["values"][0]


# What allows a step: the latest of these.
ALLOWED_BY = {
    "Draining": ("turn", "pull done"),
    "Unloading": ("marks",),
    "driver off": ("stack gone", "marks"),
    "Installing": ("driver gone", "marks"),
    "stack on": ("driver ready", "marks"),
    "Validating": ("stack ready", "gpus", "marks"),
    "proof": ("Validating", "gpus"),
    "released": ("proof done", "gpus", "marks"),
}


class Steps:
    """Follows nodes and their operand pods from now on, until end()."""

    def __init__(self, client):
        self._nodes = collections.defaultdict(_Node)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._turn = time.time()  # when the last node was released, or all began
        self.steps = []
        self._followers = [
            Worker(self._follow, client.clone(), kind, namespace)
            for kind, namespace in (("Node", None), ("Pod", OPERANDS))
        ]
        for one in self._followers:
            one.start()

    def end(self):
        """Looks no more. Raises what ended one that looks before its time: the steps since then
        are not known."""
        self._ending.set()
        for one in self._followers:
            one.finish(30)

    def turn(self):
        """From here on the first node may begin."""
        self._turn = time.time()

    def _follow(self, client, kind, namespace):
        since = None
        while not self._ending.is_set():
            with client.watch(kind, namespace, since=since, timeout=5) as events:
                for change, found in events:
                    since = found["metadata"]["resourceVersion"]
                    with self._lock:
                        (self._on_node if kind == "Node" else self._on_pod)(
                            change, found, time.time()
                        )

    # ---- nodes

    def _on_node(self, change, found, now):
        name = found["metadata"]["name"]
        node, labels = self._nodes[name], found["metadata"].get("labels", {})
        marks = (_phase(found), labels.get(DRIVER), labels.get(STACK))
        if found["status"].get("allocatable", {}).get("nvidia.com/gpu", "0") != node.last.get(
            "gpus of"
        ):
            node.last["gpus of"] = found["status"].get("allocatable", {}).get("nvidia.com/gpu", "0")
            node.last["gpus"] = now
        if change == "MODIFIED" and node.marks and marks != node.marks:
            self._step(name, self._name_of(node.marks, marks), ("nodes", name), now)
        node.marks = marks

    @staticmethod
    def _name_of(before, after):
        if before[0] != after[0]:
            return after[0] or "released"
        if before[1] != after[1]:
            return "driver off" if not after[1] else "driver on"
        return "stack on" if after[2] else "stack off"

    def _step(self, name, step, target, now):
        last = self._nodes[name].last
        allowed = max(
            self._turn if by == "turn" else last.get(by, 0)
            for by in ALLOWED_BY.get(step, ("marks",))
        )
        self.steps.append(Step(name, step, target, allowed, now))
        last["marks"] = last[step] = now
        if step == "released":
            self._turn = now

    # ---- pods

    def _on_pod(self, change, pod, now):
        name, task = pod["spec"].get("nodeName"), pod["metadata"].get("labels", {}).get(TASK)
        if task:
            self._on_task(change, task, pod, now)
        elif name:
            self._on_operand(change, self._nodes[name], pod, now)

    def _on_task(self, change, task, pod, now):
        node, name, uid = _pinned_to(pod), pod["metadata"]["name"], pod["metadata"]["uid"]
        last = self._nodes[node].last
        if change == "ADDED" and task == "proof":
            self._step(node, task, ("pods", name), now)
        elif pod["status"].get("phase") == "Succeeded" and last.get(f"{task} of") != uid:
            last[f"{task} of"] = uid
            last[f"{task} done"] = now

    @staticmethod
    def _on_operand(change, node, pod, now):
        component = pod["metadata"].get("labels", {}).get(COMPONENT)
        driver = component == "driver"
        was = node.pods.pop(pod["metadata"]["name"], (None, False))[1]
        if change != "DELETED":
            node.pods[pod["metadata"]["name"]] = (component, kube.pod_ready(pod))
        what, left = "driver" if driver else "stack", node.component(driver)
        if not left:
            node.last[what + " gone"] = now
        elif all(left) and not was:
            node.last[what + " ready"] = now

    # ---- what it came to

    def asked(self, requests):
        """The steps of which it is known when Ostler asked for them. `requests`: what it asked
        for, in order."""
        times = collections.defaultdict(list)
        for r in requests:
            if r.code < 300 and (r.verb, r.resource) in (("patch", "nodes"), ("create", "pods")):
                times[r.resource, r.name].append(r.time)
        with self._lock:
            for step in self.steps:
                step.asked = times[step.target].pop(0) if times[step.target] else None
            return [s for s in self.steps if s.asked is not None]
