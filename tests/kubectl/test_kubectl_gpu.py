#!/usr/bin/python3
"""kubectl-gpu as a person uses it: every command against ostler-sim with a rollout under way,
and against servers that refuse, that know nothing of Ostler, that lie, and that are away.
Needs build/ostler and build/ostler-sim. Prints "kubectl-gpu: N passed, N failed"."""

import base64
import contextlib
import fcntl
import http.server
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import ssl
import struct
import subprocess
import sys
import tarfile
import tempfile
import termios
import threading
import time
import traceback
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
WORLD = """
name: kubectl-gpu
seed: 3
labeller: true
shapes:
  - {name: gpu, osImage: Ubuntu 24.04.1 LTS, osID: ubuntu, osVersion: "24.04",
      kernel: 6.8.0-49-generic, gpus: 8,
     gpuProduct: NVIDIA-H100-80GB-HBM3}
  - {name: web, osImage: Ubuntu 24.04.1 LTS, osID: ubuntu, osVersion: "24.04",
      kernel: 6.8.0-49-generic}
nodes:
  - {name: gpu, shape: gpu, count: 4}
  - {name: web, shape: web, count: 1}
latencies: {pull: 1s, start: 100ms, driverBuild: 2s, toolkit: 1s, plugin: 200ms, kubelet: 20ms,
    controller: 10ms}
programs:
  - {image: "registry.example.com/train*", run: 1000h}
objects:
  - apiVersion: ostler.dev/v1alpha1
    kind: GpuClusterPolicy
    metadata: {name: default}
    spec: {driver: {version: 570.133.20}, rollout: {canary: {nodes: 0}, maxParallel: 2,
        maxUnavailable: 4}}
"""
POLICY = "/apis/ostler.dev/v1alpha1/gpuclusterpolicies/default"
MERGE = "application/merge-patch+json"
SECRET = "nvapi-do-not-show-me"
ESCAPE = "\x1b"
TESTS = []


def test(function):
    """Adds a test; its docstring says what must be."""
    TESTS.append(function)
    return function


def train(name):
    """A pod that uses all GPUs of a node and does not end: a job."""
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "restartPolicy": "Never",
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.com/train:1",
                    "resources": {"limits": {"nvidia.com/gpu": "8"}},
                }
            ],
        },
    }


class Plugin:
    """kubectl-gpu with one kubeconfig, as the file that a person copies somewhere into PATH."""

    def __init__(self, folder, kubeconfig):
        self.folder = pathlib.Path(folder)
        self.path = self.folder / "kubectl-gpu"
        self.kubeconfig = kubeconfig
        if not self.path.exists():
            shutil.copy(BUILD / "ostler", self.path)
            (self.folder / "kubectl_complete-gpu").symlink_to("kubectl-gpu")

    def environment(self):
        """What it finds around it."""
        return {
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "KUBECONFIG": str(self.kubeconfig),
            "TERM": "xterm",
        }

    def run(self, *arguments, seconds=30):
        """(exit code, standard output, standard error)"""
        done = subprocess.run(
            [self.path, *arguments],
            env=self.environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert ESCAPE not in done.stdout + done.stderr, (arguments, done.stdout, done.stderr)
        return done.returncode, done.stdout, done.stderr

    def start(self, *arguments, stdout=subprocess.PIPE, stderr=None, hangup="default"):
        """One that goes on, but for no longer than a minute; its output is a pipe. `hangup`:
        what SIGHUP does to it, whatever it does to these tests: "default", or "ignore", as
        under nohup."""
        p = subprocess.Popen(
            [shutil.which("env"), f"--{hangup}-signal=HUP", self.path, *arguments],
            env=self.environment(),
            stdout=stdout,
            stderr=stderr,
            text=True,
        )
        guard = threading.Timer(60, p.kill)
        guard.daemon = True
        guard.start()
        return p

    def said(self, *arguments):
        """What it prints when all is well."""
        code, out, err = self.run(*arguments)
        assert code == 0 and not err, (arguments, code, out, err)
        return out

    def refused(self, *arguments, code=1):
        """The one sentence that it ends with."""
        got, out, err = self.run(*arguments)
        assert (
            got == code and not out and err.startswith("kubectl gpu: ") and err.count("\n") == 1
        ), (arguments, got, out, err)
        return err


class Cluster:
    """A simulated cluster, its administrator, and an Ostler at work."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.kubeconfig = self.folder / "kubeconfig"
        self.sim = subprocess.Popen(
            [
                BUILD / "ostler-sim",
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
        self.sim.stdin.write(WORLD.encode())
        self.sim.stdin.close()
        self.until(self.kubeconfig.exists, "the simulator")
        config = json.loads(self.kubeconfig.read_text(encoding="utf-8"))
        self.server = config["clusters"][0]["cluster"]["server"]
        authority = base64.b64decode(
            config["clusters"][0]["cluster"]["certificate-authority-data"]
        ).decode()
        self.context = ssl.create_default_context(cadata=authority)
        self.token = config["users"][0]["user"]["token"]
        self.ostler = None
        self.plugin = Plugin(folder, self.kubeconfig)

    @staticmethod
    def until(condition, what, seconds=30):
        """Waits."""
        end = time.time() + seconds
        while not condition():
            assert time.time() < end, f"{what} did not come in {seconds} s"
            time.sleep(0.1)

    def start_ostler(self):
        """The operator, with its own rights."""
        self.ostler = subprocess.Popen(
            [
                BUILD / "ostler",
                "--kubeconfig",
                self.folder / "ostler",
                "--namespace",
                "ostler-system",
                "--listen",
                "",
            ],
            stderr=subprocess.DEVNULL,
        )

    def ask(self, method, path, body=None, content="application/json"):
        """A request of the administrator's."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(
            self.server + path,
            data,
            {"Authorization": f"Bearer {self.token}", "Content-Type": content},
            method=method,
        )
        with urllib.request.urlopen(request, context=self.context, timeout=10) as answer:
            return json.load(answer)

    def states(self):
        """The state of each GPU node."""
        items = self.ask("GET", "/apis/ostler.dev/v1alpha1/gpunodes")["items"]
        return {i["metadata"]["name"]: i.get("status", {}).get("state") for i in items}

    def begin_rollout(self):
        """All nodes are up, then a job and a held node are in the way of another driver."""
        self.start_ostler()
        self.until(lambda: list(self.states().values()) == ["Ready"] * 4, "the fleet")
        self.ask("POST", "/api/v1/namespaces/default/pods", train("train"))
        secret = train("secretive")
        secret["metadata"]["namespace"] = "ostler-operands"
        secret["spec"]["containers"][0].update(
            env=[{"name": "NGC_API_KEY", "value": SECRET}, {"name": "MODE", "value": "seen"}]
        )
        secret["spec"]["containers"][0].pop("resources")
        self.ask("POST", "/api/v1/namespaces/ostler-operands/pods", secret)
        self.until(
            lambda: self.ask("GET", "/api/v1/namespaces/default/pods/train")["status"]["phase"]
            == "Running",
            "the job",
        )

    def stop(self):
        """Ends both."""
        for process in (self.ostler, self.sim):
            if process:
                process.kill()
                process.wait()


# ---- against the simulator, in this order


@test
def status_of_a_quiet_fleet(c):
    """status says in under 25 lines that all is well, and that Ostler lives."""
    text = c.plugin.said("status")
    assert text.count("\n") < 25 and "Policy     default: ready (AllNodesReady)" in text, text
    assert (
        "Ostler     alive: " in text and "32 of 32 GPUs ready" in text and "Ready 4" in text
    ), text


@test
def status_for_programs(c):
    """-o json and -o yaml have the same in members."""
    status = json.loads(c.plugin.said("status", "-o", "json"))
    assert (
        status["gpus"] == {"ready": 32, "present": 32} and status["ostler"]["state"] == "Alive"
    ), status
    assert status["versions"][0] == {
        "name": "driver",
        "version": "570.133.20",
        "nodes": 4,
        "knownGood": ["default"],
    }, status
    assert "\n  reason: AllNodesReady\n" in c.plugin.said("status", "-oyaml")


