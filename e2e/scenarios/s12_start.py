"""12. The command line, bad surroundings, the chart's rights: a sentence that says what, where
and what to do."""

import json
import time

import kube
from harness import cases, closing, contains, equal, test
from names import MARKS, NAMESPACE, OPERANDS
from program import run_program

POLICY = """\
apiVersion: ostler.dev/v1alpha1
kind: GpuClusterPolicy
metadata:
  name: default
spec:
  driver:
    version: "580.178.04"
"""


@test
def help_and_version(_):
    """--help and --version say what they should and exit with 0."""
    shown = run_program("--help")
    equal(shown.returncode, 0, "exit code of --help")
    contains(
        shown.stdout,
        ["--kubeconfig", "--operand-namespace", "render", "validate", "cleanup"],
        "--help",
    )
    shown = run_program("--version")
    equal(shown.returncode, 0, "exit code of --version")
    contains(shown.stdout, "ostler", "--version")


@test
def unknown_option(_):
    """An option that does not exist is named, with exit code 2 and nothing on stdout."""
    shown = run_program("--no-such-option")
    equal((shown.returncode, shown.stdout), (2, ""), "exit code and stdout")
    contains(shown.stderr, "no-such-option", "stderr")


@test
def validate_says_where(env):
    """`ostler validate` accepts a good policy, and names field and line of what is wrong in a
    bad one."""
    path = env.logs / "policy.yaml"
    path.write_text(POLICY, encoding="utf-8")
    equal(run_program("validate", "-f", path).returncode, 0, "exit code for a good policy")
    path.write_text(POLICY.replace('"580.178.04"', '"580 95"'), encoding="utf-8")
    bad = run_program("validate", "-f", path)
    equal(bad.returncode, 1, "exit code for a bad policy")
    contains(bad.stdout + bad.stderr, ["spec.driver.version", "7"], "what it says")


@test
def render_is_what_is_applied(env):
    """`ostler render` prints, for a given node, DaemonSets of the names and templates that the
    running Ostler applies."""
    node = env.serving("gpu")
    policy, node_file = env.logs / "policy.yaml", env.logs / "node.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    node_file.write_text(json.dumps(env.get_node(node)), encoding="utf-8")  # JSON is YAML
    shown = run_program("render", "-f", policy, "--node", node_file)
    equal(shown.returncode, 0, f"exit code; it said {shown.stderr!r}")
    for name, daemonset in env.daemonsets().items():
        contains(
            shown.stdout,
            [f"name: {name}", daemonset["spec"]["template"]["spec"]["containers"][0]["image"]],
            "render",
        )
    applied = env.kubectl(
        "apply",
        "--server-side",
        "--force-conflicts",
        "--dry-run=server",
        "-f",
        "-",
        stdin=shown.stdout,
    )
    contains(applied, "daemonset", "kubectl apply --dry-run=server of what render prints")


@test
def wrong_kubeconfig(env):
    """A kubeconfig that is not there, and one that is not one: one sentence that names the file,
    exit code not 0."""
    for path, words in (
        (env.logs / "no-such-file", "no-such-file"),
        (env.logs / "garbage", "garbage"),
    ):
        (env.logs / "garbage").write_text("}{ not yaml: [", encoding="utf-8")
        done = run_program(
            "run", "--kubeconfig", path, "--namespace", NAMESPACE, "--listen", "127.0.0.1:0"
        )
        assert done.returncode not in (0, None), "exit code 0"
        contains(done.stderr + done.stdout, words, "what it says")


@test
def no_rights(env):
    """Without rights Ostler stays, is not ready, and says which right it lacks."""
    kubeconfig = env.world.kubeconfig("without-rights")
    with env.own_operator(ready=False, name="without-rights") as operator:
        operator.stop()
        env.operator = weak = env.new_operator(name="without-rights", kubeconfig=kubeconfig)
        weak.start(ready=False)

        def refused():
            """/readyz names the missing right"""
            status, text = weak.fetch("/readyz?verbose")
            return (
                status >= 500 and "forbidden" in text.lower() and "without-rights" in text
            ) or f"{status} {text}"

        try:
            env.wait(refused, 15)
            time.sleep(3)
            asked = env.world.audit.requests(user="without-rights", since=time.time() - 3)
            assert len(asked) <= 40, f"{len(asked)} requests within 3 s: no backoff"
        finally:
            weak.stop()
            env.operator = operator


