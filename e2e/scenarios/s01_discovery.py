"""1. GPU nodes are found, marked and served; plain nodes are left alone; nodes that another
GPU stack serves get no operands."""

import kube
from harness import cases, contains, equal, proven_by, test
from names import COMPONENT, DRIVER, GPU_LABEL, GPU_TAINT, MANAGED, MARKS, OPERANDS, SEEN, STACK

LABELLED = {row: row for row in kube.DETECTED_BY if row != "allocatable"}
NODE_CASES = "tests/unit/decide/test_node_cases.c"  # tests/cases/node/detected-by-*
HOSTS = "tests/unit/model/test_host.c"


@cases(LABELLED, proven={row: NODE_CASES for row in LABELLED if row != "nfd"})
def detected_by(env, row):
    """A node that shows its GPU in this way gets label, taint, both assignments and all
    operands."""
    node = env.node("gpu", row)
    env.policy()
    env.wait_serving(node)
    labels = env.labels(node)
    assert DRIVER in labels and STACK in labels, f"assignments are missing: {sorted(labels)}"
    equal(env.wait_policy().get("status"), "True", "Ready")


@test
def plain_node_gets_nothing(env):
    """A node without a GPU is never written to, and no operand runs on it."""
    plain = env.node("plain")
    before = env.get_node(plain)
    gpu = env.node("gpu", "nfd")
    env.policy()
    env.wait_serving(gpu)
    env.wait_calm()
    after = env.get_node(plain)
    equal(after["metadata"]["labels"], before["metadata"]["labels"], "labels")
    ours = [a for a in after["metadata"].get("annotations", {}) if "ostler.dev/" in a]
    equal(ours, [], "annotations of ours")
    assert kube.taint(after, GPU_TAINT) is None, "a plain node is tainted"
    equal(env.pods(plain), [], "operand pods on a plain node")
    written = env.requests(
        writes=True, where=lambda r: r.resource.startswith("nodes") and r.name == plain
    )
    equal(written, [], "writes to the plain node")


@test
def node_becomes_a_gpu_node(env):
    """A plain node whose detecting label comes later is taken up then."""
    node = env.node("late")
    env.policy()
    env.wait_policy("NoGpuNodes")
    env.k.merge_patch("Node", node, {"metadata": {"labels": kube.DETECTED_BY["nfd"][0]}})
    env.wait_serving(node)


@test
@proven_by("tests/unit/model/test_detect.c")
def detecting_label_of_false_is_no_gpu(env):
    """A detector's label with the value "false" says that there is no GPU."""
    node = env.node("no", labels={"feature.node.kubernetes.io/pci-10de.present": "false"})
    other = env.node("gpu", "nfd")
    env.policy()
    env.wait_serving(other)
    env.wait_calm()
    assert GPU_LABEL not in env.labels(node), "a node without a GPU is labelled"


@cases(
    {os: os for os in ("ubuntu24.04", "ubuntu22.04", "rhel9")},
    proven=dict.fromkeys(("ubuntu22.04", "rhel9"), HOSTS),
)
def os_from_nfd(env, os):
    """The driver image is the one for the operating system that NFD's labels name."""
    node = env.node("gpu", "nfd", os=os)
    env.policy()
    env.wait_serving(node)
    contains(env.image(node, "driver"), f"-{os}", "driver image")


@cases({os: os for os in ("ubuntu22.04", "rhel9")}, proven={"rhel9": HOSTS})
def os_from_node_info(env, os):
    """Without NFD the operating system is read from status.nodeInfo."""
    node = env.node("gpu", "gke", os=os, nfd=False)
    env.policy()
    env.wait_serving(node)
    contains(env.image(node, "driver"), f"-{os}", "driver image")


def _not_served(env, node, remedy=f"{MANAGED}=true"):
    env.wait(lambda: env.labels(node).get(GPU_LABEL) == "true", what=f"{node} is labelled")
    policy = env.wait(
        lambda: "ForeignStack" in str(env.get_policy().get("status")) and env.get_policy(),
        what="the status says ForeignStack",
    )
    contains(str(policy["status"]), ["ForeignStack", node, remedy], "status")
    env.wait_calm()
    equal(
        kube.taint(env.get_node(node), GPU_TAINT),
        None,
        "the taint of a node that another GPU stack serves",
    )
    labels = env.labels(node)
    assert DRIVER not in labels and STACK not in labels, "a foreign node has assignments"
    equal(env.pods(node), [], "operand pods on a foreign node")


@test
@proven_by("e2e/scenarios/s01_discovery.py")  # foreign_node_is_handed_over begins with it
def foreign_allocatable(env):
    """A node that can allocate GPUs without a stack of ours is marked, gets no operands,
    and the status says how to hand it over."""
    node = env.node("served", "allocatable")
    env.policy()
    _not_served(env, node)


