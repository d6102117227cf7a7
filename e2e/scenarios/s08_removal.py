"""8. The policy goes: operands and marks go with it, in an order that hurts no running job."""

import kube
from harness import equal, test
from names import DRIVER, FORCE_REMOVAL, GPU_LABEL, GPU_TAINT, MARKS, NAMESPACE, OPERANDS, STACK
from program import run_program


def _delete(env, propagation="Background"):
    env.k.delete("GpuClusterPolicy", "default", propagation=propagation)


def _assert_no_marks(env, node):
    found = env.get_node(node)
    keys = set(found["metadata"]["labels"]) | set(found["metadata"].get("annotations", {}))
    equal({k for k in keys if k in (GPU_LABEL, DRIVER, STACK, MARKS)}, set(), f"marks of {node}")
    equal(kube.taint(found, GPU_TAINT), None, f"taint of {node}")


@test
def everything_goes(env):
    """Stack, driver, children, marks, and then the policy."""
    nodes = env.serving("a", "b")
    _delete(env)
    env.wait_gone()
    for node in nodes:
        _assert_no_marks(env, node)
    equal(env.k.list("Service", OPERANDS), [], "Services")
    equal(env.k.get("RuntimeClass", "nvidia"), None, "the RuntimeClass")


@test
def stack_goes_before_the_driver(env):
    """On each node the stack's pods are gone before the driver's pod goes."""
    node = env.serving("gpu")
    version = env.k.request("GET", kube.path_of("Pod", None, OPERANDS))["metadata"][
        "resourceVersion"
    ]
    _delete(env)
    env.wait_gone()
    gone = []
    with env.k.clone().watch("Pod", OPERANDS, since=version, timeout=2) as events:
        for kind, pod in events:
            if kind == "DELETED" and pod["spec"]["nodeName"] == node:
                gone.append(pod["metadata"]["labels"]["app.kubernetes.io/component"])
    equal(gone[-1], "driver", f"the last pod that went, of {gone}")


@test
def waits_for_gpu_pods(env):
    """A node with a GPU pod keeps its driver and is named; when the pod ends, the rest goes."""
    busy, idle = env.serving("busy", "idle")
    pod = env.gpu_pod("job", busy)
    driver = env.pod_uids("driver", busy)
    _delete(env)
    env.wait(
        lambda: not env.pods(idle) and DRIVER not in env.labels(idle), 15, "the idle node is clean"
    )
    env.wait(
        lambda: busy in str(env.get_policy()["status"]["conditions"]), what="the busy node is named"
    )
    env.stays(lambda: env.pod_uids("driver", busy) == driver, 3, "the driver under a running job")
    env.k.delete("Pod", pod, "default", grace=0)
    env.wait_gone()
    _assert_no_marks(env, busy)


@test
def finished_gpu_pods_do_not_count(env):
    """A GPU pod that has succeeded holds nothing up."""
    node = env.serving("gpu")
    env.create(kube.gpu_pod("done", node, annotations={"test.ostler.dev/complete": "true"}))
    env.wait(lambda: env.k.get("Pod", "done", "default")["status"].get("phase") == "Succeeded")
    _delete(env)
    env.wait_gone()


@test
def force_removal_skips_the_wait(env):
    """The annotation on the policy skips the wait for GPU pods; the GPU pods themselves are left
    alone."""
    node = env.serving("gpu")
    pod = env.gpu_pod("job", node)
    _delete(env)
    env.stays(lambda: env.pods(node, "driver"), 2, "the driver before the annotation")
    env.k.merge_patch(
        "GpuClusterPolicy", "default", {"metadata": {"annotations": {FORCE_REMOVAL: "true"}}}
    )
    env.wait_gone()
    assert kube.pod_ready(env.k.get("Pod", pod, "default")), "the GPU pod was touched"


@test
def foreground_delete_takes_no_driver(env):
    """A foreground delete of the policy takes no driver from under a running GPU pod."""
    node = env.serving("gpu")
    pod = env.gpu_pod("job", node)
    driver = env.pod_uids("driver")
    _delete(env, "Foreground")
    env.stays(lambda: env.pod_uids("driver") == driver, 4, "the driver under a running job")
    env.k.delete("Pod", pod, "default", grace=0)
    env.wait_gone()
    _assert_no_marks(env, node)


@test
def vanished_node_holds_nothing_up(env):
    """A node that vanished while its GPU pod ran does not hold the policy."""
    gone, stays = env.serving("gone", "stays")
    env.gpu_pod("job", gone)
    _delete(env)
    env.wait(lambda: not env.pods(stays), 15, "the other node is clean")
    env.vanish(gone)
    env.wait_gone()


