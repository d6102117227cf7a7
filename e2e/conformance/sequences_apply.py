"""Server-side apply and who owns what."""

from conformance.steps import (
    APPS,
    CORE,
    Step,
    apply,
    configmap,
    daemonset,
    delete,
    get,
    in_ns,
    merge,
    node,
    operations,
    post,
    put,
    seq,
)

A = in_ns("configmaps", "a")
CM = in_ns("configmaps")
DSA = in_ns("daemonsets", "a", group=APPS)
NODE = f"{CORE}/nodes/$ns"


def cm(data, **meta):
    """A ConfigMap as an intent."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", **meta},
        "data": data,
    }


def ds(**container):
    """A DaemonSet as an intent, with more in its container."""
    d = daemonset()
    d["spec"]["template"]["spec"]["containers"][0].update(container)
    return d


seq("an apply makes the object", apply(A, cm({"k": "v"})))
seq("an apply that changes nothing", apply(A, cm({"k": "v"})), apply(A, cm({"k": "v"})))
seq("an apply changes what is its own", apply(A, cm({"k": "v"})), apply(A, cm({"k": "w"})))
seq("what is left out goes", apply(A, cm({"k": "v", "l": "w"})), apply(A, cm({"k": "v"})))
seq(
    "what is left out stays where another has it too",
    apply(A, cm({"k": "v"})),
    apply(A, cm({"k": "v"}), "two"),
    apply(A, cm({})),
)
seq("a conflict", apply(A, cm({"k": "v"})), apply(A, cm({"k": "w"}), "two"))
seq("a conflict by force", apply(A, cm({"k": "v"})), apply(A, cm({"k": "w"}), "two", True))
seq("the same value is no conflict", apply(A, cm({"k": "v"})), apply(A, cm({"k": "v"}), "two"))
seq(
    "a conflict in several fields",
    apply(A, cm({"k": "v", "l": "v"})),
    apply(A, cm({"k": "w", "l": "w"}), "two"),
)
seq(
    "a conflict with two managers",
    apply(A, cm({"k": "v"})),
    apply(A, cm({"k": "v"}), "two"),
    apply(A, cm({"k": "w"}), "three"),
)
seq("a conflict with an update", post(CM, configmap()), apply(A, cm({"k": "w"})))
seq(
    "an update takes fields over",
    apply(A, cm({"k": "v"})),
    merge(A, {"data": {"k": "w"}}),
    apply(A, cm({"k": "v"})),
)
seq(
    "an update that sets the same value takes nothing over",
    apply(A, cm({"k": "v"})),
    merge(A, {"data": {"k": "v", "l": "w"}}),
)
seq(
    "an update removes a field of another",
    apply(A, cm({"k": "v", "l": "w"})),
    merge(A, {"data": {"l": None}}),
    apply(A, cm({"k": "v"})),
)
seq(
    "an apply on what an update made",
    post(CM, configmap()),
    apply(A, cm({"l": "w"})),
    apply(A, cm({})),
)
seq(
    "two updates of one manager",
    post(CM, configmap()),
    merge(A, {"data": {"l": "w"}}),
    merge(A, {"data": {"m": "x"}}),
)
seq(
    "two updates of two managers",
    post(CM, configmap(), fieldManager="one"),
    merge(A, {"data": {"l": "w"}}, fieldManager="two"),
    merge(A, {"data": {"l": "x"}}, fieldManager="three"),
)
seq(
    "a PUT by another manager",
    post(CM, configmap(), fieldManager="one"),
    put(A, configmap(data={"l": "x"}), fieldManager="two"),
)
seq("an apply without a manager", Step("PATCH", A, cm({}), "application/apply-patch+yaml"))
seq("a manager's name that is too long", apply(A, cm({}), "m" * 129))
seq("force without an apply", post(CM, configmap()), merge(A, {"data": {"x": "y"}}, force="true"))
seq("an apply without apiVersion", apply(A, {"metadata": {"name": "a"}}))
seq(
    "an apply under another name",
    apply(A, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}),
)
seq(
    "an apply with managed fields",
    apply(A, cm({}, managedFields=[])),
    apply(A, cm({}, managedFields=[{"manager": "x"}])),
)
seq(
    "an apply under a version",
    apply(A, cm({"k": "v"})).save(rv="metadata.resourceVersion"),
    apply(A, cm({"k": "w"}, resourceVersion="$rv")),
    apply(A, cm({"k": "x"}, resourceVersion="$rv")),
)
seq(
    "an apply of another incarnation",
    apply(A, cm({"k": "v"})),
    apply(A, cm({"k": "w"}, uid="00000000-0000-4000-8000-000000000000")),
)
seq(
    "an apply with an UID on what is not there",
    apply(A, cm({}, uid="00000000-0000-4000-8000-000000000000")),
)
seq("an apply with an unknown field", apply(A, {**cm({}), "dta": {}}))
seq(
    "managed fields are taken off",
    apply(A, cm({"k": "v"})),
    merge(A, {"metadata": {"managedFields": [{}]}}),
)
seq("an apply that is only tried", apply(A, cm({"k": "v"}), dryRun="All"), get(A))
seq(
    "labels and annotations of several",
    apply(A, cm({}, labels={"a": "1"})),
    apply(A, cm({}, labels={"b": "2"}, annotations={"c": "3"}), "two"),
    apply(A, cm({})),
)
seq(
    "finalizers are a set",
    apply(A, cm({}, finalizers=["example.com/a"])),
    apply(A, cm({}, finalizers=["example.com/b"]), "two"),
    apply(A, cm({})),
)
seq(
    "owners are told by their UIDs",
    apply(A, cm({}, ownerReferences=[{"apiVersion": "v1", "kind": "X", "name": "o", "uid": "u1"}])),
    apply(
        A,
        cm({}, ownerReferences=[{"apiVersion": "v1", "kind": "X", "name": "p", "uid": "u2"}]),
        "two",
    ),
)

seq(
    "containers are told by their names",
    apply(DSA, ds()),
    apply(DSA, ds(args=["-v"])),
    apply(DSA, ds()),
)
seq(
    "a container beside ours",
    apply(DSA, ds()),
    operations(
        DSA,
        [
            {
                "op": "add",
                "path": "/spec/template/spec/containers/-",
                "value": {"name": "side", "image": "registry.example.com/side:1"},
            }
        ],
    ),
    apply(DSA, ds()),
)
seq(
    "an image that a user edited",
    apply(DSA, ds()),
    operations(
        DSA, [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "bad"}]
    ),
    apply(DSA, ds()),
    apply(DSA, ds(), force=True),
)
seq(
    "environment variables are told by their names",
    apply(DSA, ds(env=[{"name": "A", "value": "1"}])),
    apply(
        DSA,
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "a"},
            "spec": {
                "template": {
                    "spec": {"containers": [{"name": "main", "env": [{"name": "B", "value": "2"}]}]}
                }
            },
        },
        "two",
    ),
    apply(DSA, ds()),
)
seq(
    "arguments are one list",
    apply(DSA, ds(args=["a"])),
    apply(
        DSA,
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "a"},
            "spec": {"template": {"spec": {"containers": [{"name": "main", "args": ["b"]}]}}},
        },
        "two",
    ),
)
seq(
    "ports are told by number and protocol",
    apply(DSA, ds(ports=[{"containerPort": 80}])),
    apply(
        DSA,
        ds(ports=[{"containerPort": 80, "name": "http"}, {"containerPort": 80, "protocol": "UDP"}]),
    ),
)
seq(
    "two elements of one key",
    apply(DSA, ds(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])),
)
seq(
    "tolerations are one list",
    apply(
        DSA,
        daemonset(
            template={
                "metadata": {"labels": {"app": "a"}},
                "spec": {
                    "tolerations": [{"operator": "Exists"}],
                    "containers": [{"name": "main", "image": "registry.example.com/a:1"}],
                },
            }
        ),
    ),
)
seq(
    "volumes and mounts",
    apply(
        DSA,
        daemonset(
            template={
                "metadata": {"labels": {"app": "a"}},
                "spec": {
                    "volumes": [{"name": "h", "hostPath": {"path": "/h"}}],
                    "containers": [
                        {
                            "name": "main",
                            "image": "registry.example.com/a:1",
                            "volumeMounts": [{"name": "h", "mountPath": "/h"}],
                        }
                    ],
                },
            }
        ),
    ),
)
seq(
    "status has an owner of its own",
    apply(DSA, ds()),
    merge(
        DSA + "/status",
        {
            "status": {
                "currentNumberScheduled": 1,
                "numberMisscheduled": 0,
                "desiredNumberScheduled": 1,
                "numberReady": 1,
            }
        },
        fieldManager="controller",
    ),
    apply(DSA, ds(args=["x"])),
)

seq(
    "taints are one list for apply",
    post(f"{CORE}/nodes", node(spec={"taints": [{"key": "a", "effect": "NoSchedule"}]})),
    apply(
        NODE,
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "$ns"},
            "spec": {"taints": [{"key": "b", "effect": "NoSchedule"}]},
        },
    ),
    delete(NODE),
)
seq(
    "labels beside others' labels",
    post(f"{CORE}/nodes", node(metadata={"labels": {"a": "1"}})),
    apply(
        NODE,
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "$ns", "labels": {"b": "2"}}},
    ),
    apply(NODE, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "$ns"}}),
    delete(NODE),
)
