"""Simulated clusters in the states that alerts are for, with the unmodified program in them:
what it exports there is what the alerts are tried with."""

import contextlib
import dataclasses
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "e2e"))

import exposition  # noqa: E402  the path above is what finds the next one
import kube  # noqa: E402

PROGRAM = pathlib.Path(os.environ.get("OSTLER", ROOT / "build" / "ostler"))
SIMULATOR = ROOT / "build" / "ostler-sim"
BASE = ROOT / "tests/rollouts/base/world.yaml"
SPEED = "40"  # of the simulated cluster; the program's own time is real
PATIENCE = 120  # seconds for a state to come
SETTLES = 2  # seconds for what a step does
APART = 3  # seconds, at least, between the two looks that say how fast counters grow

OLD, NEW = {"driver": {"version": "570.133.20"}}, {"driver": {"version": "575.57.08"}}
TOLERATION = [{"key": "nvidia.com/gpu", "operator": "Exists"}]


def policy(**spec):
    """The policy."""
    return {
        "apiVersion": "ostler.dev/v1alpha1",
        "kind": "GpuClusterPolicy",
        "metadata": {"name": "default"},
        "spec": spec,
    }


def pods(name, kind="Deployment", **spec):
    """A Deployment or Job of one pod that takes all GPUs of a node."""
    container = {
        "name": "main",
        "image": f"registry.example.com/{name}:1",
        "resources": {"limits": {"nvidia.com/gpu": "8"}},
    }
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"tolerations": TOLERATION, "containers": [container], **spec},
    }
    selector = (
        {"selector": {"matchLabels": {"app": name}}, "replicas": 1} if kind == "Deployment" else {}
    )
    version = "apps/v1" if kind == "Deployment" else "batch/v1"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {**selector, "template": template},
    }


def edit(**spec):
    """A step: the policy's spec is merged with this one."""
    return lambda client: client.merge_patch("GpuClusterPolicy", "default", {"spec": spec})


def create(item):
    """A step: this object is made."""
    return lambda client: client.create(item)


@dataclasses.dataclass(frozen=True)
class World:
    """A state, how it is made, and which alerts must fire when it lasts."""

    about: str
    alerts: set
    until: object  # (scrape of the first replica) -> whether the state has come
    # counters that the alerts look at: the two looks are so far apart that each has grown
    grows: tuple = ()
    nodes: int = 2
    objects: tuple = ()
    steps: tuple = ()  # (a client) -> nothing: each once its nodes are Ready
    actions: tuple = ()  # of the scenario
    more: dict = dataclasses.field(default_factory=dict)  # of the scenario
    options: tuple = ()  # of the program
    replicas: int = 1
    simulated: bool = True  # False: the API server is away


def condition(scrape, kind, status):
    """The policy's condition has this status."""
    return scrape.value("ostler_policy_condition", condition=kind, status=status)


def ready(n):
    """That many nodes are Ready."""
    return lambda s: s.value("ostler_nodes", state="Ready") == n and condition(s, "Ready", "True")


def holds(reason):
    """The rollout says this."""
    return lambda s: s.value("ostler_rollout_state", reason=reason)


def must_be_reset(at, node):
    """An action: the driver says that a GPU of the node must be reset."""
    return {
        "at": at,
        "do": "AgentSays",
        "node": node,
        "with": {"health": [{"address": "0000:17:00.0", "recovery": "Reset"}]},
    }


FAST = {"canary": {"nodes": 0}, "order": "Name"}
BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "serve", "namespace": "default"},
    "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "serve"}}},
}
UBUNTU = {
    "osImage": "Ubuntu 24.04.1 LTS",
    "osID": "ubuntu",
    "osVersion": "24.04",
    "kernel": "6.8.0-49-generic",
}
SHAPES = [
    {"name": "t4", "gpus": 1, **UBUNTU},
    {
        "name": "odd",
        "gpus": 1,
        **UBUNTU,
        "osImage": "Flatcar Container Linux 4081.2.0",
        "osID": "flatcar",
    },
]
FAILS = [{"version": "575*", "outcome": "FailsProof"}]

