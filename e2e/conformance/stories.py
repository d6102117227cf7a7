"""What the DaemonSet controller, the scheduler, the garbage collector and the controllers of
budgets and jobs make of the same objects."""

from conformance.cluster import story
from conformance.steps import daemonset, template

LABELS = {"app": "a"}


def on_story(s, name="a", image="registry.example.com/a:1", pod=None, labels=None, **spec):
    """A DaemonSet for the story's nodes."""
    pod_spec = {"terminationGracePeriodSeconds": 1, "nodeSelector": {"story": s.ns}, **(pod or {})}
    labels = labels or {"app": name}
    d = daemonset(name, **spec)
    d["spec"].update(selector={"matchLabels": labels}, template=template(labels, image, **pod_spec))
    return d


def image(name):
    """A patch of the template: another image."""
    return {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": name}]}}}}


def three(s):
    """Three nodes, and what comes of them."""
    for name in ("n1", "n2", "n3"):
        s.node(name)


def plain_pod(s, name, cpu=None, labels=None, **spec):
    """A pod without an owner."""
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    s.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": labels or LABELS},
            "spec": {
                "terminationGracePeriodSeconds": 1,
                "nodeSelector": {"story": s.ns},
                **spec,
                "containers": [
                    {"name": "main", "image": "registry.example.com/p:1", "resources": resources}
                ],
            },
        }
    )


