"""Evictions: what budgets allow, what they are told in which words, and what an eviction leaves
behind."""

from conformance.steps import delete, get, in_ns, merge, pod, post, seq

PODS, POD, EVICTION = in_ns("pods"), in_ns("pods", "a"), in_ns("pods", "a/eviction")
BUDGETS = in_ns("poddisruptionbudgets", group="/apis/policy/v1")
BUDGET = in_ns("poddisruptionbudgets", "b", group="/apis/policy/v1")
POD_SPEC = {"nodeName": "n-$ns", "automountServiceAccountToken": False}
MADE = post(PODS, pod(**POD_SPEC)).save(uid="metadata.uid", rv="metadata.resourceVersion")
LABELLED = {"matchLabels": {"app": "a"}}


def budget(name="b", selector=None, **spec):
    """Makes a PodDisruptionBudget."""
    return post(
        BUDGETS,
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name},
            "spec": {
                "minAvailable": 1,
                "selector": LABELLED if selector is None else selector,
                **spec,
            },
        },
    )


def counted(allowed, healthy=1, desired=1, generation=1, **status):
    """Writes what the controller of budgets has found."""
    return merge(
        BUDGET + "/status",
        {
            "status": {
                "observedGeneration": generation,
                "disruptionsAllowed": allowed,
                "currentHealthy": healthy,
                "desiredHealthy": desired,
                "expectedPods": 1,
                **status,
            }
        },
    )


def runs(ready=True, phase="Running"):
    """Writes what a kubelet has found."""
    return merge(
        POD + "/status",
        {"status": {"phase": phase, "conditions": [{"type": "Ready", "status": str(ready)}]}},
    ).save(rv="metadata.resourceVersion")


