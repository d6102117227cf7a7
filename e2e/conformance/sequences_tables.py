"""What kubectl get prints: tables of every kind, in every state that a column tells."""

from conformance.steps import (
    APPS,
    CORE,
    configmap,
    daemonset,
    delete,
    get,
    in_ns,
    merge,
    node,
    pod,
    post,
    seq,
    template,
    watch,
)

BATCH, POLICY, LEASES = "/apis/batch/v1", "/apis/policy/v1", "/apis/coordination.k8s.io/v1"
PODS, POD = in_ns("pods"), in_ns("pods", "a")
NODES, NODE = f"{CORE}/nodes", f"{CORE}/nodes/$ns"
ONE_NODE = {"fieldSelector": "metadata.name=$ns"}


def pod_in(status, **spec):
    """Steps that make a pod with this status and print it."""
    return (
        post(PODS, pod(automountServiceAccountToken=False, **spec)),
        merge(POD + "/status", {"status": status}),
        get(PODS).as_table(),
    )


def container(name="main", ready=False, restarts=0, started=None, last=None, **state):
    """A container's status."""
    status = {
        "name": name,
        "image": "a",
        "imageID": "",
        "ready": ready,
        "restartCount": restarts,
        "state": state,
    }
    if started is not None:
        status["started"] = started
    if last:
        status["lastState"] = {"terminated": last}
    return status


def ended(code=0, reason=None, **rest):
    """The state of a container that has ended."""
    return {"terminated": {"exitCode": code, **({"reason": reason} if reason else {}), **rest}}


UP = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
TWO = {"containers": [{"name": "main", "image": "a"}, {"name": "side", "image": "b"}]}
INIT = {"initContainers": [{"name": "one", "image": "a"}, {"name": "two", "image": "b"}]}
SIDECAR = {"initContainers": [{"name": "one", "image": "a", "restartPolicy": "Always"}]}


def waiting(reason):
    """The state of a container that waits."""
    return {"waiting": {"reason": reason}}


def state_of(where, statuses, phase="Running", **rest):
    """A pod's status with containers."""
    return {"phase": phase, where: statuses, **rest}


def main_state(*statuses, phase="Running", **rest):
    """A pod's status with containers that are not init containers."""
    return state_of("containerStatuses", statuses, phase, **rest)


def init_state(*statuses, **rest):
    """A pod's status with init containers."""
    return state_of("initContainerStatuses", statuses, "Pending", **rest)


READY = {"conditions": [{"type": "Ready", "status": "True"}]}