WORLDS = {
    "healthy": World(
        "all is well, and one of two replicas leads",
        set(),
        ready(2),
        objects=(policy(**OLD),),
        replicas=2,
    ),
    "upgraded": World(
        "an upgrade went well",
        set(),
        lambda s: ready(2)(s)
        and holds("UpToDate")(s)
        and s.value("ostler_node_state_seconds_count", state="Unloading") == 2,
        objects=(policy(**OLD, rollout=FAST),),
        steps=(edit(**NEW),),
    ),
    "revision-fails": World(
        "a version failed on a node, which went back",
        {"OstlerRevisionFailed", "OstlerPolicyDegraded"},
        lambda s: holds("RevisionFailed")(s) and s.value("ostler_nodes", state="Ready") == 2,
        objects=(policy(**OLD, rollout={"canary": {"nodes": 1}}),),
        steps=(edit(**NEW),),
        more={"drivers": FAILS},
    ),
    "nodes-fail": World(
        "a driver does not build, a host is unknown, a GPU fell off the bus",
        {
            "OstlerNodesFailed",
            "OstlerNodesUnsupported",
            "OstlerGpusLost",
            "OstlerGpuFault",
            "OstlerNodeClosed",
            "OstlerPolicyNotReady",
            "OstlerPolicyDegraded",
        },
        lambda s: s.value("ostler_nodes", state="Failed")
        and s.value("ostler_nodes", state="Unsupported")
        and s.value("ostler_nodes", state="Unhealthy")
        and s.value("ostler_gpus", state="lost"),
        objects=(policy(),),
        actions=(
            {
                "at": "1m",
                "do": "AgentSays",
                "node": "lost-1",
                "with": {"gpus": [{"address": "0000:01:00.0", "bus": "Gone"}]},
            },
        ),
        more={
            "agents": True,
            "labeller": False,
            "nodes": [
                {"name": "broken-1", "shape": "t4"},
                {"name": "lost-1", "shape": "t4"},
                {"name": "odd-1", "shape": "odd"},
            ],
            "shapes": SHAPES,
            "drivers": [{"node": "broken-1", "outcome": "FailsBuild", "exitCode": 1}],
        },
    ),
    "gpu-fault": World(
        "the driver says that a GPU must be reset, which is only reported; a log has a fault",
        {"OstlerGpuFault"},
        lambda s: ready(2)(s)
        and s.value("ostler_nodes_health", level="Close") == 1
        and s.value("ostler_gpu_faults_total", xid="79", level="None") == 2,
        objects=(policy(**OLD, health={"mode": "Observe"}),),
        actions=(
            # The log is read, and has nothing: only then is what comes a new fault.
            {"at": "5m", "do": "AgentSays", "node": "gpu-1", "with": {"faults": []}},
            {
                "at": "10m",
                "do": "AgentSays",
                "node": "gpu-1",
                "with": {
                    "health": [{"address": "0000:17:00.0", "recovery": "Reset"}],
                    "faults": [
                        {
                            "address": "0000:17:00.0",
                            "xid": 79,
                            "count": 2,
                            "first": "2026-11-20T10:00:00Z",
                            "last": "2026-11-20T10:00:00Z",
                            "bootId": "of-an-earlier-boot",
                        }
                    ],
                },
            },
        ),
        more={"agents": True, "labeller": False},
    ),
    "node-closed": World(
        "a GPU must be reset, and its node is closed",
        {"OstlerGpuFault", "OstlerNodeClosed"},
        lambda s: s.value("ostler_nodes", state="Unhealthy") == 1
        and s.value("ostler_nodes_closed_seconds_total"),
        grows=("ostler_nodes_closed_seconds_total",),
        objects=(policy(**OLD),),
        actions=(must_be_reset("10m", "gpu-1"),),
        more={"agents": True, "labeller": False},
    ),
    "node-closed-without-metrics": World(
        "a GPU must be reset, and the exporter's image does not exist",
        {"OstlerGpuFault", "OstlerNodeClosed", "OstlerPolicyDegraded"},
        lambda s: s.value("ostler_nodes", state="Unhealthy") == 1
        and s.value("ostler_policy_condition", condition="Degraded", reason="MetricsMissing"),
        objects=(policy(**OLD),),
        actions=(must_be_reset("10m", "gpu-1"),),
        more={
            "agents": True,
            "labeller": False,
            "images": [
                {"image": "*dcgm-exporter*", "missing": True, "message": "manifest unknown"}
            ],
        },
    ),
    "storm": World(
        "GPUs of so many nodes must be reset that the brake is on",
        {"OstlerGpuFault", "OstlerNodeClosed", "OstlerHealthBraked"},
        lambda s: s.value("ostler_health_brake") == 1
        and s.value("ostler_nodes_health", level="Close") == 4,
        nodes=4,
        objects=(policy(**OLD),),
        actions=tuple(must_be_reset("10m", f"gpu-{i}") for i in range(1, 5)),
        more={"agents": True, "labeller": False},
    ),
    "images-missing": World(
        "the new driver's image does not exist",
        {"OstlerRolloutBlocked", "OstlerRolloutStands"},
        holds("WaitingForImages"),
        objects=(policy(**OLD, rollout=FAST),),
        steps=(edit(**NEW),),
        more={
            "images": [{"image": "*driver:575*", "missing": True, "message": "manifest unknown"}]
        },
    ),
    "metrics-missing": World(
        "the exporter's image does not exist; the GPUs work",
        {"OstlerPolicyDegraded"},
        lambda s: condition(s, "Degraded", "True") and s.value("ostler_nodes", state="Ready") == 2,
        objects=(policy(**OLD),),
        more={
            "images": [{"image": "*dcgm-exporter*", "missing": True, "message": "manifest unknown"}]
        },
    ),
    "drains": World(
        "a pod does not leave, since its budget lets no pod go",
        {"OstlerNodeDrains"},
        lambda s: s.value("ostler_nodes", state="Draining")
        and s.value("ostler_evictions_total", outcome="refused"),
        nodes=1,
        objects=(policy(**OLD, rollout=FAST | {"maxUnavailable": 1}), BUDGET),
        steps=(create(pods("serve")), edit(**NEW)),
    ),
    "waits": World(
        "a node is closed for a job that runs on",
        {"OstlerNodeWaits"},
        lambda s: s.value("ostler_nodes", state="Waiting"),
        nodes=1,
        objects=(policy(**OLD, rollout=FAST | {"maxUnavailable": 1}),),
        steps=(create(pods("two-weeks", "Job", restartPolicy="Never")), edit(**NEW)),
    ),
    "removal-waits": World(
        "the policy is deleted while a GPU pod runs",
        {"OstlerNodeDrains", "OstlerPolicyNotReady"},
        lambda s: s.value("ostler_nodes", state="Removing") and condition(s, "Ready", "False"),
        nodes=1,
        objects=(policy(**OLD),),
        steps=(create(pods("serve")), lambda client: client.delete("GpuClusterPolicy", "default")),
    ),
    "approval": World(
        "a plan waits to be approved",
        {"OstlerRolloutWaitsForApproval"},
        holds("WaitingForApproval"),
        objects=(policy(**OLD, rollout=FAST | {"approval": "Manual"}),),
        steps=(edit(**NEW),),
    ),
    "stands": World(
        "no node begins while a cordoned node uses up maxUnavailable",
        {"OstlerRolloutStands"},
        holds("MaxUnavailable"),
        objects=(policy(**OLD, rollout=FAST | {"maxUnavailable": 1}),),
        steps=(
            lambda client: client.merge_patch("Node", "gpu-2", {"spec": {"unschedulable": True}}),
            edit(**NEW),
        ),
    ),
    "spec-is-wrong": World(
        "the policy names an image that is not allowed, and a rollout is under way",
        {"OstlerPolicyStalled", "OstlerPolicyNotReady"},
        lambda s: condition(s, "Stalled", "True"),
        objects=(policy(**OLD, rollout=FAST | {"paused": True}),),
        steps=(edit(**NEW), edit(driver={"repository": "evil.example"})),
    ),
    "agents-old": World(
        "an agent says nothing of the new start of its machine",
        {"OstlerAgentsSilent"},
        lambda s: s.value("ostler_agents", word="Old")
        and s.value("ostler_nodes", state="Ready") == 2,
        objects=(policy(**OLD),),
        actions=(
            {"at": "20m", "do": "AgentSilent", "node": "gpu-1"},
            {"at": "21m", "do": "Reboot", "node": "gpu-1"},
        ),
        more={"agents": True, "labeller": False},
    ),
    "installs-for-long": World(
        "a driver is compiled and does not come to an end",
        {"OstlerNodeTakesLong", "OstlerPolicyNotReady"},
        lambda s: s.value("ostler_nodes", state="Installing")
        and s.value("ostler_node_state_oldest_seconds", state="Installing"),
        objects=(policy(**OLD),),
        more={"drivers": [{"outcome": "Hangs"}]},
    ),
    "refused": World(
        "Ostler may not look at the namespace where its operands are to run",
        {"OstlerIsRefused", "OstlerWatchFails"},
        lambda s: (s.value("ostler_watch_failures_total") or 0) > 12,
        grows=("ostler_watch_failures_total",),
        objects=(policy(**OLD),),
        options=("--operand-namespace", "elsewhere"),
    ),
    "namespace-is-gone": World(
        "the namespace of the operands is gone, and the policy is edited",
        {
            "OstlerPassesFail",
            "OstlerPolicyStalled",
            "OstlerPolicyNotReady",
            "OstlerPolicyDegraded",
            "OstlerAgentsSilent",
            "OstlerNodeTakesLong",
        },
        lambda s: s.value("ostler_agents", word="Down") == 2 and condition(s, "Stalled", "True"),
        grows=("controller_runtime_reconcile_errors_total",),
        objects=(policy(**OLD),),
        steps=(
            lambda client: client.delete("Namespace", "ostler-operands"),
            edit(exporter={"interval": "5s"}),
        ),
    ),
    "server-is-away": World(
        "the API server does not answer",
        {"OstlerNoLeader", "OstlerRequestsFail", "OstlerWatchFails"},
        lambda s: (s.value("ostler_watch_failures_total") or 0) > 12,
        grows=("ostler_watch_failures_total",),
        simulated=False,
    ),
}


