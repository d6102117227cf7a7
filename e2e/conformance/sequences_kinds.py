"""What the API server does with objects of single kinds: defaults, what may not change, what is
invalid; subresources."""

from conformance.steps import (
    APPS,
    CORE,
    daemonset,
    delete,
    get,
    in_ns,
    merge,
    node,
    operations,
    pod,
    post,
    put,
    seq,
    strategic,
    template,
)

DS = in_ns("daemonsets", group=APPS)
DSA = in_ns("daemonsets", "a", group=APPS)
PODS = in_ns("pods")
POD = in_ns("pods", "a")
NODES = f"{CORE}/nodes"
NODE = f"{CORE}/nodes/$ns"
CR = in_ns("controllerrevisions", group=APPS)

seq("defaults of a daemonset", post(DS, daemonset()))
seq(
    "defaults of probes, ports and volumes",
    post(
        DS,
        daemonset(
            template={
                "metadata": {"labels": {"app": "a"}},
                "spec": {
                    "initContainers": [{"name": "i", "image": "registry.example.com/i"}],
                    "containers": [
                        {
                            "name": "main",
                            "image": "registry.example.com/a@sha256:" + "0" * 64,
                            "ports": [{"containerPort": 80}],
                            "env": [
                                {
                                    "name": "N",
                                    "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}},
                                }
                            ],
                            "readinessProbe": {"httpGet": {"path": "/", "port": 80}},
                            "startupProbe": {"exec": {"command": ["a"]}},
                            "volumeMounts": [{"name": "h", "mountPath": "/h"}],
                        }
                    ],
                    "volumes": [
                        {"name": "h", "hostPath": {"path": "/h"}},
                        {"name": "c", "configMap": {"name": "c"}},
                    ],
                },
            }
        ),
    ),
)
seq(
    "a daemonset's generation counts its spec",
    post(DS, daemonset()),
    merge(DSA, {"metadata": {"labels": {"x": "y"}}}),
    merge(DSA, {"spec": {"minReadySeconds": 3}}),
)
seq(
    "a daemonset's status is written beside",
    post(DS, daemonset()),
    merge(DSA, {"status": {"numberReady": 3}}),
    merge(
        DSA + "/status",
        {
            "status": {
                "numberReady": 3,
                "currentNumberScheduled": 3,
                "desiredNumberScheduled": 3,
                "numberMisscheduled": 0,
            }
        },
    ),
    merge(DSA + "/status", {"spec": {"minReadySeconds": 3}}),
)
seq(
    "a daemonset's selector stays",
    post(DS, daemonset()),
    merge(
        DSA,
        {
            "spec": {
                "selector": {"matchLabels": {"app": "b"}},
                "template": {"metadata": {"labels": {"app": "b"}}},
            }
        },
    ),
)
seq(
    "a selector that its own pods do not match",
    post(DS, daemonset(selector={"matchLabels": {"app": "b"}})),
)
seq("a daemonset without a selector", post(DS, daemonset(selector=None)))
seq(
    "a daemonset without containers",
    post(
        DS, daemonset(template={"metadata": {"labels": {"app": "a"}}, "spec": {"containers": []}})
    ),
)
seq(
    "a container without an image",
    post(
        DS,
        daemonset(
            template={"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "x"}]}}
        ),
    ),
)
seq(
    "two containers of a name",
    post(
        DS,
        daemonset(
            template={
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "x", "image": "a"}, {"name": "x", "image": "a"}]},
            }
        ),
    ),
)
seq(
    "a mount without its volume",
    post(
        DS,
        daemonset(
            template={
                "metadata": {"labels": {"app": "a"}},
                "spec": {
                    "containers": [
                        {
                            "name": "x",
                            "image": "a",
                            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                        }
                    ]
                },
            }
        ),
    ),
)
seq("a strategy that is none", post(DS, daemonset(updateStrategy={"type": "Never"})))
seq(
    "a restart policy that a daemonset cannot have",
    post(DS, daemonset(template=template({"app": "a"}, restartPolicy="Never"))),
)
seq(
    "a quantity that is none",
    post(
        PODS,
        pod(containers=[{"name": "x", "image": "a", "resources": {"limits": {"cpu": "much"}}}]),
    ),
)
seq(
    "a limit below its request",
    post(
        PODS,
        pod(
            containers=[
                {
                    "name": "x",
                    "image": "a",
                    "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}},
                }
            ]
        ),
    ),
)
seq(
    "a strategic patch of a container by its name",
    post(DS, daemonset()),
    strategic(
        DSA,
        {
            "spec": {
                "template": {
                    "spec": {"containers": [{"name": "main", "env": [{"name": "A", "value": "1"}]}]}
                }
            }
        },
    ),
    strategic(
        DSA,
        {
            "spec": {
                "template": {
                    "spec": {"containers": [{"name": "side", "image": "registry.example.com/b:1"}]}
                }
            }
        },
    ),
    strategic(
        DSA,
        {"spec": {"template": {"spec": {"containers": [{"name": "side", "$patch": "delete"}]}}}},
    ),
)
seq(
    "a strategic patch that replaces",
    post(DS, daemonset()),
    strategic(
        DSA,
        {
            "spec": {
                "template": {
                    "spec": {
                        "$patch": "replace",
                        "containers": [{"name": "only", "image": "registry.example.com/c:1"}],
                    }
                }
            }
        },
    ),
)

