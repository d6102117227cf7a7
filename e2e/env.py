"""What a test holds in its hands: the shared world, the shared operator, and what it makes."""

import contextlib
import inspect
import pathlib
import time

import actor
import kube
from names import (
    CLAIM,
    COMPONENT,
    DRIVER,
    FORCE_REMOVAL,
    GPU_LABEL,
    GPU_TAINT,
    MARKS,
    NAMESPACE,
    OPERANDS,
    OPERAND_NAMES,
    PROGRAM,
    REMOVAL,
    STACK,
    UPGRADE_TAINT,
)
from program import Operator


# Calm for so many seconds once a node's last report has come is calm for good: all that follows is
# the policy's status, once a second.
AFTER_REPORTS = 1.5
# More nodes than this are not taken away one by one after a test.
FEW = 8


def moved(before, after):
    """What is new, gone or changed between two answers of Env.standing()."""
    return sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def clear(client):
    """Takes everything of a test away by force: policy, children, pods, nodes, and the lease of
    one that crashed."""
    client.delete("Lease", "ostler", NAMESPACE)  # one that crashed has not released it
    if client.get("GpuClusterPolicy", "default"):
        with contextlib.suppress(kube.ApiError):
            client.merge_patch("GpuClusterPolicy", "default", {"metadata": {"finalizers": None}})
        client.delete("GpuClusterPolicy", "default")
    client.delete("RuntimeClass", "nvidia")
    for kind, namespace in (
        ("DaemonSet", OPERANDS),
        ("ControllerRevision", OPERANDS),
        ("Service", OPERANDS),
        ("Pod", OPERANDS),
        ("Deployment", "default"),
        ("StatefulSet", "default"),
        ("DaemonSet", "default"),
        ("Job", "default"),
        ("PodDisruptionBudget", "default"),
        ("Pod", "default"),
        ("Node", None),
    ):
        for obj in client.list(kind, namespace):
            client.delete(kind, obj["metadata"]["name"], namespace, grace=0)
    kube.wait_for(
        lambda: not client.list("Node") and not client.list("Pod", OPERANDS), 20, "a clean world"
    )