@test
def missing_crd(env):
    """Without the CRD Ostler stays, is not ready and says so; it goes on when the CRD is there."""
    name = "gpuclusterpolicies.ostler.dev"
    crd = env.k.get("CustomResourceDefinition", name)
    env.operator.stop()
    env.k.delete("CustomResourceDefinition", name)
    env.wait_until(
        lambda: env.k.get("CustomResourceDefinition", name) is None, 20, "the CRD is gone"
    )
    env.operator.start(ready=False)

    def refused():
        """/readyz names the missing CRD"""
        status, text = env.operator.fetch("/readyz?verbose")
        return (status >= 500 and "gpuclusterpolic" in text.lower()) or f"{status} {text}"

    try:
        env.wait(refused, 15)
    finally:
        for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"):
            crd["metadata"].pop(key, None)
        env.k.create(
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": crd["metadata"],
                "spec": crd["spec"],
            }
        )
        env.wait_until(
            lambda: kube.condition(env.k.get("CustomResourceDefinition", name), "Established").get(
                "status"
            )
            == "True",
            10,
            "the CRD is established",
        )
    env.operator.wait_ready(70)


@cases({"healthz": "/healthz", "readyz": "/readyz", "metrics": "/metrics"})
def serves(env, path):
    """The program's own HTTP server answers."""
    env.policy()
    # a CRD that was just made again has the API server say 429 for a moment
    env.operator.wait_ready()
    status, text = env.operator.fetch(path)
    equal(status, 200, f"status of {path}: {text}")
    if path == "/metrics":
        contains(
            text,
            [
                "process_resident_memory_bytes",
                "workqueue_depth",
                'rest_client_requests_total{code="200",method="GET"',
                "ostler_",
            ],
            "metrics",
        )


@test
def explain_describes_every_field(env):
    """kubectl explain shows a description for each field of the spec."""
    shown = env.kubectl("explain", "gpuclusterpolicy.spec", "--recursive")
    contains(
        shown,
        ["driver", "toolkit", "devicePlugin", "exporter", "rollout", "pools"],
        "kubectl explain",
    )
    contains(
        env.kubectl("explain", "gpuclusterpolicy.spec.driver.version"),
        "DESCRIPTION",
        "kubectl explain of a field",
    )


@closing
def rights_are_enough(env):
    """All through this run the API server refused the chart's service account nothing, but while
    it had no rules, and but for the leases that `ostler cleanup` would take along: only the
    account of the chart's hook may."""
    refused = [
        r
        for r in env.world.audit.requests(user=env.installation.user)
        if not r.allowed
        and not r.agent.startswith("ostler-e2e")
        and (r.verb, r.resource) != ("delete", "leases")
        and not any(began <= r.time <= until + 1 for began, until in env.world.lawless)
    ]
    equal(
        sorted({f"{r.verb} {r.resource} in {r.namespace or 'cluster'}" for r in refused}),
        [],
        "refused requests",
    )


def _refused(change):
    try:
        change()
    except kube.ApiError as e:
        return "Ostler" in str(e)
    return False


@test
def account_is_held_to_its_own_marks(env):
    """The chart's admission policy refuses what Ostler itself never does to a node, even with
    its own token."""
    node = env.node(
        "gpu",
        "nfd",
        labels={"team": "a"},
        taints=[{"key": "theirs", "value": "x", "effect": "NoSchedule"}],
    )
    env.policy()
    env.wait_serving(node)
    env.operator.stop()
    operator = kube.from_kubeconfig(env.kubeconfig)
    claim = {
        "metadata": {"annotations": {MARKS: '{"labels":["team"],"taints":["theirs:NoSchedule"]}'}}
    }
    for what, patch in (
        ("changes a label", {"metadata": {"labels": {"team": "b"}}}),
        ("removes a label", {"metadata": {"labels": {"team": None}}}),
        ("adds a label without saying so", {"metadata": {"labels": {"new": "x"}}}),
        ("writes an annotation", {"metadata": {"annotations": {"example.com/x": "y"}}}),
        ("removes a taint", {"spec": {"taints": []}}),
        ("cordons", {"spec": {"unschedulable": True}}),
        ("claims what was there", claim),
    ):
        assert _refused(
            lambda p=patch: operator.merge_patch("Node", node, p)
        ), f"no admission policy refuses that it {what}"
    for what, patch in (
        (
            "says that a node is up",
            {"status": {"conditions": [{"type": "Ready", "status": "False"}]}},
        ),
        ("offers a resource", {"status": {"capacity": {"example.com/x": "1"}}}),
        ("changes a label by the status", {"metadata": {"labels": {"team": "b"}}}),
    ):
        refused = _refused(
            lambda p=patch: operator.strategic_patch("Node", node, p, subresource="status")
        )
        assert refused, f"no admission policy refuses that it {what}"
    operator.strategic_patch(
        "Node",
        node,
        {
            "status": {
                "conditions": [
                    {"type": t, "status": "False"} for t in ("GpuReady", "GpuHealthy")
                ]
            }
        },
        subresource="status",
    )
    # The value of a label is no name of one: it neither keeps Ostler from writing, nor makes what
    # is called like it Ostler's.
    marks = json.loads(env.get_node(node)["metadata"]["annotations"][MARKS])
    said = json.dumps(
        {**marks, "features": {"nvidia.com/gpu.family": "team"}}, separators=(",", ":")
    )
    operator.merge_patch("Node", node, {"metadata": {"annotations": {MARKS: said}}})
    refused = _refused(
        lambda: operator.merge_patch("Node", node, {"metadata": {"labels": {"team": None}}})
    )
    assert refused, "a value counts as a name"
    # A user takes the mark away that says that the taint of an upgrade is Ostler's: Ostler may say
    # so again, and take the taint off.
    theirs = {"key": "theirs", "value": "x", "effect": "NoSchedule"}
    env.k.merge_patch(
        "Node",
        node,
        {
            "metadata": {"annotations": {MARKS: None}},
            "spec": {
                "taints": [
                    theirs,
                    {"key": "ostler.dev/upgrade", "value": "Upgrade", "effect": "NoSchedule"},
                ]
            },
        },
    )
    said = json.dumps(
        {**marks, "labels": [], "taints": ["ostler.dev/upgrade:NoSchedule"]}, separators=(",", ":")
    )
    operator.merge_patch("Node", node, {"metadata": {"annotations": {MARKS: said}}})
    env.k.merge_patch("Node", node, {"metadata": {"annotations": {MARKS: None}}})
    operator.merge_patch("Node", node, {"spec": {"taints": [theirs]}})


