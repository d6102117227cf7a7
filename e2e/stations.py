"""Nodes that are brought to each step of an upgrade and kept there until they are let go,
so that a test can interfere at each."""

import kube
import upgrades
from names import OPERANDS
from rollouts import phase_of

# A driver that never gets out of being created on nodes with this word in their name.
VERSION = "580.178.04-slow-on-installing"


def _annotate_pods(env, node, component, **annotations):
    for pod in env.pods(node, component):
        try:
            env.k.merge_patch(
                "Pod", pod["metadata"]["name"], {"metadata": {"annotations": annotations}}, OPERANDS
            )
        except kube.ApiError as e:
            if e.code != 404:  # it may be on its way out
                raise


def _job(env, node):
    env.gpu_pod(f"job-{node}", node)


def _end_of_job(env, node):
    for pod in env.k.list("Pod", "default", fields=f"spec.nodeName={node}"):
        upgrades.end_job(env, pod["metadata"]["name"])


def _guarded_pod(env, node):
    pod = env.gpu_pod(f"guarded-{node}", node, restart="Always", labels={"guarded": node})
    env.create(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": pod, "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"guarded": node}}},
        }
    )
    env.wait(
        lambda: env.k.get("PodDisruptionBudget", pod, "default")
        .get("status", {})
        .get("currentHealthy")
        == 1,
        what="the budget counts",
    )


def _end_of_pod(env, node):
    for pod in env.k.list("Pod", "default", fields=f"spec.nodeName={node}"):
        env.k.delete("Pod", pod["metadata"]["name"], "default", grace=0)


def _lingering(component):
    return (
        lambda env, node: _annotate_pods(
            env, node, component, **{"test.ostler.dev/lingers": "true"}
        ),
        lambda env, node: _annotate_pods(env, node, component, **{"test.ostler.dev/lingers": None}),
    )


def _nothing(_env, _node):
    """The version alone keeps it."""


def _driver_comes(env, node):
    _annotate_pods(env, node, "driver", **{"test.ostler.dev/go": "true"})


def _no_gpus(env, node):
    upgrades.set_on_node(env, node, annotations={"test.ostler.dev/gpus": "0"})


def _gpus_come(env, node):
    upgrades.set_on_node(env, node, annotations={"test.ostler.dev/gpus": None})
    if any(kube.pod_ready(p) for p in env.pods(node, "device-plugin")):
        gpus = {"nvidia.com/gpu": "8"}
        env.k.merge_patch(
            "Node", node, {"status": {"capacity": gpus, "allocatable": gpus}}, subresource="status"
        )


# station -> (phase of the claim, what keeps a node there, what lets it go)
STATIONS = {
    "waiting": ("Waiting", _job, _end_of_job),
    "draining": ("Draining", _guarded_pod, _end_of_pod),
    "unloading": ("Unloading", *_lingering("device-plugin")),
    "leaving": ("Unloading", *_lingering("driver")),
    "installing": ("Installing", _nothing, _driver_comes),
    "validating": ("Validating", _no_gpus, _gpus_come),
}
# One for each phase of the claim.
STEPS = tuple(s for s in STATIONS if s != "leaving")
# Where nothing was changed on the node yet.
UNTOUCHED = ("waiting", "draining")


class Stations:
    """One node for each station and each of `ends`, which tells apart what is done to them; all
    of them run the old version."""

    def __init__(self, env, *ends, at=tuple(STATIONS), spec=None, each=None, others=(), **rollout):
        """each(end of the name): more of a node, as kube.node() has it. others: ends of names of
        nodes that nothing keeps."""
        self._env = env
        names = [f"{station}-{end}" for station in at for end in ends]
        made = upgrades.fleet(
            env,
            [*names, *others],
            {**upgrades.LIGHT, **(spec or {})},
            each,
            **upgrades.ALL_AT_ONCE,
            drain={"force": True},
            **rollout,
        )
        self.nodes = dict(zip(((s, e) for s in at for e in ends), made))  # (station, end) -> node
        self.others = made[len(names) :]
        for (station, _), node in self.nodes.items():
            STATIONS[station][1](env, node)
        self.drivers = {n: env.pod_uids("driver", n) for n in made}

    def of(self, *ends, at=tuple(STATIONS), but=()):
        """The nodes with these ends at these stations."""
        return [
            n
            for (station, end), n in self.nodes.items()
            if end in ends and station in at and station not in but
        ]

    def arrive(self, timeout=30):
        """Waits until each node is where it is to be."""

        def late():
            found = {n["metadata"]["name"]: n for n in self._env.k.list("Node")}
            return {
                n: phase_of(found[n])
                for (station, _), n in self.nodes.items()
                if not self._is_there(station, found[n])
            }

        self._env.wait(
            lambda: not late() or str(late()), timeout, "each node is at its station", every=0.2
        )

    def _is_there(self, station, node):
        labels = node["metadata"]["labels"]
        is_off = (
            "ostler.dev/stack" not in labels
            if station == "unloading"
            else "ostler.dev/driver" not in labels
        )
        there = phase_of(node) == STATIONS[station][0] and (
            STATIONS[station][0] != "Unloading" or is_off
        )
        return there and (
            station != "installing" or bool(self._env.pods(node["metadata"]["name"], "driver"))
        )

    def let_go(self, *nodes):
        """Nothing keeps these nodes from then on, wherever they are by now."""
        for (station, _), node in self.nodes.items():
            if node in nodes:
                STATIONS[station][2](self._env, node)

    def moved_on(self, *nodes):
        """Which of the nodes have another driver pod than at the beginning, or none."""
        return [n for n in nodes if self._env.pod_uids("driver", n) != self.drivers[n]]
