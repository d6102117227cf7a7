"""13. Another version reaches nodes that run one: node by node, as spec.rollout says, and never from under somebody's job."""

import json
import random
import time

import kube
from harness import contains, equal, test
from names import APPROVED, CLAIM, DRIVER, HOLD, MANAGED, OPERANDS, STACK
from rollouts import AT_WORK, Drivers, Ways, ago, claim_of, closed, phase_of

OLD, NEW, BAD = "570.124.06", "580.95.05", "580.95.06-missing"
# No canary: what every test but its own would only wait for.
AT_ONCE = {"canary": {"nodes": 0}}


def spec_of(version=OLD, **rollout):
    """A policy's spec with a driver version."""
    return {"driver": {"version": version}, "rollout": {**AT_ONCE, **rollout}}


def fleet(env, count, **rollout):
    """A policy and nodes that run the old version, which is known to be good by then. Returns the nodes' names."""
    names = [env.node(f"n{i}", "nfd") for i in range(count)]
    env.policy(spec_of(**rollout))
    env.wait_serving(*names, timeout=20)
    env.wait(lambda: is_known_good(env, env.labels(names[0])[DRIVER]), what="the old version is known to be good")
    return names


def is_known_good(env, revision):
    """Whether the status says that a rollout of the driver's revision was completed."""
    targets = [t for p in env.get_policy()["status"].get("pools", []) for t in p.get("targets", [])]
    return any(t["revision"] == f"driver-{revision}" and t["knownGood"] for t in targets)


def upgrade(env, version=NEW):
    """Another driver version."""
    env.edit({"driver": {"version": version}})


def rollout_says(env, reason, *parts, timeout=15):
    """Waits until the status gives that reason for why nothing more happens, with those words in its sentence."""
    def says():
        rollout = env.get_policy()["status"].get("rollout", {})
        fits = rollout.get("reason") == reason and all(p in rollout.get("message", "") for p in parts)
        return rollout if fits else str(rollout)
    return env.wait(says, timeout, f"the rollout says {reason} {parts}")


def is_in_service(env, node):
    """Whether neither a claim nor its taint is on the node."""
    found = env.get_node(node)
    return claim_of(found) is None and not closed(found)


def runs(env, node, version):
    """Whether the node is in service with that driver version."""
    drivers = env.pods(node, "driver")
    return (is_in_service(env, node) and len(drivers) == 1 and kube.pod_ready(drivers[0])
            and f":{version}-" in drivers[0]["spec"]["containers"][0]["image"])


def wait_runs(env, version, *nodes, timeout=20):
    """Waits until these nodes are in service with that driver version."""
    env.wait(lambda: [n for n in nodes if not runs(env, n, version)] == [] or
             str({n: phase_of(env.get_node(n)) for n in nodes}), timeout, f"{nodes} run {version}")


def wait_phase(env, node, *phases, timeout=15):
    """Waits until the node's claim is in one of these phases."""
    env.wait(lambda: phase_of(env.get_node(node)) in phases or str(phase_of(env.get_node(node))), timeout, f"{node} is {phases}")


def wait_begun(env, *nodes):
    """Waits until one of the nodes is being changed, and returns its name."""
    return env.wait(lambda: next(([n] for n in nodes if phase_of(env.get_node(n)) in AT_WORK), None), 15, "one is being changed")[0]


def set_on_node(env, node, **metadata):
    """A person's edit of a node's labels or annotations; None takes one off."""
    env.k.merge_patch("Node", node, {"metadata": metadata})


def service(env, node):
    """A Deployment with one pod, which uses a GPU of that node and no other. Returns the name of its pod."""
    app = f"serve-{node}"
    env.create({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": app, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}, "template": {
            "metadata": {"labels": {"app": app}},
            "spec": {"nodeSelector": {"kubernetes.io/hostname": node}, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                     "containers": [{"name": "serve", "image": "registry.example.com/serve:1",
                                     "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}}})
    return env.wait(lambda: [p["metadata"]["name"] for p in env.k.list("Pod", "default", labels=f"app={app}") if kube.pod_ready(p)],
                    15, f"{app} runs")[0]


def budget(env, node):
    """A PodDisruptionBudget that lets no pod of that service go. Returns its name."""
    app = f"serve-{node}"
    env.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": app, "namespace": "default"},
                "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": app}}}})
    env.wait(lambda: env.k.get("PodDisruptionBudget", app, "default").get("status", {}).get("expectedPods") == 1, 15, "the budget counts")
    return app


def approve(env, plan):
    """A person approves a plan."""
    env.k.merge_patch("GpuClusterPolicy", "default", {"metadata": {"annotations": {APPROVED: plan}}})


