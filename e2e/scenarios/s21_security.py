"""21. Who holds what may do no more with it: an editor of the policy, Ostler's own token, a user
with pods."""

import kube
from admission import answer, images_unguarded
from harness import cases, contains, equal, long_test, proven_by, test
from names import (
    APPROVED,
    COMPONENT,
    DRIVER,
    FORCE_REMOVAL,
    KEEPS_CLUSTER_AUTOSCALER,
    KEEPS_KARPENTER,
    MANAGED,
    NAMESPACE,
    OLDEST,
    OPERANDS,
    RETRY,
    STACK,
)


def refused(attempt, words, what):
    """The API server says no, in these words."""
    try:
        attempt()
    except kube.ApiError as e:
        contains(e.message, words, f"{what}: the refusal")
    else:
        raise AssertionError(f"{what} was taken")


# ---- an editor of the policy

# name -> (field of an operand, value): images that are not where they seem to be. All of them are
# refused by the API server.
IMAGES = {
    "another_host": ("repository", "nvcr.io.evil.example/nvidia"),
    "longer_path": ("repository", "nvcr.io/nvidia-evil"),
    "parent_folder": ("repository", "nvcr.io/nvidia/../evil"),
    "this_folder": ("repository", "nvcr.io/nvidia/./.."),
    "upper_case": ("repository", "NVCR.IO/nvidia"),
    "user": ("repository", "nvcr.io/nvidia@evil.example"),
    "user_before": ("repository", "nvcr.io@evil.example/nvidia"),
    "port": ("repository", "nvcr.io:5000/nvidia"),
    "scheme": ("repository", "https://nvcr.io/nvidia"),
    "double_slash": ("repository", "nvcr.io//nvidia"),
    "space": ("repository", "nvcr.io/nvidia x"),
    "newline": ("repository", "nvcr.io/nvidia\nevil.example/x"),
    "encoded": ("repository", "nvcr.io/nvidia%2f..%2fevil"),
    "other_letters": ("repository", "nvcr.iо/nvidia"),  # the last o is Cyrillic
    "empty": ("repository", ""),
    "regular_expression": ("repository", "nvcrxio/nvidia"),
    "name_of_a_parent": ("image", "../evil"),
    "name_with_a_tag": ("image", "driver:evil"),
    "name_with_a_digest": ("image", "driver@sha256:" + "0" * 64),
    "name_with_a_newline": ("image", "driver\nx"),
    "name_from_the_root": ("image", "/evil.example/x"),
    "tag_with_a_space": ("version", "1 --privileged"),
    "tag_with_a_slash": ("version", "1/../../evil"),
    "tag_with_a_digest": ("version", "1@sha256:" + "0" * 64),
    "digest_that_is_short": ("version", "sha256:0123"),
    "digest_of_another_kind": ("version", "md5:" + "0" * 32),
    "tag_with_a_newline": ("version", "1\nenv: x"),
    "tag_with_a_command": ("version", "$(id)"),
    "tag_that_is_long": ("version", "1" * 300),
}


@cases(IMAGES)
def image_tricks(env, row):
    """The API server takes no image that only looks like an allowed one: of the driver, GDRCopy,
    a pool and the proof."""
    field, value = row
    for spec in (
        {"driver": {field: value}},
        {"validation": {field: value}},
        {"driver": {"gdrcopy": {"enabled": True, field: value}}},
        {"pools": [{"name": "a", "nodeSelector": {"a": "b"}, "driver": {field: value}}]},
    ):
        status, said = answer(env.k, kube.policy(spec))
        equal(status, 422, f"{spec}: {said}")


def _pool(gdrcopy):
    """The spec of a policy whose pool has that driver.gdrcopy."""
    return {"pools": [{"name": "a", "nodeSelector": {"a": "b"}, "driver": {"gdrcopy": gdrcopy}}]}


