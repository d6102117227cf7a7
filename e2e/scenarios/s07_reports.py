"""7. The policy says what is wrong: which operand, how many nodes, the first cause. It never
says Ready when something lacks."""

import threading

import kube
from harness import cases, contains, equal, test
from names import OPERANDS
from worker import Worker

CLUSTER_CASES = "tests/unit/decide/test_cluster_cases.c"  # first causes, in tests/cases/cluster
BROKEN = {
    # name -> (spec, operand, reason, how many of two nodes): the first toolkit of a pool comes to
    # one node, and stops there
    "driver_image_missing": (
        {"driver": {"version": "580.0-missing"}},
        "driver",
        "ImagePullBackOff",
        2,
    ),
    "driver_crash": ({"driver": {"version": "580.0-crash"}}, "driver", "CrashLoopBackOff", 2),
    "plugin_image_missing": (
        {"devicePlugin": {"version": "v0-missing"}},
        "device-plugin",
        "ImagePullBackOff",
        1,
    ),
    "toolkit_crash": ({"toolkit": {"version": "v0-crash"}}, "toolkit", "CrashLoopBackOff", 1),
}


@cases(BROKEN, proven=dict.fromkeys(("driver_crash", "plugin_image_missing"), CLUSTER_CASES))
def broken(env, row):
    """An operand that cannot run: Ready=False, the message names operand, count and reason; a
    node that waits for it says so."""
    spec, operand, reason, count = row
    nodes = [env.node("a", "nfd"), env.node("b", "nfd")]
    env.policy(spec)
    env.wait_marked(*nodes)

    def named(operand, reason, count):
        causes = (env.get_policy().get("status") or {}).get("firstCauses", [])
        found = [
            c
            for c in causes
            if c.get("operand") == operand and c["reason"] == reason and c.get("nodes") == count
        ]
        return found or str(causes)

    (cause,) = env.wait(lambda: named(operand, reason, count), what="the first cause is named")
    assert cause.get("node") in nodes, f"the cause names no node of two: {cause}"
    if count == 1:
        (stopped,) = env.wait(
            lambda: named("toolkit", "ToolkitStopped", 1),
            what="the other node says why it has no toolkit",
        )
        contains(
            stopped["message"],
            [cause["node"], "ostler.dev/managed=false"],
            "what the other node says",
        )
    ready = env.wait_policy(status="False")
    contains(ready["message"], [operand, reason, str(count)], "message")
    equal(env.condition("Degraded").get("status"), "True", "Degraded")


@test
def metrics_are_not_the_node(env):
    """An exporter that crashes on two nodes: they are Ready, the policy is Degraded, and its
    headline has the pod's reason."""
    nodes = [env.node("a", "nfd"), env.node("b", "nfd")]
    env.policy({"exporter": {"version": "v0-crash"}})
    env.wait_marked(*nodes)
    degraded = env.wait_policy("MetricsMissing", kind="Degraded", timeout=30)
    contains(degraded["message"], ["exporter", "CrashLoopBackOff"], "what is Degraded")
    contains(
        env.wait_policy("MetricsMissing")["message"],
        ["exporter: ", "CrashLoopBackOff"],
        "the headline",
    )
    env.wait(
        lambda: env.get_policy()["status"]["summary"]["nodes"] == "2/2", what="both nodes are Ready"
    )


@test
def broken_image_is_mended(env):
    """An exporter's image that is put right ends what the policy is Degraded for."""
    node = env.node("gpu", "nfd")
    env.policy({"exporter": {"version": "v0-missing"}})
    env.wait(
        lambda: "ImagePullBackOff" in str(env.get_policy().get("status")),
        what="the status names the cause",
    )
    env.edit({"exporter": {"version": None}})
    env.wait_serving(node)
    env.wait_policy("AllNodesReady")
    equal(env.get_policy()["status"].get("firstCauses", []), [], "first causes")
    equal(env.condition("Degraded").get("status"), "False", "Degraded")


@test
def no_gpu_nodes(env):
    """Nodes that a detector has looked at, none with a GPU: Ready with reason NoGpuNodes, in
    words."""
    env.node("plain")
    env.policy()
    ready = env.wait_policy("NoGpuNodes")
    contains(ready["message"], "GPU", "message")
    equal(env.condition("Degraded").get("status"), "False", "Degraded")


@test
def no_detector(env):
    """No node that a detector has looked at: not Ready and Degraded with reason NoDetector; the
    cure is in the MESSAGE column."""
    env.node("bare", nfd=False)
    env.policy()
    degraded = env.wait_policy("NoDetector", kind="Degraded")
    contains(degraded["message"], ["helm install", "node-feature-discovery"], "message")
    env.wait_policy("NoDetector", status="False")
    contains(
        env.get_policy()["status"]["summary"]["message"],
        ["--agent-image", "kubectl label node NAME"],
        "the MESSAGE column",
    )


@test
def never_ready_with_an_operand_missing(env):
    """From the first sight of a node until driver, toolkit and device plugin are ready, the
    policy is not Ready; then it is."""
    seen = []
    stop = threading.Event()
    watcher = env.k.clone()
    first = env.node("first", "nfd")
    env.policy({"devicePlugin": {"version": "v0-slow"}})

    def look():
        while not stop.wait(0.05):
            policy = watcher.get("GpuClusterPolicy", "default")
            seen.append(kube.condition(policy, "Ready").get("status"))

    looker = Worker(look)
    looker.start()
    env.wait_serving(first, operands=("driver", "toolkit"))
    env.wait_calm()
    stop.set()
    looker.finish(10)
    assert seen and "True" not in seen, "Ready while the device plugin is missing"
    plugin = env.pods(first, "device-plugin")[0]["metadata"]["name"]
    env.k.merge_patch(
        "Pod", plugin, {"metadata": {"annotations": {"test.ostler.dev/go": "true"}}}, OPERANDS
    )
    env.wait_serving(first)
    env.wait_policy()