@test
@proven_by(NODE_CASES)  # foreign-gke
def foreign_cloud_installer(env):
    """A node whose cloud says that it installs the driver is marked and gets no operands."""
    node = env.node("gke", "gke", labels={"cloud.google.com/gke-gpu-driver-version": "latest"})
    env.policy()
    _not_served(env, node, "gke-no-default-nvidia-gpu-device-plugin=true")


@test
def foreign_operator_pods(env):
    """A node that runs another GPU operator's pods is marked and gets no operands."""
    node = env.node("gpu", "nfd")
    labels = {
        "app": "nvidia-driver-daemonset",
        "app.kubernetes.io/managed-by": "gpu-operator",
        COMPONENT: "nvidia-driver",
    }
    env.create(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "nvidia-driver-daemonset", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "nodeSelector": {"kubernetes.io/hostname": node},
                        "tolerations": [{"operator": "Exists"}],
                        "volumes": [{"name": "run-nvidia", "hostPath": {"path": "/run/nvidia"}}],
                        "containers": [
                            {
                                "name": "nvidia-driver-ctr",
                                "image": "nvcr.io/nvidia/driver:550.54.15-ubuntu24.04",
                            }
                        ],
                    },
                },
            },
        }
    )
    env.wait(
        lambda: env.k.get("DaemonSet", "nvidia-driver-daemonset", "default")
        .get("status", {})
        .get("currentNumberScheduled")
    )
    env.policy()
    _not_served(env, node, "uninstall NVIDIA")


@test
def foreign_resource_slice(env):
    """A node whose GPUs a DRA driver publishes for resource claims is marked and gets no
    operands, whatever its pods are called, until the slice is gone."""
    node = env.node("gpu", "nfd")
    name = f"{node}-gpu.nvidia.com-x"
    env.create(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": {
                "driver": "gpu.nvidia.com",
                "nodeName": node,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "gpu-0", "attributes": {"type": {"string": "gpu"}}}],
            },
        }
    )
    env.policy()
    _not_served(env, node, "set devicePlugin.enabled to false")
    env.k.delete("ResourceSlice", name)
    env.wait_serving(node)


@test
def foreign_node_is_handed_over(env):
    """A foreign node that a person labels ostler.dev/managed=true is served."""
    node = env.node("served", "allocatable")
    env.policy()
    _not_served(env, node)
    env.k.merge_patch("Node", node, {"metadata": {"labels": {MANAGED: "true"}}})
    env.wait_serving(node)


@test
def marks_of_others_stay(env):
    """Labels, annotations and taints that others put on a node are byte for byte as before."""
    node = env.node(
        "gpu",
        "nfd",
        labels={"team": "a", "nvidia.com/gpu.product": "H100"},
        annotations={"example.com/note": "ä \" \\ {}"},
        taints=[
            {"key": "team", "value": "a", "effect": "NoSchedule"},
            {"key": "b", "effect": "PreferNoSchedule"},
        ],
    )
    kube.wait_for(
        lambda: kube.taint(env.get_node(node), "node.kubernetes.io/not-ready") is None, 10
    )
    before = env.get_node(node)
    env.policy()
    env.wait_serving(node)
    env.wait_calm()
    after = env.get_node(node)

    def foreign(values):
        return {
            k: v
            for k, v in (values or {}).items()
            if not k.startswith("ostler.dev/")
            and k not in (GPU_LABEL, "node.alpha.kubernetes.io/ttl")
        }

    seen = {
        k: v
        for k, v in after["metadata"]["labels"].items()
        if k in before["metadata"]["labels"] or not k.startswith(SEEN)
    }
    equal(foreign(seen), foreign(before["metadata"]["labels"]), "labels")
    equal(
        foreign(after["metadata"]["annotations"]),
        foreign(before["metadata"]["annotations"]),
        "annotations",
    )
    equal(
        [t for t in after["spec"]["taints"] if t["key"] != GPU_TAINT],
        before["spec"]["taints"],
        "taints",
    )


def write_theirs(env, node):
    """A user's label and taint, by a write that is made again until no other write came in
    between."""

    def write():
        seen = env.get_node(node)
        taints = seen["spec"].get("taints", []) + [{"key": "theirs", "effect": "NoSchedule"}]
        version = seen["metadata"]["resourceVersion"]
        return env.k.merge_patch(
            "Node",
            node,
            {
                "metadata": {"resourceVersion": version, "labels": {"theirs": "x"}},
                "spec": {"taints": taints},
            },
        )

    kube.wait_for(write, 10, f"others write node {node}", every=0)


