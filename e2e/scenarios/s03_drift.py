"""3. What a user changes by hand is put back within 2 s, without a driver pod being replaced."""

import contextlib
import time

import kube
from harness import cases, equal, proven_by, test
from names import DRIVER, GPU_LABEL, GPU_TAINT, OPERANDS, STACK

NODE_CASES = "tests/unit/decide/test_node_cases.c"  # tests/cases/node/drift-*
HERE = "e2e/scenarios/s03_drift.py"  # DaemonSets of tiers are put back alike
SOON = 2  # seconds: by a watch event, not by a timer


def _component(env, component):
    """The name of the one DaemonSet of a component."""
    (name,) = env.daemonsets(component)
    return name


def _containers(env, name):
    daemonset = env.k.get("DaemonSet", name, OPERANDS)
    return daemonset and daemonset["spec"]["template"]["spec"]["containers"]


@contextlib.contextmanager
def _no_pod_replaced(env, *components):
    before = {c: env.pod_uids(c) for c in components}
    yield
    env.wait_calm(0.5)
    for component, uids in before.items():
        equal(env.pod_uids(component), uids, f"{component} pods")


@cases(
    {"gpu_present": GPU_LABEL, "driver": DRIVER, "stack": STACK},
    proven=dict.fromkeys(("gpu_present", "stack"), NODE_CASES),
)
def label_removed(env, key):
    """A label of ours that a user removes is back."""
    node = env.serving("gpu")
    value = env.labels(node)[key]
    env.k.merge_patch("Node", node, {"metadata": {"labels": {key: None}}})
    env.wait(lambda: env.labels(node).get(key) == value, SOON, f"{key} is back")
    env.wait_serving(node)


@cases({"gpu_present": GPU_LABEL, "stack": STACK}, proven={"gpu_present": NODE_CASES})
def label_changed(env, key):
    """A label of ours that a user changes is put right."""
    node = env.serving("gpu")
    value = env.labels(node)[key]
    env.k.merge_patch("Node", node, {"metadata": {"labels": {key: "wrong"}}})
    env.wait(lambda: env.labels(node).get(key) == value, SOON, f"{key} is right")
    env.wait_serving(node)