seq("table: a pod that runs", *pod_in(main_state(container(ready=True, **UP), **READY)))
seq(
    "table: a pod with addresses",
    *pod_in(
        main_state(container(ready=True, **UP), podIP="10.0.0.1", podIPs=[{"ip": "10.0.0.1"}]),
        nodeName="n-$ns",
    ),
)
seq(
    "table: a pod that pulls its image",
    *pod_in(main_state(container(**waiting("ContainerCreating")), phase="Pending")),
)
seq(
    "table: a pod whose image is missing",
    *pod_in(main_state(container(**waiting("ImagePullBackOff")), phase="Pending")),
)
seq(
    "table: a pod that crashes",
    *pod_in(
        main_state(
            container(
                restarts=4,
                last={"exitCode": 1, "finishedAt": "2026-01-01T00:00:00Z"},
                **waiting("CrashLoopBackOff"),
            )
        )
    ),
)
seq(
    "table: a pod that has crashed at a time that is not known",
    *pod_in(main_state(container(ready=True, restarts=2, **UP))),
)
seq(
    "table: a pod that has ended",
    *pod_in(main_state(container(**ended(0, "Completed")), phase="Succeeded")),
)
seq(
    "table: a pod that has failed",
    *pod_in(main_state(container(**ended(1, "Error")), phase="Failed")),
)
seq(
    "table: a pod that has failed with a code",
    *pod_in(main_state(container(**ended(3)), phase="Failed")),
)
seq(
    "table: a pod that was ended by a signal",
    *pod_in(main_state(container(**ended(137, signal=9)), phase="Failed")),
)
seq(
    "table: a pod that was evicted",
    *pod_in({"phase": "Failed", "reason": "Evicted", "message": "low on memory"}),
)
seq(
    "table: a pod with one container that has ended",
    *pod_in(
        main_state(container(ready=True, **UP), container("side", **ended(0, "Completed"))), **TWO
    ),
)
seq(
    "table: a pod whose first container has ended",
    *pod_in(main_state(container(**ended(0, "Completed")), container("side", True, **UP)), **TWO),
)
seq(
    "table: a ready pod whose first container has ended",
    *pod_in(
        main_state(container(**ended(0, "Completed")), container("side", True, **UP), **READY),
        **TWO,
    ),
)
seq(
    "table: a pod with one container that has failed",
    *pod_in(
        main_state(container(**ended(0, "Completed")), container("side", **ended(2, "Error"))),
        **TWO,
    ),
)
seq(
    "table: a pod whose init container runs",
    *pod_in(
        init_state(container("one", **UP), container("two", **waiting("PodInitializing"))), **INIT
    ),
)
seq(
    "table: a pod at its second init container",
    *pod_in(
        init_state(
            container("one", **ended(0, "Completed")),
            container("two", **waiting("PodInitializing")),
        ),
        **INIT,
    ),
)
seq(
    "table: a pod whose init container crashes",
    *pod_in(
        init_state(
            container("one", restarts=3, **waiting("CrashLoopBackOff")),
            container("two", **waiting("PodInitializing")),
        ),
        **INIT,
    ),
)
seq(
    "table: a pod whose init container has failed",
    *pod_in(init_state(container("one", **ended(1, "Error")), container("two")), **INIT),
)
seq(
    "table: a pod whose init container has failed with a code",
    *pod_in(init_state(container("one", **ended(7)), container("two")), **INIT),
)
seq(
    "table: a pod whose init container was ended by a signal",
    *pod_in(init_state(container("one", **ended(137, signal=9))), **INIT),
)
seq(
    "table: a pod whose sidecar runs",
    *pod_in(
        {
            **main_state(container(ready=True, restarts=1, **UP)),
            "initContainerStatuses": [container("one", True, 2, True, **UP)],
        },
        **SIDECAR,
    ),
)
seq(
    "table: a pod whose sidecar starts",
    *pod_in(init_state(container("one", started=False, **UP)), **SIDECAR),
)
seq(
    "table: a pod that waits for its gates",
    *pod_in(
        {
            "phase": "Pending",
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
            ],
        }
    ),
)
seq(
    "table: a pod with readiness gates",
    *pod_in(
        {"phase": "Running", "conditions": [{"type": "example.com/up", "status": "True"}]},
        readinessGates=[{"conditionType": "example.com/up"}, {"conditionType": "example.com/more"}],
    ),
)
seq(
    "table: a pod that goes",
    post(PODS, pod(nodeName="n-$ns", automountServiceAccountToken=False)),
    merge(POD + "/status", {"status": {"phase": "Running"}}),
    delete(POD),
    get(PODS).as_table(),
)

NODE_INFO = {
    "architecture": "amd64",
    "bootID": "",
    "containerRuntimeVersion": "containerd://2.1.4",
    "kernelVersion": "6.8.0",
    "kubeProxyVersion": "",
    "kubeletVersion": "v1.36.3",
    "machineID": "",
    "operatingSystem": "linux",
    "osImage": "Ubuntu 24.04.1 LTS",
    "systemUUID": "",
}
seq("table: a node that says nothing", post(NODES, node()), get(NODES, **ONE_NODE).as_table())
seq(
    "table: a ready node",
    post(
        NODES,
        node(
            metadata={
                "labels": {
                    "node-role.kubernetes.io/worker": "",
                    "node-role.kubernetes.io/gpu": "",
                    "kubernetes.io/role": "old",
                }
            }
        ),
    ),
    merge(
        NODE + "/status",
        {
            "status": {
                "nodeInfo": NODE_INFO,
                "conditions": [{"type": "Ready", "status": "True"}],
                "addresses": [
                    {"type": "Hostname", "address": "h"},
                    {"type": "InternalIP", "address": "10.0.0.1"},
                    {"type": "ExternalIP", "address": "192.0.2.1"},
                ],
            }
        },
    ),
    get(NODES, **ONE_NODE).as_table(),
)
seq(
    "table: a node that is not ready and cordoned",
    post(NODES, node(spec={"unschedulable": True})),
    merge(NODE + "/status", {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}),
    get(NODES, **ONE_NODE).as_table(),
)

