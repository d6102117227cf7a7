"""20. Ostler under Argo CD, Flux and Helm: nothing that Git holds differs, whatever the fleet
does, and all know when it is done.

What they compare and how they judge is asked of their own libraries (e2e/gitops).
"""

import itertools
import json
import subprocess
import threading

import kube
import stations
import upgrades
from gitops.libraries import Libraries
from harness import cases, contains, equal, long_test, test
from installation import (
    ALL_THAT_IS_OPTIONAL,
    PROMETHEUS_OPERATOR,
    define,
    kinds_of,
    kubectl,
    render,
)
from names import APPROVED, CHART, NAMESPACE, OLDEST, OPERANDS, ROOT
from program import run_program
from upgrades import LIGHT, NEW, assert_end, rollout_says, spec_of
from world import World

PLUGIN = ROOT / "build" / "kubectl-gpu"
APPLICATION = "gpus"
LABEL, ANNOTATION = "app.kubernetes.io/instance", "argocd.argoproj.io/tracking-id"
FLUX_LABEL, FLUX_MERGE = "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/ssa"
# Whose they say an object is.
MARKED = {LABEL: APPLICATION, ANNOTATION: APPLICATION, FLUX_LABEL: "ostler"}
# What Git holds besides the chart's own objects. The Deployment has no replicas, since the program
# runs beside the world.
FLAGS = ("--include-crds", "--no-hooks", "--set", "replicas=0")
POLICY = json.dumps({"create": True, "spec": {**LIGHT, **spec_of()}})
# All that the chart can render but the policy, whose status no controller writes here.
ALL = ("--no-hooks", *ALL_THAT_IS_OPTIONAL, "--set", "policy.create=false")
# How Argo CD applies, and by which marks it knows what is an application's.
WAYS = {
    "by_client": ((), (ANNOTATION,)),
    "by_server": (
        ("--server-side", "--force-conflicts", "--field-manager=argocd-controller"),
        (ANNOTATION, LABEL),
    ),
}
HERE = "e2e/scenarios/s20_gitops.py"
# Git holds another number.
NOT_IN_GIT = {"rollout": {"canary": {"nodes": 1}}}
# Nothing that Argo CD or kstatus look at changes after so many quiet seconds.
CALM = 1.5
# One that no node gets to the end of before the test says so.
SLOW = stations.VERSION
# Valid for the API server, and a window that never opens for Ostler.
IMPOSSIBLE = {"rollout": {"windows": [{"schedule": "0 2 30 2 *", "duration": "4h"}]}}


class Git:
    """What Git holds: chart and policy, and with the first flags the CRDs."""

    def __init__(self, world, *flags):
        self._world = world
        self.libraries = Libraries()
        self.objects = self.libraries.parse(render(world, *flags))
        self.policy = next((o for o in self.objects if o["kind"] == "GpuClusterPolicy"), None)

    def mark(self, marks):
        """Marks the objects as Argo CD does before it compares and applies."""
        for obj in self.objects:
            meta = obj["metadata"]
            group = obj["apiVersion"].rpartition("/")[0]
            namespace = meta.get("namespace", NAMESPACE)
            value = f"{APPLICATION}:{group}/{obj['kind']}:{namespace}/{meta['name']}"
            if ANNOTATION in marks:
                meta.setdefault("annotations", {})[ANNOTATION] = value
            if LABEL in marks:
                meta.setdefault("labels", {})[LABEL] = APPLICATION

    def edit(self, spec):
        """A commit that changes fields of the policy."""
        self.policy["spec"].update(spec)

    def _kubectl(self, *args):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": self.objects})
        return kubectl(self._world, *args, "-f", "-", stdin=text)

    def sync(self, flags):
        """Applies everything as Argo CD does."""
        self._kubectl("apply", *flags)

    def delete(self):
        """Takes everything away."""
        self._kubectl("delete", "--wait=false")

    def argo_differences(self):
        """What is different from Git for Argo CD."""
        return self.libraries.argo_differences(self._world.admin_kubeconfig, self.objects)

    def versions(self):
        """In which version each object stands in the cluster."""
        live = json.loads(self._kubectl("get", "-o", "json"))["items"]
        return {(o["kind"], o["metadata"]["name"]): o["metadata"]["resourceVersion"] for o in live}


