"""19. What the chart puts into a cluster is taken there, and what it admits, is what operands
are and no more."""

import contextlib
import copy
import json
import subprocess

import kube
from admission import answer, wait_in_force
from harness import cases, contains, equal, test
from installation import ALL_THAT_IS_OPTIONAL, DIGEST, prometheus_operator, render
from names import CHART, CRD_CHART, NAMESPACE, OPERANDS, ROOT
from program import run_program

MANIFESTS = ROOT / "reconcilers/manifests"
POLICIES = (
    "ostler-gpuclusterpolicies",
    "ostler-images",
    "ostler-inventories",
    "ostler-nodes",
    "ostler-operands",
    "ostler-pods",
    "ostler-services",
)

# name -> flags of helm. Together they set every value of the chart to something else than its
# default, which tests/chart holds.
INSTALLATIONS = {
    "as_it_comes": (),
    "all_that_is_optional": ALL_THAT_IS_OPTIONAL,
    "as_little_as_can_be": (
        "--set",
        "replicas=1,metrics.service.enabled=false,admissionPolicy.enabled=false,"
        "cleanup.enabled=false,fleetPage.enabled=false",
        "--set",
        "crds.upgrade=false,image.tag=dev",
        "--set",
        "operandNamespace.create=false,operandNamespace.name=elsewhere",
        "--set",
        "networkPolicy.enabled=true,networkPolicy.dns=false",
        "--set",
        "podDisruptionBudget.enabled=false,topologySpreadConstraints=null",
        "--set",
        "affinity=null,tolerations=null,nodeSelector=null",
        "--set-json",
        "networkPolicy.metricsNamespaces=[]",
        "--set-json",
        "admissionPolicy.startupTaintKeys=[]",
    ),
}


def _objects(env, text):
    """YAML as the objects in it."""
    done = env.kubectl(
        "create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-", stdin=text
    )
    decoder, found = json.JSONDecoder(), []
    while done := done.strip():
        item, end = decoder.raw_decode(done)
        found += item.get("items", [item])
        done = done[end:]
    return found


def _taken(env, text):
    """How many objects the API server would take, field by field."""
    said = env.kubectl(
        "apply",
        "--server-side",
        "--force-conflicts",
        "--dry-run=server",
        "--validate=strict",
        "-f",
        "-",
        stdin=text,
    )
    return said.count("serverside-applied (server dry run)")


@cases(INSTALLATIONS)
def chart_is_taken(env, flags):
    """The API server takes every object that the chart renders, hooks included, field by field."""
    env.k.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}})
    with prometheus_operator(env):
        text = render(env.world, *flags)
        equal(_taken(env, text), text.count("\nkind: "), "objects that are taken")


@test
def definitions_are_taken(env):
    """The API server takes the CustomResourceDefinitions as the chart of their own renders them."""
    text = render(env.world, "--set", "commonLabels.team=gpu,keep=false", chart=CRD_CHART)
    equal(_taken(env, text), 2, "definitions that are taken")


@cases(INSTALLATIONS)
def pods_are_restricted(env, flags):
    """The pods of the operator and of its hooks may run where the Pod Security Standard
    `restricted` is enforced."""
    with prometheus_operator(env):
        found = _objects(env, render(env.world, *flags))
    _assert_restricted(env, found)


def _assert_restricted(env, found):
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "restricted",
            "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
        },
    }
    env.k.apply(namespace)
    env.wait_until(
        lambda: env.k.get("ServiceAccount", "default", "restricted"), 20, "an account for pods"
    )
    owners = [o for o in found if o["kind"] in ("Deployment", "Job")]
    assert owners, "the chart renders no pods"
    for owner in owners:
        spec = {
            **owner["spec"]["template"]["spec"],
            "serviceAccountName": "default",
            "nodeName": "none",
        }
        spec.pop("priorityClassName", None)  # what has a quota elsewhere
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
        status, said = answer(env.k, pod, "restricted")
        equal(status, 201, f"the pod of {owner['kind']} {owner['metadata']['name']}: {said}")
        free = {**spec, "containers": [{**spec["containers"][0], "securityContext": {}}]}
        status, said = answer(env.k, {**pod, "spec": free}, "restricted")
        equal(status, 403, f"the same without restrictions: {said}")


