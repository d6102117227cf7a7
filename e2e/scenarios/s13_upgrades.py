"""13. Another version reaches nodes that run one.

Here is what a case file (s13_cases.py) cannot tell: what a rollout costs in requests, other
programs and flags than the operator's own, what goes by the wall clock, and proofs that end when
a test says.
"""

import collections
import json
import time

import kube
import upgrades
from harness import contains, equal, long_test, proven_by, test
from names import DRIVER, HOLD, OPERANDS, STARTUP_TAINT
from program import run_program
from rollouts import Ways
from upgrades import (
    LIGHT,
    LIGHTEST,
    NEW,
    OLD,
    OPEN_PROOF,
    assert_end,
    fleet,
    is_known_good,
    rollout_says,
    service,
    spec_of,
    upgrade,
    wait_phase,
    wait_proof,
    wait_said,
)

# Requests that one node's upgrade costs at most: 12.7 where both drivers are proven and every tenth
# node has a pod to evict.
REQUESTS_PER_NODE = 13
# What is said of it beside that. It goes by time, so that a slow cluster has more: states that last
# longer than three seconds, a rollout's progress each few seconds, and Events of what takes long.
REPORTS = (
    "patch gpunodes/status",
    "patch nodes/status",
    "patch gpuclusterpolicies/status",
    "create events",
    "patch events",
)
REPORTS_PER_NODE = 12


def assert_requests(env, began, nodes):
    """What the upgrade of so many nodes has asked for since then: said, and not more than it
    must be."""
    asked = collections.Counter(
        f"{r.verb} {r.resource}"
        for r in env.requests(since=began, where=lambda r: r.resource != "leases")
    )
    each = ", ".join(
        f"{kind} {n / nodes:.2f}" for kind, n in asked.most_common() if n >= nodes / 20
    )
    print(f"     requests per node: {asked.total() / nodes:.2f} ({each})", flush=True)
    reports = sum(asked[kind] for kind in REPORTS)
    assert (
        asked.total() - reports <= REQUESTS_PER_NODE * nodes
    ), f"{asked.total() - reports} requests for {nodes} nodes: {asked}"
    assert reports <= REPORTS_PER_NODE * nodes, f"{reports} reports for {nodes} nodes: {asked}"


@long_test
@proven_by("tests/sweep/sweep_rollouts.c")
def one_node_at_a_time(env):
    """A version reaches twenty nodes: the canary alone, then one at a time, idle ones first,
    each through every phase."""
    nodes = fleet(env, [f"n{i:02}" for i in range(20)], LIGHT, canary={"nodes": 1, "soak": "3s"})
    busy = [nodes[3], nodes[0]]  # in the order in which they are to go, the last with two pods
    for node in busy:
        service(env, node)
    upgrades.workload(env, "StatefulSet", nodes[0], serviceName="none")
    env.wait_reported(*nodes)
    old, began = env.labels(nodes[0])[DRIVER], time.time()
    with Ways(env) as ways:
        upgrade(env)
        rollout_says(env, "Soaking")
        equal(len(ways.order), 1, "nodes that went before the canary was tried")
        assert_end(env, NEW, nodes, timeout=180)
    assert_requests(env, began, len(nodes))
    new = env.labels(nodes[0])[DRIVER]
    equal(ways.order, [n for n in nodes if n not in busy] + busy, "the order")
    for node in nodes:
        equal(
            ways.phases(node),
            [None, "Draining", "Unloading", "Installing", None],
            f"the way of {node}",
        )
        equal([d for d, _ in ways.labels[node]], [old, old, None, new, new], f"drivers of {node}")
    assert is_known_good(env, new), "the new version is not known to be good"


@long_test
def quarter_of_twelve(env):
    """maxParallel of 25 % takes three of twelve nodes at the same time and not one more; no node
    costs many requests."""
    nodes = fleet(
        env, [f"n{i:02}" for i in range(12)], LIGHTEST, maxParallel="25%", maxUnavailable="25%"
    )
    env.wait_reported(*nodes, timeout=60)
    began = time.time()
    with Ways(env, most=3) as ways:
        upgrade(env)
        assert_end(env, NEW, nodes, timeout=180)
    assert_requests(env, began, len(nodes))
    equal(
        (ways.at_once, ways.out_at_once),
        (3, 3),
        "nodes that were changed, and closed, at the same time",
    )


@test
def own_node_goes_last(env):
    """The node that Ostler itself runs on goes last, though its name and its idleness would have
    it go first."""
    nodes = fleet(env, 3, LIGHT)
    own, others = nodes[0], nodes[1:]
    for node in others:
        service(env, node)
    with env.own_operator("--node-name", own, name="on-a-node"), Ways(env) as ways:
        upgrade(env)
        assert_end(env, NEW, nodes)
    equal(ways.order, [*others, own], "the order")


