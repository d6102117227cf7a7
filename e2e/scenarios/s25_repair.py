"""25. With health.mode Repair Ostler resets GPUs or reboots their node, when its jobs have ended
and within the budget; a person asks for a repair, or does without one."""

import contextlib
import time

import agent
import kube
from faults import AT_ONCE, GPUS, boot, healthy, report, serving, tainted, tries
from harness import contains, equal, long_test, proven_by, test
from names import OPERANDS
from people import people
from rollouts import Ways, ago, claim_of, closed, phase_of
from upgrades import end_job, end_task, service, uid_of, wait_phase

# What resets and reboots is Ostler's own image.
IMAGE = "ostler:0.1.0"
NEEDS_RESET = [{"address": GPUS[0], "recovery": "Reset"}]
# From the unloading of the driver to a node that has opened.
REPAIRED = 30
LOADS = 62  # seconds in which a driver that was made loads, and more
BY_RESET = ["Unloading", "Resetting", "Installing"]
BY_REBOOT = ["Unloading", "Resetting", "Rebooting", "Installing"]


@contextlib.contextmanager
def repairing(env, *suffixes, **health):
    """Nodes that serve, of an operator that can repair them."""
    spec = {"health": {"mode": "Repair", **health}, "nodeAgent": {"enabled": False}}
    with env.own_operator("--agent-image", IMAGE, "--allow-repairs=true"):
        yield serving(env, *suffixes, spec=spec)
        env.remove_policy(force=True)


def locked(env, node):
    """Whether new pods are kept off the node: by the taint of a fault, or by that of a claim."""
    return tainted(env, node) is not None or closed(env.get_node(node))


def health_state(env, node):
    """What the node's report says that Ostler does about the fault."""
    return (env.k.get("GpuNode", node)["status"].get("health") or {}).get("state")


def wait_repaired(env, node, *kinds):
    """The node is open and in service again, and its record has these attempts."""
    env.wait(
        lambda: not locked(env, node) and claim_of(env.get_node(node)) is None,
        REPAIRED,
        f"{node} is repaired",
    )
    equal(tries(env, node), list(kinds), f"attempts to repair {node}")
    env.wait(lambda: healthy(env, node) == ("True", "NoFault"), 15, f"{node} is healthy")


def made(env, task, node):
    """The pods of that task that Ostler made for the node."""
    return env.requests(
        writes=True,
        where=lambda r: r.resource == "pods" and r.verb == "create" and r.name == name(task, node),
    )


def name(task, node):
    """The name of a pod that does a task."""
    return f"ostler-{task}-{node}"


def wait_made(env, task, node):
    """Ostler has made that pod."""
    env.wait(lambda: made(env, task, node), REPAIRED, f"{name(task, node)} is made")


def way_of(ways, node):
    """The phases of a repair from where it changes the node."""
    return [p for p in ways.phases(node) if p in BY_REBOOT]


def gone(env, node):
    """No pod of a repair is left."""
    for task in ("reset", "reboot"):
        equal(env.k.get("Pod", name(task, node), OPERANDS), None, f"the pod of the {task}")


@test
def a_reset_after_the_job(env):
    """A job is waited for, another pod is evicted; driver and stack leave, the GPU is reset, and
    what was evicted runs there again."""
    with repairing(env, "bad") as (node,), Ways(env) as ways:
        job, evicted = env.gpu_pod("job", node), service(env, node)
        drivers = env.pod_uids("driver", node)
        report(env, node, "boot-1", health=NEEDS_RESET)
        wait_phase(env, node, "Waiting", timeout=AT_ONCE)
        assert locked(env, node), "new pods may come to the node"
        equal(claim_of(env.get_node(node))["kind"], "Repair", "the claim's kind")
        env.wait(lambda: health_state(env, node) == "Repairing", 15, "the report says so")
        equal(phase_of(env.get_node(node)), "Waiting", "the phase while the job runs")
        end_job(env, job)
        wait_made(env, "reset", node)
        equal(uid_of(env, evicted), None, "the pod that was evicted")
        evictions = env.requests(writes=True, where=lambda r: r.resource == "pods/eviction")
        equal({r.name for r in evictions}, {evicted}, "pods that were evicted")
        left = set(drivers) & set(env.pod_uids("driver", node))
        equal(left, set(), "drivers of before on the node once its GPU is reset")
        report(env, node, "boot-1")
        wait_repaired(env, node, "Reset")
        gone(env, node)
        equal(len(made(env, "reset", node)), 1, "pods that reset the GPU")
        equal(made(env, "reboot", node), [], "pods that reboot the node")
        equal(way_of(ways, node), BY_RESET, "phases")
        env.wait(
            lambda: any(
                kube.pod_ready(p) and p["spec"].get("nodeName") == node
                for p in env.k.list("Pod", "default", labels=f"app=deployment-{node}")
            ),
            15,
            "the service runs on the node again",
        )


