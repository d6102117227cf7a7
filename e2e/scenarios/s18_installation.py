"""18. The life of an installation: what it stands on, two of them, an upgrade, and its end."""

import contextlib
import pathlib
import shutil
import tempfile
import time

import kube
import names
import upgrades
from admission import answer
from env import Env, moved
from harness import cases, contains, equal, long_test, test
from installation import everything
from names import DRIVER, NAMESPACE, OPERANDS
from program import Operator, other_build, run_program
from release import NODE, REPLICAS, OwnPods, Release, replicas
from rollouts import claim_of
from worker import Worker
from world import World

CRD, REPORTS = "gpuclusterpolicies.ostler.dev", "gpunodes.ostler.dev"
API = "v1alpha1.ostler.dev"  # what the server makes of both
SCHEMA = "ostler.dev/schema"
EARLY = "early"  # a GPU node that is there before Ostler
ENFORCE = "pod-security.kubernetes.io/enforce"


def _mark(env, kind, name, where, key, value):
    """Sets a label or annotation of an object, and returns what it was."""
    before = env.k.get(kind, name)["metadata"].get(where, {}).get(key)
    env.k.merge_patch(kind, name, {"metadata": {where: {key: value}}})
    return before


@contextlib.contextmanager
def _otherwise(env, kind, name, where, key, value):
    """A label or annotation is otherwise for as long as the block runs."""
    before = _mark(env, kind, name, where, key, value)
    try:
        yield
    finally:
        _mark(env, kind, name, where, key, before)


def _wait_unready(env, operator, check, *words):
    """/readyz names the check and says these words; one check says the same alone."""

    def said():
        status, text = operator.fetch("/readyz?verbose")
        return (
            status >= 500 and f"[-]{check}" in text and all(w in text for w in words)
        ) or f"{status} {text}"

    env.wait(said, 15)


@cases(
    {
        "definition_of_policies": (
            ("CustomResourceDefinition", CRD, "annotations", SCHEMA, None),
            "CRDOutdated",
            "Stalled",
            (CRD, "kubectl apply --server-side"),
        ),
        "definition_of_reports": (
            ("CustomResourceDefinition", REPORTS, "annotations", SCHEMA, "0"),
            "CRDOutdated",
            "Degraded",
            (REPORTS, "kubectl apply --server-side"),
        ),
        "namespace_that_lets_no_driver_in": (
            ("Namespace", OPERANDS, "labels", ENFORCE, "baseline"),
            "NamespaceRestricted",
            "Stalled",
            (OPERANDS, "kubectl label namespace"),
        ),
    },
    proven={"definition_of_reports": "tests/unit/sim_world/test_installation.c"},
)
def stands_on(env, row):
    """What Ostler stands on is not as it should be: /readyz and the policy say so, and what runs
    stays; then all goes on."""
    (place, reason, condition, words) = row
    node = env.serving("gpu")
    pods = env.pod_uids(node=node)
    env.operator.stop()
    with _otherwise(env, *place):
        env.operator.start(ready=False)
        _wait_unready(env, env.operator, "installation", reason, *words)
        said = env.wait_policy(reason, "True", condition)
        contains(said["message"], words, "the condition")
        env.stays(
            lambda: env.pod_uids(node=node) == pods and env.is_marked(node), 2, "marks and pods"
        )
    env.wait(
        lambda: env.condition(condition).get("reason") != reason, 15, "the condition says otherwise"
    )
    env.operator.wait_ready()
    env.wait_policy()
    equal(env.pod_uids(node=node), pods, "pods")


@test
def lacks_a_right(env):
    """What the account may not write is named before there is anything to write: an installation
    without it is not ready."""
    role = env.k.get("ClusterRole", "ostler")
    rules = [
        rule
        for rule in role["rules"]
        if not (rule["resources"] == ["nodes"] and "patch" in rule["verbs"])
    ]
    env.operator.stop()
    env.k.merge_patch(
        "ClusterRole",
        "ostler",
        {
            "rules": [
                *rules,
                {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "watch"]},
            ]
        },
    )
    try:
        env.operator.start(ready=False)
        _wait_unready(env, env.operator, "installation", "PermissionsMissing", "patch nodes")
    finally:
        env.k.merge_patch("ClusterRole", "ostler", {"rules": role["rules"]})
    env.operator.wait_ready()