class Judged(threading.Thread):
    """Follows the policy while its block runs, and then has each of its versions judged."""

    def __init__(self, env, libraries):
        super().__init__(name="judged", daemon=True)
        self._client = env.k.clone()
        self._libraries = libraries
        self._ending = threading.Event()
        self._seen = []
        self._wrong = None

    def __enter__(self):
        self._since = self._client.request("GET", kube.path_of("GpuClusterPolicy"))["metadata"][
            "resourceVersion"
        ]
        self.start()
        return self

    def __exit__(self, kind, *_):
        self._ending.set()
        self.join(10)
        assert kind or not self._wrong, self._wrong

    def run(self):
        try:
            while not self._ending.is_set():
                with self._client.watch("GpuClusterPolicy", since=self._since, timeout=1) as events:
                    for _, policy in events:
                        self._since = policy["metadata"]["resourceVersion"]
                        self._seen.append(policy)
        except Exception as e:  # whatever it is, what the policy said since then is not known
            self._wrong = f"the watch of the policy has ended: {type(e).__name__}: {e}"

    def _told(self, who, generation):
        policies = [p for p in self._seen if p["metadata"]["generation"] == generation]
        said = [judged[who][0] for judged in self._libraries.health(policies)]
        return [status for status, _ in itertools.groupby(said)]

    def argo(self, generation):
        """What Argo CD said of this generation, one after the other."""
        return self._told(0, generation)

    def kstatus(self, generation):
        """What kstatus said of it."""
        return self._told(1, generation)


def foreign_marks(env, git, *keys):
    """Objects that bear marks of a tool though Git does not hold them: it would take them away
    as what Git has no more."""
    held = {(o["kind"], o["metadata"]["name"]) for o in git.objects}
    found = []
    for kind in kube.KINDS:
        if kind == "ServiceMonitor":
            continue
        for obj in env.k.list(kind):
            meta = obj["metadata"]
            marks = {**meta.get("labels", {}), **meta.get("annotations", {})}
            if (kind, meta["name"]) not in held and any(
                marks.get(k, "").partition(":")[0] == MARKED[k] for k in keys
            ):
                found.append(f"{kind} {meta['name']}")
    return found


def through_a_rollout(env, git, sync, check):
    """Two nodes come up and are upgraded, which a person holds up for a while, and a job after
    that; at each step everything is compared."""
    nodes = [env.node("a", "nfd", images=2), env.node("b", "nfd", images=2)]
    sync()
    check("nodes come up")
    env.wait_policy("AllNodesReady")
    check("nodes are ready")
    env.kubectl("annotate", "gpupolicy", "default", f"{APPROVED}=a-plan")
    env.kubectl(
        "patch",
        "gpupolicy",
        "default",
        "--type=merge",
        "-p",
        json.dumps({"spec": {"rollout": {"paused": True}}}),
    )
    check("a person has annotated and paused")
    job = env.gpu_pod("job", nodes[0])
    git.edit({"driver": {"version": NEW}})
    sync()
    rollout_says(env, "Paused")
    env.kubectl(
        "patch",
        "gpupolicy",
        "default",
        "--type=merge",
        "-p",
        json.dumps({"spec": {"rollout": {"paused": None}}}),
    )
    upgrades.wait_phase(env, nodes[0], "Waiting")
    check("nodes are being changed")
    upgrades.end_job(env, job)
    assert_end(env, NEW, nodes, timeout=40)
    check("nodes are upgraded")
    equal(
        env.get_policy()["metadata"]["annotations"].get(APPROVED),
        "a-plan",
        "what a person annotated",
    )


def changed(before, after):
    """What stands in another version."""
    return sorted(key for key in before if before[key] != after[key])


@cases(WAYS, proven={"by_server": HERE})  # a sync by server leaves none in what heals
def argo_sees_no_difference(env, row):
    """From the installation through a rollout nothing is OutOfSync, in whatever way Argo CD
    compares; a sync writes nothing."""
    flags, marks = row
    git = Git(env.world, *FLAGS, f"--set-json=policy={POLICY}")
    git.mark(marks)

    def check(when):
        equal(git.argo_differences(), [], f"what Argo CD sees while {when}")

    try:
        through_a_rollout(env, git, lambda: git.sync(flags), check)
        equal(foreign_marks(env, git, *marks), [], "objects that Argo CD would prune")
        env.wait_calm()
        before = git.versions()
        git.sync(flags)
        equal(
            changed(before, git.versions()), [], "objects that a sync without a difference writes"
        )
        env.edit(NOT_IN_GIT)
        seen = git.argo_differences()
        equal(len(seen), 3, f"ways in which Argo CD sees an edit of what Git holds: {seen}")
    finally:
        env.installation.renew(env.k)