@test
def marks_are_told_from_the_words_around_them(env):
    """A label or taint of others may be called like a word of the annotation itself: it neither
    keeps a node from its first marks nor becomes Ostler's."""
    words = ("labels", "taints", "features")
    theirs = [{"key": word, "value": "theirs", "effect": "NoSchedule"} for word in words]
    node = env.node("gpu", "nfd", labels=dict.fromkeys(words, "theirs"), taints=theirs)
    operator = kube.from_kubeconfig(env.kubeconfig)
    env.policy()
    env.wait_serving(node)
    env.operator.stop()
    assert MARKS in env.get_node(node)["metadata"]["annotations"], "the node has marks"
    for word in words:
        for value in ("ours", None):
            refused = _refused(
                lambda w=word, v=value: operator.merge_patch(
                    "Node", node, {"metadata": {"labels": {w: v}}}
                )
            )
            assert refused, f"no admission policy refuses that the label {word} becomes {value}"
        fewer = [t for t in env.get_node(node)["spec"]["taints"] if t["key"] != word]
        refused = _refused(
            lambda f=fewer: operator.merge_patch("Node", node, {"spec": {"taints": f}})
        )
        assert refused, f"no admission policy refuses that the taint {word} goes"


@test
def rights_are_least(env):
    """The chart's service account may neither read Secrets nor make roles or tokens,
    and no pods but harmless ones among the operands."""
    operator = kube.from_kubeconfig(env.kubeconfig)
    for kind, namespace in (
        ("Secret", NAMESPACE),
        ("Secret", OPERANDS),
        ("ClusterRole", None),
        ("ServiceAccount", NAMESPACE),
    ):
        try:
            operator.list(kind, namespace)
        except kube.ApiError as e:
            equal(e.code, 403, f"listing {kind}")
        else:
            raise AssertionError(f"the operator may list {kind}")
    labels = {"app.kubernetes.io/managed-by": "ostler", "ostler.dev/task": "proof"}
    container = {
        "name": "c",
        "image": "nvcr.io/nvidia/c:1",
        "securityContext": {"allowPrivilegeEscalation": False},
    }
    modest = {"automountServiceAccountToken": False, "containers": [container]}
    root = {**container, "securityContext": {"privileged": True}}
    host = {"volumes": [{"name": "host", "hostPath": {"path": "/"}}]}
    for what, namespace, marks, spec, code in (
        ("a modest one", OPERANDS, labels, modest, 201),
        ("one elsewhere", "default", labels, modest, 403),
        ("one without its label", OPERANDS, {}, modest, 422),
        (
            "one with a token",
            OPERANDS,
            labels,
            {**modest, "automountServiceAccountToken": True},
            422,
        ),
        ("one with the host's files", OPERANDS, labels, {**modest, **host}, 422),
        ("one with the host's network", OPERANDS, labels, {**modest, "hostNetwork": True}, 422),
        (
            "one with an image from elsewhere",
            OPERANDS,
            labels,
            {**modest, "containers": [{**container, "image": "registry.example.com/c:1"}]},
            422,
        ),
        (
            "one with a folder of its own",
            OPERANDS,
            labels,
            {
                **modest,
                "initContainers": [{**container, "name": "i"}],
                "volumes": [{"name": "own", "emptyDir": {}}],
            },
            201,
        ),
        (
            "one that is privileged at first",
            OPERANDS,
            labels,
            {**modest, "initContainers": [{**root, "name": "i"}]},
            422,
        ),
        ("a privileged one", OPERANDS, labels, {**modest, "containers": [root]}, 422),
    ):
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "x", "labels": marks},
            "spec": spec,
        }
        got, answer = operator.raw(
            "POST", kube.path_of("Pod", None, namespace), pod, query={"dryRun": "All"}
        )
        equal(got, code, f"making a pod: {what}: {answer.decode()[:300]}")