@test
def images_of_gdrcopy(env):
    """The API server takes GDRCopy's image, a pool's as well, from where images may come from,
    and names the field of one from elsewhere."""
    for repository in ("nvcr.io/nvidia/cloud-native", "gke.gcr.io/x"):
        status, said = answer(
            env.k, kube.policy({"driver": {"gdrcopy": {"enabled": True, "repository": repository}}})
        )
        equal(status in (201, 409), True, f"{repository}: {said}")
    for given, words in (
        ({"repository": "evil.example"}, "evil.example/gdrdrv is not under an allowed prefix"),
        ({"image": "../../../evil"}, ""),
    ):
        for field, spec in (
            ("spec.driver.gdrcopy", {"driver": {"gdrcopy": given}}),
            ("spec.pools[a].driver.gdrcopy", _pool(given)),
        ):
            status, said = answer(env.k, kube.policy(spec))
            equal((status, not words or f"{field}: {words}" in said), (422, True), said)
    # A pool's own image counts with the rest of the policy's, wherever the two parts of it stand.
    spec = _pool({"enabled": True})
    for repository, allowed in (("nvcr.io/nvidia/cloud-native", True), ("nvcr.io/other", False)):
        spec["driver"] = {"gdrcopy": {"repository": repository}}
        status, said = answer(env.k, kube.policy(spec))
        equal(status in (201, 409), allowed, f"{repository}: {said}")


# name -> spec: words that end up in pods, and would be something else if a program read them as
# YAML or as a shell does.
WORDS = {
    "variable_of_a_shell": {
        "driver": {"env": [{"name": "BASH_ENV", "value": "$(nsenter -t 1 -m id)"}]}
    },
    "variable_of_make": {"driver": {"env": [{"name": "MAKEFLAGS", "value": "--eval=$(shell id)"}]}},
    "runtime_of_the_toolkit": {
        "toolkit": {"env": [{"name": "NVIDIA_CONTAINER_RUNTIME_RUNTIMES", "value": "/tmp/x"}]}
    },
    "argument": {"toolkit": {"args": ["--toolkit-install-dir=/etc"]}},
    "argument_of_a_shell": {"driver": {"args": ["; id"]}},
    "variable_of_a_pool": {
        "pools": [
            {
                "name": "a",
                "nodeSelector": {"a": "b"},
                "driver": {"env": [{"name": "PERL5OPT", "value": "-Mx"}]},
            }
        ]
    },
    "proxy_with_a_newline": {
        "driver": {"env": [{"name": "HTTP_PROXY", "value": "http://a\ngpgcheck=0"}]}
    },
}


@test
def setting_is_not_acted_on(env):
    """What the API server takes and Ostler does not allow reaches no pod: the policy is not
    valid, and what runs goes on."""
    env.serving("gpu")
    before = env.standing()
    for name, spec in WORDS.items():
        nothing = {"driver": None, "toolkit": None, "pools": None}
        edited = env.edit({**nothing, **spec})["metadata"]["generation"]

        def stalled(generation=edited):
            found = kube.condition(env.get_policy(), "Stalled")
            return (
                found.get("reason") == "InvalidSpec" and found["observedGeneration"] >= generation
            )

        env.wait_until(stalled, 10, f"{name}: the policy is not valid")
    after = env.standing()
    moved = [
        key for key in before if key[0] in ("DaemonSet", "Pod") and before[key] != after.get(key)
    ]
    equal(moved, [], "what changed")