@test
def definitions_are_brought_up_to_date(env):
    """`ostler install-crds` replaces an older definition, leaves a newer one, and says which
    right it lacks."""

    def install(kubeconfig=env.world.admin_kubeconfig):
        return run_program(
            "install-crds", "--from", names.ROOT / "crds", "--kubeconfig", kubeconfig
        )

    needed = env.k.get("CustomResourceDefinition", CRD)["metadata"]["annotations"][SCHEMA]
    _mark(env, "CustomResourceDefinition", CRD, "annotations", SCHEMA, "0")
    done = install()
    equal(done.returncode, 0, f"exit code; it said {done.stderr!r}")
    contains(done.stdout, [f"{CRD}: schema {needed} is installed"], "what it says")
    equal(
        env.k.get("CustomResourceDefinition", CRD)["metadata"]["annotations"][SCHEMA],
        needed,
        "the schema",
    )
    _mark(env, "CustomResourceDefinition", CRD, "annotations", SCHEMA, "1000")
    done = install()
    equal(done.returncode, 0, f"exit code; it said {done.stderr!r}")
    contains(done.stdout, [f"{CRD}: schema 1000 is installed, newer"], "what it says")
    _mark(env, "CustomResourceDefinition", CRD, "annotations", SCHEMA, needed)
    refused = install(env.world.kubeconfig("without-rights"))
    equal(refused.returncode, 1, "exit code without rights")
    contains(
        refused.stderr,
        ["cannot get resource", "customresourcedefinitions"],
        "what it says without rights",
    )


@test
def second_installation(env):
    """Of two installations in different namespaces one acts; the other is not ready, says which
    one does, and writes nothing."""
    node = env.serving("gpu")
    kubeconfig = env.world.kubeconfig("second-installation", ("system:masters",))
    env.k.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}})
    second = Operator(
        kubeconfig, env.logs / "second.log", "--log-level", "debug", namespace="elsewhere"
    )
    began = time.time()
    second.start(ready=False)
    try:
        _wait_unready(env, second, "lease", f"namespace {NAMESPACE}", "uninstall one of the two")
        env.edit({"exporter": {"enabled": False}})
        env.wait_serving(node, operands=("driver", "toolkit", "device-plugin"))
        written = [
            r
            for r in env.world.audit.requests(user="second-installation", since=began, writes=True)
            if r.resource != "leases"
        ]
        equal(written, [], "what the second one wrote")
    finally:
        second.stop()
        env.k.delete("Lease", "ostler", "elsewhere")


# ---- with Helm


@contextlib.contextmanager
def _world_with(logs, programs, chart, *args, **how):
    """A world in which Helm has installed a chart: an Env of it, and all that was there before."""
    with World() as world, contextlib.ExitStack() as stack:
        client = world.client()
        client.create(kube.node(NODE))
        client.create(kube.node(EARLY, "nfd", images=2))
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        before = _settled(client)
        pods = OwnPods(world, logs, programs)
        pods.start()
        stack.callback(pods.stop)
        release = Release(world)
        release.install(chart, *args, **how)
        env = Env(world, release, logs)
        stack.callback(env.actor.stop)
        env.operator = pods
        yield env, release, before


def _settled(client):
    """All that is in a new world, when the server and its controllers add no more to it."""
    seen = []

    def same():
        seen.append(everything(client))
        return seen[-2:] == [seen[-1]] * 2

    kube.wait_for(same, 20, "a world at rest", every=1.0)
    return seen[-1]