DS = in_ns("daemonsets", group=APPS)
seq(
    "table: a daemonset",
    post(DS, daemonset(template=template({"app": "a"}, nodeSelector={"b": "2", "a": "1"}))),
    merge(
        DS + "/a/status",
        {
            "status": {
                "desiredNumberScheduled": 5,
                "currentNumberScheduled": 4,
                "numberReady": 3,
                "updatedNumberScheduled": 2,
                "numberAvailable": 1,
                "numberMisscheduled": 0,
            }
        },
    ),
    get(DS).as_table(),
)
LABELS = {"app": "a"}
EXPRESSIONS = {
    "matchLabels": LABELS,
    "matchExpressions": [
        {"key": "tier", "operator": "In", "values": ["z", "b"]},
        {"key": "canary", "operator": "DoesNotExist"},
        {"key": "app", "operator": "Exists"},
        {"key": "zone", "operator": "NotIn", "values": ["c"]},
    ],
}
BUSY = {"containers": [{"name": "main", "image": "a:1"}, {"name": "side", "image": "b:2"}]}
seq(
    "table: a daemonset with a selector of expressions",
    post(
        DS,
        daemonset(
            selector=EXPRESSIONS,
            template={"metadata": {"labels": {"app": "a", "tier": "b"}}, "spec": BUSY},
        ),
    ),
    get(DS).as_table(),
)
DEPLOYMENTS = in_ns("deployments", group=APPS)
seq(
    "table: a deployment",
    post(
        DEPLOYMENTS,
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "a"},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": LABELS},
                "template": template(LABELS),
            },
        },
    ),
    merge(
        DEPLOYMENTS + "/a/status",
        {
            "status": {
                "replicas": 3,
                "updatedReplicas": 2,
                "readyReplicas": 1,
                "availableReplicas": 1,
            }
        },
    ),
    get(DEPLOYMENTS).as_table(),
)
REPLICASETS = in_ns("replicasets", group=APPS)
seq(
    "table: a replicaset",
    post(
        REPLICASETS,
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "a"},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": LABELS},
                "template": template(LABELS),
            },
        },
    ),
    merge(REPLICASETS + "/a/status", {"status": {"replicas": 2, "readyReplicas": 1}}),
    get(REPLICASETS).as_table(),
)
JOBS = in_ns("jobs", group=BATCH)


def job(**spec):
    """A Job."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a"},
        "spec": {
            "template": {
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a"}]}
            },
            **spec,
        },
    }


seq("table: a job", post(JOBS, job()), get(JOBS).as_table())
seq("table: a job of several pods", post(JOBS, job(parallelism=3)), get(JOBS).as_table())
seq(
    "table: a job that is suspended",
    post(JOBS, job(suspend=True)),
    merge(
        JOBS + "/a/status", {"status": {"conditions": [{"type": "Suspended", "status": "True"}]}}
    ),
    get(JOBS).as_table(),
)
seq(
    "table: a job that is done",
    post(JOBS, job(completions=2)),
    merge(
        JOBS + "/a/status",
        {
            "status": {
                "startTime": "2026-01-01T00:00:00Z",
                "completionTime": "2026-01-01T00:05:07Z",
                "succeeded": 2,
                "conditions": [
                    {"type": "SuccessCriteriaMet", "status": "True"},
                    {"type": "Complete", "status": "True"},
                ],
            }
        },
    ),
    get(JOBS).as_table(),
)
seq(
    "table: a job that has failed",
    post(JOBS, job(completions=2)),
    merge(
        JOBS + "/a/status",
        {
            "status": {
                "startTime": "2026-01-01T00:00:00Z",
                "failed": 1,
                "conditions": [
                    {"type": "FailureTarget", "status": "True"},
                    {"type": "Failed", "status": "True"},
                ],
            }
        },
    ),
    get(JOBS).as_table(),
)

SERVICES = in_ns("services")


def service(**spec):
    """A Service."""
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}


seq(
    "table: a service without an address",
    post(
        SERVICES,
        service(
            clusterIP="None",
            selector={"b": "2", "a": "1"},
            ports=[{"name": "one", "port": 80}, {"name": "two", "port": 53, "protocol": "UDP"}],
        ),
    ),
    get(SERVICES).as_table(),
)
seq(
    "table: a service that is a name",
    post(SERVICES, service(type="ExternalName", externalName="db.example.com")),
    get(SERVICES).as_table(),
)

BUDGETS = in_ns("poddisruptionbudgets", group=POLICY)


def budget(**spec):
    """A PodDisruptionBudget."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": LABELS}, **spec},
    }