# name -> spec: what the API server has to refuse by the CRD alone.
FORMS = {
    "folder_of_the_host": {"toolkit": {"installDir": "/etc/../nvidia"}},
    "folder_with_a_command": {"toolkit": {"installDir": "/$(id)/nvidia"}},
    "folder_with_a_newline": {"toolkit": {"installDir": "/a\n/nvidia"}},
    "name_of_a_variable": {"driver": {"env": [{"name": "A=B\nLD_PRELOAD", "value": "x"}]}},
    "function_of_a_shell": {"driver": {"env": [{"name": "BASH_FUNC_id%%", "value": "() { x; }"}]}},
    "loader": {"exporter": {"env": [{"name": "LD_AUDIT", "value": "x"}]}},
    "variable_from_a_secret": {
        "driver": {
            "env": [
                {"name": "HTTP_PROXY", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}
            ]
        }
    },
    "label_of_ours": {"driver": {"labels": {"app.kubernetes.io/component": "node-agent"}}},
    "secret_with_a_path": {"driver": {"imagePullSecrets": ["../kube-system/x"]}},
    "class_with_a_newline": {"driver": {"priorityClassName": "a\nb"}},
    "taint_of_kubernetes": {"nodes": {"startupTaint": {"key": "node.kubernetes.io/unreachable"}}},
    "label_of_the_control_plane": {
        "nodes": {"labels": {"node-role.kubernetes.io/control-plane": ""}}
    },
    "label_that_is_protected": {"nodes": {"labels": {"node-restriction.kubernetes.io/a": "b"}}},
    "pool_with_a_path": {"pools": [{"name": "../a", "nodeSelector": {"a": "b"}}]},
    "config_with_a_path": {"devicePlugin": {"config": {"name": "../x", "default": "a"}}},
    "profile_of_the_host": {"nodeAgent": {"seccompProfile": "/etc/a.json"}},
    "profile_above_its_folder": {"nodeAgent": {"seccompProfile": "a/../../b.json"}},
    "profile_with_a_command": {"nodeAgent": {"seccompProfile": "$(id)"}},
    "number_of_no_fault": {"health": {"xids": {"Xid79": "Close"}}},
    "level_of_no_fault": {"health": {"xids": {"79": "Cordon"}}},
    "long_value": {"driver": {"env": [{"name": "HTTP_PROXY", "value": "x" * 5000}]}},
    "many_values": {"driver": {"env": [{"name": f"A{i}", "value": "x"} for i in range(65)]}},
}


@cases(FORMS)
def form_is_refused(env, spec):
    """The API server refuses what no field may hold."""
    status, said = answer(env.k, kube.policy(spec))
    equal(status, 422, said)


@test
def without_admission_policies_ostler_refuses(env):
    """Where the chart's admission policies are off, Ostler itself acts on no image from
    elsewhere."""
    env.serving("gpu")
    before = env.daemonsets()
    with images_unguarded(env):
        env.edit({"driver": {"repository": "nvcr.io.evil.example/nvidia"}})
        env.wait_until(
            lambda: kube.condition(env.get_policy(), "Stalled").get("reason") == "InvalidSpec",
            10,
            "the policy is not valid",
        )
    equal(env.daemonsets().keys(), before.keys(), "DaemonSets")


# ---- Ostler's own token


def pod(name="x", namespace=OPERANDS, **spec):
    """A pod that is labelled as one of Ostler's."""
    labels = {"ostler.dev/task": "pull", "app.kubernetes.io/managed-by": "ostler"}
    container = {
        "name": "a",
        "image": "nvcr.io/nvidia/driver:1",
        "securityContext": {"allowPrivilegeEscalation": False},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"automountServiceAccountToken": False, "containers": [container], **spec},
    }


