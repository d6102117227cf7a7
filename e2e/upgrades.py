"""What tests of upgrades do and wait for: fleets, another version, pods with GPUs, a phase that
is old."""

import json
import time
import uuid

import kube
from names import APPROVED, CLAIM, DRIVER, OPERANDS
from rollouts import ago, claim_of, closed, phase_of

OLD, NEW = "570.124.06", "580.178.04"
# No canary: what every test but its own would only wait for.
AT_ONCE = {"canary": {"nodes": 0}}
ALL_AT_ONCE = {"maxParallel": "100%", "maxUnavailable": "100%"}
# Two operands, so that nodes come and go fast; a change of the driver moves both.
LIGHT = {"toolkit": {"enabled": False}, "exporter": {"enabled": False}}
# The driver alone, for many nodes.
LIGHTEST = {**LIGHT, "devicePlugin": {"enabled": False}, "validation": {"enabled": False}}


def spec_of(version=OLD, **rollout):
    """A policy's spec with a driver version."""
    return {"driver": {"version": version}, "rollout": {**AT_ONCE, **rollout}}


def fleet(env, nodes, spec=None, each=None, **rollout):
    """A policy and nodes that run the old version, which is known to be good by then. Returns
    the nodes' names.

    nodes: how many, or the ends of their names. spec: more of the policy. each(end of the name):
    more of a node, as kube.node() has it.
    """
    ends = [f"n{i}" for i in range(nodes)] if isinstance(nodes, int) else nodes
    names = [env.node(end, "nfd", images=2, **(each(end) if each else {})) for end in ends]
    env.policy({**spec_of(**rollout), **(spec or {})})
    wait_runs(env, None, *names, timeout=20 + len(names) / 4)
    env.wait(
        lambda: is_known_good(env, env.labels(names[0])[DRIVER]),
        what="the old version is known to be good",
    )
    return names


def is_known_good(env, revision):
    """Whether the status says that a rollout of the driver's revision was completed."""
    targets = [t for p in env.get_policy()["status"].get("pools", []) for t in p.get("targets", [])]
    return any(t["revision"] == f"driver-{revision}" and t["knownGood"] for t in targets)


def upgrade(env, version=NEW, **rollout):
    """Another driver version."""
    env.edit({"driver": {"version": version}, **({"rollout": rollout} if rollout else {})})


# ---- what is to be seen


def rollout_says(env, reason, *parts, timeout=15):
    """Waits until the status gives that reason for why nothing more happens, with those words in
    its sentence."""

    def says():
        rollout = env.get_policy()["status"].get("rollout", {})
        fits = rollout.get("reason") == reason and all(
            p in rollout.get("message", "") for p in parts
        )
        return rollout if fits else str(rollout)

    return env.wait(says, timeout, f"the rollout says {reason} {parts}")


def wait_said(env, node, *parts, timeout=10):
    """Waits until the node's report says that it is for this reason, or says these words in its
    sentence."""

    def said():
        status = (env.k.get("GpuNode", node) or {}).get("status", {})
        text = f"{status.get('reason')}: {status.get('message')}"
        return all(p in text for p in parts) or text

    env.wait(said, timeout, f"the report of {node} says {parts}")


def is_in_service(env, node):
    """Whether neither a claim nor its taint is on the node."""
    found = env.get_node(node)
    return claim_of(found) is None and not closed(found)


def _runs(node, pods, version):
    drivers = [
        p for p in pods if p["metadata"]["labels"].get("app.kubernetes.io/component") == "driver"
    ]
    return (
        node is not None
        and claim_of(node) is None
        and not closed(node)
        and DRIVER in node["metadata"]["labels"]
        and len(drivers) == 1
        and all(kube.pod_ready(p) for p in pods)
        and (version is None or f":{version}-" in drivers[0]["spec"]["containers"][0]["image"])
    )


def behind(env, version, nodes):
    """Which of these nodes are not in service with that driver version and all operands (None:
    with any)."""
    pods = {}
    for pod in env.k.list("Pod", OPERANDS, labels="app.kubernetes.io/component"):
        pods.setdefault(pod["spec"].get("nodeName"), []).append(pod)
    there = {n["metadata"]["name"]: n for n in env.k.list("Node")}
    return {
        n: phase_of(there[n]) if n in there else "gone"
        for n in nodes
        if not _runs(there.get(n), pods.get(n, []), version)
    }


def runs(env, node, version):
    """Whether the node is in service with that driver version."""
    return not behind(env, version, [node])