def evict(name="a", query=None, **options):
    """Evicts the pod."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    if options:
        body["deleteOptions"] = options
    return post(EVICTION, body, **(query or {}))


def denied(reason, message, status="False"):
    """What the condition of a budget says."""
    return {
        "conditions": [
            {
                "type": "DisruptionAllowed",
                "status": status,
                "reason": reason,
                "message": message,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ]
    }


seq("eviction: the pod says why it goes", MADE, runs(), evict(), get(POD))
seq(
    "eviction: a pod that is pending says so, too",
    post(PODS, pod(automountServiceAccountToken=False)),
    merge(POD, {"metadata": {"finalizers": ["example.com/hold"]}}),
    evict(),
    get(POD),
)
seq("eviction: a pod that is going", MADE, runs(), delete(POD), evict(), get(POD))
seq("eviction: a pod that has failed goes at once", MADE, runs(phase="Failed"), evict(), get(POD))
seq("eviction: with a grace of its own", MADE, runs(), evict(gracePeriodSeconds=3), get(POD))
seq("eviction: without grace", MADE, runs(), evict(gracePeriodSeconds=0), get(POD))
seq("eviction: of this incarnation", MADE, runs(), evict(preconditions={"uid": "$uid"}), get(POD))
seq(
    "eviction: of another incarnation",
    MADE,
    runs(),
    evict(preconditions={"uid": "00000000-0000-4000-8000-000000000000"}),
    get(POD),
)
seq(
    "eviction: of this version",
    MADE,
    runs(),
    evict(preconditions={"resourceVersion": "$rv"}),
    get(POD),
)
seq(
    "eviction: of an older version",
    MADE,
    runs(),
    evict(preconditions={"resourceVersion": "1"}),
    get(POD),
)
seq(
    "eviction: of an older version, in a dry run",
    MADE,
    runs(),
    evict(preconditions={"resourceVersion": "1"}, dryRun=["All"]),
    get(POD),
)
seq("eviction: only tried, by its options", MADE, runs(), evict(dryRun=["All"]), get(POD))
seq("eviction: only tried, by the query", MADE, runs(), evict(query={"dryRun": "All"}), get(POD))
seq("eviction: with another name in the body", MADE, evict("b"))
seq(
    "eviction: without a name in the body",
    MADE,
    post(EVICTION, {"apiVersion": "policy/v1", "kind": "Eviction"}),
)
seq(
    "eviction: of another version of the group",
    MADE,
    post(EVICTION, {"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "a"}}),
)
seq(
    "eviction: with a body of another kind",
    MADE,
    post(EVICTION, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}),
)
seq("eviction: with an empty body", MADE, post(EVICTION, {}))
seq("eviction: read", MADE, get(EVICTION))

seq(
    "eviction: the last that a budget allows",
    budget(),
    MADE,
    runs(),
    counted(1, 2),
    evict(),
    get(BUDGET),
)
seq(
    "eviction: one of several that a budget allows",
    budget(),
    MADE,
    runs(),
    counted(2, 3),
    evict(),
    get(BUDGET),
)
seq(
    "eviction: a budget is not spent by a dry run",
    budget(),
    MADE,
    runs(),
    counted(1, 2),
    evict(dryRun=["All"]),
    get(BUDGET),
)
seq(
    "eviction: a budget that allows none refuses a dry run, too",
    budget(),
    MADE,
    runs(),
    counted(0),
    evict(dryRun=["All"]),
)
seq(
    "eviction: a budget with another selector",
    budget(selector={"matchLabels": {"app": "b"}}),
    MADE,
    runs(),
    evict(),
)
seq("eviction: a budget for all pods", budget(selector={}), MADE, runs(), counted(0), evict())
seq(
    "eviction: a budget with a selector of expressions",
    budget(selector={"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]}),
    MADE,
    runs(),
    counted(0),
    evict(),
)
seq(
    "eviction: a budget whose sync failed",
    budget(),
    MADE,
    runs(),
    counted(0, **denied("SyncFailed", "no controllers found")),
    evict(),
)
seq(
    "eviction: a budget with healthy pods to spare that allows none",
    budget(),
    MADE,
    runs(),
    counted(0, 3, 1),
    evict(),
)
seq(
    "eviction: a budget that says why it allows none",
    budget(),
    MADE,
    runs(),
    counted(0, 3, 1, **denied("InsufficientPods", "too few")),
    evict(),
)
seq(
    "eviction: a budget whose counts are as they were",
    budget(),
    MADE,
    runs(),
    counted(0, 1, 1, **denied("InsufficientPods", "too few")),
    evict(),
)
seq(
    "eviction: a budget that has been changed since",
    budget(),
    MADE,
    runs(),
    counted(1),
    merge(BUDGET, {"spec": {"minAvailable": 2}}),
    evict(),
)
seq(
    "eviction: a pod that is not ready, with a budget that is met",
    budget(),
    MADE,
    runs(False),
    counted(0, 1, 1),
    evict(),
    get(BUDGET),
)
seq(
    "eviction: a pod that is not ready, with a budget that is not met",
    budget(),
    MADE,
    runs(False),
    counted(0, 0, 1),
    evict(),
)
seq(
    "eviction: a pod that is not ready, with a budget that wants none",
    budget(minAvailable=0),
    MADE,
    runs(False),
    counted(0, 0, 0),
    evict(),
)
seq(
    "eviction: a pod that is not ready may always go",
    budget(unhealthyPodEvictionPolicy="AlwaysAllow"),
    MADE,
    runs(False),
    counted(0, 0, 1),
    evict(),
    get(POD),
)
seq(
    "eviction: a pod that is ready may not, then",
    budget(unhealthyPodEvictionPolicy="AlwaysAllow"),
    MADE,
    runs(),
    counted(0, 0, 1),
    evict(),
)
seq(
    "eviction: a pod that is not ready spends what is allowed",
    budget(),
    MADE,
    runs(False),
    counted(1, 0, 1),
    evict(),
    get(BUDGET),
)
seq(
    "eviction: a budget that was not looked at lets pods go that are not ready",
    budget(),
    MADE,
    runs(False),
    evict(),
)
seq(
    "eviction: two budgets, one of another selector",
    budget(),
    budget("c", {"matchLabels": {"app": "b"}}),
    MADE,
    runs(),
    counted(1, 2),
    evict(),
)
seq(
    "eviction: two budgets do not hold a pod that has failed",
    budget(),
    budget("c"),
    MADE,
    runs(phase="Failed"),
    evict(),
)
seq(
    "eviction: an older version is told after the budget was spent",
    budget(),
    MADE,
    runs(),
    counted(1, 2),
    evict(preconditions={"resourceVersion": "1"}),
    get(BUDGET),
)