def _nothing_is_left(env, before, stays=()):
    """All that is in the cluster was there before Helm came, but for the nodes of the test and
    what has to stay."""

    def left():
        new = {
            item
            for item in everything(env.k) - before
            if item[2] not in stays and not item[2].startswith("t00-")
        }
        return not new or " ".join(sorted(map(str, new)))

    env.wait(left, 20, "nothing is left", every=0.5)


def _chart(folder, source, prefix=""):
    """A copy of a chart with the definitions as they are, or, with a prefix to the number of
    their schema, newer."""
    chart = pathlib.Path(folder) / (prefix + source.name)
    shutil.copytree(source, chart)
    shutil.rmtree(chart / "crds", ignore_errors=True)
    (chart / "crds").mkdir()
    for path in (names.ROOT / "crds").glob("*.yaml"):
        text = path.read_text(encoding="utf-8").replace(f'{SCHEMA}: "', f'{SCHEMA}: "{prefix}')
        (chart / "crds" / path.name).write_text(text, encoding="utf-8")
    return chart


def _operands(env, nodes):
    """Nodes as they are, and which pods run there; that the exporter, and the agent, roll by
    themselves does not count."""
    pods = {
        (component, node): env.pod_uids(component, node)
        for component in ("driver", "toolkit", "device-plugin")
        for node in nodes
    }
    return {
        **pods,
        **{
            key: value
            for key, value in env.standing().items()
            if key[0] == "Node" and key[1] in nodes
        },
    }


def _same(before, after):
    """Nothing has moved; an error says what has, and how."""
    changes = {key: (before.get(key), after.get(key)) for key in moved(after, before)}
    assert not changes, f"nodes and pods of operands moved: {changes}"
    return True


@contextlib.contextmanager
def _nothing_moves(env, nodes):
    """Nodes and their pods stand as they did while the block runs and a while after it; the
    server has refused Ostler nothing but the DaemonSets and ResourceSlices of others, which
    the older chart's rights do not have."""
    # A version is known to be good before the last node is validated, which marks the node.
    env.wait_policy("AllNodesReady", timeout=30)
    before, began = _operands(env, nodes), time.time()
    yield
    env.stays(lambda: _same(before, _operands(env, nodes)), 2, "nodes and pods of operands")
    refused = env.requests(
        since=began,
        where=lambda r: r.code in (401, 403, 422) and not r.lost_a_race and "dryRun" not in r.uri,
    )
    others = (["list", "daemonsets"], ["list", "resourceslices"])
    equal(
        [str(r) for r in refused if str(r).split()[:2] not in others], [], "what the server refused"
    )


def _wait_replaced(env, tag):
    """Replicas with this image alone run, all of them ready."""
    env.wait(lambda: replicas(env.k) == [tag] * REPLICAS, 20, f"replicas are of {tag}")
    env.wait(
        lambda: [status for status, _ in env.operator.ready()] == [200] * REPLICAS,
        20,
        f"replicas of {tag} are ready",
    )


def _begin_rollout(env, version, busy, idle):
    """Another version: it is on the idle node, and the busy one waits for its job. Returns the
    job's pod and uid."""
    job = env.gpu_pod(f"job-{version}", busy)
    uid = upgrades.uid_of(env, job)
    upgrades.upgrade(env, version)
    upgrades.wait_runs(env, version, idle, timeout=30)
    upgrades.wait_phase(env, busy, "Waiting")
    return job, uid