def configmap(name):
    """A ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


# ---- DaemonSets


@story
def a_pod_on_every_node_that_fits(s):
    """A DaemonSet has a pod on each node that it selects, also on one that comes later, and none
    on others."""
    three(s)
    s.create(on_story(s, pod={"nodeSelector": {"story": s.ns, "gpu": "yes"}}))
    s.settle()
    s.edit_node("n1", {"metadata": {"labels": {"gpu": "yes"}}})
    s.settle()
    s.node("n4", {"gpu": "yes"})
    s.settle()
    s.edit_node("n1", {"metadata": {"labels": {"gpu": "no"}}})
    s.settle()


@story
def pods_that_name_a_runtime_class(s):
    """Pods that name a RuntimeClass are refused until it is there."""
    three(s)
    s.create(on_story(s, pod={"runtimeClassName": s.ns}))
    s.settle()
    s.both(
        lambda c: c.create(
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": s.ns},
                "handler": "runc",
            }
        )
    )
    s.edit("DaemonSet", "a", {"metadata": {"annotations": {"example.com/look": "again"}}})
    s.settle()


@story
def a_rolling_update(s):
    """RollingUpdate replaces all pods, and history has both templates."""
    three(s)
    s.create(on_story(s))
    s.settle()
    s.edit("DaemonSet", "a", image("registry.example.com/a:2"))
    s.settle()
    s.edit("DaemonSet", "a", image("registry.example.com/a:1"))
    s.settle()


@story
def a_rolling_update_with_more_at_once(s):
    """Two at once, and new pods before old ones go, end in the same."""
    three(s)
    s.create(
        on_story(
            s, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "67%"}}
        )
    )
    s.create(
        on_story(
            s,
            "b",
            updateStrategy={
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
            },
        )
    )
    s.settle()
    s.edit("DaemonSet", "a", image("registry.example.com/a:2"))
    s.edit("DaemonSet", "b", image("registry.example.com/a:2"))
    s.settle()


@story
def an_update_whose_image_is_missing(s):
    """A rolling update stops at the first pod that does not get ready; the way back heals it."""
    three(s)
    s.create(on_story(s))
    s.settle()
    s.edit("DaemonSet", "a", image("registry.example.com/missing:1"))
    s.settle(anywhere=True)
    s.edit("DaemonSet", "a", image("registry.example.com/a:1"))
    s.settle(anywhere=True)


@story
def updates_on_delete(s):
    """OnDelete leaves old pods until a user deletes them."""
    three(s)
    s.create(on_story(s, updateStrategy={"type": "OnDelete"}))
    s.settle()
    s.edit("DaemonSet", "a", image("registry.example.com/a:2"))
    s.settle()
    s.delete_pods_on("n2")
    s.settle()
    s.edit("DaemonSet", "a", image("registry.example.com/a:3"))
    s.delete_pods_on("n1")
    s.settle()
    s.edit("DaemonSet", "a", {"spec": {"updateStrategy": {"type": "RollingUpdate"}}})
    s.settle()


@story
def a_short_history(s):
    """Only so many old templates are remembered as the DaemonSet says, and those that pods have."""
    s.node("n1")
    s.node("n2")
    s.create(on_story(s, revisionHistoryLimit=1))
    for i in (2, 3, 4):
        s.settle()
        s.edit("DaemonSet", "a", image(f"registry.example.com/a:{i}"))
    s.settle()
    s.edit(
        "DaemonSet",
        "a",
        {
            "spec": {
                "updateStrategy": {"type": "OnDelete", "rollingUpdate": None},
                "revisionHistoryLimit": 0,
            }
        },
    )
    s.edit("DaemonSet", "a", image("registry.example.com/a:5"))
    s.delete_pods_on("n1")
    s.settle()


@story
def a_change_beside_the_template(s):
    """What is not in the template makes no revision."""
    s.node("n1")
    s.create(on_story(s))
    s.settle()
    s.edit("DaemonSet", "a", {"metadata": {"labels": {"x": "y"}}, "spec": {"minReadySeconds": 1}})
    s.settle()


@story
def taints_and_tolerations(s):
    """A taint keeps pods away that do not tolerate it; those that are there stay, unless it says
    NoExecute."""
    three(s)
    s.edit_node("n1", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}})
    s.create(on_story(s))
    s.create(on_story(s, "b", pod={"tolerations": [{"key": "a", "operator": "Exists"}]}))
    s.settle()
    s.edit_node("n2", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}})
    s.settle()
    s.edit_node("n3", {"spec": {"taints": [{"key": "a", "value": "v", "effect": "NoExecute"}]}})
    s.settle()
    s.edit_node("n1", {"spec": {"taints": []}})
    s.settle()


@story
def affinity(s):
    """Node affinity with each operator."""
    for i, speed in enumerate(("1", "5", "10"), 1):
        s.node(f"n{i}", {"speed": speed, **({"old": "yes"} if i == 2 else {})})
    rows = {
        "in": ("speed", "In", ["1", "10"]),
        "not-in": ("speed", "NotIn", ["1"]),
        "exists": ("old", "Exists", None),
        "absent": ("old", "DoesNotExist", None),
        "more": ("speed", "Gt", ["4"]),
        "less": ("speed", "Lt", ["5"]),
    }
    for name, (key, operator, values) in rows.items():
        expression = {"key": key, "operator": operator, **({"values": values} if values else {})}
        s.create(
            on_story(
                s,
                name,
                pod={
                    "affinity": {
                        "nodeAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [{"matchExpressions": [expression]}]
                            }
                        }
                    }
                },
            )
        )
    terms = [
        {"matchExpressions": [{"key": "speed", "operator": "In", "values": ["1"]}]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [f"{s.ns}-n3"]}]},
    ]
    s.create(
        on_story(
            s,
            "either",
            pod={
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": terms
                        }
                    }
                }
            },
        )
    )
    s.settle()


@story
def a_cordoned_node(s):
    """Pods of DaemonSets go to cordoned nodes, others do not."""
    s.node("n1")
    s.edit_node("n1", {"spec": {"unschedulable": True}})
    s.create(on_story(s))
    plain_pod(s, "p")
    s.settle()
    s.edit_node("n1", {"spec": {"unschedulable": None}})
    s.settle()


@story
def a_daemon_that_asks_for_too_much(s):
    """A pod that fits nowhere waits, and goes with the template that made it."""
    three(s)
    big = on_story(s)
    big["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1000"}}
    s.create(big)
    s.settle()
    s.edit("DaemonSet", "a", image("registry.example.com/a:2"))
    s.settle()


@story
def pods_that_are_deleted_come_again(s):
    """A pod of a DaemonSet that a user deletes is replaced."""
    three(s)
    s.create(on_story(s))
    s.settle()
    s.delete_pods_on("n1")
    s.delete_pods_on("n3")
    s.settle()


@story
def adoption(s):
    """Pods that the selector matches and that have no owner become the DaemonSet's, and those
    that stop to match are let go."""
    s.node("n1")
    s.node("n2")
    plain_pod(s, "stray", nodeName=f"{s.ns}-n1")
    plain_pod(s, "other", labels={"app": "other"}, nodeName=f"{s.ns}-n1")
    s.settle()
    s.create(on_story(s, updateStrategy={"type": "OnDelete"}))
    s.settle()
    s.edit("Pod", "stray", {"metadata": {"labels": {"app": "gone"}}})
    s.settle()


@story
def orphans(s):
    """A DaemonSet that goes alone leaves its pods and its history, and the next one of its kind
    takes them over."""
    s.node("n1")
    s.node("n2")
    s.create(on_story(s))
    s.settle()
    s.delete("DaemonSet", "a", "Orphan")
    s.settle()
    s.create(on_story(s))
    s.settle()


@story
def deletions(s):
    """Deleted in the background or in the foreground, nothing stays."""
    s.node("n1")
    s.create(on_story(s))
    s.create(on_story(s, "b"))
    s.settle()
    s.delete("DaemonSet", "a", "Foreground")
    s.delete("DaemonSet", "b", "Background")
    s.settle()


# ---- the scheduler


@story
def resources(s):
    """Pods go where there is room, wait where there is none, and get the room that others leave."""
    s.node("n1")
    plain_pod(s, "p1", "40")
    s.settle()
    plain_pod(s, "p2", "40")
    plain_pod(s, "p3", "20")
    s.settle()
    s.delete("Pod", "p1")
    s.settle()


@story
def selectors_of_pods(s):
    """A pod waits for a node with its labels, and for one whose taints it tolerates."""
    s.node("n1", taints=[{"key": "a", "effect": "NoSchedule"}])
    plain_pod(
        s,
        "p1",
        nodeSelector={"story": s.ns, "gpu": "yes"},
        tolerations=[{"key": "a", "operator": "Exists"}],
    )
    plain_pod(s, "p2")
    s.settle()
    s.edit_node("n1", {"metadata": {"labels": {"gpu": "yes"}}})
    s.settle()
    s.edit_node("n1", {"spec": {"taints": None}})
    s.settle()


# ---- the garbage collector


@story
def chains_of_owners(s):
    """What is owned goes with its owner, and what it owns, too."""
    s.create(configmap("a"))
    s.create_owned(configmap("b"), ("ConfigMap", "a", False))
    s.create_owned(configmap("c"), ("ConfigMap", "b", True))
    s.settle()
    s.delete("ConfigMap", "a")
    s.settle()


@story
def several_owners(s):
    """What has another owner stays; the last one takes it along."""
    s.create(configmap("a"))
    s.create(configmap("b"))
    s.create_owned(configmap("c"), ("ConfigMap", "a", True), ("ConfigMap", "b", True))
    s.settle()
    s.delete("ConfigMap", "a")
    s.settle()
    s.delete("ConfigMap", "b", "Foreground")
    s.settle()


@story
def what_blocks_a_foreground_deletion(s):
    """An owner waits for what blocks it, and that for its finalizer."""
    s.create(configmap("a"))
    s.create_owned(
        {**configmap("b"), "metadata": {"name": "b", "finalizers": ["example.com/x"]}},
        ("ConfigMap", "a", True),
    )
    s.delete("ConfigMap", "a", "Foreground")
    s.settle()
    s.edit("ConfigMap", "b", {"metadata": {"finalizers": None}})
    s.settle()


@story
def what_is_left_by_an_orphaning(s):
    """Orphans lose the owner that went, and keep the other."""
    s.create(configmap("a"))
    s.create(configmap("b"))
    s.create_owned(configmap("c"), ("ConfigMap", "a", True), ("ConfigMap", "b", False))
    s.delete("ConfigMap", "a", "Orphan")
    s.settle()


@story
def owners_that_never_were(s):
    """What names an owner that is not there goes."""
    s.create(
        {
            **configmap("a"),
            "metadata": {
                "name": "a",
                "ownerReferences": [
                    {
                        "apiVersion": "v1",
                        "kind": "ConfigMap",
                        "name": "none",
                        "uid": "00000000-0000-4000-8000-000000000000",
                    }
                ],
            },
        }
    )
    s.settle()


# ---- budgets and jobs


def budget(name, **spec):
    """A PodDisruptionBudget for pods without an owner."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": LABELS}, **spec},
    }