def service(**spec):
    """A Service that is labelled as one of Ostler's."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "x",
            "namespace": OPERANDS,
            "labels": {"app.kubernetes.io/managed-by": "ostler"},
        },
        "spec": {"ports": [{"port": 80}], **spec},
    }


def patch_node(**changes):
    """A merge patch of the node."""
    return lambda c, node: c.merge_patch("Node", node, changes)


def patch_policy(changes):
    """A merge patch of the policy."""
    return lambda c, node: c.merge_patch("GpuClusterPolicy", "default", changes)


FORCED = {"metadata": {"annotations": {FORCE_REMOVAL: "true"}}}


def get(path):
    """GET of a path."""
    return lambda c, node: c.request("GET", path)


# name -> (what is tried with Ostler's token, words of the refusal)
WITH_THE_TOKEN = {
    "read_secrets": (get(f"/api/v1/namespaces/{OPERANDS}/secrets"), "forbidden"),
    "read_its_own_secrets": (get(f"/api/v1/namespaces/{NAMESPACE}/secrets"), "forbidden"),
    "read_configmaps_elsewhere": (get("/api/v1/namespaces/kube-system/configmaps"), "forbidden"),
    "read_logs_elsewhere": (get("/api/v1/namespaces/default/pods/x/log"), "forbidden"),
    "run_a_command": (
        lambda c, node: c.request("POST", f"/api/v1/namespaces/{OPERANDS}/pods/x/exec?command=id"),
        "forbidden",
    ),
    "make_a_token": (
        lambda c, node: c.request(
            "POST",
            f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/ostler/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}},
        ),
        "forbidden",
    ),
    "make_rights": (
        lambda c, node: c.create(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": "x"},
                "subjects": [],
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole",
                    "name": "cluster-admin",
                },
            }
        ),
        "forbidden",
    ),
    "edit_its_role": (
        lambda c, node: c.merge_patch("ClusterRole", "ostler", {"rules": []}),
        "forbidden",
    ),
    "take_its_admission_policy_away": (
        lambda c, node: c.request(
            "DELETE",
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/ostler-nodes",
        ),
        "forbidden",
    ),
    "edit_another_policy": (
        lambda c, node: c.merge_patch("GpuClusterPolicy", "other", {"spec": {}}),
        "forbidden",
    ),
    "edit_the_policy": (
        patch_policy({"spec": {"driver": {"version": "1.2.3"}}}),
        "must not change the spec of a policy",
    ),
    "pause_the_policy": (
        patch_policy({"spec": {"rollout": {"paused": True}}}),
        "must not change the spec of a policy",
    ),
    "approve_a_plan": (
        patch_policy({"metadata": {"annotations": {APPROVED: "x"}}}),
        "only its own finalizer on a policy",
    ),
    "take_a_wish_away": (
        patch_policy({"metadata": {"annotations": {RETRY: None}}}),
        "only its own finalizer on a policy",
    ),
    "label_the_policy": (
        patch_policy({"metadata": {"labels": {"team": "mine"}}}),
        "only its own finalizer on a policy",
    ),
    "give_the_policy_an_owner": (
        patch_policy(
            {
                "metadata": {
                    "ownerReferences": [
                        {
                            "apiVersion": "v1",
                            "kind": "Namespace",
                            "name": "gone",
                            "uid": "00000000-0000-0000-0000-000000000000",
                        }
                    ]
                }
            }
        ),
        "only its own finalizer on a policy",
    ),
    "take_drivers_from_under_jobs_later": (
        patch_policy(FORCED),
        "only its own finalizer on a policy",
    ),
    "keep_the_policy_for_ever": (
        patch_policy({"metadata": {"finalizers": ["a.example/b"]}}),
        "only its own finalizer on a policy",
    ),
    "delete_the_policy": (
        lambda c, node: c.request("DELETE", kube.path_of("GpuClusterPolicy", "default")),
        "forbidden",
    ),
    "delete_a_node": (lambda c, node: c.request("DELETE", kube.path_of("Node", node)), "forbidden"),
    "make_daemonsets_elsewhere": (
        lambda c, node: c.request(
            "POST",
            kube.path_of("DaemonSet", None, "kube-system"),
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "x"}},
        ),
        "forbidden",
    ),
    "make_pods_elsewhere": (lambda c, node: c.create(pod(namespace="default")), "forbidden"),
    "make_a_privileged_pod": (
        lambda c, node: c.create(
            pod(
                containers=[
                    {
                        "name": "a",
                        "image": "nvcr.io/nvidia/driver:1",
                        "securityContext": {"privileged": True},
                    }
                ]
            )
        ),
        "no privileges",
    ),
    "make_a_pod_with_the_host": (
        lambda c, node: c.create(pod(hostPID=True)),
        "no namespace of the host",
    ),
    "make_a_pod_with_a_folder": (
        lambda c, node: c.create(pod(volumes=[{"name": "a", "hostPath": {"path": "/"}}])),
        "only empty volumes",
    ),
    "make_a_pod_with_a_variable_of_a_secret": (
        lambda c, node: c.create(
            pod(
                containers=[
                    {
                        **pod()["spec"]["containers"][0],
                        "env": [
                            {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
                        ],
                    }
                ]
            )
        ),
        "variables only from plain values",
    ),
    "make_a_pod_with_variables_of_a_secret": (
        lambda c, node: c.create(
            pod(
                containers=[
                    {**pod()["spec"]["containers"][0], "envFrom": [{"secretRef": {"name": "s"}}]}
                ]
            )
        ),
        "variables only from plain values",
    ),
    "make_a_pod_with_a_token": (
        lambda c, node: c.create(pod(automountServiceAccountToken=True)),
        "no token",
    ),
    "cordon": (patch_node(spec={"unschedulable": True}), "must not cordon nodes"),
    "label_of_others": (
        patch_node(metadata={"labels": {"team": "mine"}}),
        "may not change or remove a label",
    ),
    "label_without_a_mark": (
        patch_node(metadata={"labels": {"a.example/b": "c"}}),
        "naming it in ostler.dev/marks",
    ),
    "label_that_it_says_is_its_own": (
        patch_node(
            metadata={
                "labels": {"team": "mine"},
                "annotations": {"ostler.dev/marks": '{"labels":["team"]}'},
            }
        ),
        "Ostler may not",
    ),
    "annotation_of_others": (
        patch_node(metadata={"annotations": {"a.example/b": "c"}}),
        "only its own annotations",
    ),
    "annotation_for_autoscalers_without_a_mark": (
        patch_node(metadata={"annotations": {KEEPS_KARPENTER: "true"}}),
        "only its own annotations",
    ),
    "annotation_that_lets_autoscalers_remove": (
        patch_node(
            metadata={
                "annotations": {
                    KEEPS_KARPENTER: "false",
                    "ostler.dev/marks": f'{{"annotations":["{KEEPS_KARPENTER}"]}}',
                }
            }
        ),
        "only its own annotations",
    ),
    "annotation_for_autoscalers_of_others": (
        patch_node(metadata={"annotations": {KEEPS_CLUSTER_AUTOSCALER: None}}),
        "only its own annotations",
    ),
    "annotation_for_autoscalers_that_it_says_is_its_own": (
        patch_node(
            metadata={
                "annotations": {
                    "ostler.dev/marks": f'{{"annotations":["{KEEPS_CLUSTER_AUTOSCALER}"]}}'
                }
            }
        ),
        "was on the node",
    ),
    "taint_of_others": (patch_node(spec={"taints": []}), "may not change or remove a taint"),
    "taint_that_ends_pods": (
        patch_node(
            spec={
                "taints": [
                    {"key": "team", "value": "theirs", "effect": "NoSchedule"},
                    {"key": "ostler.dev/x", "effect": "NoExecute"},
                ]
            }
        ),
        "NoExecute",
    ),
    "service_with_addresses": (
        lambda c, node: c.create(service(externalIPs=["10.1.2.3"])),
        "no externalIPs",
    ),
    "service_of_a_load_balancer": (
        lambda c, node: c.create(service(type="LoadBalancer")),
        "type ClusterIP",
    ),
    "service_that_is_a_name": (
        lambda c, node: c.create(service(type="ExternalName", externalName="a.b")),
        "type ClusterIP",
    ),
    "label_between_quotes": (
        patch_node(metadata={"annotations": {"ostler.dev/marks": '{"labels":["x"team"y"]}'}}),
        "was on the node",
    ),
    "taint_between_quotes": (
        patch_node(
            metadata={"annotations": {"ostler.dev/marks": '{"taints":["x"team:NoSchedule"y"]}'}}
        ),
        "was on the node",
    ),
    "label_of_kubernetes": (
        patch_node(
            metadata={
                "labels": {"node-role.kubernetes.io/control-plane": ""},
                "annotations": {
                    "ostler.dev/marks": '{"labels":["node-role.kubernetes.io/control-plane"]}'
                },
            }
        ),
        "under kubernetes.io and k8s.io",
    ),
    "label_of_its_shorter_name": (
        patch_node(
            metadata={
                "labels": {"k8s.io/a": "b"},
                "annotations": {"ostler.dev/marks": '{"labels":["k8s.io/a"]}'},
            }
        ),
        "under kubernetes.io and k8s.io",
    ),
    "label_of_kubernetes_that_goes": (
        patch_node(metadata={"labels": {"kubernetes.io/hostname": None}}),
        "Ostler may not",
    ),
    "taint_of_kubernetes": (
        lambda c, node: c.json_patch(
            "Node",
            node,
            [
                {
                    "op": "add",
                    "path": "/metadata/annotations/ostler.dev~1marks",
                    "value": '{"taints":["node.kubernetes.io/out-of-service:NoExecute"]}',
                },
                {
                    "op": "add",
                    "path": "/spec/taints/-",
                    "value": {
                        "key": "node.kubernetes.io/out-of-service",
                        "value": "nodeshutdown",
                        "effect": "NoExecute",
                    },
                },
            ],
        ),
        "under kubernetes.io and k8s.io",
    ),
    "machine_of_a_provider": (
        patch_node(spec={"providerID": "a://b"}),
        "only taints in a node's spec",
    ),
    "addresses_of_pods": (
        patch_node(spec={"podCIDR": "10.9.0.0/24", "podCIDRs": ["10.9.0.0/24"]}),
        "only taints in a node's spec",
    ),
    "owner_that_goes": (
        patch_node(
            metadata={
                "ownerReferences": [
                    {
                        "apiVersion": "v1",
                        "kind": "Namespace",
                        "name": "gone",
                        "uid": "00000000-0000-0000-0000-000000000000",
                    }
                ]
            }
        ),
        "owners of nodes",
    ),
    "finalizer": (patch_node(metadata={"finalizers": ["a.example/b"]}), "finalizers of nodes"),
    "capacity": (
        lambda c, node: c.merge_patch(
            "Node", node, {"status": {"capacity": {"nvidia.com/gpu": "64"}}}, subresource="status"
        ),
        "only its conditions in a node's status",
    ),
    "handlers_of_the_runtime": (
        lambda c, node: c.merge_patch(
            "Node", node, {"status": {"runtimeHandlers": [{"name": "x"}]}}, subresource="status"
        ),
        "only its conditions in a node's status",
    ),
    # Kubernetes 1.30 has no such fields.
    **(
        {}
        if OLDEST
        else {
            "features_of_the_runtime": (
                lambda c, node: c.merge_patch(
                    "Node",
                    node,
                    {"status": {"features": {"supplementalGroupsPolicy": True}}},
                    subresource="status",
                ),
                "only its conditions in a node's status",
            ),
            "features_of_the_kubelet": (
                lambda c, node: c.merge_patch(
                    "Node", node, {"status": {"declaredFeatures": ["A"]}}, subresource="status"
                ),
                "only its conditions in a node's status",
            ),
        }
    ),
    "phase": (
        lambda c, node: c.merge_patch(
            "Node", node, {"status": {"phase": "Terminated"}}, subresource="status"
        ),
        "only its conditions in a node's status",
    ),
    "condition_of_the_kubelet": (
        lambda c, node: c.strategic_patch(
            "Node",
            node,
            {"status": {"conditions": [{"type": "Ready", "status": "False"}]}},
            subresource="status",
        ),
        "only its own condition",
    ),
}


@test
def token_of_ostler(env):
    """Who has Ostler's own token is refused what Ostler never does."""
    env.policy({"driver": {"version": "580.178.04"}}, annotations={RETRY: "x"})
    env.wait_policy()
    env.operator.stop()
    node = env.node(
        "victim",
        labels={"team": "theirs"},
        annotations={KEEPS_CLUSTER_AUTOSCALER: "true"},
        taints=[{"key": "team", "value": "theirs", "effect": "NoSchedule"}],
    )
    # A new node bears a taint of Kubernetes until it is ready: an attempt at the taints would be
    # refused for that one.
    env.wait_until(
        lambda: [t["key"] for t in env.get_node(node)["spec"]["taints"]] == ["team"],
        30,
        "the node bears its own taint alone",
    )
    thief = kube.from_kubeconfig(env.kubeconfig)
    for name, (attempt, words) in WITH_THE_TOKEN.items():
        refused(lambda attempt=attempt: attempt(thief, node), words, name)
    # What it does itself: its finalizer, on and off, and for `ostler cleanup --force` the mark of a
    # policy that waits for no pod.
    patch_policy({"metadata": {"finalizers": ["ostler.dev/cleanup"]}})(thief, node)
    env.k.delete("GpuClusterPolicy", "default")
    patch_policy(FORCED)(thief, node)
    patch_policy({"metadata": {"finalizers": []}})(thief, node)
    equal(env.k.get("GpuClusterPolicy", "default"), None, "the policy")