@test
def admission_policies_are_sound(env):
    """The API server finds no fault in the expressions of the chart's admission policies."""
    for name in POLICIES:

        def checked(name=name):
            found = env.k.get("ValidatingAdmissionPolicy", name)
            status = found.get("status", {})
            return (
                status
                if status.get("observedGeneration") == found["metadata"]["generation"]
                else None
            )

        status = env.wait_until(checked, 20, f"{name} is checked")
        equal(status.get("typeChecking", {}).get("expressionWarnings", []), [], name)


def _edit(path, value):
    """A change of a DaemonSet's pod template: the path with dots, numbers for items of lists."""

    def change(pod):
        *way, last = [int(p) if p.isdigit() else p for p in path.split(".")]
        at = pod
        for part in way:
            at = at[part]
        at[last] = value

    return change


# name -> (operand, a change of its pod, what the refusal says; None: it is taken)
OPERANDS_THAT_ARE_NONE = {
    "what_it_made_itself": ("driver", lambda pod: None, None),
    "ours_in_another_version": ("node-agent", _edit("containers.0.image", "ostler:another"), None),
    "another_install_dir": (
        "toolkit",
        lambda pod: _folder(pod, "install-dir", "/opt/nvidia"),
        None,
    ),
    "image_from_elsewhere": (
        "driver",
        _edit("containers.0.image", "registry.example.com/driver:1"),
        "allowed prefix",
    ),
    "image_like_ours": ("driver", _edit("containers.0.image", "ostler/evil:1"), "allowed prefix"),
    "image_like_an_allowed_one": (
        "driver",
        _edit("initContainers.0.image", "nvcr.io/nvidia-evil/driver:1"),
        "allowed prefix",
    ),
    "image_of_another_port": (
        "driver",
        _edit("containers.0.image", "gke.gcr.io:1/x"),
        "allowed prefix",
    ),
    "folder_of_secrets": (
        "driver",
        lambda pod: _folder(pod, "var-log", "/var/lib/kubelet"),
        "/var/lib/kubelet",
    ),
    "folder_called_like_the_toolkits": (
        "toolkit",
        lambda pod: _folder(pod, "install-dir", "/etc/../nvidia"),
        "/etc/../nvidia",
    ),
    "install_dir_in_a_container": (
        "toolkit",
        lambda pod: _folder(pod, "install-dir", "/proc/4711/root/tmp/nvidia"),
        "/proc/",
    ),
    "install_dir_that_all_can_write_to": (
        "toolkit",
        lambda pod: _folder(pod, "install-dir", "/tmp/nvidia"),
        "/tmp/nvidia",
    ),
    "host_to_write_to": (
        "node-agent",
        _edit("containers.0.volumeMounts.0", {"name": "host", "mountPath": "/host"}),
        "only read them",
    ),
    "account_of_others": ("driver", _edit("serviceAccountName", "admin"), "only the agent's pod"),
    "account_by_its_old_name": ("driver", _edit("serviceAccount", "admin"), "only the agent's pod"),
    "driver_with_a_token": (
        "driver",
        _edit("automountServiceAccountToken", True),
        "only the agent's pod may have an account and a token",
    ),
    "agents_token_for_others": (
        "node-agent",
        _edit("containers.0.image", "nvcr.io/nvidia/driver:1"),
        "Ostler's own image",
    ),
    "agent_with_privileges": (
        "node-agent",
        _edit("containers.0.securityContext", {"privileged": True}),
        "permissions only to read",
    ),
    "agent_with_a_capability": (
        "node-agent",
        _edit("containers.0.securityContext", {"capabilities": {"add": ["SYS_ADMIN"]}}),
        "permissions only to read",
    ),
    "nvml_reader_with_privileges": (
        "node-cards",
        _edit("containers.0.securityContext", {"privileged": True}),
        "no capability but SYS_CHROOT",
    ),
    "nvml_reader_of_another_image": (
        "node-cards",
        _edit("containers.0.image", "nvcr.io/nvidia/driver:1"),
        "must run Ostler's own image",
    ),
    "agent_among_processes": ("node-agent", _edit("hostPID", True), "permissions only to read"),
    "agent_in_the_hosts_network": (
        "node-agent",
        _edit("hostNetwork", True),
        "permissions only to read",
    ),
    "secret": (
        "driver",
        lambda pod: pod["volumes"].append({"name": "s", "secret": {"secretName": "s"}}),
        "no Secret",
    ),
    "token_by_a_volume": (
        "driver",
        lambda pod: pod["volumes"].append(
            {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}
        ),
        "no Secret",
    ),
    "variable_of_a_secret": (
        "driver",
        _edit(
            "containers.0.env.0",
            {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        ),
        "variables only from",
    ),
    "variable_of_a_configmap": (
        "toolkit",
        _edit(
            "initContainers.0.env",
            [{"name": "S", "valueFrom": {"configMapKeyRef": {"name": "s", "key": "k"}}}],
        ),
        "variables only from",
    ),
    "variables_of_the_drivers_secret": (
        "driver",
        _edit("containers.0.envFrom", [{"secretRef": {"name": "pro-1"}}]),
        None,
    ),
    "variables_of_another_secret": (
        "driver",
        _edit("containers.0.envFrom", [{"secretRef": {"name": "not-pro-1"}}]),
        "variables only from",
    ),
    "variables_of_a_configmap": (
        "driver",
        _edit("containers.0.envFrom", [{"configMapRef": {"name": "pro-1"}}]),
        "variables only from",
    ),
    "variables_of_a_secret": (
        "device-plugin",
        _edit("containers.0.envFrom", [{"secretRef": {"name": "s"}}]),
        "variables only from",
    ),
    "control_plane": (
        "driver",
        lambda pod: pod.pop("affinity"),
        "must not run on nodes of the control plane",
    ),
    "control_plane_by_a_second_term": (
        "driver",
        lambda pod: _terms(pod).append(
            {"matchExpressions": [{"key": "kubernetes.io/os", "operator": "Exists"}]}
        ),
        "must not run on nodes of the control plane",
    ),
    "control_plane_of_the_agent": (
        "node-agent",
        lambda pod: pod.pop("affinity"),
        "must not run on nodes of the control plane",
    ),
    "memory_of_others": ("driver", _edit("hostIPC", True), "no IPC"),
}


def _terms(pod):
    """The terms of which one has to select the node of a pod."""
    return pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]


