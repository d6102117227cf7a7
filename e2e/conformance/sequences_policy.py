"""The project's own kind: what its definition refuses and in which words, what it lets through,
its status; and a kind that is absent."""

from conformance.steps import (
    Step,
    apply,
    delete,
    get,
    in_ns,
    merge,
    operations,
    post,
    put,
    seq,
    strategic,
)

POLICIES = "/apis/ostler.dev/v1alpha1/gpuclusterpolicies"
POLICY = POLICIES + "/default"
STATUS = POLICY + "/status"


def policy(spec=None, **parts):
    """A GpuClusterPolicy."""
    return {
        "apiVersion": "ostler.dev/v1alpha1",
        "kind": "GpuClusterPolicy",
        "metadata": {"name": "default", **parts.pop("metadata", {})},
        **({} if spec is None else {"spec": spec}),
        **parts,
    }


MADE = post(POLICIES, policy({}))
TOUCHED = merge(POLICY, {"metadata": {"labels": {"touched": "yes"}}})
GONE = delete(POLICY)


def condition(kind="Ready", status="True", **parts):
    """A condition of the status."""
    return {
        "type": kind,
        "status": status,
        "reason": "Because",
        "message": "",
        "lastTransitionTime": "2026-11-20T10:00:00Z",
        **parts,
    }


def env(**row):
    """A driver with one variable."""
    return {"driver": {"env": [{"name": "A", "value": "1", **row}]}}


def window(**row):
    """A rollout with one window."""
    return {"rollout": {"windows": [{"schedule": "0 2 * * 6", "duration": "4h", **row}]}}


def toleration(**row):
    """A driver with one toleration."""
    return {"driver": {"tolerations": [row]}}


