"""24. A GPU with a fault closes its node, and only that: no pod is evicted, a person's word counts,
and the node opens on evidence."""

import time

from faults import (
    AT_ONCE,
    CONFIRMED,
    GPUS,
    TAINT,
    boot,
    healthy,
    report,
    serving,
    tainted,
    wait_closed,
    wait_open,
    xid,
)
from harness import cases, contains, equal, proven_by, test
from names import OPERANDS

IGNORE = "ostler.dev/health"
STAYS_OPEN = 12  # longer than a second look takes


# Both close nodes in other tests here, and in every phase of the sweep, with the same checks.
ELSEWHERE = "tests/sweep/checks_closing.c"
# What an agent reports -> (its report, the reason, how soon the node is closed)
FAULTS = {
    "a_reset_is_needed": (
        {"health": [{"address": GPUS[0], "recovery": "Reset"}]},
        "RecoveryReset",
        AT_ONCE,
    ),
    "a_gpu_is_lost": ({"lost": [GPUS[1]]}, "GpuLost", AT_ONCE),
    "the_log_has_an_xid": ({"faults": [xid(79, "boot-1")]}, "Xid79", CONFIRMED),
}


@cases(FAULTS, proven=dict.fromkeys(("a_reset_is_needed", "a_gpu_is_lost"), ELSEWHERE))
def closes(env, row):
    """A fault closes the node, says so, and evicts no pod; a boot and a validation open it."""
    what, reason, soon = row
    (node,) = serving(env, "bad")
    pod = env.gpu_pod("job", node)
    uid = env.k.get("Pod", pod, "default")["metadata"]["uid"]
    report(env, node, "boot-1", **what)
    wait_closed(env, node, soon)
    env.wait(lambda: healthy(env, node) == ("False", reason), 15, "GpuHealthy says why")
    env.wait(
        lambda: (env.k.get("GpuNode", node)["status"].get("health") or {}).get("state") == "Closed",
        15,
        "the report says that it is closed",
    )
    equal(env.condition("Ready").get("status"), "True", "Ready")
    env.wait_policy("GpusUnhealthy", kind="Degraded")
    equal(env.k.get("Pod", pod, "default")["metadata"]["uid"], uid, "the pod that ran")
    evictions = env.requests(writes=True, where=lambda r: r.resource == "pods/eviction")
    equal(evictions, [], "evictions")
    env.k.delete("Pod", pod, "default", grace=0)
    boot(env, node, "boot-2")
    wait_open(env, node)
    env.wait(lambda: healthy(env, node) == ("True", "NoFault"), 15, "GpuHealthy is True again")
    env.wait_policy(status="False", kind="Degraded")


@test
def driver_says_that_it_is_over(env):
    """A person has reset the GPU: the driver's word and a validation open the node."""
    (node,) = serving(env, "bad")
    report(env, node, "boot-1", health=[{"address": GPUS[0], "recovery": "Reset"}])
    wait_closed(env, node)
    since = time.time()
    report(env, node, "boot-1")
    wait_open(env, node)
    proofs = env.requests(
        since=since, writes=True, where=lambda r: r.resource == "pods" and r.verb == "create"
    )
    assert proofs, "no validation ran before the node was opened"


@test
def person_wins(env):
    """A user who removes the taint is obeyed for this fault; another one closes the node again."""
    (node,) = serving(env, "bad")
    report(env, node, "boot-1", health=[{"address": GPUS[0], "recovery": "Reset"}])
    wait_closed(env, node)
    env.kubectl("taint", "node", node, f"{TAINT}-")
    env.wait(
        lambda: (env.k.get("GpuNode", node)["status"].get("health") or {}).get("state")
        == "Ignored",
        15,
        "the report says that a user decided so",
    )
    env.stays(lambda: not tainted(env, node), STAYS_OPEN, "the node is open")
    report(env, node, "boot-1", lost=[GPUS[1]])
    wait_closed(env, node)


@test
def label_keeps_it_open(env):
    """With the label ostler.dev/health=ignore a node is reported and not closed; a closed one is
    opened by it."""
    (node,) = serving(env, "bad")
    report(env, node, "boot-1", lost=[GPUS[0]])
    wait_closed(env, node)
    env.kubectl("label", "node", node, f"{IGNORE}=ignore")
    env.wait(lambda: not tainted(env, node), 10, "the node is open")
    env.wait(lambda: healthy(env, node) == ("Unknown", "Ignored"), 15, "GpuHealthy says so")
    env.stays(lambda: not tainted(env, node), STAYS_OPEN, "the node stays open")
    env.kubectl("label", "node", node, f"{IGNORE}-")
    wait_closed(env, node)


@test
def observe_closes_nothing(env):
    """In mode Observe a fault is reported, and nothing else happens; a node that is closed is
    opened when the mode changes to it."""
    (node,) = serving(env, "bad")
    report(env, node, "boot-1", lost=[GPUS[0]])
    wait_closed(env, node)
    env.edit({"health": {"mode": "Observe"}})
    env.wait(lambda: not tainted(env, node), 10, "the node is open")
    env.wait(lambda: healthy(env, node) == (None, None), 15, "GpuHealthy is gone")
    env.wait(
        lambda: env.k.get("GpuNode", node)["status"]["health"]["reason"] == "GpuLost",
        10,
        "it is still reported",
    )


@test
@proven_by("tests/sweep/checks_closing.c")  # H9_BRAKE
def brake(env):
    """Four nodes of four at a time: two are closed, the others not, and the policy says so."""
    nodes = serving(env, "a", "b", "c", "d")
    for node in nodes:
        report(env, node, "boot-1", health=[{"address": GPUS[0], "recovery": "Reset"}])
    env.wait_policy("Braked", kind="HealthBraked", timeout=30)
    env.wait(lambda: sum(bool(tainted(env, n)) for n in nodes) == 2, 20, "two are closed")
    env.stays(
        lambda: sum(bool(tainted(env, n)) for n in nodes) == 2, STAYS_OPEN, "no more are closed"
    )
    braked = [n for n in nodes if not tainted(env, n)]
    contains(env.condition("HealthBraked")["message"], braked, "the condition names them")
    closed = next(n for n in nodes if tainted(env, n))
    boot(env, closed, "boot-2")
    wait_open(env, closed)


@test
def nothing_is_left(env):
    """When the policy goes, taint, record and condition go."""
    (node,) = serving(env, "bad")
    report(env, node, "boot-1", lost=[GPUS[0]])
    wait_closed(env, node)
    env.remove_policy()
    equal(tainted(env, node), None, "the taint")
    equal(healthy(env, node), (None, None), "GpuHealthy")
    marks = env.get_node(node)["metadata"].get("annotations", {})
    equal([key for key in marks if key.startswith("ostler.dev/")], [], "annotations")
    equal(env.k.list("Pod", OPERANDS), [], "pods")