@story
def what_a_budget_counts(s):
    """A budget counts ready pods, and what may go."""
    s.node("n1")
    s.create(budget("b", minAvailable=1))
    s.settle()
    for name in ("p1", "p2"):
        plain_pod(s, name)
    s.settle()
    s.edit("PodDisruptionBudget", "b", {"spec": {"minAvailable": 2}})
    s.settle()
    plain_pod(s, "p3", labels={"app": "other"})
    s.delete("Pod", "p1")
    s.settle()


@story
def evictions(s):
    """An eviction that the budget allows takes the pod, the next one is refused until there is
    another."""
    s.node("n1")
    s.create(budget("b", maxUnavailable=None, minAvailable=2))
    for name in ("p1", "p2", "p3"):
        plain_pod(s, name)
    s.settle()
    s.evict("p1")
    s.settle()
    s.evict("p2")
    s.settle()
    plain_pod(s, "p4")
    s.settle()
    s.evict("p2")
    s.settle()


@story
def a_budget_for_a_daemonset(s):
    """A number of pods that must be there can be kept of a DaemonSet; a share cannot be worked
    out."""
    three(s)
    s.create(on_story(s))
    s.create(budget("number", minAvailable=2))
    s.settle()
    s.edit("PodDisruptionBudget", "number", {"spec": {"minAvailable": "50%"}})
    s.settle()


@story
def a_job(s):
    """A job runs its pods to their ends."""
    s.node("n1")
    pod = template(
        {}, "registry.example.com/job:1", restartPolicy="Never", nodeSelector={"story": s.ns}
    )
    pod["metadata"]["annotations"] = {"test.ostler.dev/complete": "yes"}
    s.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "j"},
            "spec": {"completions": 3, "parallelism": 2, "template": pod},
        }
    )
    s.settle()
    s.delete("Job", "j")
    s.settle()


@story
def a_job_that_waits(s):
    """A job whose pods find no node is active, and its pods go with it."""
    pod = template(
        {}, "registry.example.com/job:1", restartPolicy="Never", nodeSelector={"story": "none"}
    )
    s.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "j"},
            "spec": {"template": pod},
        }
    )
    s.settle()
    s.delete("Job", "j", "Foreground")
    s.settle()