@test
def hold_says_how_to_undo_it(c):
    """hold labels a node, says how to undo it, and who has done it when it is done again;
    --dry-run changes nothing."""
    labels = lambda: c.ask("GET", "/api/v1/nodes/gpu-2")["metadata"]["labels"]
    out = c.plugin.said("hold", "gpu-2", "--dry-run")
    assert (
        out.startswith("(dry run) gpu-2 is held")
        and "undo" not in out
        and "ostler.dev/hold" not in labels()
    ), out
    out = c.plugin.said("hold", "gpu-2")
    assert "undo: kubectl gpu release gpu-2\n" in out and labels()["ostler.dev/hold"] == "true", out
    out = c.plugin.said("hold", "gpu-2")
    assert "held already, by ostler-kubectl at 20" in out and "undo" not in out, out


@test
def hold_refuses_nonsense(c):
    """A name that is not there is answered with names like it; one without a GPU, and what is no
    name, are refused."""
    assert "Ostler knows no GPU node gpu-22; did you mean gpu-2" in c.plugin.refused(
        "hold", "gpu-22"
    )
    assert "web-1 has no GPU that Ostler knows of: nothing was changed" in c.plugin.refused(
        "hold", "web-1"
    )
    assert "is not a name of a node" in c.plugin.refused("hold", "../policies")
    code, out, err = c.plugin.run("release", "gpu-9", "gpu-1")
    assert (
        code == 1
        and out == "gpu-1 is not held; nothing was changed\n"
        and "no GPU node gpu-9" in err
    ), (code, out, err)


@test
def repair_says_what_it_does_first(c):
    """repair changes nothing without --yes, and says what it would do; the same with --dry-run."""
    marks = lambda: c.ask("GET", "/api/v1/nodes/gpu-2")["metadata"].get("annotations", {})
    code, out, err = c.plugin.run("repair", "gpu-2")
    assert (
        code == 1
        and out.startswith("with --yes: a repair of gpu-2 is asked for. ")
        and "undo" not in out
        and err == "kubectl gpu: nothing was changed: add --yes to ask for the repair\n"
    ), (code, out, err)
    out = c.plugin.said("repair", "gpu-2", "--dry-run")
    assert out.startswith("(dry run) a repair of gpu-2 is asked for. "), out
    assert c.plugin.said("repair", "gpu-2", "--cancel").startswith("no repair of gpu-2 is asked")
    assert "ostler.dev/repair" not in marks(), marks()


@test
def ignore_what_is_named(c):
    """ignore takes a fault that there is, or all of them, and says how to undo it."""
    labels = lambda: c.ask("GET", "/api/v1/nodes/gpu-2")["metadata"]["labels"]
    assert "which fault of gpu-2? Give --fault REASON" in c.plugin.refused("ignore", "gpu-2")
    assert "no fault of the GPUs of gpu-2 is known" in c.plugin.refused(
        "ignore", "gpu-2", "--fault", "Xid79"
    )
    out = c.plugin.said("ignore", "gpu-2", "--fault", "all")
    assert (
        "undo: kubectl gpu ignore gpu-2 --fault all --undo\n" in out
        and labels()["ostler.dev/health"] == "ignore"
    ), out
    assert "count again" in c.plugin.said("ignore", "gpu-2", "--fault", "all", "--undo")
    assert "ostler.dev/health" not in labels()


@test
def a_fault_is_ignored_in_one_write(c):
    """The record and the taint of a fault change in one request, which rests on what was read;
    a repair is the same."""
    record = {
        "v": 1,
        "state": "Closed",
        "reason": "Xid79",
        "boot": "00000000000000b1",
        "since": "2026-11-20T09:00:00Z",
        "tainted": True,
    }
    meta = {
        "name": "gpu-1",
        "uid": "u",
        "resourceVersion": "7",
        "annotations": {"ostler.dev/fault": json.dumps(record)},
    }
    taints = [{"key": key, "effect": "NoSchedule"} for key in ("a", "ostler.dev/unhealthy")]
    health = {"level": "Close", "reason": "Xid79", "state": "Closed"}
    report = {
        "metadata": {"name": "gpu-1"},
        "status": {"state": "Unhealthy", "gpus": 8, "health": health},
    }
    policy = {"metadata": {"name": "default"}, "spec": {"health": {"mode": "Repair"}}}
    lists = {"gpunodes": [report], "gpuclusterpolicies": [policy]}

    def answer(_, path):
        if "/nodes/gpu-1" in path:
            return 200, {"metadata": meta, "spec": {"taints": taints}}
        if "/gpunodes/gpu-1" in path:
            return 200, report
        return 200, {"items": next((i for part, i in lists.items() if part in path), [])}

    with other(c, answer) as (plugin, handler):
        words = plugin.said("__complete", "ignore", "gpu-1", "--fault", "")
        assert words == "all\t\nXid79\t\n:4\n", words
        plugin.said("ignore", "gpu-1", "--fault", "Xid79")
        plugin.said("repair", "gpu-1", "--yes")
        assert plugin.run("repair", "gpu-1")[0] == 1
        ignored, repaired = (json.loads(a[2]) for a in handler.asked if a[0] == "PATCH")
        state = json.loads(ignored["metadata"]["annotations"]["ostler.dev/fault"])["state"]
        assert state == "Ignored" and ignored["spec"]["taints"] == taints[:1], ignored
        assert list(repaired["metadata"]["annotations"]) == ["ostler.dev/repair"], repaired
        for patch in (ignored, repaired):
            assert patch["metadata"]["uid"] == "u", patch
            assert patch["metadata"]["resourceVersion"] == "7", patch


@test
def approve_the_plan(c):
    """approve takes the plan that there is and no other, and only where a plan waits for it."""
    assert "is not Manual: no plan waits for approval" in c.plugin.refused("approve")
    c.ask(
        "PATCH",
        POLICY,
        {"spec": {"driver": {"version": "580.178.04"}, "rollout": {"approval": "Manual"}}},
        MERGE,
    )
    rollout = lambda: c.ask("GET", POLICY)["status"]["rollout"]
    c.until(lambda: rollout().get("reason") == "WaitingForApproval", "the plan")
    plan = rollout()["plan"]["hash"]
    assert f"the plan is {plan}, not h0" in c.plugin.refused("approve", "h0")
    assert f"kubectl gpu approve {plan}" in c.plugin.said("status")
    assert f"plan {plan}, made at" in c.plugin.said("plan")
    assert json.loads(c.plugin.said("plan", "-ojson"))["plan"]["hash"] == plan
    explained = c.plugin.said("explain", "gpu-1")
    assert f"kubectl gpu approve {plan}" in explained, explained
    assert c.plugin.said("approve", plan).startswith(f"approved plan {plan}: ")
    assert c.ask("GET", POLICY)["metadata"]["annotations"]["ostler.dev/approved"] == plan
    assert "is approved already" in c.plugin.said("approve")


@test
def nodes_in_a_rollout(c):
    """nodes shows states and people; --state and names choose among them; -o wide says more."""
    c.until(
        lambda: "Waiting" in c.states().values() and c.states()["gpu-2"] == "Ready",
        "the job to be waited for",
    )
    c.until(
        lambda: c.ask("GET", POLICY)["status"]["rollout"].get("done") == 2, "two nodes to be done"
    )
    lines = c.plugin.said("nodes").splitlines()
    assert lines[0].split()[:3] == ["NAME", "STATE", "REASON"] and len(lines) == 5, lines
    assert re.search(r"^gpu-2 +Ready .* held ", "\n".join(lines), re.MULTILINE), lines
    waiting = c.plugin.said("nodes", "--state", "waiting", "-o", "wide").splitlines()
    assert len(waiting) == 2 and "waits for 1 GPU pod: default/train" in waiting[1], waiting
    assert "must be one of Unmanaged Discovered" in c.plugin.refused(
        "nodes", "--state", "Faild", code=2
    )
    assert len(json.loads(c.plugin.said("nodes", "gpu-1", "gpu-3", "-o", "json"))) == 2
    assert "did you mean gpu-" in c.plugin.refused("nodes", "gpu-7")


