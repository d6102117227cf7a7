#!/usr/bin/python3
"""`ostler plan` against ostler-sim: what it says of a cluster with people, jobs and budgets in
the way, that it only reads, and that the simulated rollout is the plan's; and what `ostler
render` says where there is no driver image. Needs build/ostler and build/ostler-sim. Prints
"plan: N passed, N failed"."""

import base64
import concurrent.futures
import contextlib
import http.server
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATOR = ROOT / "build" / "ostler"
WORLD = """
name: plan
seed: 3
labeller: true
shapes:
  - {name: gpu, osImage: Ubuntu 24.04.1 LTS, osID: ubuntu, osVersion: "24.04",
      kernel: 6.8.0-49-generic, gpus: 8}
nodes:
  - {name: gpu, shape: gpu, count: 6}
latencies: {pull: 1s, start: 100ms, driverBuild: 2s, toolkit: 1s, plugin: 200ms, kubelet: 20ms,
    controller: 10ms}
objects:
  - apiVersion: ostler.dev/v1alpha1
    kind: GpuClusterPolicy
    metadata: {name: default}
    spec: {driver: {version: 570.133.20}}
"""
FAILS = """
drivers:
  - {version: "580.*", outcome: FailsProof}
"""
NEW = """
apiVersion: ostler.dev/v1alpha1
kind: GpuClusterPolicy
metadata: {name: default}
spec:
  driver: {version: 580.178.04}
  rollout: {maxUnavailable: 3, order: Name, canary: {soak: 10m}%s}
"""
SICK = """
actions:
  - at: 20m
    do: AgentSays
    node: gpu-2
    with: {health: [{address: "0000:17:00.0", recovery: Reset}]}
"""
WITH_HEALTH = """
apiVersion: ostler.dev/v1alpha1
kind: GpuClusterPolicy
metadata: {name: default}
spec: {driver: {version: 570.133.20}, health: {%s}}
"""
POLICY = "/apis/ostler.dev/v1alpha1/gpuclusterpolicies/default"
PODS = "/api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"
AGENTS = ("--agent-image", "registry.example.com/ostler:dev")
TESTS = []
AT_A_TIME = 6  # tests: each has a cluster of its own, and mostly waits


def test(function):
    """Adds a test; its docstring says what must be."""
    TESTS.append(function)
    return function