@long_test
def life(env):
    """Helm installs the chart as it was before, upgrades it and rolls it back while nothing
    moves, upgrades it in the middle of a rollout, and uninstalls it in the middle of another:
    nothing is lost, no job is hurt, nothing is left. It fails where Ostler cannot be ready."""
    programs = {"old": other_build(), "new": names.PROGRAM}
    with tempfile.TemporaryDirectory() as folder:
        before, after = _chart(folder, names.ROOT / "e2e" / "previous"), _chart(
            folder, names.CHART, "9"
        )
        with _world_with(env.logs, programs, before, tag="old") as (there, release, was):
            nodes = upgrades.fleet(
                there, ["busy", "idle"], maxParallel="100%", maxUnavailable="100%"
            )
            _upgrade_moves_nothing(there, release, after, nodes)
            _second_release(there, release, after)
            _rollback_moves_nothing(there, release, nodes)
            _upgrade_in_a_rollout(there, release, after, *nodes)
            _uninstall_in_a_rollout(there, release, *nodes)
            _nothing_is_left(there, was, stays=(CRD, REPORTS, API))
            _install_without_a_namespace(release, after)
            _install_that_cannot_be_ready(there, release, after)
            _uninstall_with_all(there, release, after)
            _nothing_is_left(there, was)
            _definitions_apart(there, release, pathlib.Path(folder))


def _upgrade_moves_nothing(env, release, chart, nodes):
    with _nothing_moves(env, nodes):
        env.operator.pulling.add("new")
        upgrade = Worker(release.upgrade, chart)
        upgrade.start()
        env.wait(
            lambda: "new" in replicas(env.k) and _holds_to_operands(env),
            20,
            "the new chart is there, its rules in force",
        )
        _works_as_before(env)
        equal(
            replicas(env.k), ["new", *["old"] * REPLICAS], "replicas while the new image is pulled"
        )
        env.operator.pulling.clear()
        upgrade.finish(60)
        _wait_replaced(env, "new")
    schema = env.k.get("CustomResourceDefinition", CRD)["metadata"]["annotations"][SCHEMA]
    assert schema.startswith("9"), f"the definition was not brought up to date: schema {schema}"


def _holds_to_operands(env):
    """Whether Ostler's account may make no DaemonSet but an operand."""
    bare = {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "c"}]},
        },
    }
    daemonset = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "x"},
        "spec": bare,
    }
    return answer(kube.from_kubeconfig(env.kubeconfig), daemonset, OPERANDS)[0] == 422


def _works_as_before(env):
    """The old program under the new chart's roles and admission policies: a node comes up,
    DaemonSets are made anew."""
    for name in {**env.daemonsets("exporter"), **env.daemonsets("node-agent")}:
        env.k.delete("DaemonSet", name, OPERANDS)
    late = env.node("late", "nfd", images=2)
    upgrades.wait_runs(env, upgrades.OLD, late, timeout=20)
    env.wait(
        lambda: env.pods(late, "exporter") and env.pods(late, "node-agent"),
        10,
        "exporter and agent on the new node",
    )
    env.vanish(late)


def _rollback_moves_nothing(env, release, nodes):
    with _nothing_moves(env, nodes):
        release.helm("rollback", "1", "--wait", "--timeout", "60s")
        _wait_replaced(env, "old")


def _second_release(env, release, chart):
    """Helm itself refuses it, since it has the same objects for the cluster."""
    done = release.helm("install", chart, "--create-namespace", check=False, namespace="elsewhere")
    assert done.returncode, "Helm installed a second release"
    contains(done.stderr, ["ostler", names.NAMESPACE], "what Helm says")


def _install_without_a_namespace(release, chart):
    """Before anything is made; whatever it had made would be left at the end."""
    done = release.install(chart, "--set", "operandNamespace.create=false", check=False)
    assert done.returncode, "Helm installed Ostler without a namespace for its operands"
    words = [
        f"namespace {names.OPERANDS} does not exist",
        f"kubectl create namespace {names.OPERANDS}",
    ]
    contains(done.stderr, words, "what Helm says")


def _upgrade_in_a_rollout(env, release, chart, busy, idle):
    job, uid = _begin_rollout(env, upgrades.NEW, busy, idle)
    claim = claim_of(env.get_node(busy))
    release.upgrade(chart)
    equal(claim_of(env.get_node(busy))["phase"], claim["phase"], "the phase of the node that waits")
    equal(upgrades.uid_of(env, job), uid, "the job")
    upgrades.end_job(env, job)
    upgrades.wait_runs(env, upgrades.NEW, busy, idle, timeout=30)