def uid_of(env, pod):
    """The pod's uid, or None where it is gone."""
    return (env.k.get("Pod", pod, "default") or {"metadata": {}})["metadata"].get("uid")


def assert_end(env, version, nodes):
    """All nodes in service with the version, nothing left over, nobody at work."""
    wait_runs(env, version, *nodes)
    rollout_says(env, "UpToDate")
    env.wait_policy("AllNodesReady")
    env.wait(lambda: len(env.daemonsets("driver")) == 1, what="one driver DaemonSet")
    equal([n for n in nodes if not is_in_service(env, n)], [], "nodes out of service")


@test
def one_node_at_a_time(env):
    """A new driver version reaches six nodes: the canary first, one at a time, each through every phase; then it is known good."""
    nodes = fleet(env, 6, canary={"nodes": 1, "soak": "2s"})
    old = env.labels(nodes[0])[DRIVER]
    with Ways(env) as ways:
        upgrade(env)
        first = wait_begun(env, *nodes)
        rollout_says(env, "Soaking", timeout=10)
        equal([n for n in nodes if n != first and ways.way[n] != [None]], [], "nodes that went before the canary was tried")
        assert_end(env, NEW, nodes)
    new = env.labels(nodes[0])[DRIVER]
    for node in nodes:
        way = [p for p in ways.way[node] if p != "Validating"]
        equal(way, [None, "Draining", "Unloading", "Installing", None], f"the way of {node}")
        equal([d for d, _ in ways.labels[node]], [old, old, None, new, new][:len(ways.labels[node])], f"drivers of {node}")
    assert is_known_good(env, new), "the new version is not known to be good"


@test
def half_of_them_at_a_time(env):
    """maxParallel of 50 % takes three of six nodes at the same time, and not one more."""
    nodes = fleet(env, 6, maxParallel="50%", maxUnavailable="50%")
    with Ways(env, most=3) as ways:
        upgrade(env)
        assert_end(env, NEW, nodes)
    equal((ways.at_once, ways.out_at_once), (3, 3), "nodes that were changed, and closed, at the same time")


@test
def pod_is_evicted_and_comes_back(env):
    """A service's pod leaves through the eviction API, is not placed on the closed node, and comes back when the node does."""
    (node,) = fleet(env, 1)
    pod = service(env, node)
    with Ways(env):
        upgrade(env)
        wait_runs(env, NEW, node)
    equal(uid_of(env, pod), None, "the old pod")
    env.wait(lambda: [p for p in env.k.list("Pod", "default", labels=f"app=serve-{node}") if kube.pod_ready(p)], 15, "it serves again")
    equal([str(r) for r in env.requests(verb="delete", resource="pods")], [], "pods that were deleted, not evicted")


@test
def disruption_budget_holds_a_node_up(env):
    """A budget that allows nothing keeps its pod and its node; pod and node are named; once it allows, the rollout goes on."""
    (node,) = fleet(env, 1)
    pod = service(env, node)
    uid, name = uid_of(env, pod), budget(env, node)
    driver = env.pod_uids("driver", node)
    with Ways(env):
        upgrade(env)
        wait_phase(env, node, "Draining")
        env.wait(lambda: env.requests(verb="create", resource="pods/eviction", where=lambda r: r.code == 429), what="a refusal")
        env.wait(lambda: pod in str(env.get_policy()["status"].get("firstCauses")), what="the pod is named")
        env.stays(lambda: uid_of(env, pod) == uid and env.pod_uids("driver", node) == driver, 2, "pod and driver")
        env.k.merge_patch("PodDisruptionBudget", name, {"spec": {"maxUnavailable": 1}}, "default")
        assert_end(env, NEW, [node])


@test
def jobs_run_to_their_end(env):
    """A node with a job waits closed while others go on; nothing of it is touched; when the job is over, the node goes too."""
    nodes = fleet(env, 3, maxUnavailable="100%")
    busy, idle = nodes[1], [nodes[0], nodes[2]]
    pod = env.gpu_pod("job", busy)
    uid, driver = uid_of(env, pod), env.pod_uids("driver", busy)
    with Ways(env) as ways:
        upgrade(env)
        wait_runs(env, NEW, *idle)
        wait_phase(env, busy, "Waiting")
        rollout_says(env, "WaitingForJobs", busy)
        env.stays(lambda: uid_of(env, pod) == uid and env.pod_uids("driver", busy) == driver, 2, "job and driver")
        equal([str(r) for r in env.requests(verb="create", resource="pods/eviction")], [], "evictions")
        env.k.merge_patch("Pod", pod, {"metadata": {"annotations": {"test.ostler.dev/complete": "true"}}}, "default")
        assert_end(env, NEW, nodes)
    equal(uid_of(env, pod), uid, "the job's pod")
    equal([p for p in ways.way[busy] if p != "Validating"], [None, "Waiting", "Draining", "Unloading", "Installing", None], "its way")