def _folder(pod, name, path):
    (volume,) = [v for v in pod["volumes"] if v["name"] == name]
    volume["hostPath"]["path"] = path


def _as_new(daemonset):
    """A DaemonSet like one that is there."""
    metadata = {"name": "x", "namespace": OPERANDS, "labels": daemonset["metadata"]["labels"]}
    return copy.deepcopy(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": metadata,
            "spec": daemonset["spec"],
        }
    )


@test
def account_is_held_to_operands(env):
    """With Ostler's own token nothing can be made but what operands are: images, folders of the
    host, accounts."""
    with env.own_operator("--agent-image", "ostler:0.1.0"):
        env.serving("gpu")
        env.wait(lambda: env.daemonsets("node-agent"), what="there are agents")
        sets = {
            d["metadata"]["labels"]["app.kubernetes.io/component"]: d
            for d in env.daemonsets().values()
        }
    operator = kube.from_kubeconfig(env.kubeconfig)
    for name, (operand, change, words) in OPERANDS_THAT_ARE_NONE.items():
        made = _as_new(sets[operand])
        change(made["spec"]["template"]["spec"])
        status, said = answer(operator, made, OPERANDS)
        equal(status, 422 if words else 201, f"{name}: {said}")
        contains(said, words or "", name)
    unlabelled = _as_new(sets["driver"])
    del unlabelled["metadata"]["labels"]["app.kubernetes.io/managed-by"]
    contains(
        answer(operator, unlabelled, OPERANDS)[1], "with its own label", "one without a manager"
    )
    # Other users are not held to this, and what a DaemonSet has it may keep.
    odd = _as_new(sets["driver"])
    _edit("containers.0.image", "registry.example.com/driver:1")(odd["spec"]["template"]["spec"])
    _folder(odd["spec"]["template"]["spec"], "var-log", "/srv")
    odd["spec"]["template"]["spec"]["nodeSelector"] = {"on": "none"}
    env.create(odd)
    operator.merge_patch("DaemonSet", "x", {"metadata": {"annotations": {"a": "b"}}}, OPERANDS)
    for more in ("registry.example.com/another:1", "registry.example.com/driver:2"):
        patch = [
            {"op": "replace", "path": "/spec/template/spec/initContainers/0/image", "value": more}
        ]
        try:
            operator.json_patch("DaemonSet", "x", patch, OPERANDS)
        except kube.ApiError as e:
            contains(e.message, ["allowed prefix", more], "the refusal")
        else:
            raise AssertionError(f"{more} was taken")


