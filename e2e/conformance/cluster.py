"""Two clusters with controllers, a scheduler and nodes, a real one and a simulated one, to which
the same is done: a story. Where nothing moves, both must look the same."""

import concurrent.futures
import json
import time

import kube

QUIET_S = 1.5
PATIENCE_S = 40.0
KINDS = ("Pod", "DaemonSet", "ControllerRevision", "PodDisruptionBudget", "Job", "ConfigMap")


def _owners(obj, uids):
    return sorted(
        f"{o['kind']}/{o['name']}{' controls' if o.get('controller') else ''}"
        f"{'' if o['uid'] in uids else ', which is not there'}"
        for o in obj["metadata"].get("ownerReferences", [])
    )


def _conditions(status):
    return sorted(
        (c["type"], c["status"], c.get("reason", "")) for c in status.get("conditions", [])
    )


def _pod(pod, revisions):
    labels, status = pod["metadata"].get("labels", {}), pod.get("status", {})
    scheduled = kube.condition(pod, "PodScheduled")
    return {
        "node": pod["spec"].get("nodeName", ""),
        "phase": status.get("phase"),
        "ready": kube.condition(pod, "Ready").get("status") == "True",
        "revision": revisions.get(labels.get("controller-revision-hash")),
        "generation": labels.get("pod-template-generation"),
        "scheduled": (
            (scheduled.get("status"), scheduled.get("reason"))
            if not pod["spec"].get("nodeName")
            else "yes"
        ),
        "generated": "generateName" in pod["metadata"],
    }


def _status(obj):
    status = {
        k: v
        for k, v in obj.get("status", {}).items()
        if k not in ("conditions", "startTime", "completionTime", "disruptedPods")
    }
    if "observedGeneration" in status:
        status["observedGeneration"] = status["observedGeneration"] == obj["metadata"].get(
            "generation"
        )
    return {**status, "conditions": _conditions(obj.get("status", {}))}


class Cluster:
    """One of the two."""

    def __init__(self, client):
        self.client = client

    def state(self, namespace, anywhere=False):
        """What stands in a namespace and on its story's nodes, without times, UIDs and generated
        names."""
        objects = {kind: self.client.list(kind, namespace) for kind in KINDS}
        uids = {o["metadata"]["uid"] for kind in KINDS for o in objects[kind]}
        revisions = {
            r["metadata"]["labels"].get("controller-revision-hash"): r["revision"]
            for r in objects["ControllerRevision"]
        }
        found = []
        for kind in KINDS:
            for obj in objects[kind]:
                meta = obj["metadata"]
                if meta["name"] == "kube-root-ca.crt":
                    continue
                name = (
                    meta["name"]
                    if "generateName" not in meta and kind != "ControllerRevision"
                    else "generated"
                )
                row = {
                    "what": f"{kind}/{name}",
                    "owners": _owners(obj, uids),
                    "going": "deletionTimestamp" in meta,
                    "finalizers": sorted(meta.get("finalizers", [])),
                }
                if kind == "Pod":
                    row.update(_pod(obj, revisions))
                    row["node"] = "" if anywhere else row["node"]
                elif kind == "ControllerRevision":
                    row["revision"] = obj["revision"]
                elif kind != "ConfigMap":
                    row.update(status=_status(obj), generation=meta.get("generation"))
                found.append(row)
        for node in self.client.list("Node", labels=f"story={namespace}"):
            found.append(
                {
                    "what": "Node/" + node["metadata"]["name"],
                    "ready": kube.condition(node, "Ready").get("status"),
                    "cordoned": node["spec"].get("unschedulable", False),
                    "taints": sorted(
                        f"{t['key']}:{t['effect']}" for t in node["spec"].get("taints", [])
                    ),
                }
            )
        return json.dumps(
            sorted(found, key=lambda row: json.dumps(row, sort_keys=True)), indent=1, sort_keys=True
        ).replace(namespace, "$ns")


class Differs(Exception):
    """The clusters do not come to the same state."""