@test
def bare_pod_is_reported(env):
    """A pod that nobody would make again is not sent away but named, with what to do; deleted by a person, the node goes on."""
    (node,) = fleet(env, 1)
    pod = env.gpu_pod("bare", node, restart="Always")
    with Ways(env):
        upgrade(env)
        env.wait(lambda: f"{pod} (no controller would make it again" in str(env.get_policy()["status"].get("firstCauses")) or
                 str(env.get_policy()["status"].get("firstCauses")), what="the pod is named")
        env.stays(lambda: uid_of(env, pod), 2, "the bare pod")
        env.k.delete("Pod", pod, "default", grace=0)
        assert_end(env, NEW, [node])


@test
def held_and_cordoned_nodes_are_left(env):
    """Nodes that a person holds or has cordoned are skipped, and said so; freed, they follow; spec.unschedulable stays a person's."""
    held, cordoned, free = fleet(env, 3, maxUnavailable="100%")
    set_on_node(env, held, labels={HOLD: "true"})
    env.k.merge_patch("Node", cordoned, {"spec": {"unschedulable": True}})
    with Ways(env, cordoned=[cordoned]) as ways:
        upgrade(env)
        wait_runs(env, NEW, free)
        rollout_says(env, "NodesSkipped", "2 nodes are skipped")
        equal([ways.way[n] for n in (held, cordoned)], [[None], [None]], "ways of the skipped nodes")
        set_on_node(env, held, labels={HOLD: None})
        wait_runs(env, NEW, held)
        equal(env.get_node(cordoned)["spec"].get("unschedulable"), True, "a person's cordon")
        env.k.merge_patch("Node", cordoned, {"spec": {"unschedulable": None}})
        assert_end(env, NEW, [held, cordoned, free])


@test
def drain_is_called_back(env):
    """A node that is put on hold while it drains goes back into service as it was."""
    (node,) = fleet(env, 1)
    pod = service(env, node)
    budget(env, node)
    uid, driver = uid_of(env, pod), env.pod_uids("driver", node)
    with Ways(env):
        upgrade(env)
        wait_phase(env, node, "Draining")
        set_on_node(env, node, labels={HOLD: "true"})
        env.wait(lambda: is_in_service(env, node), what="it is in service")
        rollout_says(env, "NodesSkipped", node)
    equal((uid_of(env, pod), env.pod_uids("driver", node)), (uid, driver), "pod and driver")


@test
def claim_that_is_taken_off_gives_the_node_up(env):
    """A person takes the claim off in the middle: the node goes back to what it ran and is left alone; the others follow."""
    nodes = fleet(env, 2, maxUnavailable="100%")
    upgrade(env, "580.95.05-slow")
    with Ways(env):
        node = wait_begun(env, *nodes)
        wait_phase(env, node, "Installing")
        set_on_node(env, node, annotations={CLAIM: None})
        wait_runs(env, OLD, node)
        upgrade(env)
        assert_end(env, NEW, nodes)


@test
def unmanaged_in_the_middle(env):
    """A node that is taken from Ostler in the middle of its upgrade loses claim and taint with all else; the others go on."""
    nodes = fleet(env, 3, maxUnavailable="100%")
    with Ways(env, most=2):  # one that is let go holds no slot any more
        upgrade(env)
        node = wait_begun(env, *nodes)
        set_on_node(env, node, labels={MANAGED: "false"})
        env.wait(lambda: is_in_service(env, node) and not env.pods(node) and not {DRIVER, STACK} & set(env.labels(node)), 15,
                 "nothing of Ostler's is on it")
        rest = [n for n in nodes if n != node]
        wait_runs(env, NEW, *rest)
        set_on_node(env, node, labels={MANAGED: None})
        wait_runs(env, NEW, node)
        env.wait_serving(*nodes)