# name -> (spec of a policy, what the refusal says; None: it is taken)
POLICIES_WITH_IMAGES = {
    "none": ({}, None),
    "allowed": (
        {
            "driver": {"repository": "nvcr.io/nvidia/a", "image": "b"},
            "exporter": {"image": "other"},
        },
        None,
    ),
    "pool_allowed": (
        {
            "pools": [
                {"name": "a", "nodeSelector": {"a": "b"}, "driver": {"repository": "gke.gcr.io"}}
            ]
        },
        None,
    ),
    "repository": (
        {"driver": {"repository": "registry.example.com/x"}},
        "spec.driver: registry.example.com/x/driver is not under",
    ),
    "repository_like_one": (
        {"toolkit": {"repository": "nvcr.io/nvidia-evil"}},
        "spec.toolkit: nvcr.io/nvidia-evil/container-toolkit",
    ),
    "validation": (
        {"validation": {"repository": "r.example/x", "image": "y/z"}},
        "spec.validation: r.example/x/y/z",
    ),
    "pool": (
        {
            "pools": [
                {"name": "a", "nodeSelector": {"a": "b"}, "driver": {"repository": "r.example"}}
            ]
        },
        "spec.pools[a].driver: r.example/driver",
    ),
    "two": (
        {"devicePlugin": {"repository": "r.example"}, "exporter": {"repository": "r.example"}},
        ["spec.devicePlugin", "spec.exporter"],
    ),
}


@cases(POLICIES_WITH_IMAGES)
def policy_names_images(env, row):
    """The API server refuses a policy whose images lie under no allowed prefix, and names field,
    image and what is allowed."""
    spec, words = row
    status, said = answer(env.k, kube.policy(spec))
    equal(status, 422 if words else 201, said)
    contains(said, words or "", "the refusal")
    if words:
        contains(said, "allowed are nvcr.io/nvidia, gcr.io/gke-release, gke.gcr.io", "the refusal")


# name -> (manifest of a pod, a change of it, what the refusal says; None: it is taken)
PODS_THAT_REPAIR = {
    "reset": ("reset", lambda pod: None, None),
    "reboot": ("reboot", lambda pod: None, None),
    "reboot_by_kured": ("reboot-sentinel", lambda pod: None, None),
    "ours_in_another_version": ("reset", _edit("containers.0.image", "ostler:another"), None),
    "another_command": ("reset", _edit("containers.0.args", ["write-config"]), "that command"),
    "no_command": ("reboot", lambda pod: pod["containers"][0].pop("args"), "that command"),
    "another_root": (
        "reboot",
        _edit("containers.0.command", ["/usr/bin/ostler-node", "--root=/host"]),
        "that command",
    ),
    "image_of_an_operand": (
        "reset",
        _edit("containers.0.image", "nvcr.io/nvidia/driver:1"),
        "only Ostler's own program",
    ),
    "hook": (
        "reset",
        _edit("containers.0.lifecycle", {"postStart": {"exec": {"command": ["/x"]}}}),
        "that command",
    ),
    "probe": (
        "reset",
        _edit("containers.0.startupProbe", {"exec": {"command": ["/x"]}}),
        "that command",
    ),
    "second_container": (
        "reset",
        lambda pod: pod["containers"].append({**pod["containers"][0], "name": "b"}),
        "that command",
    ),
    "another_folder": (
        "reset",
        _edit("volumes.0.hostPath.path", "/sys"),
        "may not mount all of these host directories",
    ),
    "folder_of_the_other": (
        "reboot-sentinel",
        _edit("volumes.0.hostPath.path", "/sys/devices"),
        "may not mount all of these host directories",
    ),
    "processes_and_a_folder": (
        "reboot-sentinel",
        _edit("hostPID", True),
        "no namespace of the host",
    ),
    "processes_for_a_reset": ("reset", _edit("hostPID", True), "no namespace of the host"),
    "network": ("reboot", _edit("hostNetwork", True), "no namespace of the host"),
    "secret": (
        "reset",
        lambda pod: pod["volumes"].append({"name": "s", "secret": {"secretName": "s"}}),
        "only empty volumes",
    ),
    "capability": (
        "reboot",
        _edit("containers.0.securityContext.capabilities", {"add": ["SYS_ADMIN"]}),
        "no privileges",
    ),
    "control_plane": ("reboot", lambda pod: pod.pop("affinity"), "of the control plane"),
    "control_plane_by_name": ("reboot", _edit("nodeName", "n"), "of the control plane"),
}