INVALID = {
    "spec is a list": [1],
    "nodes is a text": {"nodes": "all"},
    "a number for a text": {"driver": {"version": 580}},
    "a text for a boolean": {"driver": {"precompiled": "yes"}},
    "a fraction for a number": {"rollout": {"canary": {"nodes": 1.5}}},
    "a word that is none of them": {"driver": {"source": "Magic"}},
    "two words that are none of them": {"driver": {"source": "Magic", "kernelModule": "Closed"}},
    "an empty text": {"driver": {"version": ""}},
    "a text that is too long": {"driver": {"version": "v" * 129}},
    "a version with a slash": {"driver": {"version": "a/b"}},
    "a registry with a scheme": {"driver": {"repository": "https://example.com/a"}},
    "an image with a tag": {"driver": {"image": "driver:1"}},
    "a precompiled digest": {"driver": {"precompiled": True, "version": "sha256:" + "0" * 64}},
    "a digest for COS": {"driver": {"source": "COS", "version": "sha256:" + "0" * 64}},
    "a variable without a value": {"driver": {"env": [{"name": "A"}]}},
    "a variable that begins with a digit": env(name="1A"),
    "a variable of the loader": env(name="LD_PRELOAD"),
    "a variable that Ostler sets": env(name="NODE_NAME"),
    "a variable twice": {
        "driver": {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}
    },
    "too many variables": {"driver": {"env": [{"name": f"V{i}", "value": ""} for i in range(65)]}},
    "a secret twice": {"driver": {"imagePullSecrets": ["a", "a"]}},
    "a secret with a bad name": {"driver": {"imagePullSecrets": ["A_b"]}},
    "an amount that is none": {"driver": {"resources": {"limits": {"cpu": "much"}}}},
    "an amount below zero": {"driver": {"resources": {"limits": {"cpu": -1}}}},
    "a resource that is unknown goes": {"driver": {"resources": {"limits": {"nvidia.com/gpu": 1}}}},
    "an Exists with a value": toleration(operator="Exists", key="a", value="b"),
    "an Equal without a key": toleration(value="b"),
    "seconds without NoExecute": toleration(key="a", effect="NoSchedule", tolerationSeconds=5),
    "seconds below zero": toleration(key="a", effect="NoExecute", tolerationSeconds=-1),
    "a taint of Kubernetes' own": {"nodes": {"taint": {"key": "node.kubernetes.io/x"}}},
    "a taint of Ostler's own": {"nodes": {"taint": {"key": "a.ostler.dev/x"}}},
    "a taint's key that is none": {"nodes": {"taint": {"key": "a b"}}},
    "a taint's value that is none": {"nodes": {"taint": {"value": "-"}}},
    "an effect that is not offered": {"nodes": {"taint": {"effect": "NoExecute"}}},
    "a label's key that is none": {"nodes": {"labels": {"a b": "c"}}},
    "a label's value that is none": {"nodes": {"labels": {"a": "c d"}}},
    "a label of Kubernetes' own": {"nodes": {"labels": {"kubernetes.io/os": "linux"}}},
    "a label of Ostler's own": {"nodes": {"labels": {"ostler.dev/x": "y"}}},
    "a label that says what a node is": {"nodes": {"labels": {"nvidia.com/gpu.present": "true"}}},
    "a startup timeout that is too short": {"nodes": {"startupTaint": {"timeout": "5s"}}},
    "a duration that is none": {"nodes": {"startupTaint": {"timeout": "soon"}}},
    "a selector that says In and no values": {
        "nodes": {"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}
    },
    "a selector that says Exists and values": {
        "nodes": {
            "selector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}
        }
    },
    "a selector without an operator": {"nodes": {"selector": {"matchExpressions": [{"key": "a"}]}}},
    "a selector with an operator that is none": {
        "nodes": {"selector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}}
    },
    "a place for the toolkit that is none": {"toolkit": {"installDir": "/opt/../nvidia"}},
    "a pool without a name": {"pools": [{}]},
    "two pools of a name": {"pools": [{"name": "a"}, {"name": "a"}]},
    "a percentage above all": {"rollout": {"maxUnavailable": "120%"}},
    "none at a time": {"rollout": {"maxParallel": 0}},
    "a share that is a boolean": {"rollout": {"maxParallel": True}},
    "more canaries than there may be": {"rollout": {"canary": {"nodes": 101}}},
    "a soak of a year": {"rollout": {"soak": "8760h"}},
    "a schedule of four fields": window(schedule="0 2 * *"),
    "a schedule with a name": window(schedule="0 2 * * sat"),
    "a window without a duration": {"rollout": {"windows": [{"schedule": "0 2 * * 6"}]}},
    "a window of a second": window(duration="1s"),
    "a time zone that is none": window(timeZone="../etc/passwd"),
    "a mode of draining that is none": {"rollout": {"drain": {"mode": "Everything"}}},
    "null where nothing may be": {"driver": {"version": None}},
    "null where it may be": {"rollout": {"topologyKey": None}},
    "mistakes in many places": {
        "driver": {"version": "", "source": "Magic"},
        "rollout": {"maxParallel": 0, "soak": "x"},
        "nodes": {"taint": {"key": ""}},
    },
    "a wrong type hides the rules": {
        "driver": {"version": 5},
        "nodes": {"taint": {"key": "kubernetes.io/x"}},
    },
}
for name, spec in INVALID.items():
    seq(f"policy: {name}", post(POLICIES, policy(spec), dryRun="All"))

# ---- reading and fields that are not known

seq("policy: nothing is filled in", MADE, get(POLICY), GONE)
seq(
    "policy: a spec of its own stays as it is",
    post(
        POLICIES,
        policy(
            {
                "driver": {"version": "580.178.04", "env": [{"name": "A", "value": ""}]},
                "rollout": {"maxUnavailable": "25%", "maxParallel": 3},
                "pools": [{"name": "a", "driver": {"version": "570"}}],
            }
        ),
    ),
    GONE,
)
seq("policy: another name", post(POLICIES, policy({}, metadata={"name": "second"})))
seq("policy: without a spec", post(POLICIES, policy()), GONE)
seq(
    "policy: without a kind",
    post(POLICIES, {"metadata": {"name": "default"}}),
    post(POLICIES, {"apiVersion": "ostler.dev/v1alpha1", "metadata": {"name": "default"}}),
)
seq(
    "policy: another kind",
    post(POLICIES, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "default"}}),
    post(
        POLICIES,
        {
            "apiVersion": "ostler.dev/v9",
            "kind": "GpuClusterPolicy",
            "metadata": {"name": "default"},
        },
    ),
    post(
        POLICIES,
        {"apiVersion": "ostler.dev/v1alpha1", "kind": "ConfigMap", "metadata": {"name": "default"}},
    ),
    post(POLICIES, {"kind": "GpuClusterPolicy", "metadata": {"name": "default"}}),
    MADE,
    merge(POLICY, {"kind": "ConfigMap"}),
    merge(POLICY, {"apiVersion": "v1"}),
    GONE,
)
UNKNOWN = policy({"driver": {"vresion": "1", "version": "2"}, "foo": 1})
for mode in ("Strict", "Warn", "Ignore", "Loudly"):
    seq(
        f"policy: unknown fields, {mode}",
        post(POLICIES, UNKNOWN, fieldValidation=mode, dryRun="All"),
    )
    seq(
        f"configmap: unknown fields, {mode}",
        post(
            in_ns("configmaps"),
            {"metadata": {"name": "a"}, "dta": {}},
            fieldValidation=mode,
            dryRun="All",
        ),
    )