@test
def node_that_is_down_is_cleaned_when_it_returns(env):
    """A node that is down does not hold the policy; its marks come off when it is back."""
    up, down = env.serving("up", "down")
    env.k.merge_patch("Node", down, {"metadata": {"annotations": {"test.ostler.dev/down": "true"}}})
    ready = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
    env.k.strategic_patch("Node", down, {"status": {"conditions": [ready]}}, subresource="status")
    _delete(env)
    env.wait(lambda: env.get_policy() is None, 15, "the policy is gone")
    _assert_no_marks(env, up)
    env.k.merge_patch("Node", down, {"metadata": {"annotations": {"test.ostler.dev/down": None}}})
    env.wait(
        lambda: kube.condition(env.get_node(down), "Ready").get("status") == "True",
        45,
        "the node is back",
    )
    env.wait_gone()
    _assert_no_marks(env, down)


@test
def deleted_while_ostler_is_away(env):
    """A policy that was deleted while Ostler did not run is cleaned up after its start."""
    node = env.serving("gpu")
    env.operator.stop()
    _delete(env)
    assert env.get_policy(), "the finalizer did not hold the policy"
    env.operator.start()
    env.wait_gone()
    _assert_no_marks(env, node)


@test
def finalizer_stripped_while_ostler_is_away(env):
    """Without a policy there are no marks: after the grace for its absence they come off, though
    no deletion was seen."""
    node = env.serving("gpu")
    env.operator.stop()
    env.k.merge_patch("GpuClusterPolicy", "default", {"metadata": {"finalizers": None}})
    _delete(env)
    with env.own_operator("--absent-policy-grace", "3s"):
        env.wait_gone(20)
        _assert_no_marks(env, node)


@test
def missing_policy_moves_nothing_within_its_grace(env):
    """Within the grace nothing moves: a policy that is missing for a moment costs no driver."""
    node = env.serving("gpu")
    tiers = ("driver", "toolkit", "device-plugin")  # the exporter's owner is the policy
    pods = {c: env.pod_uids(c) for c in tiers}
    env.operator.stop()
    env.k.merge_patch("GpuClusterPolicy", "default", {"metadata": {"finalizers": None}})
    _delete(env)
    env.operator.start()
    env.stays(
        lambda: env.is_marked(node) and all(env.pod_uids(c) == pods[c] for c in tiers),
        3,
        "marks and pods",
    )
    env.policy()
    env.wait_serving(node)
    env.wait_policy()


def _clean_up(env, *flags):
    done = run_program(
        "cleanup",
        "--kubeconfig",
        env.kubeconfig,
        "--namespace",
        "ostler-system",
        "--operand-namespace",
        OPERANDS,
        *flags,
        timeout=60,
    )
    equal(done.returncode, 0, f"exit code; it said {done.stderr!r}")


@test
def cleanup_command(env):
    """`ostler cleanup` takes everything off a cluster where no Ostler runs, lets a policy go
    that waits for it, and can be run again."""
    node = env.serving("gpu")
    env.operator.stop()
    _delete(env)
    _clean_up(env)
    _clean_up(env)
    _assert_no_marks(env, node)
    equal(env.daemonsets(), {}, "DaemonSets")
    equal(env.get_policy(), None, "the policy")


@test
def cleanup_by_force(env):
    """`ostler cleanup --delete-policy --force`, by the account and with the rights of the
    chart's hook, waits for no GPU pod; the pods themselves are left alone."""
    node = env.serving("gpu")
    pod = env.gpu_pod("job", node)
    env.operator.stop()
    env.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "hook"},
            "rules": [
                {
                    "apiGroups": ["ostler.dev"],
                    "resources": ["gpuclusterpolicies"],
                    "verbs": ["delete"],
                }
            ],
        }
    )
    env.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "hook"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "hook",
            },
            "subjects": [
                {"kind": "ServiceAccount", "name": env.installation.account, "namespace": NAMESPACE}
            ],
        }
    )
    _clean_up(env, "--delete-policy", "--force")
    _assert_no_marks(env, node)
    equal(env.get_policy(), None, "the policy")
    assert kube.pod_ready(env.k.get("Pod", pod, "default")), "the GPU pod was touched"


@test
def cleanup_leaves_a_policy_that_is_not_deleted(env):
    """`ostler cleanup` takes its finalizer off a policy that stays, so that it can be deleted
    without Ostler."""
    node = env.serving("gpu")
    env.operator.stop()
    _clean_up(env)
    _assert_no_marks(env, node)
    equal(env.get_policy()["metadata"].get("finalizers", []), [], "finalizers")
    _delete(env)
    kube.wait_for(lambda: env.get_policy() is None, 5, "the policy is gone")


@test
def policy_made_again_at_once(env):
    """A policy that is made again as soon as the old one is gone is served, with the new one's
    uid on every child."""
    node = env.serving("gpu")
    _delete(env)
    kube.wait_for(lambda: env.get_policy() is None, 15, "the policy is gone")
    uid = env.policy()["metadata"]["uid"]
    env.wait_serving(node)
    env.wait(
        lambda: all(
            d["metadata"]["labels"].get("ostler.dev/policy-uid") == uid
            for d in env.daemonsets().values()
        ),
        5,
    )
    env.wait_policy()