@cases(PODS_THAT_REPAIR)
def pods_that_repair_do_nothing_else(env, row):
    """The API server takes from Ostler's account the pods that reset GPUs or reboot a node as
    they are made, and none that could do more."""
    name, change, words = row
    (pod,) = _objects(env, (MANIFESTS / f"task/{name}.yaml").read_text())
    pod["metadata"] = {
        "name": "x",
        "namespace": OPERANDS,
        "labels": {
            "app.kubernetes.io/managed-by": "ostler",
            "ostler.dev/task": name.split("-", maxsplit=1)[0],
        },
    }
    not_there = {"key": "node-role.kubernetes.io/control-plane", "operator": "DoesNotExist"}
    pod["spec"]["affinity"] = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [not_there]}]
            }
        }
    }
    change(pod["spec"])
    status, said = answer(kube.from_kubeconfig(env.kubeconfig), pod, OPERANDS)
    equal(status, 422 if words else 201, said)
    contains(said, words or "", "the refusal")


# name -> (spec of a policy, what the refusal says; None: it is taken)
POLICIES_WITH_INSTALL_DIRS = {
    "default": ({"toolkit": {"installDir": "/usr/local/nvidia"}}, None),
    "read_only_usr": ({"toolkit": {"installDir": "/opt/nvidia"}}, None),
    "no_toolkit": ({"toolkit": {"enabled": False, "installDir": "/srv/nvidia"}}, None),
    "container": (
        {
            "toolkit": {
                "installDir": (
                    "/run/containerd/io.containerd.runtime.v2.task/k8s.io/0/rootfs/tmp/nvidia"
                )
            }
        },
        "rootfs/tmp/nvidia is not an allowed directory",
    ),
    "process": (
        {"toolkit": {"installDir": "/proc/4711/root/tmp/nvidia"}},
        "is not an allowed directory",
    ),
    "volume": (
        {"toolkit": {"installDir": "/var/lib/kubelet/pods/0/volume-subpaths/v/c/0/nvidia"}},
        "is not an allowed directory",
    ),
    "all_can_write": (
        {"toolkit": {"installDir": "/tmp/nvidia"}},
        "allowed are /usr/local/nvidia, /opt/nvidia; an administrator adds others with",
    ),
}


@cases(POLICIES_WITH_INSTALL_DIRS)
def policy_names_the_toolkits_directory(env, row):
    """The API server refuses a policy whose toolkit lies where the administrator allows none,
    and says what is allowed."""
    spec, words = row
    status, said = answer(env.k, kube.policy(spec))
    equal(status, 422 if words else 201, said)
    contains(said, words or "", "the refusal")


@contextlib.contextmanager
def _rules_of(env, values):
    """The chart's admission policies with other values, for as long as the block runs."""
    shown = [
        flag
        for name in ("operands", "policy", "pods")
        for flag in ("--show-only", f"templates/admission-{name}.yaml")
    ]

    def go_by(*flags):
        env.kubectl(
            "apply",
            "--server-side",
            "--force-conflicts",
            "-f",
            "-",
            stdin=render(env.world, *flags, *shown),
        )
        wait_in_force(env.k)

    try:
        go_by("--set", values)
        yield
    finally:
        go_by()


@test
def policy_from_before_can_go(env):
    """A policy with an image that has been forbidden since can be labelled and deleted, but not
    changed to another such image."""
    with _rules_of(env, "allowedImagePrefixes={registry.example.com,nvcr.io/nvidia}"):
        env.policy({"driver": {"repository": "registry.example.com/x"}})
    env.wait_policy(status="False")
    env.k.merge_patch("GpuClusterPolicy", "default", {"metadata": {"labels": {"team": "a"}}})
    try:
        env.edit({"driver": {"version": "1.2.3"}})
    except kube.ApiError as e:
        contains(e.message, "registry.example.com/x/driver", "the refusal")
    else:
        raise AssertionError("the policy was changed and kept its image")
    env.remove_policy()