seq("defaults of a pod", post(PODS, pod()))
seq(
    "a pod's image may change, and nothing else",
    post(PODS, pod()),
    strategic(POD, {"spec": {"containers": [{"name": "main", "image": "b"}]}}),
    merge(POD, {"spec": {"nodeName": "elsewhere"}}),
    merge(POD, {"spec": {"restartPolicy": "Never"}}),
)
seq("a pod without a node goes at once", post(PODS, pod()), delete(POD), get(POD))
seq(
    "a pod on a node goes with grace",
    post(PODS, pod(nodeName="n-$ns")),
    delete(POD),
    get(POD),
    delete(POD, {"gracePeriodSeconds": 0}),
    get(POD),
)
seq(
    "a grace of one's own",
    post(PODS, pod(nodeName="n-$ns")),
    delete(POD, {"gracePeriodSeconds": 5}),
    delete(POD, {"gracePeriodSeconds": 3}),
)
seq(
    "a pod is bound",
    post(PODS, pod()),
    post(POD + "/binding", {"target": {"kind": "Node", "name": "n-$ns"}}),
    get(POD),
    post(POD + "/binding", {"target": {"kind": "Node", "name": "m-$ns"}}),
)
seq(
    "a pod's status",
    post(PODS, pod()),
    merge(
        POD + "/status",
        {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
    ),
    strategic(POD + "/status", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}),
)
seq(
    "a pod is evicted",
    post(PODS, pod(nodeName="n-$ns")),
    post(
        POD + "/eviction",
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "a", "namespace": "$ns"},
        },
    ),
    get(POD),
)
seq(
    "what is not there cannot be evicted",
    post(
        POD + "/eviction",
        {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}},
    ),
)
seq(
    "an eviction of another incarnation",
    post(PODS, pod(nodeName="n-$ns")),
    post(
        POD + "/eviction",
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "a"},
            "deleteOptions": {"preconditions": {"uid": "00000000-0000-4000-8000-000000000000"}},
        },
    ),
)
seq(
    "an eviction that is only tried",
    post(PODS, pod(nodeName="n-$ns")),
    post(
        POD + "/eviction",
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "a"},
            "deleteOptions": {"dryRun": ["All"]},
        },
    ),
    get(POD),
)