class Cluster:
    """A simulated cluster, the kubeconfig of its administrator, and requests to it."""

    def __init__(self, folder, world):
        self.folder = pathlib.Path(folder)
        self.kubeconfig = self.folder / "kubeconfig"
        self.process = subprocess.Popen(
            [
                ROOT / "build" / "ostler-sim",
                "--scenario",
                "-",
                "--speed",
                "60",
                "--kubeconfig",
                self.kubeconfig,
                "--ostler-kubeconfig",
                self.folder / "ostler",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        self.process.stdin.write(world.encode())
        self.process.stdin.close()
        for _ in range(200):
            if self.kubeconfig.exists():
                break
            time.sleep(0.02)
        config = json.loads(self.kubeconfig.read_text(encoding="utf-8"))
        self.server = config["clusters"][0]["cluster"]["server"]
        authority = base64.b64decode(
            config["clusters"][0]["cluster"]["certificate-authority-data"]
        ).decode()
        self.context = ssl.create_default_context(cadata=authority)
        self.token = config["users"][0]["user"]["token"]

    def ask(self, method, path, body=None, kind="application/json"):
        """Sends a request as the administrator: (status, bytes)."""
        request = urllib.request.Request(
            self.server + path,
            method=method,
            data=json.dumps(body).encode() if body else None,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": kind},
        )
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as e:
            return e.code, e.read()

    def get(self, path):
        """An object or a list."""
        return json.loads(self.ask("GET", path)[1])

    def must(self, method, path, body, kind="application/json"):
        """A write that has to succeed."""
        status, answer = self.ask(method, path, body, kind)
        assert status < 300, (path, status, answer)

    def wait(self, what, true):
        """Until this is true."""
        for _ in range(300):
            if true():
                return
            time.sleep(0.1)
        raise AssertionError(f"{what}: not within 30 s")

    def install(self, nodes, *options):
        """Lets Ostler install everything, and ends it."""
        with operator(self, *options):
            self.wait("every node is ready", lambda: self.summary() == nodes)

    def summary(self):
        """What the policy's status says of its nodes."""
        return self.get(POLICY).get("status", {}).get("summary", {}).get("nodes")

    def plan(self, policy=None, *more, kubeconfig=None):
        """`ostler plan`: (exit code, standard output, standard error)."""
        file = ["-f", "-"] if policy else []
        done = subprocess.run(
            [OPERATOR, "plan", "--kubeconfig", kubeconfig or self.kubeconfig, *file, *more],
            input=policy,
            text=True,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def planned(self, policy, *more, code=0):
        """The same, as JSON."""
        found, out, err = self.plan(policy, "-o", "json", *more)
        assert found == code and not err, (found, err, out[-2000:])
        return json.loads(out)

    def wait_for_rollout(self, reason):
        """Until the policy's rollout waits for this; returns what the status says of it."""

        def says():
            policy = self.get(POLICY)
            return (
                policy["metadata"]["generation"] == policy["status"]["observedGeneration"]
                and policy["status"].get("rollout", {}).get("reason") == reason
            )

        self.wait(f"the rollout says {reason}", says)
        return self.get(POLICY)["status"]["rollout"]


@contextlib.contextmanager
def operator(cluster, *more):
    """Ostler, at work in the cluster, with these options."""
    with subprocess.Popen(
        [
            OPERATOR,
            "run",
            "--kubeconfig",
            cluster.folder / "ostler",
            "--listen",
            "",
            "--leader-elect",
            "false",
            "--log-level",
            "error",
            *more,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextlib.contextmanager
def cluster_at_work(world=WORLD, nodes="6/6", options=()):
    """A cluster in which Ostler has installed everything, and has ended since."""
    with tempfile.TemporaryDirectory() as folder:
        c = Cluster(folder, world)
        try:
            c.install(nodes, *options)
            yield c
        finally:
            c.process.kill()
            c.process.wait()


class Recorder(http.server.BaseHTTPRequestHandler):
    """Hands requests on to the cluster, and remembers them."""

    cluster = None
    seen = []

    def hand_on(self):
        """One request."""
        Recorder.seen.append((self.command, self.path))
        status, body = Recorder.cluster.ask(self.command, self.path)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = hand_on

    def log_message(self, *_):
        """Says nothing."""


def write_kubeconfig(path, port):
    """A kubeconfig for a server of this machine that asks for no credentials."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "u", "user": {}}],
    }
    path.write_text(json.dumps(config), encoding="utf-8")


@contextlib.contextmanager
def recorded(cluster):
    """A kubeconfig whose requests are remembered."""
    Recorder.cluster, Recorder.seen = cluster, []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = cluster.folder / "recorded"
    write_kubeconfig(path, server.server_address[1])
    try:
        yield path
    finally:
        server.shutdown()


def pod(name, node, **more):
    """A pod with GPUs."""
    container = {
        "name": "main",
        "image": "registry.example.com/a:1",
        "resources": {"limits": {"nvidia.com/gpu": "2"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name}},
        "spec": {
            "nodeName": node,
            "tolerations": [{"operator": "Exists"}],
            "containers": [container],
        } | more,
    }


def put_people_in(c):
    """A job, a bare pod, a service with a budget, and nodes that people keep."""
    c.must(
        "PATCH", "/api/v1/nodes/gpu-5", {"metadata": {"labels": {"ostler.dev/hold": "true"}}}, MERGE
    )
    c.must("PATCH", "/api/v1/nodes/gpu-6", {"spec": {"unschedulable": True}}, MERGE)
    c.must("POST", PODS, pod("train", "gpu-2", restartPolicy="Never"))
    c.must("POST", PODS, pod("notebook", "gpu-3"))
    template = pod("infer", "gpu-4")
    del template["spec"]["nodeName"]
    template["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "gpu-4"}
    c.must(
        "POST",
        "/apis/apps/v1/namespaces/default/replicasets",
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "infer", "namespace": "default"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": "infer"}},
                "template": {"metadata": {"labels": {"app": "infer"}}, "spec": template["spec"]},
            },
        },
    )
    c.must(
        "POST",
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "infer", "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "infer"}}},
        },
    )
    c.wait(
        "three pods run",
        lambda: sum(p["status"].get("phase") == "Running" for p in c.get(PODS)["items"]) == 3,
    )
    budget = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/infer"
    c.wait(
        "the budget counts its pod",
        lambda: c.get(budget).get("status", {}).get("currentHealthy") == 1,
    )


@test
def a_node_that_waits_for_its_proof():
    """A node that has to be proven first is no trouble."""
    with cluster_at_work() as c:
        c.must(
            "PATCH",
            "/api/v1/nodes/gpu-1",
            {"metadata": {"annotations": {"ostler.dev/proof": None}}},
            MERGE,
        )
        assert "gpu-1" in [m["node"] for m in c.planned(NEW % "")["plan"]["moves"]]


@test
def nothing_to_do():
    """With the cluster's own policy there is nothing to do, which is said; exit code 0."""
    with cluster_at_work() as c:
        code, out, err = c.plan()
        assert (code, err) == (0, ""), (code, err)
        assert (
            out == "nothing to do: every node that Ostler serves runs what the policy says\n"
        ), out


@test
def new_driver():
    """A new driver: which nodes go in which order, which stay, what is in the way, and no time
    that is unknown."""
    with cluster_at_work() as c:
        put_people_in(c)
        plan = c.planned(NEW % "")["plan"]
        assert [m["node"] for m in plan["moves"]] == ["gpu-1", "gpu-4"], plan
        assert [w.get("canary", False) for w in plan["waves"]] == [
            True,
            False,
        ] and "ends" not in plan, plan
        stay = {s["reason"]: s["names"] for s in plan["stay"]}
        assert stay == {
            "WaitingForJobs": ["gpu-2", "gpu-3"],
            "NodesSkipped": ["gpu-5", "gpu-6"],
        }, plan
        blockers = {b["node"]: b["message"] for b in plan["blockers"]}
        for node, words in (
            ("gpu-2", "default/train (a job"),
            ("gpu-3", "default/notebook (no controller"),
            (
                "gpu-4",
                (
                    "the PodDisruptionBudget default/infer does not allow the eviction of"
                    " default/infer-"
                ),
            ),
            ("gpu-5", "a user holds it"),
            ("gpu-6", "a user cordoned it"),
        ):
            assert words in blockers[node], blockers
        assert plan["pods"] == {"leave": 1, "wait": 2} and plan["pools"] == [
            {"name": "default", "driver": 2, "stack": 0}
        ], plan
        code, out, _ = c.plan(NEW % "")
        for line in (
            "wave 1 (canary), begins ",
            ": driver of gpu-1\nwave 2, not before ",
            (
                "passed over (NodesSkipped):\n  gpu-5: a user holds it with the label"
                " ostler.dev/hold\n  gpu-6: a user cordoned it\n"
            ),
            (
                "tainted for new GPU pods, and upgraded when the running ones have ended"
                " (WaitingForJobs):\n  gpu-2: waits for 1 GPU pod: default/train"
            ),
            "  it takes at least 10m of soak",
            "pool default: 2 nodes get another driver\n",
            "to be evicted:\n  gpu-4: default/infer-",
            "blockers:\n  gpu-4: the PodDisruptionBudget",
        ):
            assert code == 0 and line in out, (line, out)
        assert "stay as they are" not in out and " 0 " not in out, out


@test
def repairs():
    """Repairs that have not begun: which node, why, what Ostler does first, and when; also those
    that users ask for, and what stands against them."""
    sick = WORLD.replace("labeller: true", "agents: true") + SICK
    with cluster_at_work(sick, options=AGENTS) as c:
        gpu_2 = "/api/v1/nodes/gpu-2"
        with operator(c, *AGENTS):
            c.wait(
                "the node is closed",
                lambda: "ostler.dev/fault" in c.get(gpu_2)["metadata"]["annotations"],
            )
        repair = WITH_HEALTH % "mode: Repair, afterJobs: Drain, drainAfter: 4h, reboot: Pod"
        assert c.planned(WITH_HEALTH % "mode: Close")["repairs"] == []
        of_gpu_2 = {
            "node": "gpu-2",
            "why": "RecoveryReset of GPU 0000:17:00.0",
            "does": "Ostler resets its GPUs, and reboots it if that is not enough",
            "when": "now",
        }
        planned = c.planned(repair, "--allow-repairs")
        assert planned["plan"] is None and planned["repairs"] == [of_gpu_2], planned
        c.must("POST", PODS, pod("train", "gpu-3", restartPolicy="Never"))
        c.wait("it runs", lambda: c.get(PODS)["items"][0]["status"].get("phase") == "Running")
        asked = {"metadata": {"annotations": {"ostler.dev/repair": "2026-11-20T10:00:00Z"}}}
        c.must("PATCH", "/api/v1/nodes/gpu-3", asked, MERGE)
        code, out, err = c.plan(repair, "--allow-repairs")
        for line in (
            "every node that Ostler serves runs what the policy says\n\nto be repaired:\n",
            "  gpu-3: a user asks for it: Ostler resets its GPUs, and reboots it if that is not"
            " enough, when ",
        ):
            assert code == 0 and line in out, (code, out, err)
        (of_gpu_3,) = c.planned(None)["repairs"]
        assert of_gpu_3["when"].endswith("if an administrator has allowed repairs"), of_gpu_3
        (refused,) = c.planned(WITH_HEALTH % "mode: Close")["repairs"]
        assert refused["does"] == "nothing without --allow-repairs", refused
        (observed,) = c.planned(WITH_HEALTH % "mode: Observe", "--allow-repairs")["repairs"]
        assert observed["when"] == "never" and "is Observe" in observed["why"], observed


@test
def only_reads():
    """Everything that is sent is a GET of a list, by pages and without a watch; the simulation
    sends nothing more."""
    with cluster_at_work() as c, recorded(c) as kubeconfig:
        code, out, err = c.plan(NEW % "", "--simulate", kubeconfig=kubeconfig)
        assert code == 0 and "complete after" in out, (code, out, err)
        paths = [path.split("?")[0] for method, path in Recorder.seen if method == "GET"]
        assert len(paths) == len(Recorder.seen) == len(set(paths)) == 7, Recorder.seen
        for _, path in Recorder.seen:
            assert "watch" not in path and "resourceVersion" not in path and "limit=" in path, path


@test
def the_same_hash():
    """The plan's hash is the one that the status shows, which a person approves; its waves are
    those of the status."""
    with cluster_at_work() as c:
        manual = NEW % ", approval: Manual"
        ahead = c.planned(manual)["plan"]
        assert (
            "kubectl annotate gpuclusterpolicy default"
            f" ostler.dev/approved={ahead['hash']} --overwrite"
            in c.plan(manual)[1]
        )
        with operator(c):
            rollout = {
                "maxUnavailable": 3,
                "order": "Name",
                "canary": {"soak": "10m"},
                "approval": "Manual",
            }
            c.must(
                "PATCH",
                POLICY,
                {"spec": {"driver": {"version": "580.178.04"}, "rollout": rollout}},
                MERGE,
            )

            def waits():
                found = c.get(POLICY)["status"].get("rollout", {})
                return found.get("reason") == "WaitingForApproval" and "plan" in found

            c.wait("the rollout waits for approval", waits)
            told = c.get(POLICY)["status"]["rollout"]
        assert (
            told["plan"]["hash"] == ahead["hash"]
            and f"ostler.dev/approved={ahead['hash']}" in told["message"]
        ), told
        assert [w["names"] for w in told["plan"]["waves"]] == [w["names"] for w in ahead["waves"]][
            :5
        ], told


@test
def pace():
    """Once nodes have gone their way their pace is known, also to `ostler plan`.

    The status has one plan while nodes are under way, not one for each step.
    """
    with cluster_at_work() as c:
        plans = set()
        c.must(
            "PATCH",
            POLICY,
            {"spec": {"driver": {"version": "575.57.08"}, "rollout": {"canary": {"soak": "10s"}}}},
            MERGE,
        )

        def is_done():
            policy = c.get(POLICY)
            rollout = policy["status"].get("rollout", {})
            plans.add(rollout.get("plan", {}).get("madeAt"))
            current = policy["metadata"]["generation"] == policy["status"]["observedGeneration"]
            return (
                current
                and rollout.get("reason") == "UpToDate"
                and rollout.get("done") == 6
                and len(plans) > 1
            )

        with operator(c):
            c.wait("all nodes have the new driver", is_done)
            known = c.get(POLICY)["status"]["rollout"]
        assert (
            known["pace"]["driver"]["nodes"] >= 5
            and "plan" not in known
            and len(plans - {None}) <= 3
        ), (known, plans)
        plan = c.planned(NEW % "")["plan"]
        assert (
            plan["pace"] == known["pace"]
            and "ends" in plan
            and "at the pace seen so far it takes" in plan["message"]
        ), plan


@test
def simulated_as_planned():
    """The simulated rollout takes the plan's nodes one after the other, with times that follow
    from what is assumed, to the end."""
    with cluster_at_work() as c:
        plan = c.planned(NEW % "")["plan"]
        told = c.planned(NEW % "", "--simulate", "--driver-takes", "5m", "--pull-takes", "1s")
        begun = [row["node"] for row in told["timeline"] if row["step"] == "Draining"]
        # Of those that may go, the one goes first whose images are there first.
        assert sorted(begun) == [m["node"] for m in plan["moves"]], (begun, plan)
        summary = told["summary"]
        assert (
            summary["complete"] and summary["nodes"] == 6 and 300 <= summary["secondsPerNode"] < 400
        ), summary
        assert summary["seconds"] >= 6 * 300 + 600 and not summary["evicted"], summary
        assert any("a driver is up after 300 s" in line for line in told["assumptions"]), told[
            "assumptions"
        ]


@test
def simulated_with_people():
    """Jobs do not end unless it is said when; a budget that lets no pod go and people's nodes
    are named in the end."""
    with cluster_at_work() as c:
        put_people_in(c)
        told = c.planned(NEW % "", "--simulate", code=3)
        done = {row["node"] for row in told["timeline"] if row["step"] == "Released"}
        assert (
            not told["summary"]["complete"]
            and "gpu-1" in done
            and not done & {"gpu-2", "gpu-3", "gpu-5", "gpu-6"}
        ), told
        ended = c.planned(NEW % "", "--simulate", "--jobs-end-after", "2h", code=3)
        times = {
            row["node"]: row["second"] for row in ended["timeline"] if row["step"] == "Draining"
        }
        assert times["gpu-2"] >= 2 * 3600 - 300, times


def with_spec(**more):
    """A whole policy with these fields of its spec."""
    spec = {
        "driver": {"version": "580.178.04"},
        "rollout": {"maxUnavailable": 3, "canary": {"soak": "10m"}},
    } | more
    return json.dumps(
        {
            "apiVersion": "ostler.dev/v1alpha1",
            "kind": "GpuClusterPolicy",
            "metadata": {"name": "default"},
            "spec": spec,
        }
    )


def windows(*schedules):
    """A rollout in windows of four hours."""
    return {
        "maxParallel": 2,
        "maxUnavailable": 3,
        "canary": {"soak": "10m"},
        "windows": [{"schedule": s, "duration": "4h", "timeZone": "UTC"} for s in schedules],
    }


@test
def after_a_rollback():
    """A revision that failed is named with its node, the reason, and how it is tried again: that
    is not nothing to do."""
    with cluster_at_work(WORLD + FAILS) as c:
        with operator(c):
            c.must("PATCH", POLICY, {"spec": {"driver": {"version": "580.178.04"}}}, MERGE)
            c.wait_for_rollout("RevisionFailed")
            c.wait("every node is ready again", lambda: c.summary() == "6/6")
        code, out, err = c.plan()
        assert code == 0 and not err and "nothing to do" not in out, (code, out, err)
        told = c.planned(None)
        assert told["plan"] is None and len(told["failed"]) == 1, told
        failed = told["failed"][0]
        assert (
            failed["tier"] == "driver"
            and failed["version"] == "580.178.04"
            and failed["pool"] == "default"
        ), failed
        for words in (
            "RevisionFailed: driver revision",
            f"first on node {failed['node']} at ",
            failed["reason"],
            "no other node of this pool gets it",
            f"ostler.dev/retry={failed['retry']} --overwrite",
        ):
            assert words in out, (words, out)
        assert not c.planned(with_spec(driver={"version": "575.57.08"}))["failed"]


@test
def images_that_cannot_be_pulled():
    """What a node's kubelet says of an image of the next revision is in the way;
    the simulation says that it assumes otherwise."""
    with cluster_at_work(WORLD + "images:\n  - {image: '*:580.*', missing: true}\n") as c:
        with operator(c):
            c.must("PATCH", POLICY, {"spec": {"driver": {"version": "580.178.04"}}}, MERGE)
            c.wait(
                "an image is missing",
                lambda: "cannot get" in c.wait_for_rollout("WaitingForImages")["message"],
            )
        told = c.planned(None)["plan"]
        words = [b["message"] for b in told["blockers"]]
        assert words and all(
            "cannot get " in w and ":580.178.04" in w and "not found" in w for w in words
        ), told
        assert f"{len(words)} node" in told["message"] and told["withoutImages"] == len(words), told
        assert "\nblockers:\n" in c.plan()[1]
        assumed = " ".join(c.planned(None, "--simulate")["assumptions"])
        assert "every image can be pulled, though " in assumed, assumed


@test
def a_node_that_is_closed():
    """A node that waits for its jobs is closed: the plan does not say that it stays as it is."""
    with cluster_at_work() as c:
        c.must("POST", PODS, pod("train", "gpu-2", restartPolicy="Never"))
        with operator(c):
            rollout = {"maxParallel": 5, "maxUnavailable": 6, "canary": {"soak": "10s"}}
            c.must("PATCH", POLICY, {"spec": json.loads(with_spec(rollout=rollout))["spec"]}, MERGE)
            c.wait(
                "the others have the new driver",
                lambda: c.wait_for_rollout("WaitingForJobs")["done"] == 5,
            )
        told = c.planned(None)["plan"]
        assert told["stay"] == [
            {"reason": "WaitingForJobs", "nodes": 1, "names": ["gpu-2"], "closed": ["gpu-2"]}
        ], told
        assert (
            "1 node is tainted until its pods have ended (WaitingForJobs)" in told["message"]
        ), told
        assert "as it is" not in c.plan()[1] and "as they are" not in c.plan()[1]


@test
def windows_that_are_far_off():
    """The simulation goes on to the next window, whenever that is."""
    with cluster_at_work() as c:
        now = time.gmtime(time.time() + 13 * 3600)
        for schedule in (
            f"{now.tm_min} {now.tm_hour} * * *",
            f"0 3 * * {(time.gmtime().tm_wday + 7) % 7}",
        ):
            told = c.planned(
                with_spec(rollout=windows(schedule)), "--simulate", "--simulate-for", "1000h"
            )
            assert told["summary"]["complete"] and told["summary"]["nodes"] == 6, told["summary"]
            begun = [row["at"] for row in told["timeline"] if row["step"] == "Draining"]
            assert begun and told["summary"]["seconds"] > 12 * 3600 - 600, (
                schedule,
                told["timeline"],
            )


@test
def windows_that_never_open():
    """Such a policy is none, which is said at once."""
    with cluster_at_work() as c:
        code, out, err = c.plan(with_spec(rollout=windows("0 3 30 2 *")), "--simulate")
        assert (code, out) == (1, "") and "the window never opens" in err, (code, out, err)


@test
def the_simulated_time_is_over():
    """Who simulates less than the rollout takes is told so."""
    with cluster_at_work() as c:
        code, out, _ = c.plan(with_spec(), "--simulate", "--simulate-for", "20m")
        assert code == 3 and "\nnot over yet after 0:20:" in out, (code, out)


@test
def simulated_to_a_rollback():
    """A driver that takes longer than it may fails: so the assumptions say it, and the plan
    does not count what went back as upgraded."""
    with cluster_at_work() as c:
        told = c.planned(with_spec(), "--simulate", "--driver-takes", "40m", code=3)
        takes = "a driver is up after 2400 s (--driver-takes), longer than "
        assert takes in told["assumptions"][0], told["assumptions"]
        summary = told["summary"]
        assert (
            summary["reason"] == "RevisionFailed"
            and summary["nodes"] == 0
            and summary["wentBack"] == ["gpu-1"]
        ), summary
        assert (
            not summary["complete"]
            and summary["ended"] == "NoProgress"
            and not summary["standing"]
        ), summary
        code, out, _ = c.plan(with_spec(), "--simulate", "--driver-takes", "40m")
        assert (
            code == 3
            and "0 nodes upgraded; 1 node went back to what it ran before; 0 pods evicted, " in out
        ), out


@test
def what_a_person_has_to_do_first():
    """A plan that is paused and not approved says both, and no times; what a file says can be
    approved when it was applied."""
    with cluster_at_work() as c:
        manual = {"maxUnavailable": 3, "approval": "Manual"}
        out = c.plan(with_spec(rollout=manual | {"paused": True}))[1]
        first = (
            "\ndoes not begin while spec.rollout.paused is true\n"
            "waits for approval; after you applied the file, approve with: "
            "kubectl annotate gpuclusterpolicy default ostler.dev/approved="
        )
        assert first in out and ", begins " not in out, out
        out = c.plan(with_spec(rollout=manual))[1]
        assert (
            "spec.rollout.paused" not in out
            and "\nwaits for approval; after" in out
            and ", begins " not in out
        ), out
        c.must(
            "PATCH",
            POLICY,
            {"spec": {"driver": {"version": "580.178.04"}, "rollout": manual}},
            MERGE,
        )
        assert "\nwaits for approval: kubectl annotate " in c.plan()[1]


@test
def simulated_with_a_short_timeout():
    """Who does not say how long a driver takes does not see it fail for that: it takes half of
    what the policy lets it."""
    with cluster_at_work() as c:
        told = c.planned(
            with_spec(rollout={"maxUnavailable": 3, "timeouts": {"install": "2m"}}), "--simulate"
        )
        assert told["assumptions"][0].startswith(
            "a driver is up after 60 s, half of spec.rollout.timeouts.install "
        ), told
        assert told["summary"]["complete"] and told["summary"]["nodes"] == 6, told["summary"]


@test
def a_canary_that_does_not_come_up():
    """What the kubelet says of a node under way is in the way; the simulation has it come up,
    and says so."""
    crashes = 'drivers:\n  - {version: "580.*", outcome: FailsBuild}\n'
    with cluster_at_work(WORLD + crashes) as c:

        def crashes_now():
            reports = c.get("/apis/ostler.dev/v1alpha1/gpunodes")["items"]
            return any(r.get("status", {}).get("reason") == "CrashLoopBackOff" for r in reports)

        with operator(c):
            c.must(
                "PATCH",
                POLICY,
                {"spec": {"driver": {"version": "580.178.04"}, "rollout": {"order": "Name"}}},
                MERGE,
            )
            c.wait("the canary crashes", crashes_now)
        out = c.plan()[1]
        assert "\n  6 nodes are to be changed: 5 go in 5 waves, 1 is under way\n" in out, out
        assert "\nblockers:\n  gpu-1: CrashLoopBackOff: " in out, out
        told = c.planned(None, "--simulate")
        assert (
            "not healthy when the cluster was read, and simulated as healthy: gpu-1"
            in told["assumptions"]
        ), told
        assert told["summary"]["complete"], told


@test
def simulated_while_a_node_boots():
    """A node that was just booted offers no GPU yet: the simulation gives it those that it had,
    and says that it was not well."""
    reboots = "actions:\n  - {at: 15m, do: Reboot, node: gpu-2}\n"
    with cluster_at_work(WORLD.replace("driverBuild: 2s", "driverBuild: 240s") + reboots) as c:

        def boots():
            node = c.get("/api/v1/nodes/gpu-2")["status"]
            ready = {n["type"]: n["status"] for n in node["conditions"]}["Ready"]
            return ready == "True" and node["allocatable"].get("nvidia.com/gpu", "0") == "0"

        c.wait("gpu-2 boots", boots)
        told = c.planned(with_spec(), "--simulate")
        assert (
            "not healthy when the cluster was read, and simulated as healthy: gpu-2"
            in told["assumptions"]
        ), told
        assert told["summary"]["complete"] and told["summary"]["nodes"] == 6, told["summary"]


SLICES = WORLD.replace(
    "gpus: 8}", "gpus: 3, resource: nvidia.com/mig-1g.10gb, more: {nvidia.com/mig-2g.20gb: 2}}"
)


@test
def simulated_slices():
    """Pods hold in the simulation what they hold in the cluster: slices, devices of init
    containers and of claims."""
    with cluster_at_work(SLICES) as c:
        asks = {"resources": {"limits": {"nvidia.com/mig-2g.20gb": "2"}}}
        c.must(
            "POST",
            PODS,
            pod(
                "slices",
                "gpu-2",
                restartPolicy="Never",
                containers=[{"name": "main", "image": "registry.example.com/a:1"} | asks],
            ),
        )
        c.must(
            "POST",
            PODS,
            pod(
                "init",
                "gpu-3",
                restartPolicy="Never",
                containers=[{"name": "main", "image": "registry.example.com/a:1"}],
                initContainers=[
                    {
                        "name": "first",
                        "image": "registry.example.com/a:1",
                        "resources": {"limits": {"nvidia.com/mig-1g.10gb": "3"}},
                    }
                ],
            ),
        )
        c.must(
            "POST",
            PODS,
            pod(
                "claimed",
                "gpu-4",
                restartPolicy="Never",
                containers=[{"name": "main", "image": "registry.example.com/a:1"}],
                resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}],
            ),
        )
        busy = ["gpu-2", "gpu-3", "gpu-4"]
        assert {s["reason"]: s["names"] for s in c.planned(with_spec())["plan"]["stay"]} == {
            "WaitingForJobs": busy
        }
        told = c.planned(with_spec(), "--simulate", code=3)
        assert {n["node"] for n in told["summary"]["standing"]} <= set(busy) and told["summary"][
            "nodes"
        ] == 3, told
        ended = c.planned(with_spec(), "--simulate", "--jobs-end-after", "3h")
        assert ended["summary"]["complete"] and ended["summary"]["nodes"] == 6, ended["summary"]


@test
def hosts_with_their_own():
    """Where hosts bring their toolkit, or their driver, the simulation has them bring it."""
    world = WORLD.replace("gpus: 8}", "gpus: 8, hostToolkit: true}")
    with cluster_at_work(
        world.replace("570.133.20}", "570.133.20}, toolkit: {enabled: false}")
    ) as c:
        told = c.planned(with_spec(toolkit={"enabled": False}), "--simulate")
        assert told["summary"]["complete"] and told["summary"]["nodes"] == 6, told["summary"]
        told = c.planned(with_spec(toolkit={"enabled": True}), "--simulate")
        assert told["summary"]["complete"] and told["summary"]["nodes"] == 6, told["summary"]
    world = WORLD.replace("gpus: 8}", "gpus: 8, hostDriver: 570.133.20}").replace(
        "version: 570.133.20}", "source: Host}"
    )
    with cluster_at_work(world) as c:
        told = c.planned(
            with_spec(driver={"source": "Host"}, toolkit={"version": "1.18.0"}), "--simulate"
        )
        assert told["summary"]["complete"] and told["summary"]["nodes"] == 6, told["summary"]


@test
def files_with_a_part_of_a_policy():
    """A file is a whole policy: who leaves out what the cluster's has is told what,
    and who gives a patch is told to give a policy."""
    with cluster_at_work() as c:
        c.must(
            "PATCH",
            POLICY,
            {
                "spec": {
                    "rollout": {"maxParallel": 2, "order": "IdleFirst"},
                    "exporter": {"enabled": False},
                }
            },
            MERGE,
        )
        code, out, err = c.plan(with_spec())
        assert code == 0 and "plan " in out, (code, out, err)
        assert (
            err
            == "ostler: note: standard input leaves out what the cluster's policy sets:"
            " spec.rollout.maxParallel, spec.exporter.enabled; -f takes a whole policy, not a"
            " patch, so the plan ignores them\n"
        ), err
        code, out, err = c.plan("spec: {driver: {version: 580.178.04}}\n")
        assert (code, out) == (
            1,
            "",
        ) and "-f takes a whole GpuClusterPolicy, not only the fields that change" in err, err
        assert "kubectl get gpuclusterpolicy default -o yaml" in err, err


@test
def names_in_their_order():
    """gpu-2 comes before gpu-10, and a list that is too long for a person says how much more
    there is."""
    with cluster_at_work(WORLD.replace("count: 6", "count: 12"), "12/12") as c:
        for i in range(1, 13):
            c.must("PATCH", f"/api/v1/nodes/gpu-{i}", {"spec": {"unschedulable": True}}, MERGE)
        out = c.plan(with_spec())[1]
        first = ", ".join(f"gpu-{i}" for i in range(1, 11))
        assert f"  {first} and 2 more: a user cordoned it\n" in out, out


# NVIDIA publishes driver 580.178.04 for Ubuntu 22.04 and 24.04, and not for 26.04.
UBUNTU_26 = WORLD.replace("Ubuntu 24.04.1 LTS", "Ubuntu 26.04 LTS").replace('"24.04"', '"26.04"')
NO_IMAGE = (
    "NVIDIA publishes no image nvcr.io/nvidia/driver:580.178.04-ubuntu26.04: set driver.version to"
    " 595.91.07"
)


@test
def a_driver_without_an_image():
    """A rollout to a driver that NVIDIA publishes no image of for the nodes' system goes
    nowhere, and says so before it begins; the versions that it names go."""
    with cluster_at_work(UBUNTU_26) as c:
        code, out, err = c.plan(NEW % "")
        assert (code, err) == (0, "") and NO_IMAGE in out, (code, out, err)
        plan = c.planned((NEW % "").replace("580.178.04", "595.91.07"))
        assert "NVIDIA publishes no image" not in json.dumps(plan), plan


def rendered(system, policy):
    """What `ostler render` prints for a GPU node with this system."""
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "gpu-1",
            "labels": {"feature.node.kubernetes.io/pci-10de.present": "true"},
        },
        "status": {
            "nodeInfo": {
                "osImage": system,
                "containerRuntimeVersion": "containerd://2.1.0",
                "architecture": "amd64",
                "kernelVersion": "6.8.0-49-generic",
            }
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "node.json")
        path.write_text(json.dumps(node), encoding="utf-8")
        done = subprocess.run(
            [OPERATOR, "render", "-f", "-", "--node", path, "--agent-image", "ostler:1"],
            input=policy,
            text=True,
            capture_output=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 0, done
    return done.stdout


@test
def rendered_for_a_driver_without_an_image():
    """`ostler render` prints, in place of operands, that there is no image of the driver for the
    node's system."""
    out = rendered("Ubuntu 26.04 LTS", NEW % "")
    assert (
        out.startswith(f"# Unsupported: node gpu-1: {NO_IMAGE}") and "kind: DaemonSet" not in out
    ), out[:500]
    out = rendered("Ubuntu 24.04.1 LTS", NEW % "")
    assert "NVIDIA publishes no image" not in out and "kind: DaemonSet" in out, out[:500]


@test
def refused_policies():
    """A file that is no valid policy is told as `ostler validate` tells it; exit code 1."""
    with cluster_at_work() as c:
        bad = (NEW % "").replace("580.178.04", "[5]")
        code, out, err = c.plan(bad)
        known = subprocess.run(
            [OPERATOR, "validate", "-f", "-"],
            input=bad,
            text=True,
            capture_output=True,
            check=False,
        )
        assert (code, out) == (1, "") and err == known.stderr and "spec.driver.version" in err, (
            code,
            out,
            err,
        )


FIRST = (
    "\ngets its first driver and stack, outside the rollout:\n  gpu-1\n  gpu-2\n"
    "\nhas a GPU and is not served:\n  gpu-3: Unmanaged\n"
)
NO_GPU = "\n2 nodes show no GPU, and are left out. A node shows one by a label of NFD, "


@test
def a_first_installation():
    """What gets its first stack, what is served by another one, and that nodes show no GPU: the
    plan and the simulation say the same."""
    world = WORLD.replace("labeller: true", "labeller: false").replace("count: 6", "count: 5")
    with tempfile.TemporaryDirectory() as folder:
        c = Cluster(folder, world)
        try:
            for i in (1, 2, 3):
                labels = {"feature.node.kubernetes.io/pci-10de.present": "true"}
                if i == 3:
                    labels["ostler.dev/managed"] = "false"
                c.must("PATCH", f"/api/v1/nodes/gpu-{i}", {"metadata": {"labels": labels}}, MERGE)
            for more in ((), ("--simulate",)):
                code, out, err = c.plan(NEW % "", *more)
                assert (code, err) == (0, ""), (code, err, out)
                assert FIRST in out and NO_GPU in out, (more, out)
                assert "nothing to do" not in out, (more, out)
                told = c.planned(NEW % "", *more)
                assert told["first"] == ["gpu-1", "gpu-2"] and told["noGpu"] == 2, told
        finally:
            c.process.kill()
            c.process.wait()


@test
def what_cannot_be_read():
    """A cluster that does not answer, or does not let it read, is told in one sentence; exit
    code 1."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "k")
        write_kubeconfig(path, 9)
        done = subprocess.run(
            [OPERATOR, "plan", "--kubeconfig", path],
            text=True,
            capture_output=True,
            timeout=30,
            check=False,
        )
        assert done.returncode == 1 and done.stdout == "", done
        assert "ostler: cannot list" in done.stderr and "127.0.0.1:9" in done.stderr, done
        assert done.stderr.count("\n") == 1, done.stderr


@test
def no_policy_at_all():
    """Without a policy anywhere it says how to give one."""
    with tempfile.TemporaryDirectory() as folder:
        c = Cluster(folder, "name: empty\n")
        try:
            code, out, err = c.plan()
            assert (code, out) == (1, "") and "has no GpuClusterPolicy; use -f FILE" in err, (
                code,
                out,
                err,
            )
            code, out, err = c.plan(NEW % "")
            assert code == 0 and "nothing to do" in out, (code, out, err)
        finally:
            c.process.kill()
            c.process.wait()


def run(one):
    """What is wrong, "" where nothing is."""
    try:
        one()
    except Exception as e:  # pylint: disable=broad-exception-caught
        return f"FAIL {one.__name__}: {' '.join(one.__doc__.split())}\n     {type(e).__name__}: {e}"
    return ""


def main():
    """Runs all tests, or those named."""
    chosen = [t for t in TESTS if not sys.argv[1:] or t.__name__ in sys.argv[1:]]
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        problems = [p for p in pool.map(run, chosen) if p]
    print(
        "\n".join(
            problems + [f"plan: {len(chosen) - len(problems)} passed, {len(problems)} failed"]
        )
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