class Env:
    """The shared world, the shared operator, and what one test makes. Objects of a test are gone
    after it."""

    def __init__(self, world, installation, logs):
        self.world = world
        self.installation = installation
        self.logs = pathlib.Path(logs)
        self.k = world.client()
        self.actor = actor.PluginActor(world.client())
        self.actor.start()
        self.kubeconfig = world.token_kubeconfig(NAMESPACE, installation.account)
        self.operator = None
        self.began = time.time()
        self._test = None
        self._number = 0
        self._nodes = []
        self._others = []

    # -- life of a test --

    def begin(self, one_test):
        """Called before each test: whatever the last one did, an operator with default flags
        runs."""
        self._test = one_test
        self._number += 1
        self._nodes = []
        self._others = []
        if self.operator is None or not self.operator.running:
            self.operator = self.new_operator()
            self.operator.start()
        self.began = time.time()

    def new_operator(self, *flags, name="ostler", kubeconfig=None, program=PROGRAM):
        """An operator that is not started yet."""
        return Operator(
            kubeconfig or self.kubeconfig,
            self.logs / f"{name}.log",
            "--log-level",
            "debug",
            *flags,
            program=program,
        )

    @contextlib.contextmanager
    def own_operator(self, *flags, ready=True, name="own", program=PROGRAM):
        """Replaces the shared operator by one with flags, or a program, of the test's own, for
        as long as the block runs."""
        self.operator.stop()
        shared, self.operator = self.operator, self.new_operator(*flags, name=name, program=program)
        try:
            yield self.operator.start(ready)
        finally:
            self.operator.stop()
            self.operator = shared.start()

    def end(self):
        """Called after each test: policy, nodes and pods go; what Ostler should have taken away
        and did not is an error."""
        self.actor.check()
        for kind, name, namespace in self._others:
            self.k.delete(kind, name, namespace, grace=0)
        if not self.world.apiserver.running:
            self.world.start_apiserver()
        if not self.operator.running:
            self.operator.start()
        if len(self._nodes) > FEW:
            self._give_back()
        self.remove_policy(force=True)
        for name in self._nodes:
            self.vanish(name)
        kube.wait_for(lambda: not self.k.list("Node"), 10, "the test's nodes are gone")

    def _give_back(self):
        """All machines go at once with what is on them: with many nodes the tidy way takes
        longer than most tests."""
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
        for kind, namespace in (("Node", None), ("Pod", OPERANDS), ("Pod", "default")):
            self.k.request("DELETE", kube.path_of(kind, None, namespace), options)
        self._nodes = []

    def reset(self):
        """After a failure: takes everything of a test away by force, so that the next one finds
        a clean world."""
        self.operator.stop()
        clear(self.k)

    # -- making things --

    def node(self, suffix, gpu=None, **more):
        """Creates a Node of this test's own and returns its name; see kube.node()."""
        return self.add_node(f"t{self._number:02}-{suffix}", gpu, **more)

    def add_node(self, name, gpu=None, **more):
        """The same under a name that the test chooses."""
        self.k.create(kube.node(name, gpu, **more))
        self._nodes.append(name)
        return name

    def create(self, obj):
        """Creates an object that goes away with the test."""
        made = self.k.create(obj)
        self._others.append(
            (obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace"))
        )
        return made

    def create_huge(self, obj):
        """create() of an object for which a busy API server needs longer than it gives itself."""
        self._others.append(
            (obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace"))
        )
        kube.insist(lambda: self.k.ensure(obj))

    def vanish(self, node):
        """Deletes a Node, and its pods as Kubernetes' garbage collector does a minute later."""
        self.k.delete("Node", node)
        for pod in self.k.list("Pod", fields=f"spec.nodeName={node}"):
            self.k.delete("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], grace=0)

    def gpu_pod(self, suffix, node, **more):
        """A pod with a GPU on that node; see kube.gpu_pod()."""
        name = f"t{self._number:02}-{suffix}"
        self.create(kube.gpu_pod(name, node, **more))
        kube.wait_for(
            lambda: kube.pod_ready(self.k.get("Pod", name, "default")), 10, f"pod {name} runs"
        )
        return name

    def policy(self, spec=None, **metadata):
        """Creates the policy."""
        return self.k.create(kube.policy(spec, **metadata))

    def edit(self, spec):
        """Changes the policy's spec by a merge patch and returns the policy."""
        return self.k.merge_patch("GpuClusterPolicy", "default", {"spec": spec})

    # -- seeing things --

    def get_node(self, name):
        """The Node object."""
        return self.k.get("Node", name)

    def labels(self, name):
        """A node's labels."""
        return self.get_node(name)["metadata"].get("labels", {})

    def get_policy(self):
        """The policy."""
        return self.k.get("GpuClusterPolicy", "default")

    def condition(self, kind):
        """A condition of the policy."""
        return kube.condition(self.get_policy(), kind)

    def daemonsets(self, component=None):
        """The operands' DaemonSets by name."""
        selector = f"{COMPONENT}={component}" if component else None
        return {
            d["metadata"]["name"]: d for d in self.k.list("DaemonSet", OPERANDS, labels=selector)
        }

    def pods(self, node=None, component=None):
        """Operand pods; those that do one task and go are none."""
        return self.k.list(
            "Pod",
            OPERANDS,
            labels=f"{COMPONENT}={component}" if component else COMPONENT,
            fields=f"spec.nodeName={node}" if node else None,
        )

    def pod_uids(self, component=None, node=None):
        """Who the pods are: a replaced pod has another uid."""
        return sorted(p["metadata"]["uid"] for p in self.pods(node, component))

    def image(self, node, component):
        """The image of the operand's main container on a node."""
        (pod,) = self.pods(node, component)
        return kube.main_container(pod)["image"]

    def standing(self):
        """Everything that Ostler could move, by the version in which it stands; nodes without
        their status, which beats."""
        found = {}
        kinds = (
            ("DaemonSet", OPERANDS),
            ("ControllerRevision", OPERANDS),
            ("Service", OPERANDS),
            ("Pod", OPERANDS),
            ("RuntimeClass", None),
            ("GpuClusterPolicy", None),
        )
        for kind, namespace in kinds:
            for obj in self.k.list(kind, namespace):
                found[kind, obj["metadata"]["name"]] = (
                    obj["metadata"]["uid"],
                    obj["metadata"]["resourceVersion"],
                )
        for node in self.k.list("Node"):
            meta = node["metadata"]
            found["Node", meta["name"]] = (meta["labels"], meta.get("annotations"), node["spec"])
        return found

    def requests(self, **filters):
        """What Ostler asked of the API server since this test began; see world.Audit.requests()."""
        filters.setdefault("since", self.began)
        return self.world.audit.requests(user=self.installation.user, **filters)

    def kubectl(self, *args, stdin=None):
        """Runs kubectl as the admin and returns what it prints."""
        return self.installation.kubectl(*args, stdin=stdin)

    # -- waiting --

    def wait(self, predicate, timeout=10, what=None, every=None):
        """kube.wait_for(), but a dead operator is found at once."""

        def alive():
            if not self.operator.running:
                raise AssertionError("Ostler has ended")
            return predicate()

        return kube.wait_for(
            alive, timeout, what or predicate.__doc__ or inspect.getsource(predicate).strip(), every
        )

    @staticmethod
    def wait_until(predicate, timeout, what):
        """kube.wait_for() for what does not need an operator."""
        return kube.wait_for(predicate, timeout, what)

    def wait_marked(self, *nodes, timeout=10):
        """Waits until the nodes bear label and taint."""
        for name in nodes:
            self.wait(lambda n=name: self.is_marked(n), timeout, f"{name} is labelled and tainted")

    def is_marked(self, name):
        """Whether a node bears label and taint."""
        node = self.get_node(name)
        return (
            node["metadata"]["labels"].get(GPU_LABEL) == "true"
            and kube.taint(node, GPU_TAINT) == f"{GPU_TAINT}=present:NoSchedule"
        )

    def wait_serving(self, *nodes, operands=OPERAND_NAMES, timeout=15):
        """Waits until each node bears its marks and runs all operands, ready."""

        def missing(name):
            ready = {
                p["metadata"]["labels"].get(COMPONENT) for p in self.pods(name) if kube.pod_ready(p)
            }
            return sorted(set(operands) - ready)

        for name in nodes:
            self.wait_marked(name, timeout=timeout)
            self.wait(
                lambda n=name: not missing(n) or f"{missing(n)} missing",
                timeout,
                f"{name} runs all operands",
            )

    def wait_policy(self, reason=None, status="True", kind="Ready", timeout=15):
        """Waits for a condition of the policy as of its latest generation, and returns it."""

        def settled():
            policy = self.get_policy()
            c = kube.condition(policy, kind)
            if (
                policy.get("status", {}).get("observedGeneration")
                != policy["metadata"]["generation"]
            ):
                return "the latest generation is not observed"
            fits = c.get("status") == status and (reason is None or c.get("reason") == reason)
            return c if fits else f"{kind}={c.get('status')} {c.get('reason')}: {c.get('message')}"

        wanted = f"{kind}={status}" + (f" {reason}" if reason else "")
        return self.wait(settled, timeout, f"the policy says {wanted}")

    def wait_calm(self, seconds=4.0, timeout=20):
        """Waits until Ostler has written nothing but its lease for that long:
        reports about nodes come three seconds after what they tell of."""

        def calm():
            """Ostler is calm"""
            recent = self.requests(
                since=time.time() - seconds, writes=True, where=lambda r: r.resource != "leases"
            )
            return not recent or f"last: {recent[-1]}"

        time.sleep(seconds)
        self.wait(calm, timeout)

    def wait_reported(self, *nodes, timeout=15):
        """Waits until the reports about the nodes, which come three seconds late, say that they
        work."""

        def missing():
            told = {
                r["metadata"]["name"]: r.get("status", {}).get("state")
                for r in self.k.list("GpuNode")
            }
            return [f"{n}: {told.get(n)}" for n in nodes if told.get(n) != "Ready"]

        self.wait(
            lambda: not missing() or str(missing()), timeout, f"reports say that {nodes} work"
        )

    def serving(self, *suffixes, spec=None, gpu="nfd", **more):
        """A policy, GPU nodes that run all operands, everything calm: where many tests begin.
        Returns the names."""
        names = [self.node(s, gpu, **more) for s in suffixes]
        self.policy(spec)
        self.wait_serving(*names)
        self.wait_policy()
        self.wait_reported(*names)
        self.wait_calm(AFTER_REPORTS)
        return names if len(names) > 1 else names[0]

    def stays(self, predicate, seconds, what):
        """Fails if the predicate stops being true within that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert predicate(), f"did not stay: {what}"
            time.sleep(0.1)

    # -- the end of a policy --

    def remove_policy(self, force=False, timeout=15):
        """Deletes the policy and waits until it and everything of ours is gone."""
        if self.get_policy():
            if force:
                self.k.merge_patch(
                    "GpuClusterPolicy",
                    "default",
                    {"metadata": {"annotations": {FORCE_REMOVAL: "true"}}},
                )
            self.k.delete("GpuClusterPolicy", "default")
        self.wait_gone(timeout)

    def wait_gone(self, timeout=15):
        """Waits until there is no policy, no child and no mark."""

        def gone():
            """policy, children and marks are gone"""
            if self.get_policy():
                return f"the policy is there: {self.condition('Ready').get('message')}"
            left = [
                f"{kind} {o['metadata']['name']}"
                for kind in ("DaemonSet", "ControllerRevision")
                for o in self.k.list(kind, OPERANDS)
                if kind != "ControllerRevision"
                or "ostler.dev/revision" in o["metadata"].get("labels", {})
            ]
            # A node that is down is cleaned when it returns; the pods of one that is gone wait for
            # the garbage collector.
            nodes = {
                n["metadata"]["name"]: n
                for n in self.k.list("Node")
                if kube.condition(n, "Ready").get("status") == "True"
            }
            left += [
                f"Pod {p['metadata']['name']}"
                for p in self.k.list("Pod", OPERANDS)
                if p["spec"].get("nodeName") in nodes
            ]
            left += [
                f"marks of {name}"
                for name, n in nodes.items()
                if {MARKS, CLAIM} & set(n["metadata"].get("annotations", {}))
                or kube.taint(n, UPGRADE_TAINT)
                or {DRIVER, STACK, REMOVAL} & set(n["metadata"]["labels"])
            ]
            return not left or ", ".join(left)

        self.wait(gone, timeout)
