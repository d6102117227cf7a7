"""17. The agent on a node: what it sees is in its GpuNode, it writes nothing at rest, and no
agent speaks for another node."""

import contextlib
import shutil
import time

import agent
import kube
from agent import Agent, add_gpu, make_machine, tell
from harness import cases, contains, equal, long_test, test
from names import OLDEST

USER = f"system:serviceaccount:{agent.OPERANDS}:{agent.ACCOUNT}"
STARTS = 15  # within ten seconds of its start the agent has looked


@contextlib.contextmanager
def quiet(env, *nodes):
    """Without Ostler, so that only the agent is at work; GpuNodes go away afterwards."""
    env.operator.stop()
    try:
        yield
    finally:
        for node in nodes:
            env.k.delete("GpuNode", node)


def token_of(env, node):
    """A kubeconfig with the token of the agent on this node."""
    return agent.kubeconfig(env.world, env.create, node)


def inventory(env, node):
    """What the GpuNode says, or None."""
    report = env.k.get("GpuNode", node)
    return (report or {}).get("status", {}).get("inventory")


def gpus(env, node):
    """How many GPUs it tells of, or None."""
    return len((inventory(env, node) or {"gpus": [None] * 99})["gpus"])


def status(**members):
    """A patch of a GpuNode's status."""
    return {"status": members}


@test
def inventory_comes(env):
    """The agent makes its GpuNode and says what is there; a GPU that is added is told of at the
    next news."""
    node, root = env.node("agent"), env.logs / "machine"
    make_machine(root, gpus=1)
    with quiet(env, node), Agent(node, root, token_of(env, node), env.logs / "agent.log"):
        env.wait_until(lambda: gpus(env, node) == 1, STARTS, "the inventory")
        equal(
            (inventory(env, node)["bootId"], inventory(env, node)["kernel"]),
            (agent.BOOT, "6.8.0-49-generic"),
            "boot and kernel",
        )
        add_gpu(root, 1)
        tell(root)
        env.wait_until(lambda: gpus(env, node) == 2, STARTS, "the second GPU")


@test
def restart_writes_nothing(env):
    """An agent that starts again finds what it has said, and asks once."""
    node, root, log = env.node("agent"), env.logs / "machine", env.logs / "again.log"
    make_machine(root, gpus=1)
    with quiet(env, node):
        config = token_of(env, node)
        with Agent(node, root, config, env.logs / "agent.log"):
            env.wait_until(lambda: gpus(env, node) == 1, STARTS, "the inventory")
        log.unlink(missing_ok=True)
        since = time.time()
        with Agent(node, root, config, log) as again:
            env.wait_until(
                lambda: again.said("the inventory has not changed"), STARTS, "its first look"
            )
            time.sleep(1)
        asked = env.world.audit.requests(user=USER, since=since)
        equal([(r.verb, r.resource) for r in asked], [("get", "gpunodes")], "what it asked for")


@test
def no_gpu_no_report(env):
    """Where there is no GPU, no GpuNode is made."""
    node, root, log = env.node("agent"), env.logs / "machine", env.logs / "none.log"
    make_machine(root, gpus=0)
    log.unlink(missing_ok=True)
    with quiet(env, node), Agent(node, root, token_of(env, node), log) as one:
        env.wait_until(lambda: one.said("the inventory has not changed"), STARTS, "its first look")
        equal(env.k.get("GpuNode", node), None, "its GpuNode")


@long_test
def gone_after_three_looks(env):
    """A GPU that the agent does not find is counted three times, twenty seconds apart, before it
    counts as gone."""
    node, root = env.node("agent"), env.logs / "machine"
    make_machine(root, gpus=1)
    with quiet(env, node), Agent(node, root, token_of(env, node), env.logs / "agent.log"):
        env.wait_until(lambda: gpus(env, node) == 1, STARTS, "the inventory")
        shutil.rmtree(agent.gpu_folder(root, 0))
        tell(root)
        since = time.time()
        env.wait_until(
            lambda: (inventory(env, node) or {}).get("absentLooks") == 3, 60, "three looks"
        )
        assert time.time() - since > 35, "three looks take two pauses"


@test
def stolen_token(env):
    """An agent with the token of another node is refused, says so, and tries again; nothing is
    said of its node."""
    node, root, log = env.node("agent"), env.logs / "machine", env.logs / "stolen.log"
    make_machine(root, gpus=1)
    log.unlink(missing_ok=True)
    with quiet(env, node), Agent(node, root, token_of(env, env.node("other")), log) as one:
        env.wait_until(
            lambda: one.said("an agent may report only its own node") > 1, STARTS, "two refusals"
        )
        equal(env.k.get("GpuNode", node), None, "its GpuNode")


def garbage(inventory):
    """A word that is no inventory, of the agent's own node."""
    return lambda client, own, other: client.merge_patch(
        "GpuNode", own, status(inventory=inventory), subresource="status"
    )


def card(**members):
    """A GPU of an inventory."""
    return {"address": "0000:01:00.0", "bus": "Answers", **members}