@contextlib.contextmanager
def simulator(folder, world):
    """The simulated cluster; yields the kubeconfig for Ostler."""
    machines = [{"name": "gpu", "shape": "h100", "count": world.nodes}] if world.nodes else []
    scenario = {
        "name": "alerts",
        "about": world.about,
        "base": os.path.relpath(BASE, folder),
        "nodes": machines,
        "objects": list(world.objects),
        "actions": list(world.actions),
        **world.more,
    }
    path = folder / "scenario.yaml"
    path.write_text(json.dumps(scenario), encoding="utf-8")
    config, admin = folder / "ostler.kubeconfig", folder / "kubeconfig"  # the last one written
    with subprocess.Popen(
        [
            SIMULATOR,
            "--scenario",
            path,
            "--speed",
            SPEED,
            "--kubeconfig",
            admin,
            "--ostler-kubeconfig",
            config,
        ],
        stdout=subprocess.DEVNULL,
    ) as process:
        try:
            deadline = time.monotonic() + PATIENCE
            while not admin.exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            if process.poll() is not None:
                raise RuntimeError("the simulator did not start")
            yield config
        finally:
            process.terminate()


def away(folder):
    """A kubeconfig of a server that is not there."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": f"https://127.0.0.1:{free_port()}"}}],
        "users": [{"name": "a", "user": {"token": "a"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def free_port():
    """A port that is free."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Replica:
    """An Ostler, and what it exports."""

    def __init__(self, folder, config, number, options):
        self.port, self.number = free_port(), number
        with open(folder / f"ostler-{number}.log", "wb") as log:
            self.process = subprocess.Popen(
                [
                    PROGRAM,
                    "run",
                    "--kubeconfig",
                    config,
                    "--listen",
                    f"127.0.0.1:{self.port}",
                    "--agent-image",
                    "registry.example.com/ostler:1",
                    *options,
                ],
                stderr=log,
            )

    def scrape(self):
        """What it says now; None while it does not answer."""
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.port}/metrics", timeout=5
            ) as answer:
                text = answer.read().decode()
        except (urllib.error.URLError, ConnectionError):
            return None
        return exposition.read(
            text, time.time(), job="ostler", instance=f"ostler-{self.number}:8080"
        )

    def stop(self):
        """Ends it."""
        self.process.terminate()
        self.process.wait()