@test
def a_reboot_after_a_reset_that_fails(env):
    """The pod of the reset fails, so the node is rebooted; another boot id brings it on, and a
    validation opens it."""
    with repairing(env, "no-reset", reboot="Pod") as (node,), Ways(env) as ways:
        report(env, node, "boot-1", health=NEEDS_RESET)
        wait_made(env, "reboot", node)
        time.sleep(3)
        equal(phase_of(env.get_node(node)), "Rebooting", "the phase until the machine has booted")
        boot(env, node, "boot-2")
        wait_repaired(env, node, "Reset", "Reboot")
        gone(env, node)
        equal(len(made(env, "reboot", node)), 1, "pods that reboot the node")
        equal(way_of(ways, node), BY_REBOOT, "phases")


@test
@proven_by("tests/cases/node/repair-3-resetting-fails.yaml")
def no_reboot_without_leave(env):
    """The reset fails and health.reboot is None: the node gets its driver back, stays closed, and
    its report says what to do."""
    with repairing(env, "no-reset") as (node,):
        report(env, node, "boot-1", health=NEEDS_RESET)
        wait_made(env, "reset", node)
        env.wait(lambda: claim_of(env.get_node(node)) is None, REPAIRED, "the claim has ended")
        assert tainted(env, node), "the node was opened"
        equal(len(made(env, "reset", node)), 1, "pods that reset the GPU")
        equal(made(env, "reboot", node), [], "pods that reboot the node")
        env.wait(lambda: len(env.pods(node, "driver")) == 1, 15, "its driver is back")


def reset_for_real(env, node, root):
    """Runs Ostler's program as the pod that resets GPUs would, on the test's machine; the pod then
    ends as the program did. Returns what it said."""
    pod = env.wait(
        lambda: env.k.get("Pod", name("reset", node), OPERANDS), REPAIRED, "the pod of the reset"
    )
    done = agent.run_as_container(pod, root, env.logs / "pod")
    end_task(env, pod["metadata"]["name"], "reset", done.returncode, done.stderr.strip())
    return done.stderr


def wait_old_enough(env, node):
    """A minute has passed since the driver's pod was made: until then a fault of the log is taken
    for one of its loading."""
    (pod,) = env.pods(node, "driver")
    env.wait(
        lambda: pod["metadata"]["creationTimestamp"] < ago(LOADS), LOADS + 10, "the driver is old"
    )