def wait_runs(env, version, *nodes, timeout=20):
    """Waits until these nodes are in service with that driver version."""
    env.wait(
        lambda: (lambda late: not late or str(late))(behind(env, version, nodes)),
        timeout,
        f"{nodes} run {version}",
        every=0.1 if len(nodes) < 10 else 0.4,
    )


def wait_phase(env, node, *phases, timeout=15):
    """Waits until the node's claim is in one of these phases."""
    env.wait(
        lambda: phase_of(env.get_node(node)) in phases or str(phase_of(env.get_node(node))),
        timeout,
        f"{node} is {phases}",
    )


def uid_of(env, pod):
    """The pod's uid, or None where it is gone."""
    return (env.k.get("Pod", pod, "default") or {"metadata": {}})["metadata"].get("uid")


def assert_end(env, version, nodes, timeout=20):
    """All nodes in service with the version, nothing left over, no node under way."""
    wait_runs(env, version, *nodes, timeout=timeout)
    rollout_says(env, "UpToDate")
    env.wait_policy("AllNodesReady")
    env.wait(lambda: len(env.daemonsets("driver")) == 1, what="one driver DaemonSet")
    late = behind(env, version, nodes)
    assert not late, f"out of service again: {late}"


# ---- what people do


def set_on_node(env, node, **metadata):
    """A person's edit of a node's labels or annotations; None takes one off."""
    env.k.merge_patch("Node", node, {"metadata": metadata})


def cordon(env, node, so=True):
    """A person cordons a node, or uncordons it."""
    env.k.merge_patch("Node", node, {"spec": {"unschedulable": so or None}})


def approve(env, plan):
    """A person approves a plan."""
    env.k.merge_patch(
        "GpuClusterPolicy", "default", {"metadata": {"annotations": {APPROVED: plan}}}
    )


def end_job(env, pod):
    """A job's pod comes to its end."""
    env.k.merge_patch(
        "Pod", pod, {"metadata": {"annotations": {"test.ostler.dev/complete": "true"}}}, "default"
    )


# ---- proofs

# The version of a proof whose pod does not come to its end by itself; end_proof() gives it one.
OPEN_PROOF = {"version": "vectoradd-slow"}


def wait_proof(env, node):
    """Waits until the pod of OPEN_PROOF that proves the node is bound to it, and returns its
    name. No other counts."""
    proof = f"ostler-proof-{node}"

    def waits():
        spec = (env.k.get("Pod", proof, OPERANDS) or {"spec": {}})["spec"]
        return spec.get("nodeName") == node and any(
            c["image"].endswith(OPEN_PROOF["version"]) for c in spec["containers"]
        )

    env.wait(waits, what=f"the proof of {node} waits")
    return proof


def end_task(env, pod, container, code, message):
    """A pod that does one task comes to its end, with that exit code and these last words."""
    end = {
        "exitCode": code,
        "reason": "Error" if code else "Completed",
        "message": message,
        "startedAt": ago(0),
        "finishedAt": ago(0),
    }
    ended = {
        "name": container,
        "image": "x",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": end},
    }
    status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [ended]}
    env.k.merge_patch("Pod", pod, {"status": status}, OPERANDS, subresource="status")


def end_proof(env, proof, code, message):
    """The same for a proof's pod."""
    end_task(env, proof, "proof", code, message)


# ---- other people's pods


def workload(env, kind, node, pod_spec=None, group="apps/v1", **spec):
    """An object that makes one pod, which uses a GPU of that node and no other; None: one pod by
    itself. Returns the pod's name."""
    app = f"{kind.lower()}-{node}"
    template = {
        "metadata": {"labels": {"app": app}},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": node},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
            "containers": [
                {
                    "name": "cuda",
                    "image": "registry.example.com/cuda:1",
                    "resources": {"limits": {"nvidia.com/gpu": "1"}},
                }
            ],
            **(pod_spec or {}),
        },
    }
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": app}}}
    env.create(
        {
            "apiVersion": group,
            "kind": kind,
            "metadata": {"name": app, "namespace": "default"},
            "spec": {**selector, "template": template, **spec},
        }
    )
    return env.wait(
        lambda: [
            p["metadata"]["name"]
            for p in env.k.list("Pod", "default", labels=f"app={app}")
            if kube.pod_ready(p)
        ],
        15,
        f"{app} runs",
    )[0]


def service(env, node, **more):
    """A Deployment with one pod, which uses a GPU of that node and no other. Returns the name of
    its pod."""
    return workload(env, "Deployment", node, more)