@test
def explain_a_node(c):
    """explain tells the story in order of time, who is waited for, and what happens next."""
    name = next(n for n, s in c.states().items() if s == "Waiting")
    text = c.plugin.said("explain", name)
    parts = (
        f"{name}: Waiting (WaitingForJobs)",
        "the Node was created",
        "taken out of service: Upgrade",
        "phase Waiting began",
        "Pods with GPUs on it",
        "It waits for",
        "default/train (Job)",
        "What happens next",
        "WaitingForJobs: Ostler drains it when",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places), text
    story = json.loads(c.plugin.said("explain", name, "-o", "json"))["story"]
    times = [s["time"][:19] for s in story]
    assert times == sorted(times) and len(story) > 5, story
    assert re.search(
        "it is held by ostler-kubectl at [^ ]*, and not upgraded: kubectl",
        c.plugin.said("explain", "gpu-2"),
    )
    assert "did you mean gpu-" in c.plugin.refused("explain", "gpu-77")


@test
def events_in_order(c):
    """events has those of policy, nodes and operands, the newest last; a name and --since choose
    among them."""
    events = json.loads(c.plugin.said("events", "-o", "json"))
    times = [e["time"][:19] for e in events]
    kinds = {e["object"].split()[0] for e in events}
    assert times == sorted(times) and {"GpuClusterPolicy", "Node", "Pod"} <= kinds, (
        kinds,
        times[-3:],
    )
    assert not any("web-1" in e["object"] for e in events)
    of_node = json.loads(c.plugin.said("events", "gpu-1", "-o", "json"))
    assert of_node and not any("gpu-3" in e["object"] for e in of_node), of_node
    for names in ((), ("gpu-1",)):
        assert (
            c.plugin.said("events", *names, "--since", "1ms")
            == "no events; the API server keeps them for an hour\n"
        )
    assert "Ostler knows no GPU node gpu-77; did you mean" in c.plugin.refused(
        "events", "gpu-1", "gpu-77"
    )