@test
def paused_and_resumed(env):
    """Paused in the middle: what is under way is finished and no other begins, until it is resumed."""
    nodes = fleet(env, 4)
    with Ways(env):
        upgrade(env)
        wait_begun(env, *nodes)
        env.edit({"rollout": {"paused": True}})
        rollout_says(env, "Paused")
        env.wait(lambda: all(is_in_service(env, n) for n in nodes), what="nobody is under way")
        done = [n for n in nodes if runs(env, n, NEW)]
        assert 0 < len(done) < len(nodes), f"{len(done)} nodes are done"
        env.wait_policy("AllNodesReady")
        env.stays(lambda: all(is_in_service(env, n) for n in nodes), 1, "nobody begins")
        env.edit({"rollout": {"paused": False}})
        assert_end(env, NEW, nodes)


@test
def approval_is_waited_for(env):
    """With approval Manual nothing begins before the plan's hash is approved; another plan needs another approval."""
    (node,) = fleet(env, 1, approval="Manual")
    with Ways(env) as ways:
        upgrade(env, "580.95.05-first")
        first = rollout_says(env, "WaitingForApproval")["plan"]
        upgrade(env)
        second = env.wait(lambda: [p for p in [rollout_says(env, "WaitingForApproval")["plan"]] if p != first], what="another plan")[0]
        approve(env, first)
        rollout_says(env, "WaitingForApproval", "is another one", second)
        equal(ways.way[node], [None], "its way")
        approve(env, second)
        assert_end(env, NEW, [node])


@test
def another_target_in_the_middle(env):
    """The version changes again in the middle of a rollout: every node ends with the last one, none ever has two drivers."""
    nodes = fleet(env, 3, maxUnavailable="100%")
    with Ways(env), Drivers(env):
        upgrade(env, "580.95.05-slow")
        node = wait_begun(env, *nodes)
        wait_phase(env, node, "Installing")
        upgrade(env)
        assert_end(env, NEW, nodes)


@test
def back_to_the_old_version_heals(env):
    """The old version is put back while a node hangs with the new one: that node alone moves, back."""
    nodes = fleet(env, 3)
    with Ways(env) as ways:
        upgrade(env, BAD)
        node = wait_begun(env, *nodes)
        wait_phase(env, node, "Installing")
        upgrade(env, OLD)
        assert_end(env, OLD, nodes)
    equal({n: ways.way[n] for n in nodes if n != node}, {n: [None] for n in nodes if n != node}, "ways of the others")


@test
def stack_change_drains_nobody(env):
    """A new device plugin version: GPU pods and drivers stay, only toolkit and device plugin are replaced, node by node."""
    nodes = fleet(env, 2)
    pods = [env.gpu_pod("job", nodes[0]), service(env, nodes[1])]
    uids, drivers = [uid_of(env, p) for p in pods], env.pod_uids("driver")
    with Ways(env) as ways:
        env.edit({"devicePlugin": {"version": "v0.99.0"}})
        env.wait(lambda: all("v0.99.0" in str(env.pods(n, "device-plugin")) for n in nodes), 20, "the new device plugin runs")
        assert_end(env, OLD, nodes)
    equal(([uid_of(env, p) for p in pods], env.pod_uids("driver")), (uids, drivers), "GPU pods and drivers")
    assert not any("Draining" in way for way in ways.way.values()), f"somebody drained: {ways.way}"


@test
def gpus_are_waited_for(env):
    """A node on which every operand is up, but whose kubelet has no GPUs to give, stays closed until it has."""
    (node,) = fleet(env, 1)
    set_on_node(env, node, annotations={"test.ostler.dev/gpus": "0"})
    with Ways(env):
        upgrade(env)
        wait_phase(env, node, "Validating")
        env.wait(lambda: "no GPUs to give" in str(env.get_policy()["status"].get("firstCauses")), what="it is said")
        env.stays(lambda: closed(env.get_node(node)), 1, "closed")
        env.k.merge_patch("Node", node, {"status": {"allocatable": {"nvidia.com/gpu": "8"}}}, subresource="status")
        assert_end(env, NEW, [node])


@test
def unreadable_claim_moves_nothing(env):
    """A claim that Ostler does not understand is said with the command that helps; taken off, the node is looked after again."""
    nodes = fleet(env, 2, maxUnavailable="100%")
    set_on_node(env, nodes[0], annotations={CLAIM: "mine"})
    upgrade(env)
    wait_runs(env, NEW, nodes[1])
    env.wait(lambda: f"kubectl annotate node {nodes[0]} {CLAIM}-" in str(env.get_policy()["status"].get("firstCauses")), what="it is said")
    contains(env.image(nodes[0], "driver"), OLD, "its driver")
    set_on_node(env, nodes[0], annotations={CLAIM: None})
    assert_end(env, NEW, nodes)