@long_test
def from_the_log_to_the_bus(env):
    """With real programs: the agent reads a fault in the kernel log, Ostler closes the node and
    makes the pod, its program asks the kernel to reset this GPU and no other, the driver loads
    anew, and the node opens."""
    root = env.logs / "machine"
    agent.make_machine(root, gpus=2)
    files = [agent.let_reset(root, number) for number in range(2)]
    log = agent.KernelLog(env.logs / "kernel.log")
    bad = agent.gpu_folder(root, 1).name
    spec = {"health": {"mode": "Repair"}, "nodeAgent": {"enabled": False}}
    with env.own_operator("--agent-image", IMAGE, "--allow-repairs=true"):
        node = env.serving("by-hand", spec=spec)
        env.k.merge_patch(
            "Node", node, {"status": {"nodeInfo": {"bootID": agent.BOOT}}}, subresource="status"
        )
        with agent.Agent(
            node,
            root,
            agent.kubeconfig(env.world, env.create, node),
            env.logs / "agent.log",
            flags=[f"--kernel-log={log.file}"],
        ):
            env.wait(lambda: healthy(env, node) == ("True", "NoFault"), 20, f"{node} is healthy")
            wait_old_enough(env, node)
            log.add(f"NVRM: Xid (PCI:{bad[:-2]}): 95, pid=7, name=python, Uncontained ECC error.")
            env.wait(lambda: locked(env, node), 40, "the node is closed")
            env.wait(lambda: healthy(env, node) == ("False", "Xid95"), 15, "GpuHealthy says why")
            equal(reset_for_real(env, node, root).strip(), f"reset {bad}", "what the program says")
            equal([f.read_text(encoding="ascii") for f in files], ["", "1"], "what sysfs was told")
            wait_repaired(env, node, "Reset")
        env.k.delete("Pod", f"agent-{node}", OPERANDS, grace=0)  # whose token the agent had
        env.remove_policy(force=True)


@test
@proven_by("tests/sweep/checks_budget.c")
def one_at_a_time(env):
    """Two nodes with a fault are repaired one after the other: repairs have the budget of
    upgrades."""
    with repairing(env, "a", "b") as nodes, Ways(env, most=1) as ways:
        for node in nodes:
            report(env, node, "boot-1", health=NEEDS_RESET)
        for node in nodes:
            env.wait(lambda n=node: locked(env, n), AT_ONCE, f"{node} is closed")
        order = list(nodes)
        while order:
            begun = env.wait(
                lambda: [n for n in order if made(env, "reset", n)], REPAIRED, "a GPU is reset"
            )
            report(env, begun[0], "boot-1")
            wait_repaired(env, begun[0], "Reset")
            order.remove(begun[0])
        equal(ways.at_once, 1, "nodes that were repaired at the same time")


@test
def person_asks_for_a_repair(env):
    """`kubectl gpu repair` in mode Close: without --yes it only tells; with it the GPUs of a
    node that shows no fault are reset, once."""
    with repairing(env, "gpu", mode="Close") as (node,), people(env) as (viewer, manager):
        told = manager.run("gpu", "repair", node)
        equal(told.returncode, 1, "exit code without --yes")
        contains(told.stdout + told.stderr, ["nothing was changed", "--yes"], "what it says")
        refused = viewer.run("gpu", "repair", node, "--yes")
        equal(refused.returncode, 1, "exit code for a viewer")
        contains(manager.gpu("repair", node, "--yes"), "is asked for", "what it says with --yes")
        wait_made(env, "reset", node)
        report(env, node, "boot-1")
        wait_repaired(env, node, "Reset")
        marks = env.get_node(node)["metadata"].get("annotations", {})
        equal(marks.get("ostler.dev/repair"), None, "what asked for it")
        env.stays(lambda: claim_of(env.get_node(node)) is None, 4, "no second repair")


@test
def person_ignores_the_fault(env):
    """`kubectl gpu ignore` takes back a repair that waits for a job: the node opens, and its
    driver and its job stay."""
    with repairing(env, "bad") as (node,), people(env) as (_, manager):
        job = env.gpu_pod("job", node)
        uids = uid_of(env, job), env.pod_uids("driver", node)
        report(env, node, "boot-1", health=NEEDS_RESET)
        wait_phase(env, node, "Waiting")
        manager.gpu("ignore", node, "--fault", "RecoveryReset")
        env.wait(
            lambda: not locked(env, node) and claim_of(env.get_node(node)) is None,
            AT_ONCE,
            "the node is open",
        )
        env.stays(lambda: not locked(env, node), 4, "the node stays open")
        equal((uid_of(env, job), env.pod_uids("driver", node)), uids, "job and driver")
        equal(made(env, "reset", node), [], "pods that reset the GPU")
        contains(manager.gpu("explain", node), "ignore", "explain")