@test
def writes_of_others_in_between_are_not_lost(env):
    """What others write on nodes in the very moments in which Ostler marks them is there in the
    end, and so are Ostler's marks."""
    env.policy({"driver": {"source": "Host"}, "toolkit": {"enabled": False}})
    env.wait_policy("NoGpuNodes")
    nodes = []
    for i in range(8):
        nodes.append(env.node(f"gpu-{i}", "nfd"))
        write_theirs(env, nodes[-1])
    for node in nodes:
        env.wait(lambda node=node: kube.taint(env.get_node(node), GPU_TAINT) is not None)
        seen = env.get_node(node)
        assert kube.taint(
            seen, "theirs"
        ), f"their taint is lost on {node}: {seen['spec']['taints']}"
        equal(seen["metadata"]["labels"].get("theirs"), "x", f"their label on {node}")
        assert STACK in seen["metadata"]["labels"], f"{node} has no assignment"


@test
def taint_of_others_with_another_value_counts(env):
    """A user's taint with our key and effect stays the user's: Ostler does not replace it, and
    adds no second one."""
    node = env.node(
        "gpu", "nfd", taints=[{"key": GPU_TAINT, "value": "mine", "effect": "NoSchedule"}]
    )
    env.policy()
    env.wait(lambda: STACK in env.labels(node))
    env.wait_calm()
    taints = [t for t in env.get_node(node)["spec"]["taints"] if t["key"] == GPU_TAINT]
    equal(taints, [{"key": GPU_TAINT, "value": "mine", "effect": "NoSchedule"}], "taints")


@test
def policy_labels_and_taint(env):
    """spec.nodes.labels and spec.nodes.taint decide which label and taint a GPU node gets; an
    edit of them is followed."""
    node = env.node("gpu", "nfd")
    env.policy(
        {
            "nodes": {
                "labels": {"example.com/gpu": "yes"},
                "taint": {"key": "example.com/gpu", "value": "v"},
            }
        }
    )
    env.wait(lambda: env.labels(node).get("example.com/gpu") == "yes")
    env.wait(
        lambda: kube.taint(env.get_node(node), "example.com/gpu") == "example.com/gpu=v:NoSchedule"
    )
    env.edit({"nodes": {"labels": {"example.com/gpu": None}, "taint": {"enabled": False}}})
    env.wait(lambda: "example.com/gpu" not in env.labels(node))
    env.wait(lambda: kube.taint(env.get_node(node), "example.com/gpu") is None)


@test
def selector_limits_nodes(env):
    """Nodes that spec.nodes.selector does not select are not touched, GPU or not."""
    inside = env.node("in", "nfd", labels={"use": "gpu"})
    outside = env.node("out", "nfd")
    env.policy({"nodes": {"selector": {"matchLabels": {"use": "gpu"}}}})
    env.wait_serving(inside)
    env.wait_calm()
    assert GPU_LABEL not in env.labels(outside), "a node outside the selector is labelled"
    equal(env.pods(outside), [], "operand pods outside the selector")


@test
def node_joins_while_ostler_runs(env):
    """A GPU node that joins later is marked within 2 s and served."""
    first = env.serving("first")
    second = env.node("second", "nfd")
    env.wait_marked(second, timeout=2)
    env.wait_serving(second)
    equal(env.labels(second)[STACK], env.labels(first)[STACK], "the stack's revision")


@test
def node_joins_while_ostler_is_away(env):
    """A GPU node that joins while Ostler does not run is served after its start, one that left
    is forgotten."""
    gone, stays = env.serving("gone", "stays")
    env.operator.stop()
    joined = env.node("joined", "nfd")
    env.vanish(gone)
    env.operator.start()
    env.wait_serving(stays, joined)
    env.wait(lambda: env.get_policy()["status"]["nodes"]["managed"] == 2)


@test
def host_driver_is_left_alone(env):
    """Where the driver's pod finds a driver that is not ours, the node gets no driver and a
    stack that uses the host's."""
    node = env.node("host-driver", "nfd")
    env.policy()
    env.wait_serving(node, operands=("toolkit", "device-plugin", "exporter"))
    env.wait(lambda: not env.pods(node, "driver"), what="no driver pod is left")
    env.wait_calm()
    assert DRIVER not in env.labels(node), "a node with a driver of its own is assigned one"
    env.wait_policy()


@test
def node_down_gets_its_marks(env):
    """A GPU node that is not ready is marked; it does not keep the policy from being Ready."""
    up = env.node("up", "nfd")
    env.policy()
    env.wait_serving(up)
    down = env.node("down", "nfd", down=True)
    env.wait_marked(down)
    env.wait_policy()
    env.vanish(down)


@test
def operands_carry_no_api_token(env):
    """Operand pods have no API token, tolerate every taint, and lie in their own namespace."""
    node = env.serving("gpu")
    for pod in env.pods(node):
        name = pod["metadata"]["name"]
        equal(pod["metadata"]["namespace"], OPERANDS, f"namespace of {name}")
        equal(
            pod["spec"].get("automountServiceAccountToken"),
            False,
            f"{name} automountServiceAccountToken",
        )
        assert {"operator": "Exists"} in pod["spec"][
            "tolerations"
        ], f"{name} does not tolerate everything"
    assert (
        MARKS in env.get_node(node)["metadata"]["annotations"]
    ), "the node does not say which marks are ours"
