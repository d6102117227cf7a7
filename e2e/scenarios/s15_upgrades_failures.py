"""15. Upgrades that fail.

Here is what a case file (s13_cases.py) cannot tell: minutes that pass on the wall clock, and proofs
whose words are a test's.
"""

import datetime
import time

import upgrades
from harness import contains, equal, long_test, proven_by, test
from names import DRIVER, HOLD, OPERANDS, RETRY
from rollouts import Ways, closed, phase_of
from upgrades import (
    ALL_AT_ONCE,
    LIGHT,
    NEW,
    OLD,
    OPEN_PROOF,
    assert_end,
    budget,
    end_proof,
    fleet,
    rollout_says,
    service,
    uid_of,
    wait_proof,
    wait_runs,
    wait_said,
)

MINUTE = {"timeouts": {"install": "1m", "validation": "1m"}}


def record_of(env, revision):
    """What the record of a driver's revision says of how it fared."""
    return str(
        env.k.get("ControllerRevision", f"driver-{revision}", OPERANDS)["metadata"]["annotations"]
    )


def _window_until_the_minute_ends():
    """A window that is open now and closes with this minute, in 25 s at the earliest; and how
    long that is."""
    now = datetime.datetime.now(datetime.timezone.utc)
    if now.second > 35:
        time.sleep(60.5 - now.second)
        now = datetime.datetime.now(datetime.timezone.utc)
    return {"schedule": f"{now.minute} {now.hour} * * *", "duration": "1m"}, 60 - now.second


MINUTES = ("late", "timed", "guarded", "dying", "hangs", "nogpus")


@long_test
@proven_by("tests/sweep/sweep_rollouts.c")  # window-closes, job-longer-than-its-time and others
def what_a_minute_brings(env):
    """Times that are over: a window closes and waitForJobs ends, in real time; drains and steps
    take too long.

    No node begins when the window has closed; a job is evicted when its time is over, not before;
    a drain that a budget or a pod that does not die holds up gives its node back as it was; a
    driver that does not get ready is rolled back; a node whose GPUs do not come fails and stays
    closed until they do.
    """
    pool = {"name": "hangs", "nodeSelector": {"kind": "hangs"}, "driver": {"version": OLD}}
    nodes = dict(
        zip(
            MINUTES,
            fleet(
                env,
                MINUTES,
                {"pools": [pool]},
                lambda end: {"labels": {"kind": end}},
                **ALL_AT_ONCE,
                **MINUTE,
                failureThreshold="100%",
                drain={"timeout": "1m", "waitForJobs": "15s"},
            ),
        )
    )
    upgrades.set_on_node(env, nodes["late"], labels={HOLD: "true"})
    timed = upgrades.workload(
        env, "Job", nodes["timed"], {"restartPolicy": "Never"}, group="batch/v1"
    )
    pods = {who: service(env, nodes[who]) for who in ("guarded", "dying")}
    budget(env, nodes["guarded"])
    env.k.merge_patch(
        "Pod",
        pods["dying"],
        {"metadata": {"annotations": {"test.ostler.dev/lingers": "true"}}},
        "default",
    )
    upgrades.set_on_node(env, nodes["nogpus"], annotations={"test.ostler.dev/gpus": "0"})
    before = {
        who: (uid_of(env, pod), env.pod_uids("driver", nodes[who])) for who, pod in pods.items()
    }
    with Ways(env, most=6) as ways:
        window, closes = _window_until_the_minute_ends()
        env.edit(
            {
                "driver": {"version": NEW},
                "pools": [{**pool, "driver": {"version": "580.95.06-slow"}}],
                "rollout": {"windows": [window]},
            }
        )
        began = time.time()
        wait_runs(env, NEW, nodes["timed"], timeout=27)
        evicted = env.requests(
            verb="create",
            resource="pods/eviction",
            where=lambda r: r.name == timed and "dryRun" not in r.uri,
        )
        assert (
            evicted[0].time - began > 13
        ), f"the job was evicted after {evicted[0].time - began:.1f} s"
        time.sleep(max(0.0, began + closes + 0.5 - time.time()))
        upgrades.set_on_node(env, nodes["late"], labels={HOLD: None})
        rollout_says(env, "WaitingForWindow")
        upgrades.run_out(env, *(nodes[who] for who in (*pods, "hangs", "nogpus")))
        env.wait(
            lambda: not any(closed(env.get_node(nodes[who])) for who in pods),
            what="drains that took too long are over",
        )
        equal(
            {
                who: (uid_of(env, pod), env.pod_uids("driver", nodes[who]))
                for who, pod in pods.items()
            },
            before,
            "pods and drivers there",
        )
        wait_runs(env, OLD, nodes["hangs"], timeout=30)
        wait_said(env, nodes["nogpus"], "NoAllocatableGpus")
        equal(phase_of(env.get_node(nodes["nogpus"])), "Failed", "the node without GPUs")
        equal(ways.way[nodes["late"]], [None], "the way of the node that came too late")
        env.k.merge_patch(
            "Node",
            nodes["nogpus"],
            {"status": {"allocatable": {"nvidia.com/gpu": "8"}}},
            subresource="status",
        )
        wait_runs(env, NEW, nodes["nogpus"])
        env.edit({"rollout": {"windows": None}})
        wait_runs(env, NEW, nodes["late"])
        rollout_says(env, "RevisionFailed", "wait for a retry", "DrainTimeout")
    assert "Failed" in ways.way[nodes["hangs"]], "the driver that hangs did not fail"
    env.k.delete("Pod", pods["dying"], "default", grace=0)