@test
def second_node_is_counted(env):
    """A node that joins a Ready cluster is counted when it is served, and the policy is Ready
    with both."""
    env.serving("first")
    env.wait_serving(env.node("second", "nfd"))
    env.wait(lambda: env.get_policy()["status"]["nodes"]["ready"] == 2)
    env.wait_policy()
    equal(env.get_policy()["status"]["summary"]["nodes"], "2/2", "the NODES column")


@test
def counts_and_columns(env):
    """The counts of nodes and operands, and what kubectl get prints."""
    env.node("plain")
    env.node("served", "allocatable")
    env.serving("a", "b")

    def counted():
        """the counts are right"""
        nodes = env.get_policy()["status"]["nodes"]
        got = {
            k: nodes.get(k) for k in ("total", "gpu", "managed", "ready", "upToDate", "outdated")
        }
        return got == {
            "total": 4,
            "gpu": 3,
            "managed": 2,
            "ready": 2,
            "upToDate": 2,
            "outdated": 0,
        } or str(got)

    env.wait(counted)
    status = env.get_policy()["status"]
    states = {s["state"]: s["count"] for s in status["nodes"]["states"]}
    equal(states.get("Ready"), 2, "nodes in state Ready")
    equal(states.get("ForeignStack"), 1, "nodes in state ForeignStack")
    for operand in status["operands"]:
        equal((operand["desired"], operand["ready"]), (2, 2), f"{operand['name']}: desired, ready")
    equal(
        {o["name"] for o in status["operands"]},
        {"driver", "toolkit", "device-plugin", "exporter", "node-cards"},
        "operands",
    )
    table = env.kubectl("get", "gpupolicy")
    contains(
        table, ["READY", "NODES", "DRIVER", "True", "2/2", "580.178.04"], "kubectl get gpupolicy"
    )


@test
def conditions_are_complete(env):
    """All six conditions are there, with the policy's generation, and none of work while
    nothing is done."""
    env.serving("gpu")
    policy = env.get_policy()
    got = {c["type"]: c["status"] for c in policy["status"]["conditions"]}
    equal(
        got,
        {
            "Ready": "True",
            "Reconciling": "False",
            "Stalled": "False",
            "Degraded": "False",
            "RollingOut": "False",
            "HealthBraked": "False",
        },
        "conditions",
    )
    for c in policy["status"]["conditions"]:
        equal(
            c.get("observedGeneration"),
            policy["metadata"]["generation"],
            f"observedGeneration of {c['type']}",
        )


@test
def events_on_transitions_only(env):
    """Events tell of transitions on the policy and on the node, a handful and not a stream, and
    none while nothing happens."""
    node = env.serving("gpu")
    uid = env.get_policy()["metadata"]["uid"]

    def events():
        return [
            e
            for e in env.k.list("Event")
            if e.get("reportingController", "").startswith("ostler")
            and (e.get("regarding", {}).get("uid") == uid or e["regarding"].get("name") == node)
        ]

    env.wait(
        lambda: any(e["regarding"]["kind"] == "Node" for e in events()), what="an event on the node"
    )
    env.wait(
        lambda: any(e["regarding"]["kind"] == "GpuClusterPolicy" for e in events()),
        what="an event on the policy",
    )
    count = len(events())
    assert (
        count <= 12
    ), f"{count} events for one node and one policy: {[e.get('note') for e in events()]}"
    env.k.merge_patch("Node", node, {"metadata": {"annotations": {"example.com/x": "1"}}})
    env.stays(lambda: len(events()) == count, 2, "no event without a transition")


@test
def status_edited_by_hand(env):
    """A status that a user writes is put right."""
    env.serving("gpu")
    env.k.merge_patch(
        "GpuClusterPolicy",
        "default",
        {"status": {"summary": {"nodes": "7/7"}}},
        subresource="status",
    )
    env.wait(
        lambda: env.get_policy()["status"]["summary"]["nodes"] == "1/1",
        what="the NODES column is right",
    )


@test
def nodes_are_reported_on(env):
    """Each GPU node has a GpuNode and a condition that say whether it works, and why not; both
    go with Ostler's marks."""
    node, plain = env.node("gpu", "nfd"), env.node("plain")
    env.policy({"devicePlugin": {"version": "v0-missing"}})

    def said(state, status):
        """the node is reported on"""
        report, condition = env.k.get("GpuNode", node), kube.condition(
            env.get_node(node), "GpuReady"
        )
        found = (((report or {}).get("status") or {}).get("state"), condition.get("status"))
        return found == (state, status) or str(found)

    env.wait(lambda: said("Failed", "False"), timeout=30)
    contains(
        env.kubectl("get", "gpunodes", "-o", "wide"),
        ["ASSIGNED", "KERNEL", "OS", "RUNTIME", "HOLDERS", "MESSAGE", "ImagePullBackOff"],
        "kubectl get gpunodes -o wide",
    )
    env.edit({"devicePlugin": {"version": None}})
    env.wait(lambda: said("Ready", "True"))
    shown = env.kubectl("get", "gpunodes")
    contains(shown, ["NAME", "STATE", "DRIVER", "REASON", "SINCE", node], "kubectl get gpunodes")
    equal(plain in shown, False, "a plain node has a report")
    env.k.merge_patch("Node", node, {"metadata": {"labels": {"ostler.dev/managed": "false"}}})
    env.wait(lambda: said(None, None))
