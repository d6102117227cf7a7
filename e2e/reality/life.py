"""A short life of a cluster on a real control plane, with Ostler behind a fault proxy, and how
each of its phases ends.

The simulator lives the same life (life.yaml): the policy and four nodes come, the policy is
edited, a node leaves, the policy goes.
"""

import json
import signal
import threading
import time

import actor
import env
import kube
from installation import Installation
from names import NAMESPACE
from program import Operator
from proxy import Lost, Proxy
from reality import state
from worker import Worker

CALM_S = 0.5  # Ostler writes nothing for so long at the end of a phase
LAST_CALM_S = 1.5  # and at the end of all
REFERENCE_CALM_S = (
    1.5  # and in the life that others are held against: its status comes once a second
)
PHASE_S = 75.0  # a phase that has not come to its end by then never will
RESTART_S = 0.3  # until a process that ended is started again

GPU_NODES = {"noble-1": "ubuntu24.04", "noble-2": "ubuntu24.04", "jammy-1": "ubuntu22.04"}
PLAIN_NODE = "web-1"
LEAVER = "noble-2"
# What others put on a node before Ostler comes, and find again whatever Ostler does.
FOREIGN = {
    "labels": {"example.com/rack": "r7"},
    "annotations": {"example.com/owner": "carol"},
    "taints": [{"key": "example.com/dedicated", "value": "ml", "effect": "PreferNoSchedule"}],
}
# What others write while Ostler is at work: kind -> (JSON patch, what state.snapshot() then finds).
FOREIGN_WRITES = {
    "Node": (
        [
            {"op": "add", "path": "/metadata/labels/foreign.example.com~1label", "value": "yes"},
            {
                "op": "add",
                "path": "/metadata/annotations/foreign.example.com~1note",
                "value": "mine",
            },
            {
                "op": "add",
                "path": "/spec/taints/-",
                "value": {"key": "foreign.example.com/taint", "effect": "PreferNoSchedule"},
            },
        ],
        {
            "labels foreign.example.com/label",
            "annotations foreign.example.com/note",
            "taints foreign.example.com/taint",
        },
    ),
    "GpuClusterPolicy": (
        [{"op": "add", "path": "/metadata/finalizers", "value": ["foreign.example.com/finalizer"]}],
        {"finalizers foreign.example.com/finalizer"},
    ),
}
EDIT = {"exporter": {"enabled": False}, "nodes": {"taint": {"key": "example.com/gpu"}}}


class Replica:
    """One Ostler, behind a proxy of its own; started again when it ends."""

    def __init__(self, world, account, log, elects):
        self.proxy = Proxy(world)
        config = world.token_kubeconfig(NAMESPACE, account, log.stem)
        content = json.loads(config.read_text(encoding="utf-8"))
        content["clusters"][0]["cluster"]["server"] = self.proxy.url
        config.write_text(json.dumps(content), encoding="utf-8")
        self.operator = Operator(
            config, log, "--log-level", "debug", f"--leader-elect={str(elects).lower()}"
        )
        self.faints = []  # how it ended where it should not have
        # Killed by us, ended when told; who elects ends with an error when its lease is lost.
        self._fair_ends = {0, -signal.SIGKILL, 1 if elects else 0}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._keeper = Worker(self._keep)

    def start(self):
        """Starts it."""
        self.operator.start(ready=False)
        self._keeper.start()

    def _keep(self):
        while not self._stopping.wait(RESTART_S):
            with self._lock:
                if not self.operator.running and not self._stopping.is_set():
                    self._note(self.operator.wait(0))
                    self.operator.start(ready=False)

    def _note(self, code):
        if code not in self._fair_ends:
            self.faints.append(f"{self.operator.log.name}: Ostler ended with {code}")

    def kill(self):
        """SIGKILL; it is back after a while."""
        with self._lock:
            self.operator.kill()

    def stop(self):
        """Ends it for good."""
        self._stopping.set()
        if self._keeper.is_alive():
            self._keeper.join()
        self._keeper.check()
        self._note(self.operator.stop())
        self.proxy.stop()


class Stage:
    """A control plane on which lives are lived one after another."""

    def __init__(self, world, logs):
        self.world = world
        self.installation = Installation(world)
        self.logs = logs
        self.logs.mkdir(parents=True, exist_ok=True)
        self.client = world.client()
        self.actor = actor.PluginActor(world.client())
        self.actor.start()

    def close(self):
        """Ends what plays on it."""
        self.actor.stop()
        self.client.close()