def budget(env, node, kind="deployment"):
    """A PodDisruptionBudget that lets no pod of that service go. Returns its name."""
    app = f"{kind}-{node}"
    env.create(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": app, "namespace": "default"},
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": app}}},
        }
    )
    env.wait(
        lambda: env.k.get("PodDisruptionBudget", app, "default")
        .get("status", {})
        .get("expectedPods")
        == 1,
        15,
        "the budget counts",
    )
    return app


# ---- what machines do


def go_down(env, node):
    """A node's kubelet stops reporting."""
    set_on_node(env, node, annotations={"test.ostler.dev/down": "true"})
    condition = {
        "type": "Ready",
        "status": "Unknown",
        "reason": "NodeStatusUnknown",
        "lastTransitionTime": ago(0),
    }
    env.k.strategic_patch(
        "Node", node, {"status": {"conditions": [condition]}}, subresource="status"
    )


def come_back(env, node):
    """The kubelet is heard of again."""
    set_on_node(env, node, annotations={"test.ostler.dev/down": None})


def reboot(env, node):
    """The node goes down and comes back with another boot; all of its containers were started
    anew meanwhile."""
    go_down(env, node)
    env.k.merge_patch(
        "Node", node, {"status": {"nodeInfo": {"bootID": str(uuid.uuid4())}}}, subresource="status"
    )
    for pod in [p for p in env.pods(node) if kube.pod_ready(p)]:
        for ready in ("False", "True"):
            statuses = [
                {**c, "ready": ready == "True", "restartCount": 1}
                for c in pod["status"]["containerStatuses"]
            ]
            conditions = [
                (
                    {**c, "status": ready, "lastTransitionTime": ago(0)}
                    if c["type"] in ("Ready", "ContainersReady")
                    else c
                )
                for c in pod["status"]["conditions"]
            ]
            env.k.merge_patch(
                "Pod",
                pod["metadata"]["name"],
                {"status": {"containerStatuses": statuses, "conditions": conditions}},
                OPERANDS,
                subresource="status",
            )
    come_back(env, node)


# ---- time


def old_news(env, *nodes):
    """Makes nodes ready since an hour ago, so that a phase's time is not cut short by how young
    a test's nodes are."""
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": ago(3600)}
    for node in nodes:
        env.k.strategic_patch(
            "Node", node, {"status": {"conditions": [condition]}}, subresource="status"
        )


def try_of(node):
    """What tells one try of an upgrade from the next, or from the way back."""
    claim = claim_of(node)
    return claim and [claim[key] for key in ("kind", "attempt", "driver", "stack")]


def age(env, node, seconds, meant):
    """Makes the phase of a node's claim that old, of the try that is meant; what Ostler writes
    at the same moment stays.

    Returns whether there was anything to do.
    """
    found = env.get_node(node)
    claim = claim_of(found)
    if claim is None or claim["phase"] == "Failed" or try_of(found) != meant:
        return False
    claim["since"] = ago(seconds)
    try:
        env.k.merge_patch(
            "Node",
            node,
            {
                "metadata": {
                    "resourceVersion": found["metadata"]["resourceVersion"],
                    "annotations": {CLAIM: json.dumps(claim)},
                }
            },
        )
    except kube.ApiError as e:
        if e.code != 409:
            raise
    return True


def news(env, nodes):
    """Something is heard of nodes and all kinds of pods, as kubelets see to it:
    what was not heard of for a while is not judged."""
    tick = {"metadata": {"annotations": {"test.ostler.dev/tick": str(time.time())}}}
    if not env.k.get("Pod", "news", OPERANDS):
        env.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": "news",
                    "namespace": OPERANDS,
                    "labels": {"ostler.dev/task": "none"},
                },
                "spec": {
                    "schedulerName": "none",
                    "containers": [{"name": "c", "image": "registry.example.com/c:1"}],
                },
            }
        )
    for pod in ["news"] + [p["metadata"]["name"] for n in nodes for p in env.pods(n, "driver")]:
        env.k.merge_patch("Pod", pod, tick, OPERANDS)


def run_out(env, *nodes, timeout=100):
    """Lets the time of the nodes' present phases run out, until it was noticed.

    An Ostler that has not watched for longer than a step's timeout, the least of which is a
    minute, waits for that.
    """
    old_news(env, *nodes)
    began, meant = time.time(), {n: try_of(env.get_node(n)) for n in nodes}

    def noticed():
        news(env, nodes)
        left = [n for n in nodes if age(env, n, 3600 + int(time.time() - began), meant[n])]
        return not left or str(left)

    env.wait(noticed, timeout, f"the time of {nodes} is over", every=0.5)
