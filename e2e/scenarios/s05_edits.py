"""5. Edits of the policy change what they mean to change and nothing else."""

import time

from env import moved
from harness import contains, equal, long_test, test
from names import DRIVER, OPERANDS, OPERAND_NAMES, STACK
from program import other_build

TIERS = ("driver", "toolkit", "device-plugin")
# What e2e/other_build.h has built in.
OTHER_IMAGES = {
    "driver": "nvcr.io/nvidia/driver:590.44.01-ubuntu24.04",
    "toolkit": "nvcr.io/nvidia/cloud-native/container-toolkit:v1.99.0",
    "device-plugin": "nvcr.io/nvidia/k8s-device-plugin:v0.99.0",
    "exporter": "nvcr.io/nvidia/k8s/dcgm-exporter:9.9.9-9.9.9-distroless",
}


@test
def exporter_interval_rolls_the_exporter_only(env):
    """The exporter's interval replaces the exporter's pods and no other."""
    node = env.serving("gpu")
    tiers = {c: env.pod_uids(c) for c in TIERS}
    exporter = env.pod_uids("exporter")
    revisions = (env.labels(node)[DRIVER], env.labels(node)[STACK])
    env.edit({"exporter": {"interval": "5s"}})
    env.wait(
        lambda: len(env.pod_uids("exporter")) == 1 and env.pod_uids("exporter") != exporter,
        15,
        "a new exporter pod",
    )
    env.wait_serving(node)
    for component, uids in tiers.items():
        equal(env.pod_uids(component), uids, f"{component} pods")
    equal((env.labels(node)[DRIVER], env.labels(node)[STACK]), revisions, "assignments")


@test
def exporter_can_be_switched_off_and_on(env):
    """A disabled exporter's DaemonSet and Service go; enabled, they come back."""
    node = env.serving("gpu")
    env.edit({"exporter": {"enabled": False}})
    env.wait(
        lambda: not env.pods(node, "exporter") and not env.daemonsets("exporter"),
        what="no exporter",
    )
    env.wait(lambda: not [s for s in env.k.list("Service", OPERANDS)], what="no Service")
    env.edit({"exporter": {"enabled": True}})
    env.wait_serving(node)


@test
def driver_limit_makes_no_revision(env):
    """A driver's resource limit reaches the template, makes no new revision and replaces no pod;
    the status counts those that wait."""
    node = env.serving("gpu")
    pods = env.pod_uids("driver")
    revision = env.labels(node)[DRIVER]
    env.edit({"driver": {"resources": {"limits": {"memory": "4Gi"}}}})
    (name,) = env.daemonsets("driver")

    def limited():
        """the DaemonSet has the limit"""
        containers = env.k.get("DaemonSet", name, OPERANDS)["spec"]["template"]["spec"][
            "containers"
        ]
        return any(
            c.get("resources", {}).get("limits", {}).get("memory") == "4Gi" for c in containers
        )

    env.wait(limited)

    def counted():
        """one driver pod runs an older template"""
        operands = {o["name"]: o for o in env.get_policy()["status"]["operands"]}
        return operands["driver"].get("outdated") == 1 or str(operands["driver"])

    env.wait(counted)
    env.wait_calm()
    equal(env.labels(node)[DRIVER], revision, "assignment")
    equal(env.pod_uids("driver"), pods, "driver pods")


@test
def driver_version_waits_while_paused(env):
    """With a paused rollout a new driver version moves no node, and new nodes get what is known
    to be good; the status counts both."""
    old = env.serving(
        "old", spec={"driver": {"version": "570.124.06"}, "rollout": {"paused": True}}
    )
    pods = env.pod_uids("driver")
    env.edit({"driver": {"version": "580.178.04"}})

    def counted(outdated):
        nodes = env.get_policy()["status"]["nodes"]
        return nodes["outdated"] == outdated or str(nodes)

    env.wait(lambda: counted(1), what="one node is outdated")
    new = env.node("new", "nfd")
    env.wait_serving(new)
    contains(env.image(new, "driver"), ":570.124.06-", "the new node's driver")
    equal(env.pod_uids("driver", old), pods, "the old node's driver pod")
    env.wait(lambda: counted(2), what="two nodes are outdated")