@test
def pause_and_resume(c):
    """pause and resume write one field and take it off again, say when there is nothing to do,
    and warn where Git has it."""
    spec = lambda: c.ask("GET", POLICY)["spec"]["rollout"]
    before = spec()
    assert "undo: kubectl gpu resume\n" in c.plugin.said("pause") and spec() == {
        **before,
        "paused": True,
    }
    assert c.plugin.said("pause") == "the rollout is paused already; nothing was changed\n"
    c.ask(
        "PATCH",
        POLICY,
        {"metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "gpu:x"}}},
        MERGE,
    )
    code, out, err = c.plugin.run("resume")
    assert code == 0 and out.startswith("resumed: ") and spec() == before, (out, spec())
    assert err.startswith(
        "kubectl gpu: warning: Argo CD (gpu:x) manages this object, and restores the state in Git "
    ), err
    assert "is not paused; nothing was changed" in c.plugin.said("resume")
    c.until(
        lambda: "unknown"
        not in [n["current"] for n in json.loads(c.plugin.said("nodes", "-o", "json"))],
        "whether nodes are current, which a pause does not change,",
    )


@test
def release_lets_it_go(c):
    """release takes the label off."""
    assert "undo: kubectl gpu hold gpu-2\n" in c.plugin.said("release", "gpu-2")
    assert "ostler.dev/hold" not in c.ask("GET", "/api/v1/nodes/gpu-2")["metadata"]["labels"]


@test
def bundle_without_secrets(c):
    """bundle has what helps, says what is inside, is for its owner alone, holds no secret, and
    overwrites nothing."""
    path = c.folder / "b.tar.gz"
    out = c.plugin.said("bundle", "-f", str(path))
    assert (
        out.startswith(f"{path}\n")
        and "policy.yaml" in out
        and path.stat().st_mode & 0o777 == 0o600
    ), out
    with tarfile.open(path) as tar:
        files = {n.split("/", 1)[1]: tar.extractfile(n).read().decode() for n in tar.getnames()}
    whole = "\n".join(files.values())
    assert SECRET not in whole and "(masked)" in files["pods.yaml"] and "seen" in files["pods.yaml"]
    assert {
        "README.txt",
        "status.txt",
        "policy.yaml",
        "gpunodes.yaml",
        "nodes.yaml",
        "daemonsets.yaml",
        "events.txt",
        "revisions.yaml",
        "lease.yaml",
        "server.yaml",
    } <= set(files), sorted(files)
    assert "managedFields" not in whole and "name: gpu-1" in files["nodes.yaml"]
    assert any(f.startswith("logs/") for f in files), sorted(files)
    assert "already exists: give another file with -f FILE" in c.plugin.refused(
        "bundle", "-f", str(path)
    )


@test
def bundle_with_few_rights(c):
    """With rights that are missing a bundle says what it lacks, and why."""
    few = Plugin(c.folder, c.folder / "ostler")
    code, out, _ = few.run("bundle", "-f", str(c.folder / "few.tar.gz"))
    lacking = out[out.index("not available:") :]
    assert code == 0 and "events: a permission is missing: " in lacking, out
    assert (
        "no event can be read: a permission is missing: HTTP 403: events.events.k8s.io is forbidden"
        in few.refused("events")
    )


@test
def watch_ends_when_told(c):
    """--watch goes on showing it, without a terminal with an empty line in between, and ends
    with Ctrl-C and 0."""
    with c.plugin.start("status", "--watch") as p:
        seen = ""
        while seen.count("Policy     ") < 2:
            seen += p.stdout.readline()
        p.send_signal(signal.SIGINT)
        rest, _ = p.communicate(timeout=10)
        assert p.returncode == 0 and "\n\nPolicy" in seen and ESCAPE not in seen + rest, (
            p.returncode,
            seen,
        )


@test
def watch_of_events_shows_news(c):
    """events --watch shows each event once, as it comes."""
    with c.plugin.start("events", "-w") as p:
        first = p.stdout.readline()
        event = {
            "metadata": {"name": "test.1", "namespace": "ostler-operands"},
            "eventTime": "2099-01-01T00:00:00.000000Z",
            "reportingController": "test",
            "reportingInstance": "test",
            "action": "Test",
            "reason": "Tested",
            "type": "Normal",
            "note": "a note",
            "regarding": {"kind": "Pod", "namespace": "ostler-operands", "name": "x"},
        }
        time.sleep(0.5)
        c.ask("POST", "/apis/events.k8s.io/v1/namespaces/ostler-operands/events", event)
        while "Tested" not in (line := p.stdout.readline()):
            assert line, first
        p.send_signal(signal.SIGTERM)
        rest, _ = p.communicate(timeout=10)
        assert p.returncode == 0 and "Tested" not in rest, (p.returncode, rest)


@test
def half_an_answer_is_none(c):
    """What cannot be written is an error, however much it is and whatever wrote it."""
    for command in (
        ("nodes",),
        ("status", "-ojson"),
        ("plan",),
        ("help",),
        ("version",),
        ("completion", "bash"),
        ("__complete", ""),
    ):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(
                [c.plugin.path, *command],
                env=c.plugin.environment(),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=30,
                check=False,
            )
        sentence = "kubectl gpu: cannot write all output to standard output\n"
        assert (done.returncode, done.stderr) == (1, sentence), (command, done)


def watched(c, command, rows, columns):
    """The lines of the first look of --watch, on a screen of that size."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    with c.plugin.start(command, "-w", "--no-color", stdout=child) as p:
        os.close(child)
        text = b""
        while b"as of " not in text or not text.endswith(b"Z\r\n"):
            text += os.read(parent, 65536)  # an error when the program has ended
        p.send_signal(signal.SIGINT)
        assert p.wait(timeout=10) == 0
    os.close(parent)
    return text.decode().split("\033[2J")[1].splitlines()


@test
def watch_fits_on_the_screen(c):
    """On a screen that is too small for all nodes --watch shows some, how many there are more,
    and when that was."""
    lines = watched(c, "nodes", 6, 100)
    assert (
        len(lines) == 5
        and lines[3] == "… 2 more"
        and re.fullmatch(r"as of \d\d:\d\d:\d\dZ", lines[4])
    ), lines
    for columns in (30, 39, 40, 80):
        lines = watched(c, "status", 8, columns)
        rows = sum(-(-len(line) // columns) or 1 for line in lines)
        assert 4 < rows <= 7 and max(map(len, lines)) <= max(columns, 40), (columns, lines)
        assert columns >= 40 or re.search("… [0-9]+ more", lines[-2]), (columns, lines)


@test
def colours_on_a_terminal_only(c):
    """A terminal gets colours, and none with --no-color."""

    def on_terminal(*arguments):
        parent, child = pty.openpty()
        with subprocess.Popen(
            [c.plugin.path, *arguments], env=c.plugin.environment(), stdout=child
        ) as p:
            os.close(child)
            text = b""
            with contextlib.suppress(OSError):
                while part := os.read(parent, 65536):
                    text += part
            os.close(parent)
            assert p.wait(timeout=10) == 0
        return text.decode()

    assert ESCAPE + "[32m" in on_terminal("status")
    assert ESCAPE not in on_terminal("status", "--no-color")
    assert ESCAPE not in on_terminal("status", "-o", "json")


# What a shell does, when it has read a script, to complete a word; zsh does more with it than is
# done here.
ASK_SHELL = {
    "bash": (
        "COMP_WORDS=(kubectl-gpu explain gpu-3) COMP_CWORD=2; _kubectl_gpu; echo"
        " \"${COMPREPLY[@]}\""
    ),
    "zsh": (
        "words=(kubectl-gpu explain gpu-3) CURRENT=3; _describe() { print -l $found }; _kubectl_gpu"
    ),
    "fish": "complete -C 'kubectl-gpu explain gpu-3'",
}
# The same of an option with its value, and of a file that is named after one.
ASK_VALUE = {
    "bash": (
        "COMP_WORDS=(kubectl-gpu nodes --state = Fa) COMP_CWORD=4; _kubectl_gpu; echo"
        " \"${COMPREPLY[@]}\""
    ),
    "zsh": (
        "words=(kubectl-gpu nodes --state=Fa) CURRENT=3; compset() { :; }; _describe() { print -l"
        " $found }; _kubectl_gpu"
    ),
    "fish": "complete -C 'kubectl-gpu nodes --state=Fa'",
}
ASK_FILE = {
    "bash": (
        "compopt() { echo \"$@\"; }; COMP_WORDS=(kubectl-gpu plan -f poli) COMP_CWORD=3;"
        " _kubectl_gpu"
    ),
    "zsh": "words=(kubectl-gpu plan -f poli) CURRENT=4; _files() { print files }; _kubectl_gpu",
    "fish": "complete -C 'kubectl-gpu plan --filename=poli'",
}


@test
def completion_asks_the_program(c):
    """The scripts parse in their shells; commands, options, values and names of nodes are
    completed, for kubectl, too."""
    for shell, check in (
        ("bash", "bash -n"),
        ("zsh", "zsh -n"),
        ("fish", "fish -n"),
        ("kubectl", "sh -n"),
    ):
        subprocess.run(
            check.split(),
            input=c.plugin.said("completion", shell),
            text=True,
            check=True,
            timeout=10,
        )
    assert "bash, zsh, fish" in c.plugin.run("completion", "tcsh")[2]
    words = lambda *w: [
        line.split("\t")[0] for line in c.plugin.said("__complete", *w).splitlines()
    ]
    assert words("exp") == ["explain", ":4"] and words("nodes", "--st") == ["--state", ":4"]
    assert words("status", "-o", "y") == ["yaml", ":4"] and words("explain", "gpu-") == [
        f"gpu-{i}" for i in range(1, 5)
    ] + [":4"]
    away = Plugin(c.folder, config_for(c, c.server))
    away_words = lambda *w: away.said("__complete", *w, "hold", "")
    assert away_words("--context=away") == away_words("--context", "away") == ":4\n"
    assert away_words(f"--kubeconfig={c.kubeconfig}").startswith("gpu-1\t\n")
    done = subprocess.run(
        [c.folder / "kubectl_complete-gpu", "ho"],
        env=c.plugin.environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    assert done.stdout.startswith("hold\t") and done.stdout.endswith(":4\n"), done.stdout
    assert ask_shells(c, ASK_SHELL) == {"bash": "gpu-3", "zsh": "gpu-3", "fish": "gpu-3"}


def ask_shells(c, asks):
    """The first word that each shell is given, when it has read its script."""
    first = {}
    for shell, ask in asks.items():
        done = subprocess.run(
            [shell, "-c", c.plugin.said("completion", shell) + ask],
            env=c.plugin.environment(),
            cwd=c.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
        first[shell] = re.split("[:\\s]", done.stdout)[0]
    return first


@test
def completion_of_values(c):
    """Behind an option stand what it takes and the command does not refuse, or files, with and
    without "=" before them."""
    words = lambda *w: [
        line.split("\t")[0] for line in c.plugin.said("__complete", *w).splitlines()
    ]
    for given in (
        ("plan", "-f", ""),
        ("bundle", "--filename", "x"),
        ("nodes", "--kubeconfig=a"),
        ("plan", "--filename="),
    ):
        assert words(*given) == [":0"], given
    for given, want in (
        (("nodes", "--state=fa"), []),
        (("nodes", "--state=Fa"), ["Failed"]),
        (("status", "--context", ""), []),
        (("plan", "-o", ""), ["json", "yaml"]),
        (("status", "-w", "-o", ""), ["wide", "json"]),
        (("status", "--output=j"), ["json"]),
        (("events", "-o", ""), ["wide", "json", "yaml"]),
    ):
        assert words(*given) == [*want, ":4"], (given, words(*given))
    (c.folder / "policy.yaml").write_text("", encoding="utf-8")
    assert ask_shells(c, ASK_VALUE) == {"bash": "Failed", "zsh": "Failed", "fish": "--state=Failed"}
    assert ask_shells(c, ASK_FILE) == {
        "bash": "-o",
        "zsh": "files",
        "fish": "--filename=policy.yaml",
    }
    joined = (
        f"COMP_WORDS=(kubectl-gpu explain --kubeconfig = {c.kubeconfig} gpu-2) COMP_CWORD=5;"
        " _kubectl_gpu; echo $COMPREPLY"
    )
    assert ask_shells(c, {"bash": "KUBECONFIG=/nowhere; " + joined}) == {"bash": "gpu-2"}


@test
def an_ostler_that_died(c):
    """When Ostler has died status and explain say so, and that nothing happens."""
    c.ostler.kill()
    c.ostler.wait()
    lease = "/apis/coordination.k8s.io/v1/namespaces/ostler-system/leases/ostler"
    c.ask("PATCH", lease, {"spec": {"renewTime": "2026-01-01T00:00:00.000000Z"}}, MERGE)
    assert "Ostler     NO LEADER\n" in c.plugin.said("status")
    assert "nothing, until Ostler runs again" in c.plugin.said("explain", "gpu-1")


# ---- against other servers


class Other(http.server.BaseHTTPRequestHandler):
    """A server on loopback that answers as a function of its class says: (status, body)."""

    asked = []
    answer = None
    ahead = 0

    def date_time_string(self, timestamp=None):
        """By its own clock."""
        return super().date_time_string((timestamp or time.time()) + type(self).ahead)

    def _serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        type(self).asked.append((self.command, self.path, body))
        status, answer = type(self).answer(self.command, self.path)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PATCH = _serve  # pylint: disable=invalid-name

    def log_message(self, *_):  # pylint: disable=arguments-differ
        """Says nothing."""


@contextlib.contextmanager
def other(c, answer, ahead=0):
    """The plugin before a server that answers so, and whose clock is so many seconds ahead."""
    handler = type(
        "Handler", (Other,), {"asked": [], "answer": staticmethod(answer), "ahead": ahead}
    )
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.handle_error = lambda *_: None  # who asked has gone
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Plugin(c.folder, config_for(c, f"http://127.0.0.1:{server.server_port}")), handler
    finally:
        server.shutdown()
        server.server_close()


def config_for(c, server):
    """A kubeconfig with two contexts, of which the current one leads nowhere."""
    path = c.folder / "other"
    clusters = [
        {"name": "here", "cluster": {"server": server}},
        {"name": "away", "cluster": {"server": "http://127.0.0.1:1"}},
    ]
    contexts = [{"name": n, "context": {"cluster": n}} for n in ("here", "away")]
    path.write_text(
        json.dumps({"current-context": "here", "clusters": clusters, "contexts": contexts}),
        encoding="utf-8",
    )
    return path


def refusal(code, reason, message):
    """A Status."""
    return code, {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "code": code,
        "message": message,
    }


COMMANDS = (
    ("status",),
    ("nodes",),
    ("explain", "gpu-1"),
    ("events",),
    ("pause",),
    ("resume",),
    ("approve",),
    ("hold", "gpu-1"),
    ("release", "gpu-1"),
    ("repair", "gpu-1"),
    ("ignore", "gpu-1", "--fault", "all"),
    ("bundle",),
)


@test
def without_rights(c):
    """Who may nothing gets one sentence that names the right."""
    with other(
        c, lambda *_: refusal(403, "Forbidden", "x is forbidden: User \"eve\" cannot list")
    ) as (plugin, _):
        for command in COMMANDS:
            assert "a permission is missing: " in plugin.refused(*command), command
        code, _, err = plugin.run("plan")
        assert code == 1 and "is forbidden" in err and err.count("\n") == 1, err


def rights_of(requests):
    """The rights that requests to an API server need: (verb, group, resource)."""
    rights = set()
    for method, path, _ in requests:
        m = re.match(
            r"/(?:api/v1|apis/([^/]+)/[^/]+)/(?:namespaces/[^/]+/)?"
            r"([a-z]+)(/[^/?]+)?(/[a-z]+)?(?:\?|$)",
            path,
        )
        if m:
            verb = "patch" if method == "PATCH" else "get" if m[3] else "list"
            rights.add((verb, m[1] or "", m[2] + (m[4] or "")))
    return rights


def documented_rights():
    """The same of docs/kubectl-gpu-rbac.yaml."""
    rule = r"- \{apiGroups: \[(.*?)\], resources: \[(.*?)\],.* verbs: \[(.*?)\]\}"
    found = re.findall(rule, (ROOT / "docs" / "kubectl-gpu-rbac.yaml").read_text(encoding="utf-8"))
    return {
        (verb, group.strip('"'), resource)
        for group, resources, verbs in found
        for resource in resources.split(", ")
        for verb in verbs.split(", ")
    }


@test
def rights_are_documented(c):
    """docs/kubectl-gpu-rbac.yaml gives every right that some command asks for, and no other."""
    node = {"metadata": {"name": "gpu-1", "uid": "u", "resourceVersion": "1"}}
    held = {"metadata": {**node["metadata"], "labels": {"ostler.dev/hold": "true"}}}
    pod = {
        "metadata": {"name": "p", "namespace": "ostler-operands"},
        "status": {"containerStatuses": [{"name": "main", "state": {"running": {}}}]},
    }
    policy = {"metadata": {"name": "default", "uid": "u", "resourceVersion": "1"}, "spec": {}}

    def answer(_, path):
        if "/nodes/" in path or "/gpunodes/" in path:
            return 200, node if "gpu-1" in path else held
        items = {"gpuclusterpolicies": [policy], "/pods?": [pod]}
        return 200, {
            "metadata": {"resourceVersion": "1"},
            "items": next((i for part, i in items.items() if part in path), []),
        }

    with other(c, answer) as (plugin, handler):
        for command in (*COMMANDS, ("release", "gpu-2"), ("plan",), ("__complete", "hold", "")):
            plugin.run(
                *command,
                *(("-f", str(c.folder / "rights.tar.gz")) if command == ("bundle",) else ()),
            )
        # kubectl itself asks for these, for kubectl gpu page
        forwards = {("get", "", "pods"), ("create", "", "pods/portforward")}
        rights = rights_of(handler.asked) | forwards
        assert rights == documented_rights(), rights ^ documented_rights()


@test
def without_ostler(c):
    """Where the CustomResourceDefinitions are not there, that is the sentence."""
    node = (
        200,
        {"kind": "Node", "metadata": {"name": "gpu-1", "uid": "u", "resourceVersion": "1"}},
    )
    answer = lambda _, path: (
        node if "/nodes/" in path else refusal(404, "NotFound", "the server could not find it")
    )
    with other(c, answer) as (plugin, handler):
        for command in COMMANDS:
            assert "Ostler is not installed here: the API server of " in plugin.refused(
                *command
            ), command
        assert not [a for a in handler.asked if a[0] != "GET"], "something was written"


@test
def without_a_server(c):
    """An API server that is away is named, with its context, at once; another context is taken
    with --context."""
    plugin = Plugin(c.folder, config_for(c, "http://127.0.0.1:1"))
    for command in COMMANDS:
        began = time.time()
        assert "127.0.0.1:1" in plugin.refused(*command) and time.time() - began < 20, command
    assert "127.0.0.1:1" in plugin.refused("plan")
    assert "/nowhere" in plugin.refused("plan", "-f", "/nowhere")
    with other(c, lambda *_: (200, {"items": []})) as (plugin, _):
        assert plugin.run("status")[0] == 0 and "127.0.0.1:1" in plugin.refused(
            "status", "--context", "away"
        )
        assert 'the context "nowhere" does not exist: there is here, away' in plugin.refused(
            "status", "--context", "nowhere"
        )


@test
def a_server_that_hangs(c):
    """--request-timeout ends the wait for a server that takes its time."""

    def late(*_):
        time.sleep(8)
        return 200, {"items": []}

    with other(c, late) as (plugin, _):
        began = time.time()
        plugin.refused("status", "--request-timeout", "300ms")
        assert time.time() - began < 7


@test
def watch_comes_back_soon(c):
    """However long a server that was away was waited for, --watch looks again soon."""
    away = threading.Event()

    def answer(*_):
        if away.is_set():
            time.sleep(2)
        return 200, {"items": []}

    with other(c, answer) as (plugin, _):
        with plugin.start(
            "status", "--watch", "--request-timeout", "1s", stderr=subprocess.PIPE
        ) as p:
            p.stdout.readline()
            away.set()
            assert "trying again" in p.stderr.readline()
            away.clear()
            began = time.time()
            while p.stdout.readline() != "\n":
                assert p.poll() is None
            took = time.time() - began
            p.send_signal(signal.SIGTERM)
        assert (
            took < 8
        ), took  # nine times as long as the look took, as after one that succeeds, would be 9 s


@test
def watch_ends_in_the_middle_of_a_look(c):
    """Ctrl-C while answers are still to come ends --watch with 0, and shows nothing without
    them."""
    late = threading.Event()

    def answer(_, path):
        if late.is_set() and "gpunodes" in path:
            time.sleep(3)
        return 200, {"items": [{"metadata": {"name": "gpu-1"}}] if "gpunodes" in path else []}

    for command in ("status", "nodes"):
        late.clear()
        with other(c, answer) as (plugin, handler):
            with plugin.start(command, "--watch", "-ojson", stderr=subprocess.PIPE) as p:
                p.stdout.readline()
                late.set()
                asked = len(handler.asked)
                c.until(lambda: len(handler.asked) > asked + 2, "the second look")
                p.send_signal(signal.SIGINT)
                rest, err = p.communicate(timeout=10)
                assert (p.returncode, rest, err) == (0, "", ""), (command, p.returncode, rest, err)


@test
def events_come_once(c):
    """Events that could not be read for a while are no news when they can be read again; that
    they could not is said."""
    away = threading.Event()
    back = threading.Event()
    event = lambda name, at: {
        "metadata": {"name": name},
        "eventTime": f"2026-11-20T{at}Z",
        "reason": name,
        "note": "n",
        "regarding": {"kind": "Pod", "namespace": "ostler-operands", "name": "x"},
    }

    def answer(_, path):
        if "/namespaces/ostler-operands/events" in path:
            if away.is_set():
                return refusal(500, "InternalError", "a hiccup")
            return 200, {"items": [event("Old", "09:00:00")]}
        news = [event("Meanwhile", "10:00:00")] if away.is_set() or back.is_set() else []
        return 200, {"items": news if "/namespaces/ostler-system/events" in path else []}

    with other(c, answer) as (plugin, _):
        with plugin.start("events", "--watch", stderr=subprocess.PIPE) as p:
            assert " Old " in p.stdout.readline()
            away.set()
            assert "a hiccup" in p.stderr.readline()
            assert " Meanwhile " in p.stdout.readline()
            back.set()
            away.clear()
            assert "all objects can be read again" in p.stderr.readline()
            p.send_signal(signal.SIGTERM)
            rest, _ = p.communicate(timeout=10)
            assert not rest, rest


@test
def watch_ends_with_what_it_shows(c):
    """A node that is deleted, or that the user may not read now, ends --watch with 1 and one
    sentence."""
    for gone in (
        refusal(404, "NotFound", "not found"),
        refusal(403, "Forbidden", "nodes is forbidden"),
    ):
        over = threading.Event()

        def answer(_, path, over=over, gone=gone):
            if "/nodes/gpu-1" in path or "/gpunodes/gpu-1" in path:
                return gone if over.is_set() else (200, {"metadata": {"name": "gpu-1"}})
            return 200, {"items": [{"metadata": {"name": "gpu-10"}}] if "gpunodes" in path else []}

        with other(c, answer) as (plugin, _):
            with plugin.start("explain", "gpu-1", "--watch", stderr=subprocess.PIPE) as p:
                p.stdout.readline()
                over.set()
                _, err = p.communicate(
                    timeout=40
                )  # the slower a look is, the later is the next one
                assert (
                    p.returncode == 1 and err.startswith("kubectl gpu: ") and err.count("\n") == 1
                ), (p.returncode, err)


@test
def whose_clock_counts(c):
    """Whether Ostler lives is judged by the API server's clock: that of who asks may be wrong."""
    renewed = lambda s: time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(time.time() + s))
    for ahead, lease, state in ((-3600, -3600, "alive"), (3600, 0, "NO LEADER"), (0, 0, "alive")):
        answer = lambda _, path, lease=lease: (
            200,
            {
                "metadata": {"name": "ostler", "namespace": "ostler-system"},
                "items": [],
                "spec": {"holderIdentity": "a", "renewTime": renewed(lease)},
            },
        )
        with other(c, answer, ahead) as (plugin, _):
            assert f"Ostler     {state}" in plugin.said("status"), (ahead, lease)