@test
def taint_removed(env):
    """The taint that a user removes is back, and those of others are as they were."""
    node = env.serving("gpu", taints=[{"key": "team", "value": "a", "effect": "NoSchedule"}])
    env.k.merge_patch(
        "Node", node, {"spec": {"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}}
    )
    env.wait(lambda: env.is_marked(node), SOON, "the taint is back")
    equal(kube.taint(env.get_node(node), "team"), "team=a:NoSchedule", "the other taint")


@cases(
    {c.replace("-", "_"): c for c in ("driver", "toolkit", "device-plugin", "exporter")},
    proven=dict.fromkeys(("toolkit", "device_plugin"), HERE),
)
def daemonset_image_edited(env, component):
    """An image that a user edits in a DaemonSet is put back; no pod of a tier is replaced."""
    env.serving("gpu")
    name = _component(env, component)
    image = _containers(env, name)[0]["image"]
    with _no_pod_replaced(env, "driver", "toolkit", "device-plugin"):
        env.k.json_patch(
            "DaemonSet",
            name,
            [
                {
                    "op": "replace",
                    "path": "/spec/template/spec/containers/0/image",
                    "value": "registry.example.com/other:1",
                }
            ],
            OPERANDS,
        )
        env.wait(lambda: _containers(env, name)[0]["image"] == image, SOON, "the image is back")


@test
@proven_by(HERE)  # what a template has is compared as a whole
def daemonset_gets_a_sidecar(env):
    """A container that a user adds is taken out again."""
    env.serving("gpu")
    name = _component(env, "driver")
    count = len(_containers(env, name))
    with _no_pod_replaced(env, "driver"):
        env.k.json_patch(
            "DaemonSet",
            name,
            [
                {
                    "op": "add",
                    "path": "/spec/template/spec/containers/-",
                    "value": {"name": "spy", "image": "registry.example.com/spy:1"},
                }
            ],
            OPERANDS,
        )
        env.wait(lambda: len(_containers(env, name)) == count, SOON, "the sidecar is gone")


@test
def daemonset_gets_a_variable(env):
    """An environment variable that a user adds is taken out again."""
    env.serving("gpu")
    name = _component(env, "driver")
    container = _containers(env, name)[0]
    with _no_pod_replaced(env, "driver"):
        env.k.strategic_patch(
            "DaemonSet",
            name,
            {
                "spec": {
                    "template": {
                        "spec": {
                            "containers": [
                                {
                                    "name": container["name"],
                                    "env": [{"name": "LD_PRELOAD", "value": "/evil.so"}],
                                }
                            ]
                        }
                    }
                }
            },
            OPERANDS,
        )
        env.wait(
            lambda: _containers(env, name)[0].get("env") == container.get("env"),
            SOON,
            "the variable is gone",
        )


@test
def daemonset_selector_of_nodes_edited(env):
    """A node selector that a user changes is put back."""
    env.serving("gpu")
    name = _component(env, "toolkit")
    before = env.k.get("DaemonSet", name, OPERANDS)["spec"]["template"]["spec"].get("nodeSelector")
    env.k.merge_patch(
        "DaemonSet",
        name,
        {"spec": {"template": {"spec": {"nodeSelector": {"nowhere": "true"}}}}},
        OPERANDS,
    )
    env.wait(
        lambda: env.k.get("DaemonSet", name, OPERANDS)["spec"]["template"]["spec"].get(
            "nodeSelector"
        )
        == before,
        SOON,
        "the node selector is back",
    )


@cases(
    {c.replace("-", "_"): c for c in ("driver", "device-plugin", "exporter")},
    proven={"device_plugin": HERE},
)
def daemonset_deleted(env, component):
    """A DaemonSet that a user deletes is made again."""
    node = env.serving("gpu")
    name = _component(env, component)
    uid = env.k.get("DaemonSet", name, OPERANDS)["metadata"]["uid"]
    env.k.delete("DaemonSet", name, OPERANDS)
    env.wait(
        lambda: (env.k.get("DaemonSet", name, OPERANDS) or {"metadata": {"uid": uid}})["metadata"][
            "uid"
        ]
        != uid,
        SOON,
        f"{name} is back",
    )
    env.wait_serving(node)


@test
def daemonset_deleted_but_its_pods_kept(env):
    """A DaemonSet deleted with --cascade=orphan comes back and adopts the driver pods that run."""
    env.serving("gpu")
    name = _component(env, "driver")
    before = env.k.get("DaemonSet", name, OPERANDS)
    with _no_pod_replaced(env, "driver"):
        env.k.delete("DaemonSet", name, OPERANDS, propagation="Orphan")
        env.wait(
            lambda: (env.k.get("DaemonSet", name, OPERANDS) or before)["metadata"]["uid"]
            != before["metadata"]["uid"],
            SOON,
            f"{name} is back",
        )
        env.wait(
            lambda: all(p["metadata"].get("ownerReferences") for p in env.pods(component="driver")),
            10,
            "its pods are adopted",
        )


@test
def daemonset_of_an_old_revision_deleted(env):
    """The DaemonSet of a revision that is no longer the target, but that nodes still run, is
    made again."""
    node = env.serving("gpu", spec={"driver": {"version": "570.124.06"}})
    old = _component(env, "driver")
    env.edit({"driver": {"version": "580.178.04"}, "rollout": {"paused": True}})
    env.wait_policy(status="True")
    env.k.delete("DaemonSet", old, OPERANDS)
    env.wait(lambda: env.k.get("DaemonSet", old, OPERANDS), SOON, f"{old} is back")
    env.wait_serving(node)
    equal(kube_version(env, node), "570.124.06", "the driver that the node runs")


def kube_version(env, node):
    """The version part of the driver image's tag."""
    return env.image(node, "driver").rpartition(":")[2].split("-")[0]


@test
def foreign_label_on_a_daemonset_stays(env):
    """A label and an annotation that a user adds to our DaemonSet stay, and cost no request."""
    env.serving("gpu")
    name = _component(env, "toolkit")
    since = time.time()
    env.k.merge_patch(
        "DaemonSet",
        name,
        {"metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}}},
        OPERANDS,
    )
    env.wait_calm(1.5)
    meta = env.k.get("DaemonSet", name, OPERANDS)["metadata"]
    equal(
        (meta["labels"].get("team"), meta["annotations"].get("note")),
        ("a", "b"),
        "label and annotation",
    )
    equal(env.requests(since=since, writes=True, resource="daemonsets"), [], "writes of DaemonSets")


@test
def driver_pod_deleted(env):
    """A driver pod that a user deletes comes back with the same revision."""
    node = env.serving("gpu")
    (pod,) = env.pods(node, "driver")
    env.k.delete("Pod", pod["metadata"]["name"], OPERANDS, grace=0)
    env.wait(
        lambda: env.pod_uids("driver") not in ([], [pod["metadata"]["uid"]]),
        10,
        "another driver pod",
    )
    env.wait_serving(node)
    equal(env.image(node, "driver"), pod["spec"]["containers"][0]["image"], "driver image")


@test
def drift_while_ostler_was_away(env):
    """What was changed while Ostler did not run is put right after its start."""
    node = env.serving("gpu")
    name = _component(env, "driver")
    image = _containers(env, name)[0]["image"]
    env.operator.stop()
    env.k.json_patch(
        "DaemonSet",
        name,
        [
            {
                "op": "replace",
                "path": "/spec/template/spec/containers/0/image",
                "value": "registry.example.com/other:1",
            }
        ],
        OPERANDS,
    )
    env.k.merge_patch("Node", node, {"metadata": {"labels": {GPU_LABEL: None}}})
    env.operator.start()
    env.wait(lambda: _containers(env, name)[0]["image"] == image, what="the image is back")
    env.wait_marked(node)


@test
def controller_revision_is_kept(env):
    """The record of a revision that a user deletes is made again."""
    env.serving("gpu")
    name = _component(env, "driver")
    env.k.delete("ControllerRevision", name, OPERANDS)
    env.wait(lambda: env.k.get("ControllerRevision", name, OPERANDS), SOON, "the record is back")


@test
def taints_of_others_survive_a_race(env):
    """Others who change a node's taints at the same moment lose nothing."""
    node = env.serving("gpu")
    for i in range(10):
        current = env.get_node(node)
        taints = [t for t in current["spec"].get("taints", []) if t["key"] != GPU_TAINT]
        taints.append({"key": f"race-{i}", "value": "x", "effect": "PreferNoSchedule"})
        env.k.merge_patch("Node", node, {"spec": {"taints": taints}})
        time.sleep(0.02 * (i % 4))
    env.wait(lambda: env.is_marked(node), SOON, "our taint is back")
    env.wait_calm(0.5)
    keys = [t["key"] for t in env.get_node(node)["spec"]["taints"]]
    for i in range(10):
        equal(keys.count(f"race-{i}"), 1, f"taint race-{i}")
    equal(keys.count(GPU_TAINT), 1, "our taint")