# ---- a user with pods


@test
def labels_of_a_pod_move_nothing(env):
    """Who has pods in a namespace and calls them as Ostler's are called changes nothing, nor has
    them deleted."""
    node = env.serving("gpu")
    before = env.standing()
    for name, labels in (
        ("ostler-proof-" + node, {"ostler.dev/task": "proof"}),
        ("driver", {COMPONENT: "driver"}),
        ("agent", {COMPONENT: "node-agent"}),
    ):
        item = kube.gpu_pod(
            name,
            node,
            gpus=0,
            labels={**labels, "app.kubernetes.io/managed-by": "ostler"},
            annotations={
                "ostler.dev/claim": "{}",
                "ostler.dev/marks": "{}",
                "ostler.dev/proof": "x\ny",
            },
        )
        env.create(item)
    env.wait_calm()
    after = env.standing()
    equal([key for key in before if before[key] != after.get(key)], [], "what changed")
    equal(len(env.k.list("Pod", "default")), 3, "the user's pods")


def controller(version, kind, name="x", uid="u"):
    """A reference to the owner that controls an object."""
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}


UNKNOWN_OWNER = {"apiVersion": "x.example/v1", "kind": "X", "name": "x", "uid": "x"}
# name -> owners that a user's pod may name, none of which is there.
FORGED_OWNERS = {
    "daemonset-of-another-group": [controller("x.example/v1", "DaemonSet")],
    "daemonset-of-another-version": [controller("apps/v9", "DaemonSet")],
    "daemonset-and-unknown": [controller("apps/v1", "DaemonSet"), UNKNOWN_OWNER],
    "node-of-another-group": [controller("x.example/v1", "Node")],
    "node-and-unknown": [controller("v1", "Node"), UNKNOWN_OWNER],
}