class Life:
    """One life, with what a plan does to it. Faults use what is public here, from threads of
    their own."""

    def __init__(self, stage, plan):
        self.stage = stage
        self.plan = plan
        self.replicas = []
        self.findings = []
        self._foreign = {}  # {object: what others wrote on it and must find}
        self._pending = 0
        self._lock = threading.Lock()
        self._began = 0.0

    # ---- what faults do

    def sender(self, exchange):
        """The replica that an exchange comes from."""
        return next(r for r in self.replicas if r.proxy is exchange.proxy)

    def kill(self, exchange):
        """The process that sent this dies at this moment."""
        self.sender(exchange).kill()
        raise Lost

    def later(self, seconds, function, *args):
        """Calls the function then; no phase ends before."""
        with self._lock:
            self._pending += 1

        def act():
            time.sleep(seconds)
            try:
                function(*args)
            except Exception as e:  # told when the life is over
                self.findings.append(f"{function.__name__}: {type(e).__name__}: {e}")
            finally:
                with self._lock:
                    self._pending -= 1

        threading.Thread(target=act, daemon=True).start()

    def return_to_now(self, view):
        """Lists and watches are new again; that the old ones were asked for is what the plan is
        about."""
        if not view.old_lists:
            self.findings.append("Ostler asked for no list of the past")
        view.thaw()

    def mark(self, kind, name):
        """Another client writes on an object: on a node a label, an annotation and a taint, on
        the policy a finalizer."""
        patch, marks = FOREIGN_WRITES[kind]
        client = self.stage.world.client()
        client.json_patch(kind, name, patch)
        client.close()
        self._foreign[f"{kind} {name}"] = marks

    def let_go(self, kind, name):
        """The other client takes the finalizer off again."""
        client = self.stage.world.client()
        client.merge_patch(kind, name, {"metadata": {"finalizers": None}})
        client.close()

    # ---- the phases

    def _come(self):
        client = self.stage.client
        client.create(kube.policy())
        for name, os in GPU_NODES.items():
            client.create(kube.node(name, "nfd", os=os, **FOREIGN))
        client.create(kube.node(PLAIN_NODE, **FOREIGN))

    def _edit(self):
        self.stage.client.merge_patch("GpuClusterPolicy", "default", {"spec": EDIT})

    def _leave(self):
        client = self.stage.client
        client.delete("Node", LEAVER)
        for pod in client.list("Pod", fields=f"spec.nodeName={LEAVER}"):
            client.delete("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], grace=0)

    def _go(self):
        self.stage.client.delete("GpuClusterPolicy", "default")

    # ---- ends of phases

    def _snapshot(self):
        wanted = dict(self._foreign)  # what comes while the objects are listed is for the next time
        found, foreign = state.snapshot(self.stage.client)
        found.update(
            state.counts(self.stage.world.audit, self.stage.installation.user, self._began)
        )
        lost = [
            f"{mark} of {key} is lost"
            for key, marks in wanted.items()
            for mark in marks - foreign.get(key, marks)
        ]
        self.findings += [text for text in lost if text not in self.findings]
        return state.without_counts(found) if self.plan.loose else found

    def _is_calm(self, seconds):
        with self._lock:
            return self._pending == 0 and all(r.proxy.is_calm(seconds) for r in self.replicas)

    def _serves(self, gpu_nodes):
        """Whether the policy is gone, or as many nodes as there are are ready, by the policy and by
        the nodes' own condition, which comes seconds later."""
        policy = self.stage.client.get("GpuClusterPolicy", "default")
        if gpu_nodes is None or policy is None:
            return policy is None and gpu_nodes is None
        status = policy.get("status", {})
        reported = [
            node
            for node in self.stage.client.list("Node")
            if kube.condition(node, "GpuReady").get("status") == "True"
        ]
        return (
            len(reported) == gpu_nodes
            and status.get("observedGeneration") == policy["metadata"]["generation"]
            and status.get("nodes", {}).get("ready") == gpu_nodes
            and kube.condition(policy, "Ready").get("status") == "True"
        )

    def _rest(self, gpu_nodes):
        """Waits until nothing moves and returns the end of this phase: for the life that others
        are held against."""

        def ended():
            """a phase without faults ends"""
            if not self._serves(gpu_nodes) or not self._is_calm(REFERENCE_CALM_S):
                return None
            found = self._snapshot()
            return [found] if state.is_at_rest(found) else None

        return kube.wait_for(ended, PHASE_S, every=0.3)[0]

    def _reach(self, wanted, calm):
        """Waits for an end and returns the one that there is when that is reached, or when it is
        too late."""
        until = time.monotonic() + PHASE_S
        while True:
            was_calm = self._is_calm(calm)
            got = self._snapshot() if was_calm or time.monotonic() > until else None
            if got and (got == wanted and self._is_calm(calm) or time.monotonic() > until):
                return got
            time.sleep(0.1)

    # ---- all of it

    def _begin(self):
        env.clear(self.stage.client)
        self._began = time.time()
        for number in range(self.plan.replicas):
            log = self.stage.logs / f"{self.plan.name}-{number + 1}.log"
            log.unlink(missing_ok=True)
            self.replicas.append(
                Replica(self.stage.world, self.stage.installation.account, log, self.plan.elects)
            )
        faults = self.plan.faults(self)
        for replica in self.replicas:
            replica.proxy.faults = faults
            replica.start()
        return faults

    def _play(self, reference):
        phases = (
            (self._come, len(GPU_NODES)),
            (self._edit, len(GPU_NODES)),
            (self._leave, len(GPU_NODES) - 1),
            (self._go, None),
        )
        if reference and self.plan.loose:
            reference = [state.without_counts(end) for end in reference]
        ends = []
        for number, (deed, gpu_nodes) in enumerate(phases):
            deed()
            calm = CALM_S if number + 1 < len(phases) else LAST_CALM_S
            ends.append(
                self._reach(reference[number], calm) if reference else self._rest(gpu_nodes)
            )
            if reference and ends[-1] != reference[number]:
                self.findings += [
                    f"the end of phase {number} is another one than without faults",
                    *state.differences(reference[number], ends[-1]),
                ]
                break  # what comes after follows from it
        return ends

    def live(self, reference=None):
        """Lives it. Returns the ends of its phases; what is wrong is in `findings`. Without a
        reference it is one."""
        try:
            faults = self._begin()
            ends = self._play(reference)
            self.findings += [
                f"fault {n} did not strike" for n, f in enumerate(faults, 1) if not f.done
            ]
        finally:
            for replica in self.replicas:
                replica.stop()
                self.findings += replica.faints
        return ends