PDBS = in_ns("poddisruptionbudgets", group="/apis/policy/v1")
BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "b"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}},
}
RUNNING = merge(
    POD + "/status",
    {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
)
EVICT = post(
    POD + "/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}}
)


def budget_status(allowed, generation=1):
    """What the disruption controller writes."""
    return merge(
        PDBS + "/b/status",
        {
            "status": {
                "observedGeneration": generation,
                "disruptionsAllowed": allowed,
                "currentHealthy": 1,
                "desiredHealthy": 1,
                "expectedPods": 1,
            }
        },
    )


seq("defaults of a disruption budget", post(PDBS, BUDGET))
seq(
    "a budget that is not worked out yet",
    post(PDBS, BUDGET),
    post(PODS, pod(nodeName="n-$ns")),
    RUNNING,
    EVICT,
)
seq(
    "a budget that allows none",
    post(PDBS, BUDGET),
    post(PODS, pod(nodeName="n-$ns")),
    RUNNING,
    budget_status(0),
    EVICT,
)
seq(
    "a budget that allows one",
    post(PDBS, BUDGET),
    post(PODS, pod(nodeName="n-$ns")),
    RUNNING,
    budget_status(1),
    EVICT,
    get(PDBS + "/b"),
)
seq(
    "two budgets of one pod",
    post(PDBS, BUDGET),
    post(PDBS, {**BUDGET, "metadata": {"name": "c"}}),
    post(PODS, pod(nodeName="n-$ns")),
    RUNNING,
    EVICT,
)
seq(
    "a budget does not hold a pod that has ended",
    post(PDBS, BUDGET),
    post(PODS, pod(nodeName="n-$ns")),
    merge(POD + "/status", {"status": {"phase": "Succeeded"}}),
    budget_status(0),
    EVICT,
)
seq(
    "a budget does not hold a pod that is pending",
    post(PDBS, BUDGET),
    post(PODS, pod()),
    budget_status(0),
    EVICT,
)
seq(
    "a budget holds a pod that is not ready, unless it is told not to",
    post(PDBS, BUDGET),
    post(PODS, pod(nodeName="n-$ns")),
    merge(POD + "/status", {"status": {"phase": "Running"}}),
    budget_status(0),
    EVICT,
    merge(PDBS + "/b", {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}),
    budget_status(0, 2),
    EVICT,
)
seq(
    "a budget with both numbers",
    post(PDBS, {**BUDGET, "spec": {**BUDGET["spec"], "maxUnavailable": 1}}),
)

SLICES = "/apis/resource.k8s.io/v1/resourceslices"


def resource_slice(name, driver):
    """A slice with one device of a node."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"$ns-{name}"},
        "spec": {
            "driver": driver,
            "nodeName": "n-$ns",
            "pool": {"name": "n-$ns", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0", "attributes": {"type": {"string": "gpu"}}}],
        },
    }


seq(
    "slices are selected by their driver and node",
    post(SLICES, resource_slice("a", "gpu.nvidia.com")),
    post(SLICES, resource_slice("b", "compute-domain.nvidia.com")),
    get(f"{SLICES}?fieldSelector=spec.driver=gpu.nvidia.com,spec.nodeName=n-$ns"),
    merge(f"{SLICES}/$ns-a", {"spec": {"devices": [{"name": "gpu-1"}]}}),
)

seq(
    "a node's taints are one list",
    post(NODES, node(spec={"taints": [{"key": "a", "effect": "NoSchedule"}]})),
    merge(NODE, {"spec": {"taints": [{"key": "b", "value": "v", "effect": "NoExecute"}]}}),
    delete(NODE),
)
seq(
    "two taints of a key and an effect",
    post(
        NODES,
        node(
            spec={
                "taints": [
                    {"key": "a", "effect": "NoSchedule"},
                    {"key": "a", "effect": "NoSchedule"},
                ]
            }
        ),
    ),
)
seq("a taint without an effect", post(NODES, node(spec={"taints": [{"key": "a"}]})))
seq(
    "a taint with an effect that is none",
    post(NODES, node(spec={"taints": [{"key": "a", "effect": "Sometimes"}]})),
)
seq(
    "a strategic patch adds a taint",
    post(NODES, node(spec={"taints": [{"key": "a", "effect": "NoSchedule"}]})),
    strategic(NODE, {"spec": {"taints": [{"key": "b", "effect": "NoSchedule"}]}}),
    delete(NODE),
)
seq(
    "a JSON patch tests the taints that it replaces",
    post(NODES, node(spec={"taints": [{"key": "a", "effect": "NoSchedule"}]})),
    operations(
        NODE,
        [
            {"op": "test", "path": "/spec/taints", "value": [{"key": "a", "effect": "NoSchedule"}]},
            {
                "op": "replace",
                "path": "/spec/taints",
                "value": [{"key": "c", "effect": "NoSchedule"}],
            },
        ],
    ),
    operations(
        NODE,
        [
            {"op": "test", "path": "/spec/taints", "value": [{"key": "a", "effect": "NoSchedule"}]},
            {"op": "replace", "path": "/spec/taints", "value": []},
        ],
    ),
    delete(NODE),
)
seq(
    "a node's status is written beside",
    post(NODES, node()),
    merge(
        NODE + "/status",
        {
            "status": {
                "capacity": {"nvidia.com/gpu": "8"},
                "allocatable": {"nvidia.com/gpu": "8"},
                "conditions": [{"type": "Ready", "status": "True"}],
            }
        },
    ),
    merge(NODE, {"status": {"capacity": {"cpu": "1"}}}),
    delete(NODE),
)
seq(
    "a strategic patch of a node's conditions",
    post(
        NODES,
        node(
            status={
                "conditions": [
                    {"type": "Ready", "status": "True"},
                    {"type": "DiskPressure", "status": "False"},
                ]
            }
        ),
    ),
    strategic(
        NODE + "/status", {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    ),
    delete(NODE),
)

REVISION = {
    "apiVersion": "apps/v1",
    "kind": "ControllerRevision",
    "metadata": {"name": "r"},
    "data": {"a": 1},
    "revision": 1,
}
seq(
    "a revision's data stay",
    post(CR, REVISION),
    merge(CR + "/r", {"revision": 2}),
    merge(CR + "/r", {"data": {"a": 2}}),
)
seq(
    "a service gets an address",
    post(
        in_ns("services"),
        {"metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 9400}]}},
    ),
)
seq(
    "a service without one",
    post(
        in_ns("services"),
        {
            "metadata": {"name": "s"},
            "spec": {
                "clusterIP": "None",
                "ports": [{"name": "m", "port": 9400, "targetPort": "metrics"}],
            },
        },
    ),
)
seq("a service without ports", post(in_ns("services"), {"metadata": {"name": "s"}, "spec": {}}))
RC = "/apis/node.k8s.io/v1/runtimeclasses"
seq(
    "a runtime class",
    post(RC, {"metadata": {"name": "$ns"}, "handler": "nvidia"}),
    merge(RC + "/$ns", {"handler": "other"}),
    delete(RC + "/$ns"),
)
seq(
    "a pod names a runtime class that is not there",
    post(in_ns("pods"), pod(runtimeClassName="nope")),
    post(in_ns("pods"), {**pod(runtimeClassName="nope"), "metadata": {"generateName": "gen-"}}),
    post(in_ns("pods"), pod(runtimeClassName="No!")),
    post(RC, {"metadata": {"name": "nope"}, "handler": "nvidia"}),
    post(in_ns("pods"), pod(runtimeClassName="nope")),
    delete(RC + "/nope"),
)
LEASES = in_ns("leases", group="/apis/coordination.k8s.io/v1")
seq(
    "a lease",
    post(
        LEASES,
        {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}},
    ).save(rv="metadata.resourceVersion"),
    put(
        LEASES + "/l",
        {"metadata": {"name": "l", "resourceVersion": "$rv"}, "spec": {"holderIdentity": "you"}},
    ),
    put(
        LEASES + "/l",
        {"metadata": {"name": "l", "resourceVersion": "$rv"}, "spec": {"holderIdentity": "me"}},
    ),
)
seq(
    "a lease that lasts no time",
    post(LEASES, {"metadata": {"name": "l"}, "spec": {"leaseDurationSeconds": 0}}),
)
EVENTS = in_ns("events", group="/apis/events.k8s.io/v1")
EVENT = {
    "metadata": {"name": "e"},
    "eventTime": "2026-11-20T10:00:00.000000Z",
    "reportingController": "example.com/x",
    "reportingInstance": "x-1",
    "action": "Mark",
    "reason": "Marked",
    "type": "Normal",
    "note": "a note",
    "regarding": {"kind": "ConfigMap", "namespace": "$ns", "name": "a"},
}
seq(
    "an event, seen from both groups",
    post(EVENTS, EVENT),
    get(in_ns("events", "e")),
    get(EVENTS + "/e"),
)
seq(
    "an event without its controller",
    post(EVENTS, {k: v for k, v in EVENT.items() if k != "reportingController"}),
)
seq(
    "an event in another namespace than what it is about",
    post(EVENTS, {**EVENT, "regarding": {"kind": "ConfigMap", "namespace": "other", "name": "a"}}),
)
seq(
    "an event becomes a series",
    post(EVENTS, EVENT),
    merge(
        EVENTS + "/e", {"series": {"count": 2, "lastObservedTime": "2026-11-20T10:01:00.000000Z"}}
    ),
)
seq("an event's note stays", post(EVENTS, EVENT), merge(EVENTS + "/e", {"note": "another"}))
seq(
    "events by what they are about",
    post(EVENTS, EVENT),
    get(in_ns("events"), fieldSelector="involvedObject.name=a"),
    get(in_ns("events"), fieldSelector="involvedObject.name=b"),
)
JOBS = in_ns("jobs", group="/apis/batch/v1")
seq(
    "defaults of a job",
    post(
        JOBS, {"metadata": {"name": "j"}, "spec": {"template": template({}, restartPolicy="Never")}}
    ),
)
seq(
    "a job that always restarts",
    post(JOBS, {"metadata": {"name": "j"}, "spec": {"template": template({})}}),
)