# What an agent may not do to whose GpuNode, with the token of its own node -> a part of the answer.
FORGERIES = {
    "other_node": (
        lambda client, own, other: client.merge_patch(
            "GpuNode", other, status(inventory={"gpus": []}), subresource="status"
        ),
        "an agent may report only its own node",
    ),
    "other_fields": (
        lambda client, own, other: client.merge_patch(
            "GpuNode", own, status(state="Ready"), subresource="status"
        ),
        "only the inventory",
    ),
    "other_fields_by_apply": (
        lambda client, own, other: client.apply(
            report(own, status(state="Ready")), subresource="status"
        ),
        "only the inventory",
    ),
    "other_node_by_apply": (
        lambda client, own, other: client.apply(
            report(other, status(inventory={"gpus": []})), subresource="status"
        ),
        "an agent may report only its own node",
    ),
    "other_fields_as_they_are": (
        lambda client, own, other: client.apply(
            report(own, status(state="Waiting", inventory={})), subresource="status"
        ),
        "an agent may own only the inventory",
    ),
    "replaced": (
        lambda client, own, other: client.request(
            "PUT", kube.path_of("GpuNode", own, subresource="status"), report(own)
        ),
        "forbidden",
    ),
    "garbage": (garbage({"gpus": "many"}), "status.inventory.gpus"),
    "no_object": (garbage("none"), "status.inventory"),
    "too_many_cards": (garbage({"gpus": [card()] * 65}), "status.inventory.gpus"),
    "address_that_is_a_path": (
        garbage({"gpus": [card(address="../../etc")]}),
        "status.inventory.gpus[0].address",
    ),
    "card_without_a_state": (
        garbage({"gpus": [{"address": "0000:01:00.0"}]}),
        "status.inventory.gpus[0].bus",
    ),
    "too_much_memory": (
        garbage({"gpus": [card(memoryMiB=1 << 40)]}),
        "status.inventory.gpus[0].memoryMiB",
    ),
    "looks_beyond_the_last": (
        garbage({"gpus": [], "absentLooks": 4}),
        "status.inventory.absentLooks",
    ),
    "long_text": (garbage({"kernel": "6" * 64}), "status.inventory.kernel"),
    "too_many_holders": (
        garbage({"holders": [{"processes": 1, "minors": []}] * 33}),
        "status.inventory.holders",
    ),
    "made_for_another": (
        lambda client, own, other: client.create(report(f"{other}-x")),
        "an agent may report only its own node",
    ),
    "metadata": (
        lambda client, own, other: client.merge_patch(
            "GpuNode", own, {"metadata": {"labels": {"a": "b"}}}
        ),
        "forbidden",
    ),
    "delete": (
        lambda client, own, other: client.request("DELETE", kube.path_of("GpuNode", own)),
        "forbidden",
    ),
    "nodes": (lambda client, own, other: client.list("Node"), "forbidden"),
    "all": (lambda client, own, other: client.list("GpuNode"), "forbidden"),
}


def report(name, said=None, **metadata):
    """A GpuNode."""
    return {
        "apiVersion": "ostler.dev/v1alpha1",
        "kind": "GpuNode",
        "metadata": {"name": name, **metadata},
        **(said or {}),
    }


@cases(FORGERIES)
def refused(env, row):
    """What an agent may not do is refused, with the reason."""
    attempt, why = row
    own, other = env.node("own"), env.node("other")
    with quiet(env, own, other):
        client = kube.from_kubeconfig(token_of(env, own))
        for name in (own, other):
            env.k.create(report(name))
        client.merge_patch("GpuNode", own, status(inventory={"gpus": []}), subresource="status")
        env.k.apply(report(own, status(state="Waiting")), manager="ostler", subresource="status")
        try:
            attempt(client, own, other)
        except kube.ApiError as e:
            # Kubernetes 1.30 names fields of a status without it.
            contains(e.message, why.removeprefix("status.") if OLDEST else why, "the refusal")
        else:
            raise AssertionError("it was taken")


@test
def unknown_members_are_ignored(env):
    """What the schema does not know is dropped, and what it knows is taken."""
    own = env.node("own")
    with quiet(env, own):
        client = kube.from_kubeconfig(token_of(env, own))
        client.create(report(own))
        client.merge_patch(
            "GpuNode",
            own,
            status(inventory={"gpus": [card(price=1)], "script": "x"}),
            subresource="status",
        )
        equal(inventory(env, own), {"gpus": [card()]}, "the inventory")


@test
def token_of_no_node(env):
    """A token that was made for no pod speaks of no node at all; a GpuNode with more than a name
    is not made."""
    node = env.node("own")
    with quiet(env, node):
        env.k.create(report(node))
        stray = kube.from_kubeconfig(
            env.world.token_kubeconfig(agent.OPERANDS, agent.ACCOUNT, "stray")
        )
        own = kube.from_kubeconfig(token_of(env, node))
        env.k.delete("GpuNode", node)
        for client, made, why in (
            (stray, report(node), "only its own node"),
            (own, report(node, labels={"a": "b"}), "contain only its name"),
        ):
            try:
                client.create(made)
            except kube.ApiError as e:
                contains(e.message, why, "the refusal")
            else:
                raise AssertionError(f"{made} was taken")
        own.create(report(node))