def plan_of(env, *flags, stdin=None, code=0):
    """What `ostler plan` says with the rights that Ostler itself has, as JSON. code: the exit
    code that it is to end with."""
    done = run_program(
        "plan", "--kubeconfig", env.kubeconfig, "-o", "json", *flags, stdin=stdin, timeout=60
    )
    equal((done.returncode, done.stderr), (code, ""), "ostler plan")
    return json.loads(done.stdout)


@test
def plan_is_what_happens(env):
    """ostler plan says who goes in which order, who stays and who is in the way, reads and
    writes nothing; the rollout does just that."""
    nodes = fleet(env, 4, LIGHT, approval="Manual")
    held, busy, idle = nodes[1], nodes[2], [nodes[0], nodes[3]]
    upgrades.set_on_node(env, held, labels={HOLD: "true"})
    job = env.gpu_pod("job", busy)
    wanted = json.dumps(kube.policy({**LIGHT, **spec_of(NEW, approval="Manual")}))
    began = time.time()
    plan = plan_of(env, "-f", "-", stdin=wanted)["plan"]
    contains(str(plan["stay"]), held, "who stays")
    contains(str(plan["blockers"]), job, "who is in the way")
    upgrades.end_job(env, job)
    played = plan_of(
        env, "--simulate", "-f", "-", stdin=wanted, code=3
    )  # the held node does not get there
    equal(
        played["summary"]["nodes"],
        3,
        f"nodes that went in the rollout that is played: {played['summary']}",
    )
    asked = env.world.audit.requests(since=began, where=lambda r: r.agent.startswith("ostler-plan"))
    equal({r.verb for r in asked}, {"list"}, "what the plans asked of the API server")
    with Ways(env) as ways:
        upgrade(env)
        hash_ = rollout_says(env, "WaitingForApproval")["plan"]["hash"]
        equal(plan["hash"], hash_, "the plan's hash")
        upgrades.approve(env, hash_)
        upgrades.wait_runs(env, NEW, *idle, busy)
        equal(
            ways.order,
            sorted([*idle, busy]),
            "the order of the rollout: the job is over, so that all are idle",
        )
        equal(
            [m["node"] for m in plan["moves"] if m["node"] in idle], idle, "the order of the plan"
        )


# What `ostler plan` lists, with the API groups; without the last it says nothing of budgets.
PLAN_LISTS = {
    "gpuclusterpolicies": "ostler.dev",
    "nodes": "",
    "pods": "",
    "controllerrevisions": "apps",
    "poddisruptionbudgets": "policy",
}


def planner(env, *without):
    """A kubeconfig of a ServiceAccount that may list what plans rest on, but for these, and
    nothing else."""
    name = "-".join(["planner", *without])
    rules = [
        {"apiGroups": [group], "resources": [resource], "verbs": ["list"]}
        for resource, group in PLAN_LISTS.items()
        if resource not in without
    ]
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": name}}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    env.create(
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": name, "namespace": "default"},
        }
    )
    env.create({**rbac, "kind": "ClusterRole", "rules": rules})
    env.create(
        {
            **rbac,
            "kind": "ClusterRoleBinding",
            "roleRef": role,
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}],
        }
    )
    return env.world.token_kubeconfig("default", name)


@test
def plan_names_the_right_that_it_lacks(env):
    """Without a right `ostler plan` fails with a sentence that names it; without that to budgets
    it plans the same, and says so."""
    nodes = fleet(env, 2, LIGHT, approval="Manual")
    job = env.gpu_pod("job", nodes[1])
    upgrade(env)
    full = plan_of(env)["plan"]
    contains(str(full["blockers"]), job, "who is in the way")

    def run(kubeconfig):
        return run_program("plan", "--kubeconfig", kubeconfig, "-o", "json")

    *needed, budgets = PLAN_LISTS
    for without in ([*needed, budgets], *([one] for one in needed)):
        kubeconfig = planner(env, *without)
        done = env.wait(
            lambda k=kubeconfig, w=without: [
                d for d in [run(k)] if any(f'resource "{one}"' in d.stderr for one in w)
            ],
            what=f"the right to list {without} is missed",
        )[0]
        said = done.stderr.splitlines()
        equal(
            (done.returncode, done.stdout, len(said)),
            (1, "", 1),
            f"exit code, stdout and lines of stderr ({said})",
        )
        contains(said[0], ["forbidden", "cannot list"], "what it says")
    kubeconfig = planner(env, budgets)
    done = env.wait(
        lambda: [d for d in [run(kubeconfig)] if d.returncode == 0], what="a plan without budgets"
    )[0]
    equal(len(done.stderr.splitlines()), 1, f"lines of stderr ({done.stderr})")
    contains(done.stderr, "PodDisruptionBudgets cannot be read", "what it says")
    plan = json.loads(done.stdout)["plan"]
    for part in ("hash", "moves", "stay", "blockers"):
        equal(plan[part], full[part], f"the plan's {part}")


