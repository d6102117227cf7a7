"""9. Ostler is killed, stopped, replaced: the same end state, no object twice, no write by one
who does not lead."""

import random
import signal
import time

import kube
from harness import equal, long_test, proven_by, test
from names import GPU_LABEL, NAMESPACE, OPERANDS


@test
@proven_by("tests/sweep/sweep_crash.c")
def killed_ten_times(env):
    """SIGKILL at ten random moments while nodes join, leave and the policy changes: the same end
    state, no object twice."""
    seed = random.randrange(1 << 32)
    moments = random.Random(seed)
    print(f"     seed {seed}", flush=True)
    with env.own_operator("--leader-elect=false", name="killed") as operator:
        env.policy({"driver": {"version": "570.124.06"}})
        nodes = [
            env.node(f"n{i}", "nfd", os=("ubuntu24.04", "ubuntu22.04")[i % 2]) for i in range(4)
        ]
        for i in range(10):
            if i == 3:
                env.k.delete("Node", nodes.pop(0))
            if i == 5:
                nodes.append(env.node("late", "gke"))
            if i == 6:
                env.edit({"exporter": {"interval": "7s"}})
            if i == 8:
                env.k.merge_patch("Node", nodes[0], {"metadata": {"labels": {GPU_LABEL: None}}})
            time.sleep(moments.uniform(0.0, 0.5))
            operator.kill()
            operator.start(ready=False)
        operator.wait_ready()
        env.wait_serving(*nodes, timeout=30)
        env.wait_policy()
        env.wait_calm()
        equal(len(env.daemonsets("driver")), 2, "driver DaemonSets")
        equal(len(env.daemonsets("toolkit")), 1, "toolkit DaemonSets")
        equal(len(env.daemonsets("exporter")), 1, "exporter DaemonSets")
        for node in nodes:
            equal(len(env.pods(node)), 5, f"operand pods on {node}")


@test
def killed_while_the_policy_goes(env):
    """SIGKILL again and again while the policy is being removed: everything is gone in the end."""
    env.serving("a", "b")
    with env.own_operator("--leader-elect=false", name="killed") as operator:
        env.k.delete("GpuClusterPolicy", "default")
        for _ in range(5):
            time.sleep(0.05)
            operator.kill()
            operator.start(ready=False)
        env.wait_gone(20)


def _replica(env, name):
    config = env.world.token_kubeconfig(NAMESPACE, env.installation.account, name)
    operator = env.new_operator(name=name, kubeconfig=config)
    since = time.time()
    operator.start(ready=False)
    env.wait(
        lambda: env.requests(
            since=since, where=lambda r: r.credential not in known_credentials(env, since)
        ),
        what=f"{name} speaks",
    )
    return operator


def known_credentials(env, until):
    """The credentials that were seen before a moment."""
    return {r.credential for r in env.requests(since=0, until=until)}


def _lease(env):
    return env.k.get("Lease", "ostler", NAMESPACE)["spec"]


@long_test
def stopped_leader_loses(env):
    """The leader is stopped for 20 s: the other takes over; after SIGCONT the first writes
    nothing and exits."""
    env.policy()
    env.wait(lambda: env.condition("Ready"), what="a leader")
    leader = env.operator
    holder = _lease(env)["holderIdentity"]
    mine = {r.credential for r in env.requests(writes=True)}
    follower = _replica(env, "follower")
    try:
        leader.signal(signal.SIGSTOP)
        stopped = time.time()
        kube.wait_for(
            lambda: _lease(env)["holderIdentity"] != holder, 25, "the other replica leads"
        )
        node = env.node("gpu", "nfd")
        env.operator = follower
        env.wait_serving(node, timeout=20)
        time.sleep(max(0.0, 20 - (time.time() - stopped)))
        leader.signal(signal.SIGCONT)
        code = leader.wait(10)
        assert code != 0, "a leader that lost its lease exits with an error"
        wrote = env.requests(
            since=stopped + 0.5,
            writes=True,
            where=lambda r: r.credential in mine and r.resource != "leases",
        )
        equal([str(w) for w in wrote], [], "writes of the one that lost")
    finally:
        follower.stop()
        leader.stop()
        env.operator = leader
    env.operator.start()


@test
def follower_is_ready_and_writes_nothing(env):
    """A replica that does not lead says that it is ready, and writes nothing."""
    env.serving("gpu")
    before = known_credentials(env, time.time())
    follower = _replica(env, "follower")
    try:
        follower.wait_ready()
        time.sleep(2)
        wrote = env.requests(writes=True, where=lambda r: r.credential not in before)
        equal([str(w) for w in wrote], [], "writes of the follower")
    finally:
        follower.stop()


@test
def terminated_leader_hands_over(env):
    """SIGTERM: exit code 0 within 2 s, the lease is released, and a waiting replica leads within
    5 s."""
    env.policy()
    env.wait(lambda: env.condition("Ready"), what="a leader")
    holder = _lease(env)["holderIdentity"]
    leader = env.operator
    follower = _replica(env, "follower")
    follower.wait_ready()
    try:
        leader.signal(signal.SIGTERM)
        equal(leader.wait(2), 0, "exit code")
        kube.wait_for(
            lambda: _lease(env).get("holderIdentity") not in (holder, "", None),
            5,
            "the other replica leads",
        )
        env.operator = follower
        env.wait_marked(env.node("gpu", "nfd"))
    finally:
        follower.stop()
        env.operator = leader
    env.operator.start()


@test
def restart_changes_nothing(env):
    """Stopped and started on a cluster in order, Ostler changes no object and confirms each
    child once at most."""
    node = env.serving("gpu")

    def versions():
        children = [
            o
            for kind in ("DaemonSet", "ControllerRevision", "Service")
            for o in env.k.list(kind, OPERANDS)
        ]
        return {
            (o["metadata"]["name"], o["metadata"]["resourceVersion"])
            for o in [*children, env.get_policy(), env.get_node(node)]
        }

    before = versions()
    env.operator.stop()
    since = time.time()
    env.operator.start()
    time.sleep(2)
    equal(versions(), before, "resourceVersions")
    wrote = [
        str(w)
        for w in env.requests(since=since, writes=True, where=lambda r: r.resource != "leases")
    ]
    equal(sorted(set(wrote)), sorted(wrote), "writes after a restart, each once")
