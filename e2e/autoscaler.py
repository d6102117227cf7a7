"""Karpenter with its KWOK provider beside the control plane, and what kubelets of its nodes do
that KWOK does not."""

import contextlib
import json
import subprocess
import threading
import time

import kube
from component import Component
from names import OPERANDS, ROOT
from world import free_ports

POOL = "karpenter.sh/nodepool"
# One kind of machine, of eight GPUs: the form that Karpenter 1.14 reads.
MACHINES = [
    {
        "name": "p5",
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": "192", "memory": "2048Gi", "pods": "110", "nvidia.com/gpu": "8"},
        "offerings": [
            {
                "Price": 98,
                "Available": True,
                "Requirements": [
                    {
                        "key": "karpenter.sh/capacity-type",
                        "operator": "In",
                        "values": ["on-demand"],
                    },
                    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-a"]},
                ],
            }
        ],
    }
]
CLASS = {
    "apiVersion": "karpenter.kwok.sh/v1alpha1",
    "kind": "KWOKNodeClass",
    "metadata": {"name": "default"},
    "spec": {},
}


def node_pool(**template):
    """A NodePool whose empty nodes go after five seconds. template: more of the spec of its
    nodes, such as startupTaints."""
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "gpu"},
        "spec": {
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized",
                "consolidateAfter": "5s",
                "budgets": [{"nodes": "100%"}],
            },
            "template": {
                "metadata": {"labels": {"nvidia.com/gpu.present": "true"}},
                "spec": {
                    "nodeClassRef": {
                        "group": "karpenter.kwok.sh",
                        "kind": "KWOKNodeClass",
                        "name": "default",
                    },
                    "requirements": [
                        {
                            "key": "karpenter.sh/capacity-type",
                            "operator": "In",
                            "values": ["on-demand"],
                        }
                    ],
                    "taints": [
                        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
                    ],
                    **template,
                },
            },
        },
    }


class Kubelets:
    """Nodes of Karpenter's KWOK provider are born with GPUs to give: here they have none until
    their device plugin is there."""

    def __init__(self, client):
        self._client = client
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._seen = set()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _play(self):
        info = kube.node("like-this", "nfd")["status"]["nodeInfo"]
        gpus = {"nvidia.com/gpu": None}
        while not self._over.wait(0.1):
            for node in self._client.list("Node", labels=POOL):
                uid, name = node["metadata"]["uid"], node["metadata"]["name"]
                if uid in self._seen:
                    continue
                with contextlib.suppress(kube.ApiError):
                    status = {"capacity": gpus, "allocatable": gpus, "nodeInfo": info}
                    self._client.merge_patch("Node", name, {"status": status}, subresource="status")
                    self._seen.add(uid)


@contextlib.contextmanager
def karpenter(env, **template):
    """Karpenter and a NodePool of it for as long as the block runs; afterwards its nodes are
    gone."""
    folder = subprocess.run(
        [ROOT / "e2e/karpenter/build"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    env.kubectl("apply", "--server-side", "-f", f"{folder}/crds")
    machines = env.world.dir / "machines.json"
    machines.write_text(json.dumps(MACHINES), encoding="utf-8")
    metrics, probes = free_ports(2)
    settings = {
        "KUBECONFIG": env.world.admin_kubeconfig,
        "INSTANCE_TYPES_FILE_PATH": machines,
        "METRICS_PORT": metrics,
        "HEALTH_PROBE_PORT": probes,
        "DISABLE_LEADER_ELECTION": "true",
        "SYSTEM_NAMESPACE": "default",
        "BATCH_IDLE_DURATION": "1s",
        "BATCH_MAX_DURATION": "2s",
    }
    program = Component(
        "karpenter",
        ["env", *(f"{k}={v}" for k, v in settings.items()), f"{folder}/karpenter-kwok"],
        env.world.dir / "log" / "karpenter.log",
    )
    for item in (CLASS, node_pool(**template)):
        env.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(item))
    program.start()
    try:
        with Kubelets(env.world.client()):
            yield program
            env.kubectl("delete", "nodepool", "gpu", "--wait=false")
            env.kubectl("delete", "nodeclaims", "--all", "--wait=false")
            kube.wait_for(
                lambda: not env.k.list("Node", labels=POOL), 60, "Karpenter's nodes are gone"
            )
            # Kubernetes' garbage collector does that minutes later.
            for pod in env.k.list("Pod", OPERANDS):
                env.k.delete("Pod", pod["metadata"]["name"], OPERANDS, grace=0)
    finally:
        program.stop()
        for kind in ("nodeclaims", "nodepools", "kwoknodeclasses", "nodes"):
            _take_away(env, kind)


def _take_away(env, kind):
    """What a test that failed has left, with the finalizers that no controller takes off now."""
    for name in env.kubectl("get", kind, "-o", "name").split():
        with contextlib.suppress(subprocess.CalledProcessError):
            env.kubectl("patch", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
            env.kubectl("delete", name, "--ignore-not-found", "--wait=false")


def nodes(env):
    """Karpenter's nodes, by name."""
    return {n["metadata"]["name"]: n for n in env.k.list("Node", labels=POOL)}


def claims(env):
    """The names of Karpenter's NodeClaims: how many machines it has asked for."""
    return env.kubectl("get", "nodeclaims", "-o", "name").split()


def service(name, gpus=8):
    """A Deployment of one pod that needs so many GPUs, wherever they are."""
    labels = {"app": name}
    size = {"nvidia.com/gpu": str(gpus)}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "terminationGracePeriodSeconds": 1,
                    "tolerations": [
                        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
                    ],
                    "containers": [
                        {
                            "name": "a",
                            "image": "registry.example.com/serving:1",
                            "resources": {"limits": size, "requests": size},
                        }
                    ],
                },
            },
        },
    }


def runs_on(env, name):
    """The node of the ready pod of a service(); None: there is none."""
    for pod in env.k.list("Pod", "default", labels=f"app={name}"):
        if kube.pod_ready(pod):
            return pod["spec"].get("nodeName")
    return None


def stays(env, check, seconds, what):
    """Fails as soon as check() does not hold within so many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert check(), f"not for {seconds} s: {what}"
        time.sleep(0.5)