@test
def digests_can_be_demanded(env):
    """Where the chart demands digests, a policy has to give one for each image that it runs, and
    nothing else runs."""
    with env.own_operator("--agent-image", "ostler:0.1.0"):
        env.serving("gpu")
        (driver,) = env.daemonsets("driver").values()
        env.remove_policy(force=True)
    operator = kube.from_kubeconfig(env.kubeconfig)
    all_of_them = {
        part: {"version": DIGEST}
        for part in ("driver", "toolkit", "devicePlugin", "exporter", "validation")
    }
    host = {**all_of_them, "driver": {"source": "Host"}}
    pool = {"name": "a", "nodeSelector": {"a": "b"}}
    gdrcopy = {"enabled": True, "version": DIGEST}
    with _rules_of(env, "admissionPolicy.requireDigests=true"):
        for what, spec, words in (
            ("all", all_of_them, None),
            ("a host's driver", host, None),
            ("Google's driver", {**all_of_them, "driver": {"source": "COS"}}, None),
            (
                "a pool with Google's driver",
                {
                    **all_of_them,
                    "pools": [{**pool, "driver": {"source": "COS", "version": "580.1"}}],
                },
                None,
            ),
            ("no exporter", {**all_of_them, "exporter": {"enabled": False}}, None),
            (
                "a pool like the rest",
                {**all_of_them, "pools": [{**pool, "driver": {"kernelModule": "Open"}}]},
                None,
            ),
            ("none", {}, ["spec.driver.version", "spec.toolkit.version", "requireDigests"]),
            (
                "Ostler's own validation",
                {part: given for part, given in all_of_them.items() if part != "validation"},
                None,
            ),
            (
                "a sample by its name",
                {**all_of_them, "validation": {"image": "cuda-sample"}},
                "spec.validation.version must be a digest",
            ),
            (
                "a tag",
                {**all_of_them, "toolkit": {"version": "v1.18.0"}},
                "spec.toolkit.version must be a digest",
            ),
            (
                "a pool's tag",
                {**all_of_them, "pools": [{**pool, "driver": {"version": "580.1"}}]},
                "spec.pools[a].driver.version",
            ),
            (
                "a pool's own driver",
                {**host, "pools": [{**pool, "driver": {"source": "Container"}}]},
                "spec.pools[a].driver.version",
            ),
            (
                "GDRCopy for a pool",
                {**all_of_them, "pools": [{**pool, "driver": {"gdrcopy": gdrcopy}}]},
                None,
            ),
            (
                "GDRCopy but for a pool",
                {
                    **all_of_them,
                    "driver": {"version": DIGEST, "gdrcopy": gdrcopy},
                    "pools": [
                        {**pool, "driver": {"gdrcopy": {"enabled": False, "version": "v2.6"}}}
                    ],
                },
                None,
            ),
            (
                "a pool's tag of GDRCopy",
                {**all_of_them, "pools": [{**pool, "driver": {"gdrcopy": {"enabled": True}}}]},
                "spec.pools[a].driver.gdrcopy.version must be a digest",
            ),
            (
                "GDRCopy of a pool's own driver",
                {
                    **host,
                    "driver": {"source": "Host", "gdrcopy": {"enabled": True}},
                    "pools": [{**pool, "driver": {"source": "Container", "version": DIGEST}}],
                },
                "spec.pools[a].driver.gdrcopy.version",
            ),
        ):
            status, said = answer(env.k, kube.policy(spec))
            equal(status, 422 if words else 201, f"{what}: {said}")
            contains(said, words or "", what)
        made = _as_new(driver)
        contains(
            answer(operator, made, OPERANDS)[1],
            "not all of these images have a digest",
            "a DaemonSet with tags",
        )
        for container in (
            made["spec"]["template"]["spec"]["initContainers"]
            + made["spec"]["template"]["spec"]["containers"]
        ):
            container["image"] = f"nvcr.io/nvidia/driver@{DIGEST}"
        status, said = answer(operator, made, OPERANDS)
        equal(status, 201, f"a DaemonSet with digests: {said}")