class Story:
    """What is done to both clusters in one namespace."""

    def __init__(self, clusters, namespace):
        self._clusters = clusters
        self.ns = namespace
        self.steps = 0
        self.both(
            lambda c: c.create(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            )
        )
        # The simulator has no controller for these, and needs none.
        self.both(
            lambda c: c.apply(
                {
                    "apiVersion": "v1",
                    "kind": "ServiceAccount",
                    "metadata": {"name": "default", "namespace": namespace},
                }
            )
        )

    def both(self, do):
        """Does it to each cluster's client; the result of each."""
        return [do(cluster.client) for cluster in self._clusters]

    def node(self, name, labels=None, taints=None):
        """Adds a node; its name gets the namespace in front."""
        self.both(
            lambda c: c.create(
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {
                        "name": f"{self.ns}-{name}",
                        "labels": {"story": self.ns, "name": name, **(labels or {})},
                    },
                    "spec": {"taints": taints or []},
                }
            )
        )

    def edit_node(self, name, patch):
        """A merge patch of a node."""
        self.both(lambda c: c.merge_patch("Node", f"{self.ns}-{name}", patch))

    def create(self, obj):
        """Creates an object in the namespace."""
        obj["metadata"]["namespace"] = self.ns
        self.both(lambda c: c.create(obj))

    def edit(self, kind, name, patch):
        """A merge patch."""
        self.both(lambda c: c.merge_patch(kind, name, patch, self.ns))

    def delete(self, kind, name, propagation="Background"):
        """Deletes an object."""
        self.both(lambda c: c.delete(kind, name, self.ns, propagation))

    def pods_on(self, node):
        """For each cluster, the names of the pods on a node."""
        return self.both(
            lambda c: [
                p["metadata"]["name"]
                for p in c.list("Pod", self.ns)
                if p["spec"].get("nodeName") == f"{self.ns}-{node}"
            ]
        )

    def delete_pods_on(self, node):
        """Deletes them."""
        for cluster, names in zip(self._clusters, self.pods_on(node)):
            for name in names:
                cluster.client.delete("Pod", name, self.ns)

    def evict(self, name):
        """Asks for a pod's eviction; the answers' codes, which must be the same."""
        codes = self.both(
            lambda c: c.raw(
                "POST",
                kube.path_of("Pod", name, self.ns, "eviction"),
                {
                    "apiVersion": "policy/v1",
                    "kind": "Eviction",
                    "metadata": {"name": name, "namespace": self.ns},
                },
            )[0]
        )
        if codes[0] != codes[1]:
            raise Differs(self.steps, *(f"the eviction is answered {code}" for code in codes))

    def uids(self, kind, name):
        """For each cluster, the UID of an object."""
        return self.both(lambda c: c.get(kind, name, self.ns)["metadata"]["uid"])

    def create_owned(self, obj, *owners):
        """Creates an object that names owners: (kind, name, block)."""
        uids = [self.uids(kind, name) for kind, name, _ in owners]
        for i, cluster in enumerate(self._clusters):
            refs = [
                {
                    "apiVersion": "v1",
                    "kind": kind,
                    "name": name,
                    "uid": uid[i],
                    "blockOwnerDeletion": block,
                }
                for (kind, name, block), uid in zip(owners, uids)
            ]
            cluster.client.create(
                {
                    **obj,
                    "metadata": {**obj["metadata"], "namespace": self.ns, "ownerReferences": refs},
                }
            )

    def settle(self, anywhere=False):
        """Waits until both have come to rest in the same state; `anywhere`: which node it is
        that a pod is on does not count."""
        self.steps += 1
        end, since, last = time.monotonic() + PATIENCE_S, time.monotonic(), None
        while True:
            states = [cluster.state(self.ns, anywhere) for cluster in self._clusters]
            now = time.monotonic()
            if states != last:
                last, since = states, now
            if states[0] == states[1] and now - since >= QUIET_S:
                return
            if now > end:
                raise Differs(self.steps, *states)
            time.sleep(0.4)

    def end(self):
        """Takes the story's objects away."""
        for kind in ("PodDisruptionBudget", "Job", "DaemonSet", "Pod"):
            for cluster in self._clusters:
                for obj in cluster.client.list(kind, self.ns):
                    cluster.client.delete(kind, obj["metadata"]["name"], self.ns, grace=0)


STORIES = []


def story(fn):
    """Adds a story; its docstring says what it shows."""
    STORIES.append(fn)
    return fn


def play(fn, real, simulated, number):
    """One story on its own connections; None, or (step, real state, simulated state)."""
    clusters = [Cluster(real.clone()), Cluster(simulated.clone())]
    told = Story(clusters, f"story-{number}")
    try:
        fn(told)
        return told.steps, None
    except Differs as e:
        return told.steps, e.args
    finally:
        told.end()
        for cluster in clusters:
            cluster.client.close()


def play_all(stories, real, simulated, at_once=14):
    """Plays stories side by side; yields (story, steps, difference)."""
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        runs = [pool.submit(play, fn, real, simulated, i) for i, fn in enumerate(stories, 1)]
        for fn, run in zip(stories, runs):
            yield (fn, *run.result())