seq(
    "table: a budget with a number",
    post(BUDGETS, budget(minAvailable=2)),
    merge(
        BUDGETS + "/a/status",
        {
            "status": {
                "disruptionsAllowed": 1,
                "currentHealthy": 3,
                "desiredHealthy": 2,
                "expectedPods": 3,
            }
        },
    ),
    get(BUDGETS).as_table(),
)
seq(
    "table: a budget with a part",
    post(BUDGETS, budget(maxUnavailable="10%")),
    get(BUDGETS).as_table(),
)
LEASE = in_ns("leases", group=LEASES)
seq(
    "table: leases",
    post(
        LEASE, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}}
    ),
    post(
        LEASE,
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "b"},
            "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15},
        },
    ),
    get(LEASE).as_table(),
)
REVISIONS = in_ns("controllerrevisions", group=APPS)
OWNER = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "name": "driver",
    "uid": "00000000-0000-4000-8000-000000000000",
    "controller": True,
}
seq(
    "table: revisions",
    post(
        REVISIONS,
        {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {"name": "a"},
            "data": {"a": 1},
            "revision": 1,
        },
    ),
    post(
        REVISIONS,
        {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {"name": "b", "ownerReferences": [OWNER]},
            "data": {"a": 1},
            "revision": 2,
        },
    ),
    get(REVISIONS).as_table(),
)
seq("table: serviceaccounts", get(in_ns("serviceaccounts")).as_table())
CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
seq(
    "table: runtimeclasses",
    post(
        CLASSES,
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": "$ns"},
            "handler": "nvidia",
        },
    ),
    get(CLASSES, fieldSelector="metadata.name=$ns").as_table(),
)
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
seq(
    "table: priorityclasses",
    post(
        PRIORITIES,
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "$ns"},
            "value": 7,
        },
    ),
    get(PRIORITIES, fieldSelector="metadata.name=$ns").as_table(),
)
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
seq(
    "table: definitions",
    get(CRDS + "/gpuclusterpolicies.ostler.dev", includeObject="None").as_table(),
)
POLICIES = "/apis/ostler.dev/v1alpha1/gpuclusterpolicies"
seq("table: no policies", get(POLICIES).as_table())

EVENTS, OLD_EVENTS = in_ns("events", group="/apis/events.k8s.io/v1"), in_ns("events")
NEW_EVENT = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "new"},
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "reportingController": "ostler.dev/ostler",
    "reportingInstance": "ostler-0",
    "action": "Roll",
    "reason": "Rolled",
    "type": "Normal",
    "regarding": {
        "kind": "Pod",
        "name": "a",
        "namespace": "$ns",
        "apiVersion": "v1",
        "fieldPath": "spec.containers{main}",
    },
    "note": " a b \n",
}
OLD_EVENT = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "old"},
    "reason": "Started",
    "type": "Normal",
    "message": "started",
    "count": 3,
    "firstTimestamp": "2026-01-01T00:00:00Z",
    "lastTimestamp": "2026-01-01T00:00:00Z",
    "source": {"component": "kubelet", "host": "n"},
    "involvedObject": {"kind": "Pod", "name": "a", "namespace": "$ns"},
}
SERIES = {"series": {"count": 4, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}}
seq(
    "table: events of both groups",
    post(EVENTS, NEW_EVENT),
    post(OLD_EVENTS, OLD_EVENT),
    get(EVENTS).as_table(),
    get(OLD_EVENTS).as_table(),
)
seq(
    "table: an event that came again", post(EVENTS, {**NEW_EVENT, **SERIES}), get(EVENTS).as_table()
)
seq(
    "table: an event in the other view, with objects",
    post(EVENTS, NEW_EVENT),
    get(EVENTS, includeObject="Object").as_table(),
)

CM = in_ns("configmaps")
seq("table: without objects", post(CM, configmap()), get(CM, includeObject="None").as_table())
seq("table: with whole objects", post(CM, configmap()), get(CM, includeObject="Object").as_table())
seq("table: with what is none", post(CM, configmap()), get(CM, includeObject="Some").as_table())
seq(
    "table: in pages",
    post(CM, configmap("a")),
    post(CM, configmap("b")),
    get(CM, limit="1", includeObject="None").as_table(),
)
seq("table: what is not there", get(CM + "/none").as_table())
seq(
    "table: a watch",
    post(CM, configmap("a")),
    post(CM, configmap("b")),
    watch(CM, includeObject="None").as_table(),
)
seq("table: what was written", post(CM, configmap("a"), includeObject="None").as_table())