@test
def canary_that_fails_its_proof_is_all_that_fails(env):
    """A canary on which no CUDA program runs: no other node gets the version, the canary gets
    back what it ran, and the status says so."""
    nodes = fleet(env, 3, canary={"nodes": 1, "soak": "1h"})
    canary, others = nodes[0], nodes[1:]
    env.wait_policy("AllNodesReady")  # their own proofs end by themselves, before those that do not
    with Ways(env) as ways:
        env.edit({"driver": {"version": NEW}, "validation": OPEN_PROOF})
        proof = wait_proof(env, canary)
        bad = env.labels(canary)[DRIVER]
        end_proof(env, proof, 1, "cudaErrorNoDevice")
        env.wait(
            lambda: "ostler.dev/failed-" in record_of(env, bad),
            what="the failure is on the revision's record",
        )
        env.edit({"validation": None})
        rollout_says(env, "RevisionFailed", bad)
        wait_runs(env, OLD, canary)
        equal([ways.way[n] for n in others], [[None]] * len(others), "ways of the others")
        contains(
            record_of(env, bad),
            ["ostler.dev/failed-", f"{canary} ValidationFailed"],
            "the revision's record",
        )
        degraded = env.wait_policy("RolledBack", kind="Degraded")
        contains(
            degraded["message"],
            [NEW, f"on {canary} with ValidationFailed", f"{RETRY}={bad}"],
            "what is Degraded",
        )
        contains(env.wait_policy("RolledBack")["message"], degraded["message"], "the headline")
        equal(
            env.get_policy()["status"]["summary"]["message"][:60],
            degraded["message"][:60],
            "the MESSAGE column",
        )


@test
def another_driver_than_was_asked_for(env):
    """A proof that finds the old driver loaded fails the node with VersionMismatch, both
    versions said; tried again it opens."""
    (node,) = fleet(env, 1, LIGHT, onFailure="Pause")
    with Ways(env):
        env.edit({"driver": {"version": NEW}, "validation": OPEN_PROOF})
        proof = wait_proof(env, node)
        bad = env.labels(node)[DRIVER]
        end_proof(
            env,
            proof,
            0,
            f"driver={OLD}\nproduct=NVIDIA H100 80GB HBM3\nmemory=81559\ncompute=9.0\ncuda=13.0\n",
        )
        wait_said(env, node, "VersionMismatch", f"the loaded driver is {OLD}, and {NEW} was wanted")
        env.edit({"validation": None})
        rollout_says(env, "RevisionFailed", bad)
        contains(record_of(env, bad), f"{node} VersionMismatch", "the revision's record")
        equal(
            (phase_of(env.get_node(node)), closed(env.get_node(node))),
            ("Failed", True),
            "the node's phase, and whether it is closed",
        )
        env.k.merge_patch(
            "GpuClusterPolicy", "default", {"metadata": {"annotations": {RETRY: bad}}}
        )
        assert_end(env, NEW, [node])