def owned_pod(name, node, owners):
    """A user's pod that names these owners, and looks like another operator's driver."""
    item = kube.gpu_pod(
        name, node, gpus=0, restart="Always", labels={"app": "nvidia-driver-daemonset"}
    )
    item["metadata"]["ownerReferences"] = owners
    item["spec"]["volumes"] = [{"name": "host", "hostPath": {"path": "/"}}]
    return item


@test
def forged_owners_keep_no_node_from_being_served(env):
    """A user's pod that looks like a driver and names an owner that is none keeps no new node
    from being served."""
    env.serving("gpu")
    env.operator.stop()
    node = env.node("late", "nfd")
    for name, owners in FORGED_OWNERS.items():
        env.create(owned_pod(name, node, owners))
    env.operator.start()
    env.wait_serving(node, timeout=30)
    equal(
        {p["metadata"]["name"] for p in env.k.list("Pod", "default")},
        set(FORGED_OWNERS),
        "pods that are still there",
    )


@test
def owner_that_is_not_there_ends_its_pod(env):
    """Kubernetes deletes a pod whose only owner is a DaemonSet or a Node that is not there with
    that uid: Ostler relies on it."""
    node = env.node("gpu", "nfd")
    for version, kind in (("apps/v1", "DaemonSet"), ("v1", "Node")):
        env.k.create(owned_pod(kind.lower(), node, [controller(version, kind, node)]))
    env.wait_until(lambda: not env.k.list("Pod", "default"), 60, "the pods are deleted")


