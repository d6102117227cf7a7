"""14. Upgrades and people: their pods are waited for or asked to leave, and their word about a node counts at every step."""

import kube
import stations
import upgrades
from harness import contains, equal, long_test, test
from names import CLAIM, COMPONENT, DRIVER, GAVE_UP, HOLD, MANAGED, OPERANDS, STACK
from rollouts import Ways, closed
from stations import Stations
from upgrades import (ALL_AT_ONCE, LIGHT, NEW, OLD, assert_end, budget, cordon, fleet, is_in_service, rollout_says, runs,
                      service, serves, set_on_node, uid_of, upgrade, wait_phase, wait_runs, wait_said)

# Pods that stand in the way of a drain: name of the node -> (what makes the pod, what is said of it)
IN_THE_WAY = {
    "job": (lambda env, node: env.gpu_pod("job", node), "a job"),
    "bare": (lambda env, node: env.gpu_pod("bare", node, restart="Always"), "no controller would recreate it"),
    "data": (lambda env, node: service(env, node, volumes=[{"name": "data", "emptyDir": {}}]), "its emptyDir would be lost"),
    "daemon": (lambda env, node: upgrades.workload(env, "DaemonSet", node, {"tolerations": [{"operator": "Exists"}]}),
               "of a DaemonSet that tolerates"),
}
# Pods that leave: a service's, one of a DaemonSet that does not tolerate the taint
LEAVE = {
    "service": service,
    "polite": lambda env, node: upgrades.workload(env, "DaemonSet", node),
}


def agent_stands_in(env, node):
    """A pod that is up and that Ostler takes for its agent on the node; what an agent would say others write."""
    labels = {"app": f"agent-{node}", "app.kubernetes.io/managed-by": "ostler", COMPONENT: "node-agent"}
    pod = {"nodeSelector": {"kubernetes.io/hostname": node}, "tolerations": [{"operator": "Exists"}],
           "containers": [{"name": "agent", "image": "registry.example.com/agent:1"}]}
    env.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"agent-{node}", "namespace": OPERANDS},
                "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}})
    env.wait(lambda: any(kube.pod_ready(p) for p in env.k.list("Pod", OPERANDS, labels=f"app=agent-{node}")), 15,
             "the agent is up")


def says_holders(env, node, *holders):
    """The agent's word of who has a GPU of the node open."""
    boot = env.get_node(node)["status"]["nodeInfo"]["bootID"]
    seen = {"bootId": boot, "holders": [{"processes": 1, "minors": [0], **h} for h in holders], "holdersComplete": True}
    env.k.merge_patch("GpuNode", node, {"status": {"inventory": seen}}, subresource="status")


@test
def holders_that_did_not_ask(env):
    """A pod that has a GPU open though it asked for none is asked to leave; a process of the host is named, and waited for."""
    quiet, host = fleet(env, ["quiet", "host"], LIGHT, **ALL_AT_ONCE)
    env.wait_reported(quiet, host)
    pod = upgrades.workload(env, "Deployment", quiet,
                            {"containers": [{"name": "quiet", "image": "registry.example.com/quiet:1"}]})
    uid, driver = uid_of(env, pod), env.pod_uids("driver", host)
    for node in (quiet, host):
        agent_stands_in(env, node)
    says_holders(env, quiet, {"podUid": uid, "process": "python3"})
    says_holders(env, host, {"process": "nv-hostengine", "unit": "dcgm.service", "pid": 812})
    upgrade(env)
    env.wait(lambda: uid_of(env, pod) != uid, what="the pod has left")
    says_holders(env, quiet)
    wait_runs(env, NEW, quiet)
    wait_said(env, host, "process nv-hostengine (812, unit dcgm.service)")
    waits_for = env.k.get("GpuNode", host)["status"]["waitingFor"][0]
    equal((waits_for["kind"], waits_for["name"], waits_for["reason"]), ("Process", "nv-hostengine", "HostProcess"),
          "what it waits for")
    equal(env.pod_uids("driver", host), driver, "the driver that a process uses")
    says_holders(env, host)
    assert_end(env, NEW, [quiet, host])


