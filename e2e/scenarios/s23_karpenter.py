"""23. With the real Karpenter and its provider of nodes that KWOK plays."""

import kube
from autoscaler import claims, karpenter, nodes, runs_on, service, stays
from harness import equal, long_test
from names import DRIVER, KEEPS_CLUSTER_AUTOSCALER, KEEPS_KARPENTER, STARTUP_TAINT
from rollouts import phase_of
from upgrades import LIGHT, NEW, OLD, is_known_good, spec_of, upgrade


def _policy(env, **nodes_spec):
    env.policy(
        {**spec_of(OLD), **LIGHT, "nodes": {"startupTaint": {"enabled": True, **nodes_spec}}}
    )
    env.wait_policy()


def _from_zero_to_one(env, name):
    """A pod with GPUs gets a node of its own, and no second one is made for it."""
    equal(nodes(env), {}, "nodes before")
    env.create(service(name))
    env.wait_until(lambda: runs_on(env, name) is not None, 60, "the pod runs")
    stays(env, lambda: len(claims(env)) == 1, 5, "one NodeClaim")
    return runs_on(env, name)


@long_test
def from_zero_to_one_node(env):
    """A GPU pod gets exactly one node of Karpenter's, which does not know the startup taint:
    Ostler sets none."""
    _policy(env)
    with karpenter(env):
        node = _from_zero_to_one(env, "first")
        assert not kube.taint(nodes(env)[node], STARTUP_TAINT), "the startup taint is there"


@long_test
def no_node_is_lost_in_an_upgrade(env):
    """Karpenter does not remove a node that is drained and changed, and makes no more than one
    for the pod that left it."""
    _policy(env, key="readiness.k8s.io/ostler-gpu")
    with karpenter(env):
        first = _from_zero_to_one(env, "serving")
        env.wait_until(
            lambda: is_known_good(env, env.labels(first)[DRIVER]),
            30,
            "the old version is known to be good",
        )
        upgrade(env, f"{NEW}-slow-on-{first.rsplit('-', 1)[1]}")
        env.wait_until(
            lambda: phase_of(env.get_node(first)) == "Installing",
            60,
            "the driver of the node is changed",
        )
        env.wait_until(
            lambda: runs_on(env, "serving") not in (None, first), 60, "the pod runs elsewhere"
        )
        found = nodes(env)[first]["metadata"]["annotations"]
        equal(
            [found.get(k) for k in (KEEPS_KARPENTER, KEEPS_CLUSTER_AUTOSCALER)],
            ["true", "true"],
            "what keeps autoscalers off",
        )
        stays(
            env,
            lambda: "deletionTimestamp" not in nodes(env)[first]["metadata"],
            25,
            "the node is not removed",
        )
        equal(len(claims(env)), 2, "NodeClaims: one for the pod that left")
        # It is the annotation that did that: a person takes it off, and the node goes in the middle
        # of its upgrade.
        env.k.merge_patch("Node", first, {"metadata": {"annotations": {KEEPS_KARPENTER: None}}})
        env.wait_until(lambda: first not in nodes(env), 90, "Karpenter removes the node")
        equal(len(claims(env)), 1, "NodeClaims afterwards")
        assert runs_on(env, "serving"), "the pod has ended"
        equal(
            env.condition("Degraded").get("status"),
            "False",
            "whether the policy is degraded by a node that was removed",
        )
