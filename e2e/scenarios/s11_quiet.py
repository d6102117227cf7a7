"""11. Nothing is sent while nothing changes, and what changes costs what it must."""

import collections
import time

import kube
from harness import equal, long_test, test
from names import MANAGED


def _not_renewal(request):
    return request.resource != "leases" and request.verb != "watch"


@long_test
def quiet(env):
    """After convergence 60 s of the audit log hold lease renewals and watch renewals only, while
    kubelets send heartbeats."""
    nodes = env.serving("a", "b", "c")
    since = time.time()
    for _ in range(12):
        for node in nodes:
            env.k.strategic_patch(
                "Node",
                node,
                {
                    "status": {
                        "conditions": [
                            {
                                "type": "Ready",
                                "lastHeartbeatTime": time.strftime(
                                    "%Y-%m-%dT%H:%M:%SZ", time.gmtime()
                                ),
                            }
                        ]
                    }
                },
                subresource="status",
            )
        time.sleep(5)
    asked = env.requests(since=since, where=_not_renewal)
    equal([str(r) for r in asked], [], "requests within 60 s")
    minutes = (time.time() - since) / 60
    renewals = len(env.requests(since=since, resource="leases"))
    assert renewals <= 40 * minutes, f"{renewals} lease requests in {minutes:.2f} minutes"
    watches = len(env.requests(since=since, verb="watch"))
    assert watches <= 30 * minutes, f"{watches} watches opened in {minutes:.2f} minutes"


@long_test
def node_event_costs_what_it_must(env):
    """A node that turns out to have a GPU costs one write of its marks, events aside, and no
    read."""
    env.serving("first")
    node = env.node("second")
    time.sleep(1)
    since = time.time()
    env.k.merge_patch("Node", node, {"metadata": {"labels": kube.DETECTED_BY["nfd"][0]}})
    env.wait_serving(node)
    env.wait_policy()
    env.wait_calm()
    asked = env.requests(since=since, where=_not_renewal)
    patches = [r for r in asked if r.resource == "nodes" and r.name == node]
    equal(
        len(patches),
        2,
        f"writes of the node, its marks and that it is proven, of {[str(r) for r in asked]}",
    )
    by = collections.Counter(f"{r.verb} {r.resource}" for r in asked if r.resource != "events")
    equal({k: v for k, v in by.items() if k.startswith(("get", "list"))}, {}, "reads")
    equal({k: v for k, v in by.items() if "daemonsets" in k}, {}, "requests about DaemonSets")
    assert by["patch gpuclusterpolicies/status"] <= 8, f"statuses for one node: {by}"


@test
def marks_removed_cost_one_write(env):
    """A mark that is removed costs one patch."""
    node = env.serving("gpu")
    since = time.time()
    env.k.merge_patch("Node", node, {"metadata": {"labels": {"nvidia.com/gpu.present": None}}})
    env.wait_marked(node, timeout=2)
    env.wait_calm()
    patches = env.requests(
        since=since, writes=True, where=lambda r: r.name == node and r.resource == "nodes"
    )
    equal(len(patches), 1, "writes of the node")


@test
def foreign_traffic_costs_nothing(env):
    """Pods without GPUs, labels of others, other people's DaemonSets: no request of ours."""
    node = env.serving("gpu")
    since = time.time()
    for i in range(5):
        env.k.merge_patch("Node", node, {"metadata": {"labels": {"example.com/x": str(i)}}})
        env.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"web-{i}", "namespace": "default"},
                "spec": {
                    "nodeName": node,
                    "containers": [{"name": "c", "image": "registry.example.com/web:1"}],
                },
            }
        )
    env.create(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "logs", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": {"a": "logs"}},
                "template": {
                    "metadata": {"labels": {"a": "logs"}},
                    "spec": {"containers": [{"name": "c", "image": "registry.example.com/logs:1"}]},
                },
            },
        }
    )
    time.sleep(2)
    equal([str(r) for r in env.requests(since=since, where=_not_renewal)], [], "requests")


@long_test
def foreign_nodes_are_quiet(env):
    """A node that is not ours to serve causes no requests either, once it is marked."""
    env.serving("gpu")
    env.node("away", "nfd", labels={MANAGED: "false"})
    env.node("served", "allocatable")
    env.wait_calm()
    since = time.time()
    time.sleep(5)
    equal([str(r) for r in env.requests(since=since, where=_not_renewal)], [], "requests")