def _uninstall_in_a_rollout(env, release, busy, idle):
    job, uid = _begin_rollout(env, upgrades.OLD, busy, idle)
    driver = env.pod_uids("driver", busy)
    uninstall = Worker(release.helm, "uninstall", "--wait", "--timeout", "60s")
    uninstall.start()
    env.wait(
        lambda: not env.pods(idle, "driver") and DRIVER not in env.labels(idle),
        20,
        "the idle node is clean",
    )
    env.stays(
        lambda: env.pod_uids("driver", busy) == driver and upgrades.uid_of(env, job) == uid,
        2,
        "the job and its driver",
    )
    assert uninstall.is_alive(), "helm uninstall did not wait for the job"
    upgrades.end_job(env, job)
    uninstall.finish(40)
    env.wait_gone()
    assert env.k.get(
        "CustomResourceDefinition", CRD
    ), "the definitions stay unless the administrator wants them gone"


def _install_that_cannot_be_ready(env, release, chart):
    env.create(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": OPERANDS, "labels": {ENFORCE: "baseline"}},
        }
    )
    done = release.install(
        chart, "--set", "operandNamespace.create=false", check=False, timeout="8s"
    )
    assert done.returncode, "helm install --wait did not fail"
    contains(str(env.operator.ready("/readyz/installation")), "NamespaceRestricted", "/readyz")


def _uninstall_with_all(env, release, chart):
    """With the definitions; and the administrator has begun to take away by hand."""
    _mark(env, "Namespace", OPERANDS, "labels", ENFORCE, "privileged")
    release.install(chart, "--set", "operandNamespace.create=false,crds.keep=false", verb="upgrade")
    env.policy()
    env.wait(lambda: env.pods(EARLY, "driver"), 15, "there is a driver")
    env.k.delete("Namespace", OPERANDS)
    env.wait(lambda: env.k.get("Namespace", OPERANDS) is None, 20, "the namespace is gone")
    release.helm("uninstall", "--wait", "--timeout", "60s")
    equal(
        [env.k.get("CustomResourceDefinition", name) for name in (CRD, REPORTS)],
        [None, None],
        "the definitions",
    )


def _definitions_apart(env, release, folder):
    """The definitions as a release of their own: the other chart leaves them alone, they are
    upgraded, and stay or go as it says; none goes with a policy that is not let go of yet."""
    apart, newer = Release(env.world, "ostler-crds"), folder / "newer"
    shutil.copytree(names.CRD_CHART, newer)
    for path in (newer / "files").glob("*.yaml"):
        path.write_text(
            path.read_text(encoding="utf-8").replace(f'{SCHEMA}: "', f'{SCHEMA}: "7'),
            encoding="utf-8",
        )

    def definition(name=CRD):
        return env.k.get("CustomResourceDefinition", name)

    apart.helm("install", names.CRD_CHART)
    release.helm("install", names.CHART, "--skip-crds", "--set", "replicas=0")
    apart.helm("upgrade", newer)
    release.helm("upgrade", names.CHART, "--reuse-values")
    assert definition()["metadata"]["annotations"][SCHEMA].startswith(
        "7"
    ), "the definitions are not those of the upgrade"
    env.k.apply(kube.policy(finalizers=["ostler.dev/cleanup"]))
    release.helm("uninstall", "--no-hooks")
    apart.helm("uninstall")
    assert definition() and env.get_policy(), "what was to stay is gone"
    apart.helm("install", newer, "--take-ownership", "--set", "keep=false")
    apart.helm("uninstall")
    env.stays(
        lambda: definition() and env.get_policy(), 1, "the policy, and its definition with it"
    )
    env.k.merge_patch("GpuClusterPolicy", "default", {"metadata": {"finalizers": None}})
    env.wait(
        lambda: definition() is None and definition(REPORTS) is None,
        20,
        "both definitions go with it",
    )