seq(
    "policy: unknown fields in a patch, strictly",
    MADE,
    TOUCHED,
    merge(POLICY, {"spec": {"foo": 1}}, fieldValidation="Strict"),
    merge(POLICY, {"spec": {"foo": 1}}),
    GONE,
)
# One at a time: of several the server names those that it meets before it gives up, in no order.
seq(
    "policy: unknown fields by apply",
    apply(POLICY, policy({"driver": {"vresion": "1", "version": "2"}})),
    apply(POLICY, policy({"driver": {"version": "2"}, "foo": 1})),
    get(POLICY),
)
seq(
    "policy: made and changed by apply",
    apply(POLICY, policy({"driver": {"version": "1"}})),
    apply(POLICY, policy({"driver": {"image": "a"}})),
    apply(POLICY, policy({"driver": {"image": "b"}}), "two"),
    apply(POLICY, policy({"driver": {"image": "b"}}), "two", True),
    GONE,
)
seq(
    "policy: variables by several",
    apply(POLICY, policy(env(name="A"))),
    apply(POLICY, policy(env(name="B")), "two"),
    apply(POLICY, policy(env(name="A", value="2")), "two"),
    apply(POLICY, policy({})),
    GONE,
)
seq(
    "policy: pools by several",
    apply(POLICY, policy({"pools": [{"name": "a"}]})),
    apply(POLICY, policy({"pools": [{"name": "b", "driver": {"version": "2"}}]}), "two"),
    apply(POLICY, policy({"pools": []})),
    GONE,
)
seq(
    "policy: an apply that is invalid",
    apply(POLICY, policy({"driver": {"source": "Magic"}})),
    apply(POLICY, policy({"driver": {"version": 5}})),
)
seq(
    "policy: an apply with a list for an object",
    apply(POLICY, policy({"driver": [1]})),
    apply(POLICY, policy({"pools": {"name": "a"}})),
)

# ---- writing

seq(
    "policy: the generation counts the spec",
    MADE,
    merge(POLICY, {"metadata": {"labels": {"a": "b"}}}),
    merge(POLICY, {"spec": {"driver": {"version": "1"}}}),
    merge(POLICY, {"spec": {"driver": {"version": "1"}}}),
    GONE,
)
seq(
    "policy: an update needs a version",
    MADE,
    put(POLICY, policy({"driver": {"version": "1"}})),
    GONE,
)
seq(
    "policy: an update from the version that was read",
    post(POLICIES, policy({})).save(rv="metadata.resourceVersion"),
    put(POLICY, policy({"driver": {"version": "1"}}, metadata={"resourceVersion": "$rv"})),
    put(POLICY, policy({"driver": {"version": "2"}}, metadata={"resourceVersion": "$rv"})),
    GONE,
)
seq("policy: no strategic patches", MADE, strategic(POLICY, {"spec": {}}), GONE)
seq(
    "policy: a JSON patch",
    MADE,
    operations(POLICY, [{"op": "add", "path": "/spec/driver", "value": {"version": "1"}}]),
    operations(POLICY, [{"op": "test", "path": "/spec/driver/version", "value": "2"}]),
    GONE,
)
seq(
    "policy: an edit that is invalid",
    MADE,
    merge(POLICY, {"spec": {"driver": {"source": "Magic"}}}),
    GONE,
)
seq(
    "policy: a finalizer",
    post(POLICIES, policy({}, metadata={"finalizers": ["ostler.dev/cleanup"]})),
    GONE,
    get(POLICY),
    merge(POLICY, {"spec": {"driver": {"version": "1"}}}),
    merge(POLICY, {"metadata": {"finalizers": []}}),
    get(POLICY),
)
seq(
    "policy: as a table",
    post(POLICIES, policy({"driver": {"version": "1"}})),
    get(POLICIES).as_table(),
    GONE,
)