# What a pod may have by the thousand, since only its size limits it; the first is 100 MiB as
# a tree of values. Names ascend: the API server puts them into a sorted list, and in another order
# 80,000 gates cost it minutes on a busy machine.
WIDE = {
    "pull-secrets": {"imagePullSecrets": [{}] * 370_000},
}
WIDE_TOO = {
    "limits": {
        "containers": [
            {
                "name": f"c{i}",
                "image": "a",
                "resources": {"limits": {f"a/{j:03x}": "1" for j in range(1000)}},
            }
            for i in range(40)
        ]
    },
    "tolerations": {"tolerations": [{"operator": "Exists"}] * 85_000},
    "gates": {"schedulingGates": [{"name": f"a/b{i:05x}"} for i in range(80_000)]},
    "volumes": {"volumes": [{"name": f"{i:04x}", "emptyDir": {}} for i in range(60_000)]},
}


def stays_small(env, node, of=""):
    """Ostler serves new nodes before and after a restart, and never takes the memory that the
    chart gives it."""
    (deployment,) = env.k.list("Deployment", NAMESPACE)
    limit = deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"]
    for late in ("seen", "started"):
        env.wait_serving(node, env.node(late + of, "nfd"), timeout=30)
        most = env.operator.most_resident()
        assert (
            most < int(limit.removesuffix("Mi")) * 1024
        ), f"{most} KiB when all is {late}, where {limit} is the limit"
        env.operator.stop()
        env.operator.start()


