"""14. Upgrades and people.

Here is what a case file (s13_cases.py) cannot tell: the word of an agent that stands in, and nodes
that are kept at every step at once.
"""

import kube
import stations
import upgrades
from harness import equal, long_test, proven_by, test
from names import CLAIM, COMPONENT, DRIVER, GAVE_UP, HOLD, MANAGED, OPERANDS, STACK
from rollouts import Ways
from stations import Stations
from upgrades import (
    ALL_AT_ONCE,
    LIGHT,
    NEW,
    OLD,
    assert_end,
    cordon,
    fleet,
    is_in_service,
    rollout_says,
    set_on_node,
    uid_of,
    upgrade,
    wait_runs,
    wait_said,
)


def agent_stands_in(env, node):
    """A pod that is up and that Ostler takes for its agent on the node; what an agent would say
    others write."""
    labels = {
        "app": f"agent-{node}",
        "app.kubernetes.io/managed-by": "ostler",
        COMPONENT: "node-agent",
    }
    pod = {
        "nodeSelector": {"kubernetes.io/hostname": node},
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "agent", "image": "registry.example.com/agent:1"}],
    }
    env.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": f"agent-{node}", "namespace": OPERANDS},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        }
    )
    env.wait(
        lambda: any(
            kube.pod_ready(p) for p in env.k.list("Pod", OPERANDS, labels=f"app=agent-{node}")
        ),
        15,
        "the agent is up",
    )


def says_holders(env, node, *holders):
    """The agent's word of who has a GPU of the node open."""
    boot = env.get_node(node)["status"]["nodeInfo"]["bootID"]
    seen = {
        "bootId": boot,
        "holders": [{"processes": 1, "minors": [0], **h} for h in holders],
        "holdersComplete": True,
    }
    env.k.merge_patch("GpuNode", node, {"status": {"inventory": seen}}, subresource="status")


@test
def holders_that_did_not_ask(env):
    """A pod that has a GPU open though it asked for none is asked to leave; a process of the
    host is named, and waited for."""
    quiet, host = fleet(env, ["quiet", "host"], LIGHT, **ALL_AT_ONCE)
    env.wait_reported(quiet, host)
    pod = upgrades.workload(
        env,
        "Deployment",
        quiet,
        {"containers": [{"name": "quiet", "image": "registry.example.com/quiet:1"}]},
    )
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
    equal(
        (waits_for["kind"], waits_for["name"], waits_for["reason"]),
        ("Process", "nv-hostengine", "HostProcess"),
        "what it waits for",
    )
    equal(env.pod_uids("driver", host), driver, "the driver that a process uses")
    says_holders(env, host)
    assert_end(env, NEW, [quiet, host])


def _let_be(env, node):
    set_on_node(env, node, labels={HOLD: "true"})


def _unmanage(env, node):
    set_on_node(env, node, labels={MANAGED: "false"})


def _take_claim(env, node):
    set_on_node(env, node, annotations={CLAIM: None})


ACTS = {"cordon": cordon, "hold": _let_be, "unmanage": _unmanage, "take": _take_claim}


@long_test
@proven_by("tests/sweep/sweep_steps.c")
def people_at_every_step(env):
    """A person cordons, holds, unmanages or takes the claim off nodes at every step:
    what was not changed yet is let go as it was.

    A cordoned or held node that has begun is finished, one that is given up gets back what it
    ran, one that is unmanaged loses everything; Ostler touches no other cordon; and when the
    person's word is taken back, the nodes follow.
    """
    fleet_of = Stations(env, *ACTS, at=stations.STEPS)
    spared = fleet_of.of("cordon", "hold", "take", at=stations.UNTOUCHED)
    begun = fleet_of.of("cordon", "hold", but=stations.UNTOUCHED)
    given_up, unmanaged, cordoned = (
        fleet_of.of("take"),
        fleet_of.of("unmanage"),
        fleet_of.of("cordon"),
    )
    with Ways(env, most=len(fleet_of.nodes), cordoned=cordoned):
        upgrade(env, stations.VERSION)
        fleet_of.arrive()
        for (_, act), node in fleet_of.nodes.items():
            ACTS[act](env, node)
        env.wait(
            lambda: all(is_in_service(env, n) for n in spared),
            what="what was not changed is let go",
        )
        equal(fleet_of.moved_on(*spared), [], "drivers that were replaced on those")
        fleet_of.let_go(*begun, *given_up, *unmanaged)
        wait_runs(env, stations.VERSION, *begun)
        wait_runs(env, OLD, *given_up)
        env.wait(
            lambda: [
                n
                for n in unmanaged
                if env.pods(n) or {DRIVER, STACK} & set(env.labels(n)) or not is_in_service(env, n)
            ]
            == [],
            what="nothing of Ostler's is on what is not managed",
        )
        rollout_says(env, "NodesSkipped")
        equal(
            [n for n in cordoned if not env.get_node(n)["spec"].get("unschedulable")],
            [],
            "nodes that were uncordoned",
        )
        equal(
            [n for n in given_up if GAVE_UP not in env.get_node(n)["metadata"]["annotations"]],
            [],
            "nodes that are not marked given up",
        )
        follow = fleet_of.of(*ACTS, at=stations.UNTOUCHED)
        fleet_of.let_go(*follow)
        for node in follow:
            cordon(env, node, False)
            set_on_node(env, node, labels={HOLD: None, MANAGED: None}, annotations={GAVE_UP: None})
        wait_runs(env, stations.VERSION, *follow, timeout=30)