@test
def a_node_that_is_gone(c):
    """Of a Node that is deleted, and whose report is there yet, that is said; its events are
    shown after that, too."""
    event = {
        "metadata": {"name": "e"},
        "eventTime": "2026-11-20T09:00:00Z",
        "reason": "Gone",
        "note": "n",
        "regarding": {"kind": "Node", "name": "gpu-2"},
    }

    def answer(_, path):
        if "/nodes/gpu-2" in path:
            return refusal(404, "NotFound", "not found")
        if "/gpunodes/gpu-2" in path:
            return 200, {"metadata": {"name": "gpu-2"}}
        return 200, {"items": [event] if "/namespaces/default/events" in path else []}

    with other(c, answer) as (plugin, handler):
        for command in ("hold", "release", "repair", "ignore"):
            assert "the Node gpu-2 does not exist" in plugin.refused(command, "gpu-2")
        assert " Gone " in plugin.said("events", "gpu-2")
        assert "Ostler knows no GPU node gpu-3;" in plugin.refused("events", "gpu-3")
        assert not [a for a in handler.asked if a[0] != "GET"], "something was written"


@test
def where_ostler_runs(c):
    """The Lease of the cluster says it; where that cannot be read the output says nothing of
    Ostler, and guesses nothing."""
    lease = {
        "metadata": {"name": "ostler", "namespace": "gpu-ns"},
        "spec": {
            "holderIdentity": "a",
            "renewTime": time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime()),
        },
    }
    claims = (
        (
            200,
            {"metadata": {"name": "ostler-cluster"}, "spec": {"holderIdentity": "gpu-ns"}},
            "alive",
        ),
        (*refusal(404, "NotFound", "not found"), "NO LEASE"),
        (*refusal(500, "InternalError", "etcdserver: leader changed"), "not known"),
        (*refusal(403, "Forbidden", "leases is forbidden"), "not known"),
    )
    for code, claim, state in claims:

        def answer(_, path, code=code, claim=claim):
            if path.endswith("/leases/ostler-cluster"):
                return code, claim
            if "/leases/" in path:
                return (200, lease) if "/gpu-ns/" in path else refusal(404, "NotFound", "not found")
            return 200, {"metadata": {"name": "gpu-1"}, "items": []}

        with other(c, answer) as (plugin, handler):
            code, out, _ = plugin.run("status")
            assert code == 0 and f"Ostler     {state}" in out, (claim, out)
            assert state != "not known" or "the Lease default/ostler-cluster" in out, out
            explained = plugin.run("explain", "gpu-1")[1]
            assert explained.count("the Lease default/ostler-cluster") == (
                state == "not known"
            ), explained
            assert state != "not known" or not [
                p for _, p, _ in handler.asked if "/ostler-system/" in p
            ], handler.asked


