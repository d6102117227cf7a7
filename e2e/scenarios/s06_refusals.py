"""6. What cannot be meant is refused with a sentence that names the field; what runs goes on
running."""

import kube
from admission import images_unguarded
from harness import cases, contains, equal, test
from names import OPERANDS

# name -> (spec, what the refusal says)
REFUSED = {
    "driver_version": ({"driver": {"version": "580 95"}}, "spec.driver.version"),
    "driver_source": ({"driver": {"source": "Floppy"}}, "spec.driver.source"),
    "mig_strategy": ({"devicePlugin": {"migStrategy": "some"}}, "spec.devicePlugin.migStrategy"),
    "taint_effect": ({"nodes": {"taint": {"effect": "NoExecute"}}}, "spec.nodes.taint.effect"),
    "taint_key_of_kubernetes": (
        {"nodes": {"taint": {"key": "node.kubernetes.io/gpu"}}},
        "spec.nodes.taint.key",
    ),
    "label_of_kubernetes": ({"nodes": {"labels": {"kubernetes.io/gpu": "x"}}}, "spec.nodes.labels"),
    "label_of_ours": ({"nodes": {"labels": {"ostler.dev/driver": "x"}}}, "spec.nodes.labels"),
    "precompiled_digest": (
        {"driver": {"precompiled": True, "version": "sha256:" + "0" * 64}},
        "precompiled",
    ),
    "cos_digest": (
        {"driver": {"source": "COS", "version": "sha256:" + "0" * 64}},
        "Container-Optimized OS",
    ),
    "variable_of_ours": (
        {"toolkit": {"env": [{"name": "RUNTIME", "value": "crio"}]}},
        "is set by Ostler itself",
    ),
    "preload": ({"driver": {"env": [{"name": "LD_PRELOAD", "value": "/x"}]}}, "LD_"),
    "pool_without_a_name": ({"pools": [{"nodeSelector": {"a": "b"}}]}, "name"),
}


@cases(REFUSED)
def refused(env, row):
    """The API server refuses this policy with a sentence that names the field."""
    spec, words = row
    try:
        env.policy(spec)
    except kube.ApiError as e:
        equal(e.code, 422, "status")
        contains(e.message, words, "message")
    else:
        raise AssertionError("the policy was accepted")


@test
def second_policy_is_refused(env):
    """There is one policy, and it is called default."""
    env.policy()
    other = kube.policy()
    other["metadata"]["name"] = "other"
    try:
        env.k.create(other)
    except kube.ApiError as e:
        equal(e.code, 422, "status")
        contains(e.message, "default", "message")
    else:
        env.k.delete("GpuClusterPolicy", "other")
        raise AssertionError("a second policy was accepted")


@test
def unknown_field_is_dropped_or_refused(env):
    """A misspelt field does not count: with strict validation it is refused by name."""
    try:
        env.k.request(
            "POST",
            kube.path_of("GpuClusterPolicy"),
            kube.policy({"drivre": {}}),
            query={"fieldValidation": "Strict"},
        )
    except kube.ApiError as e:
        equal(e.code, 400, "status")
        contains(e.message, "spec.drivre", "message")
    else:
        raise AssertionError("a misspelt field was accepted")


@test
def forbidden_image_stops_nothing(env):
    """An image from a registry that is not allowed: Ready=False with the field and the image
    named; what runs goes on running."""
    node = env.serving("gpu")
    pods = env.pod_uids()
    with images_unguarded(env):
        env.edit({"driver": {"repository": "registry.example.com/evil"}})
    ready = env.wait_policy(status="False")
    contains(ready["message"], ["spec.driver", "registry.example.com/evil"], "message")
    contains(str(env.get_policy()["status"]["problems"]), "spec.driver", "problems")
    env.wait_calm()
    equal(env.pod_uids(), pods, "operand pods")
    assert not any(
        "evil" in str(d["spec"]) for d in env.daemonsets().values()
    ), "the image reached a DaemonSet"
    env.edit({"driver": {"repository": None}})
    env.wait_policy()
    equal(env.pod_uids(), pods, "operand pods after the repair")
    env.wait_serving(node)


@test
def forbidden_image_from_the_start(env):
    """The same on a cluster that runs nothing yet: nothing is made."""
    env.node("gpu", "nfd")
    with images_unguarded(env):
        env.policy({"devicePlugin": {"repository": "registry.example.com/evil"}})
    env.wait_policy(status="False")
    env.wait_calm()
    equal(env.daemonsets(), {}, "DaemonSets")


@test
def drift_is_put_back_under_an_invalid_policy(env):
    """While the policy is invalid, what runs by the last valid one is still looked after."""
    env.serving("gpu")
    with images_unguarded(env):
        env.edit({"driver": {"repository": "registry.example.com/evil"}})
    env.wait_policy(status="False")
    (name,) = env.daemonsets("driver")
    before = env.k.get("DaemonSet", name, OPERANDS)
    env.k.delete("DaemonSet", name, OPERANDS)
    env.wait(
        lambda: (env.k.get("DaemonSet", name, OPERANDS) or before)["metadata"]["uid"]
        != before["metadata"]["uid"],
        what=f"{name} is back",
    )