@test
def pods_in_the_way_are_named(env):
    """Jobs, bare pods, pods with data, pods of DaemonSets that would come back: all stay,
    and are named with what to do about them.

    Nodes whose pods may leave are upgraded meanwhile, through the eviction API alone, and their pods come back.
    """
    nodes = dict(zip([*IN_THE_WAY, *LEAVE], fleet(env, [*IN_THE_WAY, *LEAVE], **ALL_AT_ONCE, drain={"deleteEmptyDir": False})))
    stay = {who: make(env, nodes[who]) for who, (make, _) in IN_THE_WAY.items()}
    leave = {who: make(env, nodes[who]) for who, make in LEAVE.items()}
    uids = {pod: uid_of(env, pod) for pod in stay.values()}
    drivers = {who: env.pod_uids("driver", nodes[who]) for who in stay}
    with Ways(env, most=len(nodes)) as ways:
        upgrade(env)
        wait_runs(env, NEW, *(nodes[who] for who in LEAVE))
        rollout_says(env, "WaitingForJobs", "4 nodes wait")
        for who, pod in stay.items():
            wait_said(env, nodes[who], "WaitingForJobs", pod, IN_THE_WAY[who][1])
        equal({pod: uid_of(env, pod) for pod in stay.values()}, uids, "pods in the way")
        equal({who: env.pod_uids("driver", nodes[who]) for who in stay}, drivers, "drivers under them")
        asked = {r.name for r in env.requests(verb="create", resource="pods/eviction")}
        equal(asked, set(leave.values()), "pods that were asked to leave")
        upgrades.end_job(env, stay["job"])
        env.k.delete("Pod", stay["bare"], "default")
        env.k.delete("DaemonSet", f"daemonset-{nodes['daemon']}", "default")
        env.edit({"rollout": {"drain": {"deleteEmptyDir": True}}})
        assert_end(env, NEW, list(nodes.values()))
        equal(ways.phases(nodes["job"]), [None, "Waiting", "Draining", "Unloading", "Installing", None], "the job's node's way")
    env.wait(lambda: serves(env, nodes["service"]) and serves(env, nodes["data"]), what="the services are back")
    deleted = env.requests(verb="delete", resource="pods", where=lambda r: r.namespace == "default")
    equal([str(r) for r in deleted], [], "pods that were deleted, not evicted")


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
        wait_said(env, node, "Draining", pod, "asked to leave")
        env.stays(lambda: uid_of(env, pod) == uid and env.pod_uids("driver", node) == driver, 1, "pod and driver")
        env.k.merge_patch("PodDisruptionBudget", name, {"spec": {"maxUnavailable": 1}}, "default")
        assert_end(env, NEW, [node])


@test
def endless_job_holds_up_nobody_else(env):
    """A job that never ends keeps its node with the old version; all others are upgraded one at a time,
    and that is all that is left."""
    nodes = fleet(env, 4)
    busy, others = nodes[0], nodes[1:]
    pod = env.gpu_pod("job", busy)
    uid, driver = uid_of(env, pod), env.pod_uids("driver", busy)
    with Ways(env):
        upgrade(env)
        wait_runs(env, NEW, *others)
        rollout_says(env, "WaitingForJobs", busy)
        env.stays(lambda: uid_of(env, pod) == uid and env.pod_uids("driver", busy) == driver, 1, "job and driver")
        equal([str(r) for r in env.requests(verb="create", resource="pods/eviction")], [], "evictions")
        upgrades.end_job(env, pod)
        assert_end(env, NEW, nodes)


def _let_be(env, node):
    set_on_node(env, node, labels={HOLD: "true"})


def _unmanage(env, node):
    set_on_node(env, node, labels={MANAGED: "false"})


