"""16. What changes in the middle of an upgrade, at every step: the version, the nodes, Ostler
itself, and whether there is a policy.

No case file (s13_cases.py) tells these: what keeps nodes at every step at once is known to KWOK's
pods alone, and a kill comes at random moments of real time. In the simulator `make upgrade-policy`,
`upgrade-nodes` and `upgrade-crash` do the same at every write.
"""

import random
import time

import stations
import upgrades
from harness import equal, proven_by, test
from names import CLAIM
from rollouts import Drivers, Ways, phase_of
from stations import STEPS, UNTOUCHED, Stations
from upgrades import NEW, OLD, assert_end, is_in_service, uid_of, upgrade, wait_runs

# One pool goes back to what it ran while the others go on to a third version.
BACK = {"name": "back", "nodeSelector": {"goes": "back"}}


def _pools(version):
    return [{**BACK, "driver": {"version": version}}]


def _goes(end):
    return {"labels": {"goes": end.rpartition("-")[2]}}


@test
@proven_by("tests/sweep/sweep_steps.c")
def version_changes_at_every_step(env):
    """A→B→C and A→B→A with nodes at every step: all end where the policy ends, no node ever has
    two drivers.

    Back to A, nodes on which nothing was changed yet are let go as they were, GPU pods and all.
    """
    on_and_back = Stations(env, "on", "back", spec={"pools": _pools(OLD)}, each=_goes)
    untouched = on_and_back.of("back", at=UNTOUCHED)
    guests = {
        p["metadata"]["name"]: p["metadata"]["uid"]
        for p in env.k.list("Pod", "default")
        if p["spec"].get("nodeName") in untouched
    }
    with Ways(env, most=len(on_and_back.nodes)), Drivers(env):
        env.edit({"driver": {"version": stations.VERSION}, "pools": _pools(stations.VERSION)})
        on_and_back.arrive()
        env.edit({"driver": {"version": NEW}, "pools": _pools(OLD)})
        wait_runs(env, OLD, *untouched)
        equal(
            on_and_back.moved_on(*untouched),
            [],
            "drivers that were replaced though nothing was to change",
        )
        equal({name: uid_of(env, name) for name in guests}, guests, "their GPU pods")
        on_and_back.let_go(*on_and_back.nodes.values())
        wait_runs(env, OLD, *on_and_back.of("back"), timeout=30)
        wait_runs(env, NEW, *on_and_back.of("on"), timeout=30)
        upgrades.rollout_says(env, "UpToDate")
        env.wait_policy("AllNodesReady")


@test
@proven_by("tests/sweep/sweep_steps.c")
def nodes_fail_us_at_every_step(env):
    """Nodes vanish, go down or reboot at every step: the others go on, who comes back is
    finished, who comes anew is new."""
    trouble = Stations(env, "gone", "down", "reboot", at=STEPS, others=["a", "b"])
    gone, down, rebooted = (trouble.of(end) for end in ("gone", "down", "reboot"))
    upgrade(env, stations.VERSION)
    trouble.arrive()
    for node in gone:
        env.vanish(node)
    for node in down:
        upgrades.go_down(env, node)
    for node in rebooted:
        upgrades.reboot(env, node)
    wait_runs(env, stations.VERSION, *trouble.others)
    trouble.let_go(*rebooted)
    wait_runs(env, stations.VERSION, *rebooted)
    env.wait(
        lambda: env.get_policy()["status"]["nodes"]["gpu"] == len(down + rebooted) + 2,
        what="those that are gone do not count",
    )
    equal(
        [n for n in down if not env.get_node(n)["metadata"]["annotations"].get(CLAIM)],
        [],
        "claims lost by nodes that are down",
    )
    for node in down:
        upgrades.come_back(env, node)
    trouble.let_go(*down)
    anew = [
        env.node(f"{station}-gone", "nfd", images=2) for station in STEPS if station != "installing"
    ]
    assert_end(env, stations.VERSION, [*down, *rebooted, *trouble.others, *anew], timeout=30)


@test
@proven_by("tests/sweep/sweep_crash.c")
def killed_at_every_step(env):
    """SIGKILL with nodes at every step and at random moments: each goes on where it was, to the
    same end, with one driver at a time."""
    seed = random.randrange(1 << 32)
    moments = random.Random(seed)
    print(f"     seed {seed}", flush=True)
    with env.own_operator("--leader-elect=false", name="killed") as operator:
        kept = Stations(env, "kept", others=["a", "b", "c"])
        with Ways(env, most=len(kept.nodes) + 3) as ways, Drivers(env):
            upgrade(env, stations.VERSION)
            for _ in range(5):
                time.sleep(moments.uniform(0.1, 0.6))
                operator.kill()
                operator.start(ready=False)
            operator.wait_ready()
            kept.arrive()
            wait_runs(env, stations.VERSION, *kept.others)
            steps = {n: len(ways.way[n]) for n in kept.nodes.values()}
            operator.kill()
            operator.start()
            time.sleep(1)
            equal(
                {n: len(ways.way[n]) for n in kept.nodes.values()},
                steps,
                "steps of nodes that something keeps",
            )
            kept.let_go(*kept.nodes.values())
            for _ in range(4):
                time.sleep(moments.uniform(0.05, 0.4))
                operator.kill()
                operator.start(ready=False)
            operator.wait_ready()
            assert_end(env, stations.VERSION, [*kept.nodes.values(), *kept.others], timeout=30)


@test
@proven_by("tests/sweep/sweep_steps.c")
def policy_goes_at_every_step(env):
    """The policy is deleted with nodes at every step: everything comes off, where GPU pods run
    when they have ended."""
    left = Stations(env, "left")
    busy, idle = left.of("left", at=UNTOUCHED), left.of("left", but=UNTOUCHED)
    guests = {p["metadata"]["name"]: p["metadata"]["uid"] for p in env.k.list("Pod", "default")}
    with Ways(env, most=len(left.nodes)):
        upgrade(env, stations.VERSION)
        left.arrive()
        env.k.delete("GpuClusterPolicy", "default")
        left.let_go(*idle)
        env.wait(lambda: not any(env.pods(n) for n in idle), 15, "the idle nodes are clean")
        env.wait(lambda: all(is_in_service(env, n) for n in idle), what="they are open")
        equal({name: uid_of(env, name) for name in guests}, guests, "GPU pods")
        equal(
            [n for n in busy if not env.pods(n, "driver")],
            [],
            "nodes whose GPU pods lost their driver",
        )
        left.let_go(*busy)
        env.wait_gone()
    assert all(phase_of(env.get_node(n)) is None for n in left.nodes.values()), "claims are left"