@test
def a_write_that_is_not_answered(c):
    """Where the answer to a write is lost it is unknown whether the write was done; with
    --dry-run it was not."""
    policy = {"metadata": {"name": "default", "uid": "u", "resourceVersion": "1"}, "spec": {}}
    for code in (500, 502, 503, 504):
        answer = lambda method, _, code=code: (
            refusal(code, "", "x") if method == "PATCH" else (200, {"items": [policy]})
        )
        with other(c, answer) as (plugin, _):
            assert "the change may or may not have been applied" in plugin.refused("pause"), code
            assert "may or may not" not in plugin.refused("pause", "--dry-run"), code


@test
def logs_of_who_is_in_trouble(c):
    """Of many pods the logs of those come first that are not up; none is asked for of a node
    that is down; all are named."""

    def pod(name, node, ready, restarts):
        status = {"name": "main", "restartCount": restarts, "state": {"running": {}}}
        return {
            "metadata": {"name": name, "namespace": "ostler-operands"},
            "spec": {"nodeName": node},
            "status": {
                "conditions": [{"type": "Ready", "status": ready}],
                "containerStatuses": [status],
            },
        }

    waiting = pod("waits", "gpu-1", "False", 0)
    waiting["status"]["containerStatuses"] = [
        {"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}
    ]
    pods = (
        [pod(f"up-{i}", "gpu-1", "True", 0) for i in range(600)]
        + [waiting, pod("dead", "gpu-2", "False", 3)]
        + [
            pod("restarted", "gpu-1", "True", 2),
            pod("slow", "gpu-1", "False", 0),
            pod("fails", "gpu-1", "False", 9),
        ]
    )

    def answer(_, path):
        if "/log?" in path:
            time.sleep(0.1)
            return 200, {"a": "log"}
        items = {
            "/ostler-operands/pods?": pods,
            "/gpunodes": [{"metadata": {"name": "gpu-2"}, "status": {"state": "Lost"}}],
        }
        return 200, {"items": next((i for part, i in items.items() if part in path), [])}

    path = c.folder / "trouble.tar.gz"
    with other(c, answer) as (plugin, handler):
        out = plugin.said("bundle", "-f", str(path))
        asked = [re.search("/pods/([^/]+)/log", p)[1] for _, p, _ in handler.asked if "/log?" in p]
    assert (
        len(asked) == 60
        and set(asked[:3]) <= set(asked[:16])
        and {"fails", "slow", "restarted"} <= set(asked[:16])
    ), asked
    assert not {"dead", "waits"} & set(asked) and "logs: 543 more pods; " in out, out
    assert (
        "logs: those of 1 pods on nodes that are down" in out and "and 500 of 601 ready pods" in out
    ), out
    with tarfile.open(path) as tar:
        listed = next(
            tar.extractfile(n).read().decode() for n in tar.getnames() if n.endswith("/pods.yaml")
        )
    assert listed.count("nodeName") == 504 and all(
        f"name: {n}\n" in listed for n in ("dead", "waits", "slow", "fails")
    )


@test
def one_definition_is_missing(c):
    """Where only the definition of GpuNode is missing, Ostler is not called away beside "alive":
    the definition is named."""
    lease = {
        "metadata": {"namespace": "ostler-system"},
        "spec": {"holderIdentity": "a", "renewTime": "2999-01-01T00:00:00Z"},
    }

    def answer(_, path):
        if "/gpunodes" in path:
            return refusal(404, "NotFound", "the server could not find the requested resource")
        return 200, lease if "/leases/ostler" in path else {"items": []}

    with other(c, answer) as (plugin, _):
        _, out, err = plugin.run("status")
    assert (
        "does not know GpuNode, a CRD that Ostler needs: kubectl apply --server-side -f crds"
        in out + err
    ), (out, err)
    assert "not installed" not in out + err, (out, err)


@test
def silent_containers_are_counted(c):
    """A bundle says why it has no log: containers that have written nothing, and no pod of
    Ostler's own."""
    pod = {
        "metadata": {"name": "p", "namespace": "ostler-operands"},
        "status": {"containerStatuses": [{"name": "main", "state": {"running": {}}}]},
    }

    def answer(_, path):
        if "/log?" in path:
            return 200, b""
        return 200, {"items": [pod] if "/ostler-operands/pods?" in path else []}

    with other(c, answer) as (plugin, _):
        out = plugin.said("bundle", "-f", str(c.folder / "silent.tar.gz"))
    assert "logs of 0 containers" in out and "logs: 1 containers have written no log\n" in out, out
    assert "log of Ostler: namespace ostler-system has no pod of Ostler; " in out, out


def slow_in_the_middle(_, path):
    """A server that answers late in the middle of a bundle."""
    if "/daemonsets" in path or path == "/version":
        time.sleep(0.5)
    return 200, {"items": []}


@test
def half_an_archive_is_none(c):
    """A bundle that is told to end, by whatever signal, leaves no file; it has its name only
    when it is whole."""
    folder = c.folder / "half"
    folder.mkdir()
    with other(c, slow_in_the_middle) as (plugin, handler):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            del handler.asked[:]
            with plugin.start(
                "bundle", "-f", str(folder / "b.tar.gz"), stderr=subprocess.PIPE
            ) as p:
                c.until(
                    lambda: any(p == "/version" for _, p, _ in handler.asked), "the middle of it"
                )
                assert (
                    len(list(folder.iterdir())) == 1 and not (folder / "b.tar.gz").exists()
                ), list(folder.iterdir())
                p.send_signal(number)
                _, err = p.communicate(timeout=10)
                assert p.returncode == 1 and "stopped by a signal: " in err, (
                    number,
                    p.returncode,
                    err,
                )
            assert not list(folder.iterdir()), number
        plugin.said("bundle", "-f", str(folder / "b.tar.gz"))
    assert [f.name for f in folder.iterdir()] == ["b.tar.gz"]


@test
def faults_for_a_ticket(c):
    """Of nodes with a fault a bundle has what a support ticket asks for, the worst first, up to
    20; of the others it says that it has not."""

    def report_of(i):
        gpu = {"address": "0000:65:00.0", "uuid": f"GPU-{i}"}
        fault = {"address": "0000:65:00.0", "xid": 79, "count": 1, "bootId": "b"}
        return {
            "metadata": {"name": f"gpu-{i}"},
            "status": {
                "health": {"level": "Human" if i == 22 else "Event", "reason": "Xid79"},
                "inventory": {"bootId": "b", "gpus": [gpu], "faults": [fault]},
            },
        }

    def answer(_, path):
        one = re.search(r"/gpunodes/gpu-(\d+)", path)
        if one:
            return 200, report_of(int(one[1]))
        if re.search("/(nodes|leases)/", path):
            return refusal(404, "NotFound", "not found")
        kinds = {
            "gpunodes": [report_of(i) for i in range(1, 23)],
            "gpuclusterpolicies": [{"metadata": {"name": "default"}}],
        }
        return 200, {"items": next((i for part, i in kinds.items() if part in path), [])}

    with other(c, answer) as (plugin, _):
        path = c.folder / "ticket.tar.gz"
        out = plugin.said("bundle", "-f", str(path))
        with tarfile.open(path) as tar:
            files = {n.split("/", 1)[1]: tar.extractfile(n).read().decode() for n in tar.getnames()}
        told = [f for f in files if re.match(r"faults/gpu-\d+\.txt", f)]
        assert told == [f"faults/gpu-{i}.txt" for i in (22, *range(1, 20))], told
        assert "faults: 2 more nodes with faults of GPUs" in out, out
        assert "GPU has fallen off the bus" in files["faults/gpu-22.txt"], files
        assert "GPU-22" in files["faults/gpu-22.txt"] and "GPU-22" in files["faults/gpu-22.yaml"]
        assert "kubectl debug node/gpu-22 " in files["faults/commands.txt"], files


@test
def a_bundle_goes_on_under_nohup(c):
    """Where SIGHUP is ignored, as under nohup, a terminal that is closed does not end a bundle."""
    folder = c.folder / "nohup"
    folder.mkdir()
    with other(c, slow_in_the_middle) as (plugin, handler):
        with plugin.start(
            "bundle", "-f", str(folder / "b.tar.gz"), stderr=subprocess.PIPE, hangup="ignore"
        ) as p:
            c.until(lambda: any(p == "/version" for _, p, _ in handler.asked), "the middle of it")
            p.send_signal(signal.SIGHUP)
            _, err = p.communicate(timeout=10)
            assert p.returncode == 0, (p.returncode, err)
    assert [f.name for f in folder.iterdir()] == ["b.tar.gz"]


@test
def logs_to_their_ends(c):
    """Of a long log the end is there, in whole lines; bytes that are no text do not end it, and
    no escape comes through."""
    pod = lambda name: {
        "metadata": {"name": name, "namespace": "ostler-operands"},
        "status": {
            "containerStatuses": [{"name": "main", "restartCount": 1, "state": {"running": {}}}]
        },
    }
    long = (
        b"".join(b"%d API_TOKEN=hunter2 %s\n" % (i, b"x" * 2000) for i in range(300))
        + b"fatal: the last word\n"
    )
    endless = b"API_TOKEN=hunter2hunter2" * 20000
    odd = (
        "first\n\x1b]0;owned\x07\x1b[2Jzero \0 byte \x1b[31mred\x1b[0m \u202e\nlast\n".encode()
        + b"\xff\n"
    )

    texts = {"long": long, "odd": odd, "endless": endless, "ended": endless + b"\n"}

    def answer(_, path):
        if "/log?" in path:
            return 200, next(text for name, text in texts.items() if f"/{name}/" in path)
        return 200, {
            "items": [pod(name) for name in texts] if "/ostler-operands/pods?" in path else []
        }

    path = c.folder / "logs.tar.gz"
    with other(c, answer) as (plugin, _):
        out = plugin.said("bundle", "-f", str(path))
    assert (
        "logs/long/main: has the last 300 KiB of its last 256 lines\n" in out
        and "logs/odd" not in out
    ), out
    with tarfile.open(path) as tar:
        logs = {
            n.split("/")[-2]: tar.extractfile(n).read() for n in tar.getnames() if "/logs/" in n
        }
    lines = logs["long"].split(b"\n")
    assert lines[-1] == b"fatal: the last word", lines[-1][:50]
    assert re.match(rb"\d+ API_TOKEN=\(masked\) x", lines[0]), lines[0][:50]
    assert 200 << 10 < len(logs["long"]) < 256 << 10 and b"hunter2" not in logs["long"], len(
        logs["long"]
    )
    for name in ("endless", "ended"):
        assert logs[name].startswith(b"(its last line is longer than the limit of a log"), (
            name,
            logs[name][:100],
        )
    assert logs["odd"] == b"first\n]0;ownedzero ? byte red  \nlast\n?", logs["odd"]


@test
def plan_takes_what_it_is_told(c):
    """plan keeps to --request-timeout, and a policy that Ostler itself takes is valid whatever
    images are allowed by default."""

    def late(*_):
        time.sleep(8)
        return 200, {"items": []}

    with other(c, late) as (plugin, _):
        began = time.time()
        assert plugin.run("plan", "--request-timeout", "300ms")[0] == 1 and time.time() - began < 7
    policy = {
        "metadata": {"name": "default", "uid": "u", "resourceVersion": "1", "generation": 3},
        "spec": {
            "driver": {
                "repository": "registry.example.com/nvidia",
                "env": [{"name": "ODD", "value": "x"}],
            }
        },
        "status": {"observedGeneration": 3},
    }
    answer = lambda _, path: (
        200,
        {"metadata": {"resourceVersion": "1"}, "items": [policy] if "policies" in path else []},
    )
    with other(c, answer) as (plugin, _):
        assert plugin.run("plan")[0] == 0, plugin.run("plan")
        policy["status"]["observedGeneration"] = 2
        code, _, err = plugin.run("plan")
        assert (
            code == 1 and "the policy is not valid" in err and "--allowed-image-prefixes" in err
        ), (code, err)


@test
def another_client_wrote_in_between(c):
    """A write that is refused because another client wrote in between is decided anew, and names
    the new version."""
    versions = iter(range(1, 100))
    conflicts = iter([True, True])

    def answer(method, _):
        policy = {
            "metadata": {"name": "default", "uid": "u", "resourceVersion": str(next(versions))},
            "spec": {},
        }
        if method == "PATCH":
            return (
                refusal(409, "Conflict", "the object has been modified")
                if next(conflicts, False)
                else (200, policy)
            )
        return 200, {"items": [policy]}

    with other(c, answer) as (plugin, handler):
        plugin.said("pause")
        bodies = [
            json.loads(body)["metadata"]["resourceVersion"]
            for method, _, body in handler.asked
            if method == "PATCH"
        ]
        assert len(set(bodies)) == 3, bodies
        assert all(
            "fieldManager=ostler-kubectl" in path
            for method, path, _ in handler.asked
            if method == "PATCH"
        )


@test
def words_that_a_terminal_would_obey(c):
    """Whatever stands in the cluster, no escape reaches the terminal, from errors and plans
    neither."""
    evil = "\x1b]0;owned\x07\x9b2J\r\u061c\u200e\u202e\u2066"
    obeyed = "[\x07\r\x1b\x7f-\x9f\u061c\u200e\u202e\u2066]"
    policy = {
        "metadata": {"name": "default" + evil, "uid": "u", "resourceVersion": "1", "generation": 1},
        "spec": {"rollout": {"approval": "Manual"}},
        "status": {
            "observedGeneration": 1,
            "rollout": {"reason": evil, "message": evil, "plan": {"hash": evil}},
            "conditions": [{"type": "Ready", "status": "False", "reason": evil, "message": evil}],
        },
    }
    report = {
        "metadata": {"name": "gpu-1" + evil},
        "status": {"state": "Failed", "reason": evil, "message": evil},
    }

    def answer(method, path):
        items = [policy] if "policies" in path else [report] if "gpunodes" in path else []
        return refusal(422, "Invalid", evil) if method == "PATCH" else (200, {"items": items})

    with other(c, answer) as (plugin, _):
        for command in (
            ("status",),
            ("nodes", "-owide"),
            ("status", "-ojson"),
            ("status", "-oyaml"),
            ("events",),
            ("approve",),
            ("plan",),
            ("hold", "gpu-1"),
        ):
            _, out, err = plugin.run(*command)
            assert not re.search(obeyed, out + err), (command, out, err)
        with plugin.start("status", "-ojson", "--watch") as p:
            line = p.stdout.readline()
            p.send_signal(signal.SIGTERM)
            assert json.loads(line) and not re.search(obeyed, line), line


@test
def logs_of_long_names(c):
    """Names of files in a bundle do not run into each other, however long those of pods and
    containers are."""
    containers = [{"name": "c" * 63, "state": {"running": {}}, "lastState": {"terminated": {}}}]
    pods = [
        {
            "metadata": {"name": "p" * 62 + end, "namespace": "ostler-operands"},
            "status": {"containerStatuses": containers},
        }
        for end in "ab"
    ]

    def answer(_, path):
        return 200, {
            "items": pods if path.startswith("/api/v1/namespaces/ostler-operands/pods?") else []
        }

    path = c.folder / "long.tar.gz"
    with other(c, answer) as (plugin, _):
        plugin.said("bundle", "-f", str(path))
    with tarfile.open(path) as tar:
        logs = {n.split("/", 1)[1] for n in tar.getnames() if "/logs/" in n}
    assert logs == {
        f"logs/{'p' * 62}{end}/{'c' * 63}{run}" for end in "ab" for run in ("", ".before")
    }, logs


@test
def a_large_fleet(c):
    """5,000 nodes are read page by page, and status still fits on a screen."""
    nodes = {
        "total": 5000,
        "gpu": 5000,
        "managed": 5000,
        "ready": 4900,
        "upToDate": 4900,
        "states": [{"state": "Failed", "count": 100}, {"state": "Ready", "count": 4900}],
    }
    policy = {
        "metadata": {"name": "default", "generation": 1},
        "spec": {},
        "status": {
            "observedGeneration": 1,
            "nodes": nodes,
            "gpus": {"present": 40000, "ready": 39200},
        },
    }

    def answer(_, path):
        if "gpuclusterpolicies" in path:
            return 200, {"items": [policy]}
        if "gpunodes" not in path:
            return 200, {"items": []}
        page = int(re.search(r"continue=(\d+)", path).group(1)) if "continue" in path else 0
        status = lambda i: {
            "state": "Failed" if i % 50 == 0 else "Ready",
            "gpus": 8,
            "reason": f"R{i % 7}",
        }
        items = [
            {"metadata": {"name": f"gpu-{page * 500 + i}"}, "status": status(i)} for i in range(500)
        ]
        return 200, {"metadata": {"continue": str(page + 1)} if page < 9 else {}, "items": items}

    with other(c, answer) as (plugin, handler):
        text = plugin.said("status")
        assert "39200 of 40000 GPUs ready" in text and text.count("\n") < 25, text
        assert len([a for a in handler.asked if "gpunodes" in a[1]]) == 10
        assert len(plugin.said("nodes").splitlines()) == 5001


def main():
    """Runs all tests on one cluster."""
    failed = 0
    wanted = [
        t
        for t in TESTS
        if len(sys.argv) < 2 or sys.argv[1] in t.__name__ or t.__name__ == "status_of_a_quiet_fleet"
    ]
    with tempfile.TemporaryDirectory(prefix="ostler-kubectl-gpu-") as folder:
        cluster = Cluster(folder)
        try:
            cluster.begin_rollout()
            for one in wanted:
                began = time.time()
                try:
                    one(cluster)
                except Exception as e:  # pylint: disable=broad-except
                    failed += 1
                    where = traceback.extract_tb(e.__traceback__)
                    places = ", ".join(f"line {w.lineno}" for w in where)
                    print(
                        f"not ok {one.__name__} ({places}): {' '.join(one.__doc__.split())}\n "
                        f" {type(e).__name__}: {e}"
                    )
                else:
                    print(f"ok {one.__name__} ({time.time() - began:.1f} s)")
        finally:
            cluster.stop()
    print(f"kubectl-gpu: {len(wanted) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