@test
def driver_version_there_and_back(env):
    """Going back to the version that runs leaves one DaemonSet: those of revisions that no
    node needs are deleted."""
    env.serving("gpu", spec={"driver": {"version": "570.124.06"}})
    before = set(env.daemonsets())
    env.edit({"driver": {"version": "580.178.04"}})
    env.wait(lambda: len(env.daemonsets("driver")) == 2, what="two driver DaemonSets")
    env.edit({"driver": {"version": "570.124.06"}})
    env.wait(lambda: set(env.daemonsets()) == before, what="the DaemonSets are those of before")
    env.wait_policy()


@test
def left_open_stays_as_it_is(env):
    """A version that is taken out of the policy stays what the nodes run, for new nodes too:
    built-in defaults move nothing."""
    first = env.serving(
        "first",
        spec={
            "driver": {"version": "570.124.06"},
            "toolkit": {"version": "v1.17.0"},
            "devicePlugin": {"version": "v0.17.0"},
            "exporter": {"version": "4.0.0-4.0.0-ubuntu22.04"},
        },
    )
    contains(env.image(first, "driver"), ":570.124.06-", "driver image")
    pods = {c: env.pod_uids(c) for c in TIERS}
    env.edit(
        {
            "driver": {"version": None},
            "toolkit": {"version": None},
            "devicePlugin": {"version": None},
        }
    )
    env.wait_policy()
    env.wait_calm()
    for component, uids in pods.items():
        equal(env.pod_uids(component), uids, f"{component} pods")
    second = env.node("second", "nfd")
    env.wait_serving(second)
    for key in (DRIVER, STACK):
        equal(env.labels(second)[key], env.labels(first)[key], key)


@test
def left_open_survives_a_restart(env):
    """The same after Ostler was started anew, whose built-in versions count for nothing."""
    first = env.serving("first", spec={"driver": {"version": "570.124.06"}})
    env.operator.stop()
    env.edit({"driver": {"version": None}})
    env.operator.start()
    second = env.node("second", "nfd")
    env.wait_serving(second)
    equal(env.labels(second)[DRIVER], env.labels(first)[DRIVER], DRIVER)


def images(env, node):
    """The images of all operands on a node."""
    return {c: env.image(node, c) for c in OPERAND_NAMES}


@long_test
def another_build_moves_nothing(env):
    """A build with other built-in versions takes over: no object changes, and new nodes, of a
    new OS too, get what runs."""
    spec = {
        "pools": [
            {"name": "legacy", "nodeSelector": {"gpu": "k80"}, "driver": {"version": "470.256.02"}}
        ]
    }
    legacy = env.node("legacy", "nfd", labels={"gpu": "k80"})
    first = env.serving("first", spec=spec)
    env.wait_serving(legacy)
    env.wait_calm()
    before, runs = env.standing(), images(env, first)
    version = runs["driver"].rpartition(":")[2].partition("-")[0]
    with env.own_operator(program=other_build(), name="other"):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            equal(moved(before, env.standing()), [], "what moved")
            time.sleep(0.2)
        same, other_os = env.node("same-os", "nfd"), env.node("other-os", "nfd", os="rhel9")
        env.wait_serving(same, other_os)
        equal(images(env, same), runs, "images of a new node")
        for key in (DRIVER, STACK):
            equal(env.labels(same)[key], env.labels(first)[key], key)
        equal(
            images(env, other_os),
            runs | {"driver": f"nvcr.io/nvidia/driver:{version}-rhel9"},
            "images of a new node's OS",
        )


