"""4. Operating systems and pools side by side: each node gets the driver for its own."""

from harness import contains, equal, test
from names import DRIVER, GPU_LABEL, STACK

POOLS = {
    "driver": {"version": "580.178.04"},
    "pools": [
        {
            "name": "legacy",
            "nodeSelector": {"gpu": "k80"},
            "driver": {"version": "470.256.02"},
            "nodeLabels": {"gputype": "k80"},
        }
    ],
}


@test
def two_operating_systems_and_two_pools(env):
    """Each of four nodes has the driver image of its own OS and its pool's version, in a
    DaemonSet per revision."""
    nodes = {}
    for os in ("ubuntu24.04", "ubuntu22.04"):
        for version, labels in (("580.178.04", {}), ("470.256.02", {"gpu": "k80"})):
            nodes[env.node(f"{os.replace('.', '')}-{version[:3]}", "nfd", os=os, labels=labels)] = (
                f"{version}-{os}"
            )
    env.policy(POOLS)
    env.wait_serving(*nodes, timeout=20)
    for node, tag in nodes.items():
        equal(env.image(node, "driver"), f"nvcr.io/nvidia/driver:{tag}", f"driver image of {node}")
    equal(len({env.labels(n)[DRIVER] for n in nodes}), 4, "driver revisions")
    equal(
        len({env.labels(n)[STACK] for n in nodes}),
        1,
        "stack revisions: nothing of a pool reaches the stack",
    )
    equal(len(env.daemonsets("driver")), 4, "driver DaemonSets")
    pools = {p["name"]: p for p in env.wait_policy() and env.get_policy()["status"]["pools"]}
    equal({n: p["nodes"] for n, p in pools.items()}, {"default": 2, "legacy": 2}, "nodes by pool")
    equal(pools["legacy"]["driverVersion"], "470.256.02", "the legacy pool's driver")


@test
def pool_labels(env):
    """A pool's nodeLabels are put on its nodes and on no others."""
    legacy = env.node("legacy", "nfd", labels={"gpu": "k80"})
    modern = env.node("modern", "nfd")
    env.policy(POOLS)
    env.wait_serving(legacy, modern)
    equal(env.labels(legacy).get("gputype"), "k80", "the pool's label")
    assert "gputype" not in env.labels(modern), "another pool's label"


@test
def first_pool_wins(env):
    """A node that two pools select belongs to the first."""
    node = env.node("both", "nfd", labels={"a": "1", "b": "1"})
    env.policy(
        {
            "pools": [
                {"name": "a", "nodeSelector": {"a": "1"}, "driver": {"version": "570.124.06"}},
                {"name": "b", "nodeSelector": {"b": "1"}, "driver": {"version": "470.256.02"}},
            ]
        }
    )
    env.wait_serving(node)
    contains(env.image(node, "driver"), ":570.124.06-", "driver image")


@test
def unknown_operating_system_is_named(env):
    """A node whose OS no driver source knows is named with the reason; the others are served."""
    strange = env.node("strange", "nfd", os="plan9")
    known = env.node("known", "nfd")
    env.policy()
    env.wait_serving(known)
    env.wait(
        lambda: strange in str(env.get_policy()["status"].get("firstCauses")),
        what="the status names the node",
    )
    (cause,) = [c for c in env.get_policy()["status"]["firstCauses"] if c.get("node") == strange]
    equal(cause["reason"], "UnknownOperatingSystem", "reason")
    contains(cause["message"], ["Plan 9", "driver.source"], "message")
    equal(env.condition("Ready").get("status"), "False", "Ready while a managed node has no driver")
    assert DRIVER not in env.labels(strange), "a node without a driver image is assigned one"
    equal(env.labels(strange).get(GPU_LABEL), "true", "its label")


@test
def container_optimized_os_has_its_own_source(env):
    """A node with Google's OS gets Google's installer."""
    node = env.node("cos", "gke", os="cos", nfd=False)
    env.policy()
    env.wait_marked(node)
    env.wait(lambda: env.pods(node, "driver"), what="a driver pod")
    images = [
        c["image"]
        for p in env.pods(node, "driver")
        for c in p["spec"].get("initContainers", []) + p["spec"]["containers"]
    ]
    assert not any(
        "nvcr.io/nvidia/driver" in i for i in images
    ), f"NVIDIA's driver container on COS: {images}"


@test
def driver_source_host(env):
    """With driver.source Host there is no driver tier at all."""
    node = env.node("gpu", "nfd")
    env.policy({"driver": {"source": "Host"}})
    env.wait_serving(node, operands=("toolkit", "device-plugin", "exporter"))
    env.wait_calm()
    equal(env.daemonsets("driver"), {}, "driver DaemonSets")
    assert DRIVER not in env.labels(node), "a driver is assigned"


@test
def node_moves_to_another_pool(env):
    """A node that is relabelled into another pool gets the pool's labels,
    and counts as outdated until a rollout brings its driver."""
    node = env.serving("gpu", spec={**POOLS, "rollout": {"paused": True}})
    pods = env.pod_uids("driver")
    env.k.merge_patch("Node", node, {"metadata": {"labels": {"gpu": "k80"}}})
    env.wait(lambda: env.labels(node).get("gputype") == "k80", what="the pool's label")
    env.wait(lambda: env.get_policy()["status"]["nodes"]["outdated"] == 1, what="one outdated node")
    equal(env.pod_uids("driver"), pods, "driver pods")
    env.edit({"rollout": {"paused": False}})
    env.wait(lambda: ":470.256.02-" in str(env.pods(node, "driver")), 20, "the pool's driver")
    env.wait_serving(node)