@cases(WAYS, proven={"by_client": HERE})  # that a sync by client writes what differs is above
def healing_takes_back_an_edit(env, row):
    """An edit of what Git holds, in the middle of a rollout, is taken back by a sync: nodes end
    with what Git says."""
    flags, marks = row
    git = Git(env.world, *FLAGS, f"--set-json=policy={POLICY}")
    git.mark(marks)
    nodes = [env.node("a", "nfd", images=2), env.node("b", "nfd", images=2)]
    try:
        git.sync(flags)
        env.wait_policy("AllNodesReady")
        job = env.gpu_pod("job", nodes[0])  # so that the middle lasts, however long a sync takes
        git.edit({"driver": {"version": NEW}})
        git.sync(flags)
        upgrades.wait_phase(env, nodes[0], "Waiting")
        env.edit({"driver": {"version": upgrades.OLD}})
        assert git.argo_differences(), "an edit of what Git holds is no difference"
        git.sync(flags)
        equal(git.argo_differences(), [], "what Argo CD sees after the sync")
        upgrades.end_job(env, job)
        assert_end(env, NEW, nodes, timeout=40)
        equal(git.argo_differences(), [], "what Argo CD sees at the end")
    finally:
        env.installation.renew(env.k)


@long_test
def flux_finds_no_drift(env):
    """From the installation through a rollout nothing has drifted for Flux, and applying again
    changes nothing.

    What people do with kubectl stays, since the policy says so to Flux; without that it is taken
    back, but for what `kubectl gpu` does.
    """
    git = Git(env.world, *FLAGS, f"--set-json=policy={POLICY}")
    git.policy["metadata"]["annotations"][FLUX_MERGE] = "Merge"
    config = env.world.admin_kubeconfig

    def check(when):
        equal(
            git.libraries.flux_differences(config, git.objects), [], f"what Flux sees while {when}"
        )

    try:
        through_a_rollout(env, git, lambda: git.libraries.flux_apply(config, git.objects), check)
        equal(foreign_marks(env, git, FLUX_LABEL), [], "objects that Flux would prune")
        equal(
            set(git.libraries.flux_apply(config, git.objects).values()),
            {"unchanged"},
            "what another apply does",
        )
        env.edit(NOT_IN_GIT)
        equal(
            len(git.libraries.flux_differences(config, git.objects)),
            1,
            "an edit of what Git holds for Flux",
        )
        del git.policy["metadata"]["annotations"][FLUX_MERGE]
        git.libraries.flux_apply(
            config, git.objects
        )  # takes off what keeps kubectl's changes; the next one takes off these
        subprocess.run([PLUGIN, "pause", "--kubeconfig", config], check=True, capture_output=True)
        git.libraries.flux_apply(config, git.objects)
        equal(
            env.get_policy()["metadata"]["annotations"].get(APPROVED),
            None,
            "what a person annotated",
        )
        equal(
            env.get_policy()["spec"]["rollout"].get("paused"), True, "what `kubectl gpu` has paused"
        )
    finally:
        env.installation.renew(env.k)


@test
def examples_are_applications(env):
    """The API server takes the examples of docs/gitops.md as Argo CD defines an Application,
    field by field."""
    libraries = Libraries()
    items = [o for o in libraries.examples() if o["kind"] == "Application"]
    assert items, "no examples"
    for item in items:
        item["metadata"]["namespace"] = NAMESPACE
    with kinds_of(env, libraries.application):
        said = env.kubectl(
            "create",
            "--dry-run=server",
            "--validate=strict",
            "-f",
            "-",
            stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}),
        )
    equal(said.count("created (server dry run)"), len(items), "Applications that are taken")


@long_test
def nothing_optional_differs(_env):
    """With everything that the chart can bring nothing differs for any of them, and applying
    again writes nothing.

    In a world without controllers, which write what is compared too.
    """
    with World(api_only=True) as world:
        define(world, ROOT / "crds", PROMETHEUS_OPERATOR)
        for namespace in (NAMESPACE, OPERANDS):
            kubectl(world, "create", "namespace", namespace)
        for way in WAYS:
            _argo_keeps_all(world, way)
        _flux_keeps_all(world)


def _held(world):
    """What Git holds with everything that the chart can bring, but for namespaces, which stay
    when the rest is deleted."""
    git = Git(world, *ALL)
    git.objects = [o for o in git.objects if o["kind"] != "Namespace"]
    return git


def _argo_keeps_all(world, way):
    flags, marks = WAYS[way]
    git = _held(world)
    git.mark(marks)
    git.sync(flags)
    equal(git.argo_differences(), [], f"what Argo CD sees, {way}")
    before = git.versions()
    git.sync(flags)
    equal(changed(before, git.versions()), [], f"what another sync writes, {way}")
    git.delete()


def _flux_keeps_all(world):
    git, config = _held(world), world.admin_kubeconfig
    git.libraries.flux_apply(config, git.objects)
    equal(git.libraries.flux_differences(config, git.objects), [], "what Flux sees")
    equal(
        set(git.libraries.flux_apply(config, git.objects).values()),
        {"unchanged"},
        "what another apply of Flux does",
    )


