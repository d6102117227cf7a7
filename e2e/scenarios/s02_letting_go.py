"""2. What is not evidence changes nothing; what a person takes out of our hands is left clean,
and what was theirs stays theirs."""

import kube
from harness import cases, equal, test
from names import DRIVER, GPU_LABEL, GPU_TAINT, MANAGED, MARKS, SEEN, STACK

NFD = "feature.node.kubernetes.io/pci-10de.present"


def _wait_clean(env, node):
    env.wait(lambda: not env.pods(node), 15, "no operand pod is left")
    env.wait(lambda: not {DRIVER, STACK} & set(env.labels(node)), 15, "no assignment is left")
    env.wait(
        lambda: MARKS not in env.get_node(node)["metadata"].get("annotations", {}),
        15,
        "no record is left",
    )


@test
def silent_detector_changes_nothing(env):
    """The detecting label vanishes, as when NFD restarts: marks and operands stay."""
    node = env.serving("gpu")
    pods = env.pod_uids()
    env.k.merge_patch("Node", node, {"metadata": {"labels": {NFD: None}}})
    env.stays(lambda: env.is_marked(node) and STACK in env.labels(node), 3, "marks")
    equal(env.pod_uids(), pods, "operand pods")


@test
def silent_detector_at_start_changes_nothing(env):
    """The same when the label vanishes while Ostler is away."""
    node = env.serving("gpu")
    pods = env.pod_uids()
    env.operator.stop()
    env.k.merge_patch("Node", node, {"metadata": {"labels": {NFD: None}}})
    env.operator.start()
    env.stays(lambda: env.is_marked(node) and STACK in env.labels(node), 3, "marks")
    equal(env.pod_uids(), pods, "operand pods")


@cases(
    {"ostler": {MANAGED: "false"}, "incumbent": {"nvidia.com/gpu.deploy.operands": "false"}},
    proven={"incumbent": "tests/unit/decide/test_node_cases.c"},
)
def unmanaged_node_is_cleaned(env, labels):
    """A node that a person takes out is cleaned of everything of ours and of nothing else;
    others are served on."""
    node, other = env.serving("gpu", "other")
    before = env.labels(node)
    env.k.merge_patch("Node", node, {"metadata": {"labels": labels}})
    _wait_clean(env, node)
    after = env.labels(node)
    assert GPU_LABEL not in after, "our label is left"
    assert kube.taint(env.get_node(node), GPU_TAINT) is None, "our taint is left"
    ours = {DRIVER, STACK, GPU_LABEL}
    theirs = {k: v for k, v in before.items() if k not in ours and not k.startswith(SEEN)}
    equal({k: v for k, v in after.items() if k not in labels}, theirs, "labels")
    env.wait_serving(other)


@test
def unmanaged_node_is_taken_back(env):
    """A node that is managed again is served again."""
    node = env.serving("gpu")
    env.k.merge_patch("Node", node, {"metadata": {"labels": {MANAGED: "false"}}})
    _wait_clean(env, node)
    env.k.merge_patch("Node", node, {"metadata": {"labels": {MANAGED: None}}})
    env.wait_serving(node)


@test
def unmanaging_waits_for_gpu_pods(env):
    """The driver of a node that is let go stays until no GPU pod runs there."""
    node = env.serving("gpu")
    pod = env.gpu_pod("job", node)
    env.k.merge_patch("Node", node, {"metadata": {"labels": {MANAGED: "false"}}})
    env.wait(lambda: not env.pods(node, "device-plugin"), what="the stack is off")
    env.stays(lambda: len(env.pods(node, "driver")) == 1, 3, "the driver under a running job")
    env.k.delete("Pod", pod, "default", grace=0)
    _wait_clean(env, node)


def _with_marks_of_others(env):
    node = env.node(
        "gpu",
        "nfd",
        labels={GPU_LABEL: "true"},
        taints=[{"key": GPU_TAINT, "value": "present", "effect": "NoSchedule"}],
    )
    env.policy()
    env.wait_serving(node)
    return node


def _marks_of_others_are_there(env, node):
    equal(env.labels(node).get(GPU_LABEL), "true", "the label that a user set")
    equal(
        kube.taint(env.get_node(node), GPU_TAINT),
        f"{GPU_TAINT}=present:NoSchedule",
        "the taint that a user set",
    )


@test
def earlier_marks_survive_unmanaging(env):
    """A label and a taint that a user had set before Ostler stay when the node is let go."""
    node = _with_marks_of_others(env)
    env.k.merge_patch("Node", node, {"metadata": {"labels": {MANAGED: "false"}}})
    _wait_clean(env, node)
    _marks_of_others_are_there(env, node)


@test
def earlier_marks_survive_the_policy(env):
    """They stay when the policy goes, too."""
    node = _with_marks_of_others(env)
    env.remove_policy()
    _marks_of_others_are_there(env, node)