@test
def googles_images_are_taken(env):
    """Images that the program itself names, and no policy can change, need no prefix and no
    digest."""
    (cos,) = _objects(env, (MANIFESTS / "driver/cos.yaml").read_text())
    (pull,) = _objects(env, (MANIFESTS / "task/pull.yaml").read_text())
    for item in (cos, pull):
        item["metadata"]["labels"] = {
            "app.kubernetes.io/managed-by": "ostler",
            "ostler.dev/task": "pull",
        }
    daemonset, pod = _as_new(cos), {**pull, "metadata": {**pull["metadata"], "namespace": OPERANDS}}
    template = cos["spec"]["template"]["spec"]
    pod["spec"]["containers"] = [
        {**pull["spec"]["containers"][0], "name": c["name"], "image": c["image"]}
        for c in template["initContainers"] + template["containers"]
    ]
    elsewhere = _as_new(cos)
    _edit("containers.0.image", "gke.gcr.io/pause:3.9")(elsewhere["spec"]["template"]["spec"])
    operator = kube.from_kubeconfig(env.kubeconfig)
    with _rules_of(
        env,
        "admissionPolicy.requireDigests=true,allowedImagePrefixes={registry.example.com},"
        "controlPlaneNodes=true",
    ):
        contains(answer(operator, elsewhere, OPERANDS)[1], "allowed prefix", "another image")
        for item in (daemonset, pod):
            status, said = answer(operator, item, OPERANDS)
            equal(status, 201, f"the {item['kind']}: {said}")
        # What is built in counts where it runs.
        ours = {
            part: {"repository": "registry.example.com", "version": DIGEST}
            for part in ("toolkit", "devicePlugin", "exporter", "validation")
        }
        pools = [
            {
                "name": "a",
                "nodeSelector": {"a": "b"},
                "driver": {"source": "Container", "version": DIGEST},
            }
        ]
        ours["driver"] = {"source": "Host"}
        for spec, words in (
            (ours, None),
            ({**ours, "pools": pools}, "spec.pools[a].driver: nvcr.io/nvidia/driver"),
            (
                {},
                [
                    "spec.driver: nvcr.io/nvidia/driver",
                    "spec.exporter: nvcr.io/nvidia/k8s/dcgm-exporter",
                ],
            ),
        ):
            status, said = answer(env.k, kube.policy(spec))
            equal(status, 422 if words else 201, said)
            contains(said, words or "", "the refusal")


@test
def crds_are_upgraded_where_they_are_older(env):
    """The chart brings the Job that upgrades CustomResourceDefinitions only where the cluster's
    are older and belong to no other installation."""
    name, key = "gpunodes.ostler.dev", "ostler.dev/schema"

    def brings(*flags, how="--is-upgrade"):
        return "install-crds" in _asked(env, how, *flags)

    def mark(annotations):
        env.k.merge_patch(
            "CustomResourceDefinition", name, {"metadata": {"annotations": annotations}}
        )

    usual = env.k.get("CustomResourceDefinition", name)["metadata"]["annotations"][key]
    assert not brings(), "the definitions are the chart's own"
    try:
        for number in ("0", None):
            mark({key: number})
            assert brings(), f"a definition with the number {number} is older"
        assert brings(how="--take-ownership"), "an installation brings it, too"
        assert not brings("--set", "crds.upgrade=false"), "the values switch it off"
        _check_hook(env, _asked(env, "--is-upgrade"))
        _check_hook_comes_first(
            env,
            _asked(
                env,
                "--is-upgrade",
                "--set",
                "networkPolicy.enabled=true,networkPolicy.dns=false",
                "--set",
                "priorityClassName=system-cluster-critical",
            ),
        )
        mark({"meta.helm.sh/release-name": "ostler-crds"})
        assert not brings(), "another release looks after it"
        mark({"meta.helm.sh/release-name": None, key: str(int(usual) + 1)})
        assert not brings(), "a definition that is newer stays"
    finally:
        mark({"meta.helm.sh/release-name": None, key: usual})