@test
def taint_that_is_taken_off_comes_back(env):
    """The taint of a claimed node is put back: pods must not come while the driver changes."""
    (node,) = fleet(env, 1)
    upgrade(env, "580.95.05-slow")
    wait_phase(env, node, "Installing")
    taints = [t for t in env.get_node(node)["spec"]["taints"] if t["key"] != "ostler.dev/upgrade"]
    env.k.merge_patch("Node", node, {"spec": {"taints": taints}})
    env.wait(lambda: closed(env.get_node(node)), what="the taint is back")
    upgrade(env, OLD)
    assert_end(env, OLD, [node])


@test
def policy_goes_in_the_middle(env):
    """The policy is deleted while a node is being changed and another waits for a job: everything comes off, the job first ends."""
    nodes = fleet(env, 3, maxUnavailable="100%")
    pod = env.gpu_pod("job", nodes[0])
    uid = uid_of(env, pod)
    with Ways(env):
        upgrade(env, "580.95.05-slow")
        wait_phase(env, nodes[0], "Waiting")
        wait_phase(env, wait_begun(env, *nodes), "Installing")
        env.k.delete("GpuClusterPolicy", "default")
        env.wait(lambda: not env.pods(nodes[1]) and not env.pods(nodes[2]), 15, "the idle nodes are clean")
        equal(uid_of(env, pod), uid, "the job's pod")
        env.k.delete("Pod", pod, "default", grace=0)
        env.wait_gone()


def old_news(env, *nodes):
    """Makes nodes ready since an hour ago, so that a phase's time is not cut short by how young a test's nodes are."""
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": ago(3600)}
    for node in nodes:
        env.k.strategic_patch("Node", node, {"status": {"conditions": [condition]}}, subresource="status")


def age(env, node):
    """Makes the phase of a node's claim an hour old."""
    claim = claim_of(env.get_node(node))
    claim["since"] = ago(3600)
    set_on_node(env, node, annotations={CLAIM: json.dumps(claim)})


def wait_failed(env, revision, node):
    """Waits until the revision counts as failed because of that node, whose claim is old enough.

    An Ostler that has not watched for longer than timeouts.install, the least of which is a minute, waits for that; and what it
    last heard of nodes and pods must be news.
    """
    def failed():
        env.k.merge_patch("Node", node, {"metadata": {"annotations": {"test.ostler.dev/tick": str(time.time())}}})
        for pod in env.pods(node, "driver"):
            env.k.merge_patch("Pod", pod["metadata"]["name"], {"metadata": {"annotations": {"test.ostler.dev/tick": str(time.time())}}},
                              OPERANDS)
        time.sleep(0.3)
        return env.get_policy()["status"]["rollout"]["reason"] == "RevisionFailed"
    env.wait(failed, 80, f"revision {revision} failed")


@test
def bad_version_is_rolled_back(env):
    """A version that does not come up: after one failed node nobody else gets it, that node gets back what worked, and it is said."""
    nodes = fleet(env, 3, failureThreshold=1, onFailure="Rollback", timeouts={"install": "1m"})
    old_news(env, *nodes)
    with Ways(env) as ways:
        upgrade(env, BAD)
        node = wait_begun(env, *nodes)
        wait_phase(env, node, "Installing")
        env.wait(lambda: "ImagePullBackOff" in str(env.get_policy()["status"].get("firstCauses")), what="the cause is said")
        bad = env.labels(node)[DRIVER]
        age(env, node)
        wait_failed(env, bad, node)
        wait_runs(env, OLD, node)
        env.wait_policy("AllNodesReady")
        env.wait_calm()
        rollout_says(env, "RevisionFailed", bad)
        record = env.k.get("ControllerRevision", f"driver-{bad}", OPERANDS)
        contains(str(record["metadata"]["annotations"]), ["ostler.dev/failed-", f"{node} ImagePullBackOff"], "the revision's record")
        others = [n for n in nodes if n != node]
        equal({n: ways.way[n] for n in others}, {n: [None] for n in others}, "ways of the others")
        upgrade(env, NEW)
        assert_end(env, NEW, nodes)


@test
def killed_in_the_middle(env):
    """SIGKILL at random moments of a rollout: it goes on where it was, one node at a time, to the same end."""
    seed = random.randrange(1 << 32)
    moments = random.Random(seed)
    print(f"     seed {seed}", flush=True)
    nodes = fleet(env, 4)
    with env.own_operator("--leader-elect=false", name="killed") as operator, Ways(env), Drivers(env):
        upgrade(env)
        for _ in range(8):
            time.sleep(moments.uniform(0.1, 0.7))
            operator.kill()
            operator.start(ready=False)
        operator.wait_ready()
        assert_end(env, NEW, nodes)