seq(
    "policy: the first change that changes nothing",
    MADE,
    merge(POLICY, {}),
    merge(POLICY, {}),
    GONE,
)

# ---- status

seq(
    "policy: a status at a create goes",
    post(POLICIES, policy({}, status={"summary": {"nodes": "5"}})),
    GONE,
)
seq(
    "policy: a status is written beside",
    MADE,
    TOUCHED,
    merge(POLICY, {"status": {"summary": {"nodes": "5"}}}),
    merge(STATUS, {"status": {"summary": {"nodes": "5"}}}),
    merge(STATUS, {"spec": {"driver": {"version": "1"}}}),
    merge(STATUS, {"metadata": {"labels": {"a": "b"}}}),
    GONE,
)
seq(
    "policy: a status by apply",
    MADE,
    apply(STATUS, policy(status={"observedGeneration": 1, "conditions": [condition()]}), "ostler"),
    apply(
        STATUS,
        policy(status={"observedGeneration": 1, "conditions": [condition(status="False")]}),
        "ostler",
    ),
    apply(STATUS, policy(status={"conditions": []}), "ostler"),
    GONE,
)
seq(
    "policy: conditions by their types",
    MADE,
    apply(STATUS, policy(status={"conditions": [condition("A")]})),
    apply(STATUS, policy(status={"conditions": [condition("B")]}), "two"),
    apply(STATUS, policy(status={"conditions": [condition("A", "False")]}), "two"),
    apply(
        STATUS,
        policy(status={"conditions": [condition("A", "False"), condition("B")]}),
        "two",
        True,
    ),
    apply(STATUS, policy(status={})),
    GONE,
)
seq(
    "policy: a condition of a type twice",
    MADE,
    apply(STATUS, policy(status={"conditions": [condition("A"), condition("A")]})),
    merge(STATUS, {"status": {"conditions": [condition("A"), condition("A")]}}),
    GONE,
)
seq(
    "policy: a condition without a reason",
    MADE,
    apply(STATUS, policy(status={"conditions": [{"type": "A", "status": "True"}]})),
    merge(STATUS, {"status": {"conditions": [condition(reason="")]}}),
    GONE,
)
seq(
    "policy: a condition's time that is none",
    MADE,
    merge(STATUS, {"status": {"conditions": [condition(lastTransitionTime="yesterday")]}}),
    GONE,
)
seq(
    "policy: a status that is invalid",
    MADE,
    merge(STATUS, {"status": {"nodes": {"total": -1}}}),
    merge(STATUS, {"status": {"conditions": [condition(status="Maybe")]}}),
    GONE,
)
seq(
    "policy: a status with an unknown field",
    MADE,
    TOUCHED,
    apply(STATUS, policy(status={"foo": 1})),
    merge(STATUS, {"status": {"foo": 1}}),
    GONE,
)
seq(
    "policy: a status of what is not there",
    apply(STATUS, policy(status={})),
    merge(STATUS, {"status": {}}),
    get(STATUS),
)
seq(
    "policy: an owner of the spec and one of the status",
    apply(POLICY, policy({"driver": {"version": "1"}})),
    apply(STATUS, policy(status={"summary": {"nodes": "5"}}), "ostler"),
    apply(POLICY, policy({"driver": {"version": "2"}})),
    get(STATUS),
    GONE,
)
seq(
    "policy: a status that says the same is no write",
    MADE,
    apply(STATUS, policy(status={"summary": {"nodes": "5"}}), "ostler"),
    apply(STATUS, policy(status={"summary": {"nodes": "5"}}), "ostler"),
    GONE,
)

# ---- a kind whose definition is not installed

MONITORS = in_ns("servicemonitors", group="/apis/monitoring.coreos.com/v1")
seq(
    "servicemonitor: absent",
    get(MONITORS),
    get("/apis/monitoring.coreos.com/v1"),
    get("/apis/monitoring.coreos.com"),
    post(
        MONITORS,
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "ServiceMonitor",
            "metadata": {"name": "a"},
        },
    ),
    apply(
        MONITORS + "/a",
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "ServiceMonitor",
            "metadata": {"name": "a"},
        },
    ),
    delete(MONITORS + "/a"),
)
seq("servicemonitor: absent, watched", Step("GET", MONITORS, query={"watch": "1"}))
