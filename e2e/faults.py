"""Faults of GPUs as a node's agent reports them, and what is to be seen of them on the node."""

import json
import time

import kube

TAINT = "ostler.dev/unhealthy"
TAINTED = f"{TAINT}=GpuFault:NoSchedule"
RECORD = "ostler.dev/fault"
GPUS = ("0000:3b:00.0", "0000:5e:00.0")
# From the agent's write to the taint, for what needs no second look; with it.
AT_ONCE, CONFIRMED = 10, 20


def boot(env, node, name):
    """The node's machine has booted, and its agent has reported: nothing is wrong."""
    env.k.merge_patch(
        "Node", node, {"status": {"nodeInfo": {"bootID": name}}}, subresource="status"
    )
    report(env, node, name)


def report(env, node, boot_id, health=(), faults=(), lost=()):
    """What the agent of the node reports."""
    gpus = [{"address": a, "bus": "Gone" if a in lost else "Answers"} for a in GPUS]
    told = [{"address": a, "recovery": "None"} for a in GPUS]
    for row in health:
        told = [{**one, **row} if one["address"] == row["address"] else one for one in told]
    inventory = {
        "bootId": boot_id,
        "module": {"loaded": True, "version": "580.95.05"},
        "gpus": gpus,
        "health": told,
        "faults": list(faults),
    }
    patch = {"status": {"inventory": inventory}}
    env.k.merge_patch("GpuNode", node, patch, subresource="status")


def xid(number, boot_id, address=GPUS[0]):
    """A fault of the kernel log."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {
        "address": address,
        "xid": number,
        "count": 1,
        "first": now,
        "last": now,
        "bootId": boot_id,
    }


def tainted(env, node):
    """The taint of a node that is closed for a fault, or None."""
    return kube.taint(env.get_node(node), TAINT)


def healthy(env, node):
    """The condition GpuHealthy: (status, reason)."""
    said = kube.condition(env.get_node(node), "GpuHealthy")
    return said.get("status"), said.get("reason")


def serving(env, *suffixes, spec=None):
    """Nodes that serve, whose agents have reported that nothing is wrong."""
    made = env.serving(*suffixes, spec=spec)
    nodes = [made] if isinstance(made, str) else made
    for node in nodes:
        boot(env, node, "boot-1")
        env.wait(lambda n=node: healthy(env, n) == ("True", "NoFault"), 15, f"{node} is healthy")
    return nodes


def wait_closed(env, node, timeout=AT_ONCE):
    """The node is closed for new pods."""
    env.wait(lambda: tainted(env, node) == TAINTED, timeout, f"{node} is closed")


def wait_open(env, node, timeout=20):
    """The node is open, and nothing is recorded of its fault."""
    env.wait(lambda: not tainted(env, node), timeout, f"{node} is open")
    env.wait(
        lambda: RECORD not in env.get_node(node)["metadata"].get("annotations", {}),
        timeout,
        f"{node} has no record",
    )


def tries(env, node):
    """The kinds of Ostler's attempts to repair the node, as its record has them."""
    text = env.get_node(node)["metadata"].get("annotations", {}).get(RECORD)
    return [one["kind"] for one in json.loads(text or "{}").get("tries", [])]