def _take_claim(env, node):
    set_on_node(env, node, annotations={CLAIM: None})


ACTS = {"cordon": cordon, "hold": _let_be, "unmanage": _unmanage, "take": _take_claim}


@long_test
def people_at_every_step(env):
    """A person cordons, holds, unmanages or takes the claim off nodes at every step:
    what was not changed yet is let go as it was.

    A cordoned or held node that has begun is finished, one that is given up gets back what it ran, one that is unmanaged loses
    everything; nobody else's cordon is touched; and when the person's word is taken back, the nodes follow.
    """
    fleet_of = Stations(env, *ACTS, at=stations.STEPS)
    spared = fleet_of.of("cordon", "hold", "take", at=stations.UNTOUCHED)
    begun = fleet_of.of("cordon", "hold", but=stations.UNTOUCHED)
    given_up, unmanaged, cordoned = fleet_of.of("take"), fleet_of.of("unmanage"), fleet_of.of("cordon")
    with Ways(env, most=len(fleet_of.nodes), cordoned=cordoned):
        upgrade(env, stations.VERSION)
        fleet_of.arrive()
        for (_, act), node in fleet_of.nodes.items():
            ACTS[act](env, node)
        env.wait(lambda: all(is_in_service(env, n) for n in spared), what="what was not changed is let go")
        equal(fleet_of.moved_on(*spared), [], "drivers that were replaced on those")
        fleet_of.let_go(*begun, *given_up, *unmanaged)
        wait_runs(env, stations.VERSION, *begun)
        wait_runs(env, OLD, *given_up)
        env.wait(lambda: [n for n in unmanaged
                          if env.pods(n) or {DRIVER, STACK} & set(env.labels(n)) or not is_in_service(env, n)] == [],
                 what="nothing of Ostler's is on what is not managed")
        rollout_says(env, "NodesSkipped")
        equal([n for n in cordoned if not env.get_node(n)["spec"].get("unschedulable")], [], "nodes that were uncordoned")
        equal([n for n in given_up if GAVE_UP not in env.get_node(n)["metadata"]["annotations"]], [],
              "nodes that are not marked given up")
        follow = fleet_of.of(*ACTS, at=stations.UNTOUCHED)
        fleet_of.let_go(*follow)
        for node in follow:
            cordon(env, node, False)
            set_on_node(env, node, labels={HOLD: None, MANAGED: None}, annotations={GAVE_UP: None})
        wait_runs(env, stations.VERSION, *follow, timeout=30)


@test
def unreadable_claim_moves_nothing(env):
    """A claim that Ostler does not understand is said with the command that helps; taken off, the node is looked after again."""
    nodes = fleet(env, 2, maxUnavailable="100%")
    set_on_node(env, nodes[0], annotations={CLAIM: "mine"})
    upgrade(env)
    wait_runs(env, NEW, nodes[1])
    wait_said(env, nodes[0], "ClaimUnreadable", f"kubectl annotate node {nodes[0]} {CLAIM}-")
    contains(env.image(nodes[0], "driver"), OLD, "its driver")
    set_on_node(env, nodes[0], annotations={CLAIM: None})
    assert_end(env, NEW, nodes)


@test
def taint_that_is_taken_off_comes_back(env):
    """The taint of a claimed node is put back: pods must not come while the driver changes."""
    (node,) = fleet(env, 1)
    upgrade(env, "580.178.04-slow")
    wait_phase(env, node, "Installing")
    taints = [t for t in env.get_node(node)["spec"]["taints"] if t["key"] != "ostler.dev/upgrade"]
    env.k.merge_patch("Node", node, {"spec": {"taints": taints}})
    env.wait(lambda: closed(env.get_node(node)), what="the taint is back")
    upgrade(env, OLD)
    assert_end(env, OLD, [node])
    assert runs(env, node, OLD), "it does not run the old version"