@test
def window_closes_before_a_node_is_drained(env):
    """A node that waits for its job when the window closes returns to service, and says why; in
    the next window it is upgraded."""
    (node,) = fleet(env, 1, LIGHT)
    job = env.gpu_pod("job", node)
    drivers = env.pod_uids("driver")
    with Ways(env) as ways:
        upgrade(env)
        wait_phase(env, node, "Waiting")
        closed_now = {"schedule": f"0 {(time.gmtime().tm_hour + 12) % 24} * * *", "duration": "1h"}
        env.edit({"rollout": {"windows": [closed_now]}})
        rollout_says(env, "WaitingForWindow", "the next one opens at")
        wait_said(env, node, "no window of spec.rollout.windows is open")
        upgrades.end_job(env, job)
        env.stays(
            lambda: upgrades.is_in_service(env, node) and env.pod_uids("driver") == drivers,
            1,
            "node and driver",
        )
        env.edit({"rollout": {"windows": [{"schedule": "* * * * *", "duration": "2m"}]}})
        assert_end(env, NEW, [node])
    equal(
        ways.phases(node),
        [None, "Waiting", None, "Draining", "Unloading", "Installing", None],
        "its way",
    )


@test
def new_node_is_closed_until_it_is_proven(env):
    """A new node bears the startup taint until a CUDA program has run there; what that saw
    becomes its labels."""
    env.policy({**spec_of(), **LIGHT, "validation": OPEN_PROOF})
    node = env.node("gpu", "nfd", images=2)
    proof = wait_proof(env, node)
    assert kube.taint(env.get_node(node), STARTUP_TAINT), "it is open before it is proven"
    wait_said(env, node, "CUDA program")
    env.k.merge_patch(
        "Pod", proof, {"metadata": {"annotations": {"test.ostler.dev/go": "true"}}}, OPERANDS
    )
    env.wait(lambda: not kube.taint(env.get_node(node), STARTUP_TAINT), what="it is open")
    equal(env.labels(node).get("nvidia.com/gpu.product"), "NVIDIA-H100-80GB-HBM3", "its product")
    env.wait(lambda: not env.k.get("Pod", proof, OPERANDS), what="the proof's pod is gone")
    upgrades.wait_runs(env, OLD, node)


@test
def labels_of_gpus_are_left_to_gfd(env):
    """What its GPUs are stands on a node; where GPU feature discovery comes, it has the word;
    when it has gone, Ostler goes on."""
    product, memory = "nvidia.com/gpu.product", "nvidia.com/gpu.memory"
    theirs = {"nvidia.com/gfd.timestamp": "1", product: "theirs"}
    env.policy({**spec_of(), **LIGHT, "validation": {"enabled": True}})
    node = env.node("gpu", "nfd", images=2)
    env.wait(lambda: product in env.labels(node), what="its product")
    ours = env.labels(node)[product]
    equal(env.labels(node)["nvidia.com/gpu.sharing-strategy"], "none", "how it is shared")
    env.k.merge_patch("Node", node, {"metadata": {"labels": theirs}})
    env.wait(
        lambda: product not in env.get_node(node)["metadata"]["annotations"]["ostler.dev/marks"],
        what="Ostler gives it up",
    )
    env.wait_calm()
    equal(env.labels(node)[product], "theirs", "its product")
    env.k.merge_patch("Node", node, {"metadata": {"labels": dict.fromkeys(theirs)}})
    env.wait(lambda: env.labels(node).get(product) == ours, what="it is Ostler's again")
    env.edit({"nodeAgent": {"labels": "None"}})
    env.wait(lambda: product not in env.labels(node), what="it is off")
    assert memory in env.labels(node), "Ostler took off a label that had become a user's"


@test
def another_ostler_upgrades_nothing(env):
    """An Ostler of another image, with which operands wait for the driver, changes their DaemonSets
    and replaces no pod of theirs."""

    def waits_with():
        sets = {
            **env.daemonsets("toolkit"),
            **env.daemonsets("device-plugin"),
            **env.daemonsets("exporter"),
        }
        return {
            c["image"]
            for d in sets.values()
            for c in d["spec"]["template"]["spec"]["initContainers"]
            if c["name"] == "wait"
        }

    with env.own_operator("--agent-image", "ostler:1"):
        node = env.serving("gpu", spec={"nodeAgent": {"enabled": False}})
        env.wait_calm()
        equal(waits_with(), {"ostler:1"}, "what operands wait with")
        before = {c: env.pod_uids(c) for c in ("driver", "toolkit", "device-plugin")}
        labels = env.labels(node)
    with env.own_operator("--agent-image", "ostler:2"):
        env.wait(lambda: waits_with() == {"ostler:2"}, what="operands wait with the new image")
        env.wait_calm()
        equal(
            {c: env.pod_uids(c) for c in before},
            before,
            "pods of driver, toolkit and device plugin",
        )
        equal(env.labels(node), labels, "labels of the node")