def _asked(env, *flags):
    """What the chart renders where it can ask the cluster."""
    done = subprocess.run(
        [
            env.world.tool("helm"),
            "template",
            "ostler",
            CHART,
            "--namespace",
            NAMESPACE,
            "--dry-run=server",
            "--kubeconfig",
            env.world.admin_kubeconfig,
            *flags,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def _hook(env, text):
    """Of rendered objects, those of the Job that upgrades definitions."""
    return [o for o in _objects(env, text) if o["metadata"]["name"] == "ostler-crds"]


def _check_hook(env, text):
    """It is taken like the rest, runs restricted, and may touch the two definitions alone."""
    found = _hook(env, text)
    equal(
        _taken(env, json.dumps({"apiVersion": "v1", "kind": "List", "items": found})),
        5,
        "objects that are taken",
    )
    _assert_restricted(env, found)
    (role,), (job,) = ([o for o in found if o["kind"] == kind] for kind in ("ClusterRole", "Job"))
    equal(
        role["rules"],
        [
            {
                "apiGroups": ["apiextensions.k8s.io"],
                "resources": ["customresourcedefinitions"],
                "resourceNames": ["gpuclusterpolicies.ostler.dev", "gpunodes.ostler.dev"],
                "verbs": ["get", "create", "patch"],
            }
        ],
        "its rights",
    )
    equal(job["spec"]["activeDeadlineSeconds"], 600, "the time that it has, its image pulled")


def _check_hook_comes_first(env, text):
    """It rests on nothing that comes with the release: no quota for critical pods, and no way
    out to the API server."""
    found = _hook(env, text)
    (job,), (network,) = (
        [o for o in found if o["kind"] == kind] for kind in ("Job", "NetworkPolicy")
    )
    pod = job["spec"]["template"]
    equal(pod["spec"].get("priorityClassName"), None, "its class")
    assert (
        network["spec"]["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    ), "its pod is selected"
    equal(
        [port["port"] for rule in network["spec"]["egress"] for port in rule["ports"]],
        [443, 6443],
        "where it may go",
    )
    weights = {o["kind"]: int(o["metadata"]["annotations"]["helm.sh/hook-weight"]) for o in found}
    assert (
        weights["NetworkPolicy"] < weights["Job"]
    ), f"{weights}: the way is open before the Job comes"
    equal(
        _taken(env, json.dumps({"apiVersion": "v1", "kind": "List", "items": found})),
        6,
        "objects that are taken",
    )


@test
def crds_come_back_with_an_upgrade(env):
    """A definition that a user has deleted comes with the next upgrade, by no more rights than
    its Job has."""
    name = "gpunodes.ostler.dev"
    env.operator.stop()
    env.k.delete("CustomResourceDefinition", name)
    env.wait_until(
        lambda: env.k.get("CustomResourceDefinition", name) is None, 15, "the definition is gone"
    )
    try:
        found = [o for o in _hook(env, _asked(env, "--is-upgrade")) if o["kind"] != "Job"]
        equal(len(found), 4, "what the Job stands on")
        for obj in found:
            env.create(obj)
        done = run_program(
            "install-crds",
            "--from",
            ROOT / "crds",
            "--kubeconfig",
            env.world.token_kubeconfig(NAMESPACE, "ostler-crds"),
        )
        equal(done.returncode, 0, f"exit code; it said {done.stderr!r}")
        assert env.k.get("CustomResourceDefinition", name), "the definition"
    finally:
        env.installation.apply_definitions()


@cases(
    {
        "a_second_driver_on_each_node": (
            "operandNamespace.name=elsewhere",
            ["is ostler-operands in this cluster and cannot become elsewhere", "uninstall first"],
        ),
        "a_monitor_of_no_kind": (
            "metrics.serviceMonitor.enabled=true",
            ["needs Prometheus Operator", "no kind ServiceMonitor"],
        ),
        "alerts_of_no_kind": (
            "metrics.prometheusRule.enabled=true",
            ["needs Prometheus Operator", "no kind PrometheusRule"],
        ),
    }
)
def chart_refuses(env, row):
    """What the chart can ask the cluster it says before anything is changed."""
    (value, words) = row
    try:
        _asked(env, "--is-upgrade", "--set", value)
    except RuntimeError as e:
        contains(str(e), words, "what Helm says")
    else:
        raise AssertionError("Helm renders it")