@test
def another_build_moves_nothing_beside_a_broken_node(env):
    """The same where one node's pods have never come up, so that no rollout was ever complete."""
    first, stuck = env.node("first", "nfd"), env.node("stuck", "nfd")
    env.policy()
    env.wait_serving(first)
    env.wait(
        lambda: env.pods(stuck),
        what="the broken node has its driver's pod, and waits for that with all else",
    )
    env.wait_policy(status="False")
    env.wait_calm()
    before, runs = env.standing(), images(env, first)
    with env.own_operator(program=other_build(), name="other"):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            equal(moved(before, env.standing()), [], "what moved")
            time.sleep(0.2)
        equal(env.get_policy()["status"]["nodes"]["outdated"], 0, "outdated nodes")
        new = env.node("new", "nfd")
        env.wait_serving(new)
        equal(images(env, new), runs, "images of a new node")


@test
def another_build_keeps_versions_through_edits(env):
    """A build with other built-in versions makes a deleted DaemonSet again, and an edited one
    anew, with the images that run."""
    node = env.serving("gpu")
    runs = images(env, node)
    with env.own_operator(program=other_build(), name="other"):
        exporter = env.pod_uids("exporter")
        env.edit({"exporter": {"interval": "5s"}})
        env.wait(
            lambda: len(env.pod_uids("exporter")) == 1 and env.pod_uids("exporter") != exporter,
            15,
            "a new exporter pod",
        )
        for component in TIERS:
            (name,) = env.daemonsets(component)
            env.k.delete("DaemonSet", name, OPERANDS)
            env.wait(
                lambda c=component: env.daemonsets(c),
                what=f"the DaemonSet of the {component} is back",
            )
        env.wait_serving(node)
        env.wait_policy()
        env.wait_calm()
        equal(images(env, node), runs, "images")


@test
def another_build_has_defaults_of_its_own(env):
    """On a fresh cluster a build installs the versions that are built into it, and the build
    before it leaves them."""
    with env.own_operator(program=other_build(), name="other"):
        node = env.serving("gpu")
        equal(images(env, node), OTHER_IMAGES, "images")
        before = env.standing()
    env.wait_policy()
    env.wait_calm()
    equal(moved(before, env.standing()), [], "what moved")
    equal(images(env, node), OTHER_IMAGES, "images")


@test
def irrelevant_edit_writes_nothing(env):
    """An edit that changes no child writes none, and costs one status at most."""
    env.serving("gpu")
    since = time.time()
    env.edit({"rollout": {"drain": {"mode": "AllPods"}}})
    env.wait_policy()
    env.wait_calm()
    writes = env.requests(
        since=since,
        writes=True,
        where=lambda r: r.resource not in ("leases", "gpuclusterpolicies/status"),
    )
    equal([str(w) for w in writes], [], "writes other than the status")
    assert (
        len(env.requests(since=since, writes=True, resource="gpuclusterpolicies/status")) <= 1
    ), "more than one status"


@test
def plugin_config_content_is_a_revision(env):
    """The content of the device plugin's ConfigMap decides the stack's revision; without the
    ConfigMap the policy says so."""
    env.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "plugin", "namespace": OPERANDS},
            "data": {"any": "version: v1\n"},
        }
    )
    node = env.serving(
        "gpu",
        spec={
            "devicePlugin": {"config": {"name": "plugin", "default": "any"}},
            "rollout": {"paused": True},
        },
    )
    revision = env.labels(node)[STACK]
    env.k.merge_patch(
        "ConfigMap",
        "plugin",
        {"data": {"any": "version: v1\nflags: {migStrategy: none}\n"}},
        OPERANDS,
    )
    new = env.wait(
        lambda: [d for d in env.daemonsets("device-plugin") if not d.endswith(revision)],
        what="a new stack revision",
    )
    equal(len(new), 1, "new device plugin DaemonSets")
    equal(env.labels(node)[STACK], revision, "the assignment of the node that runs one")