@cases(
    {"pods": WIDE, "pods_too": WIDE_TOO},
    proven={"pods_too": "e2e/scenarios/s21_security.py"},  # wide_pods: one splitter reads all lists
    long=True,
)
def wide(env, kinds):
    """Pods of one tenant that are made of hundreds of thousands of small parts: Ostler sees them
    come, starts with them, and stays within the memory that the chart gives it."""
    node = env.serving("gpu")
    for name, parts in kinds.items():
        pod = kube.gpu_pod(name, None, gpus=0, restart="Always")
        pod["spec"] |= {"nodeSelector": {"no": "such-node"}} | parts
        env.create_huge(pod)
    stays_small(env, node)


@long_test
@proven_by("e2e/scenarios/s21_security.py")  # wide_pods: one splitter reads both
def wide_node(env):
    """The same of a node whose root writes into its status what it likes."""
    node, wide = env.serving("gpu"), env.node("wide")
    parts = {"conditions": [{"type": "a", "status": "True"}] * 50_000}
    if not OLDEST:  # Kubernetes 1.30 drops the field
        parts["runtimeHandlers"] = [{}] * 370_000
    for name, items in parts.items():
        status = {**dict.fromkeys(parts), name: items}
        kube.insist(
            lambda status=status: env.k.merge_patch(
                "Node", wide, {"status": status}, subresource="status"
            )
        )
        stays_small(env, node, f"-{name.lower()}")


@test
@proven_by("tests/unit/kube/test_split.c")
def long_pods(env):
    """Pods of one tenant fill a page of the list of pods with more than 64 MiB, and one of them
    the list of a node's with more than 8 (the API server writes "<" in six bytes): Ostler
    starts with them, serves a new node, and lets go of one.
    """
    node = env.serving("gpu")
    env.operator.stop()
    text = "<" * 1_400_000
    for i in range(10):
        long = kube.gpu_pod(f"long-{i}", None, gpus=0, restart="Always")
        long["spec"] |= {"nodeName": node} if i == 0 else {"nodeSelector": {"no": "such-node"}}
        long["spec"]["containers"] = [
            {"name": "a", "image": "registry.example.com/a:1", "args": [text]}
        ]
        env.create_huge(long)
    env.operator.start()
    env.wait_serving(env.node("late", "nfd"), timeout=30)
    env.k.merge_patch("Node", node, {"metadata": {"labels": {MANAGED: "false"}}})
    env.wait(
        lambda: not {DRIVER, STACK} & set(env.labels(node)),
        30,
        "the node has lost its assignment",
    )