@long_test
def all_know_when_it_is_done(env):
    """Argo CD and kstatus follow the policy: under way until it is done, once each; what waits
    for people is told."""
    libraries = Libraries()
    nodes = [env.node("a", "nfd", images=2), env.node("b", "nfd", images=2)]
    with Judged(env, libraries) as judged:
        env.policy({**LIGHT, **spec_of(canary={"nodes": 1, "soak": "3s"})})
        env.wait_policy("AllNodesReady")
        env.wait_calm(CALM)
        upgrades.upgrade(env)
        assert_end(env, NEW, nodes, timeout=40)
        env.wait_calm(CALM)
        upgrades.upgrade(env, upgrades.OLD, paused=True)
        rollout_says(env, "Paused")
        env.wait_calm(CALM)
        env.edit(IMPOSSIBLE)
        env.wait_policy("InvalidSpec", kind="Stalled")
        env.wait_calm(CALM)
    done, upgraded, paused, wrong = range(1, 5)
    expected = {
        done: (["Progressing", "Healthy"], ["InProgress", "Current"]),
        upgraded: (["Progressing", "Healthy"], ["InProgress", "Current"]),
        paused: (["Progressing", "Suspended"], ["InProgress", "Current"]),
        wrong: (["Progressing", "Degraded"], ["InProgress", "Failed"]),
    }
    told = {
        generation: (judged.argo(generation), judged.kstatus(generation)) for generation in expected
    }
    equal(told, expected, "what they said of each generation")


@long_test
def an_approval_is_committed_with_the_plan(env):
    """The hash of a plan is known before the commit that makes it: committed together, the
    policy is never Suspended."""
    libraries = Libraries()
    nodes = [env.node("a", "nfd", images=2)]
    env.policy({**LIGHT, **spec_of(approval="Manual")})
    env.wait_policy("AllNodesReady")
    commit = kube.policy({**LIGHT, **spec_of(NEW, approval="Manual")})
    done = run_program(
        "plan",
        "--kubeconfig",
        env.kubeconfig,
        "-o",
        "json",
        "-f",
        "-",
        stdin=json.dumps(commit),
        timeout=60,
    )
    commit["metadata"]["annotations"] = {APPROVED: json.loads(done.stdout)["plan"]["hash"]}
    with Judged(env, libraries) as judged:
        env.k.apply(commit)
        assert_end(env, NEW, nodes, timeout=40)
        env.wait_calm(CALM)
    equal(
        judged.argo(env.get_policy()["metadata"]["generation"]),
        ["Progressing", "Healthy"],
        "what Argo CD said",
    )


def helm(env, *arguments):
    """Runs helm to its end: (exit status, what it says)."""
    options = ("--kubeconfig", env.world.admin_kubeconfig, "--namespace", NAMESPACE)
    done = subprocess.run(
        [env.world.tool("helm"), *options, *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def install(env, spec, timeout):
    """Installs over what is there, and waits as people do."""
    policy = json.dumps({"create": True, "spec": spec})
    return helm(
        env,
        "upgrade",
        "--install",
        "ostler",
        str(CHART),
        "--take-ownership",
        "--force-conflicts",
        "--no-hooks",
        "--wait",
        "--timeout",
        timeout,
        "--set",
        "replicas=0",
        f"--set-json=policy={policy}",
    )


def helm_waits_for_the_policy(env):
    """`helm install --wait` with a policy returns when nodes are ready, no sooner; fails at once
    for one that cannot be."""
    node = env.node("installing", "nfd", images=2)
    try:
        status, said = install(env, IMPOSSIBLE, "60s")
        assert status != 0, f"helm takes a policy that cannot be for ready: {said}"
        contains(said, "GpuClusterPolicy", "what helm says")
        ended = []
        waiting = threading.Thread(
            target=lambda: ended.append(install(env, {**LIGHT, **spec_of(SLOW)}, "60s")),
            daemon=True,
        )
        waiting.start()
        env.wait(lambda: env.pods(node, "driver"), 20, "the driver's pod is there")
        env.wait_policy(status="False")
        env.stays(lambda: not ended, 3, "helm waits")
        stations.STATIONS["installing"][2](env, node)
        env.wait_until(lambda: ended, 30, "helm returns")
        equal(ended[0][0], 0, f"how helm ends: {ended[0][1]}")
        equal(env.condition("Ready").get("status"), "True", "Ready when helm returns")
    finally:
        for secret in env.k.list("Secret", NAMESPACE, labels="owner=helm"):
            env.k.delete("Secret", secret["metadata"]["name"], NAMESPACE)
        env.installation.renew(env.k)


if not OLDEST:  # Helm 3 waits for no custom resource.
    long_test(helm_waits_for_the_policy)