def _wait(replicas, holds_there, about):
    deadline = time.monotonic() + PATIENCE
    while True:
        seen = [scrape for scrape in (r.scrape() for r in replicas) if scrape]
        if any(holds_there(scrape) for scrape in seen):
            return
        if time.monotonic() > deadline:
            values = [pair for scrape in seen for pair in scrape.values.items()]
            shown = [f"{s} {v:g}" for s, v in values if s.name in SHOWN]
            raise TimeoutError(f"{about}: it did not come to that: {shown}")
        time.sleep(0.2)


def _look_twice(replicas, grows, about):
    first, since = [r.scrape() for r in replicas], time.monotonic()
    while True:
        time.sleep(APART)
        last = [r.scrape() for r in replicas]
        still = [
            name
            for name in grows
            if not any((b.value(name) or 0) > (a.value(name) or 0) for a, b in zip(first, last))
        ]
        if not still:
            return list(zip(first, last))
        if time.monotonic() > since + PATIENCE:
            raise TimeoutError(f"{about}: {', '.join(still)} did not grow")


SHOWN = (
    "ostler_nodes",
    "ostler_rollout_state",
    "ostler_policy_condition",
    "ostler_gpus",
    "ostler_agents",
)


def live(world):
    """Lives until the state is there: two looks at each replica, some seconds apart."""
    with tempfile.TemporaryDirectory(
        prefix="ostler-alerts."
    ) as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        config = stack.enter_context(
            simulator(folder, world) if world.simulated else contextlib.nullcontext(away(folder))
        )
        replicas = []
        for number in range(world.replicas):
            replicas.append(Replica(folder, config, number, world.options))
            stack.callback(replicas[-1].stop)
        if world.steps:
            client = kube.from_kubeconfig(folder / "kubeconfig")
            stack.callback(client.close)
            _wait(replicas, ready(world.nodes), f"{world.about}: before")
            for step in world.steps:
                step(client)
                time.sleep(SETTLES)
        _wait(replicas, world.until, world.about)
        return _look_twice(replicas, world.grows, world.about)
