"""The chart installed by Helm in a world of its own.

Who runs in the pods of Ostler there is the program itself, beside the world.
"""

import contextlib
import json
import pathlib
import subprocess
import tempfile
import threading

import kube
import names
from program import Operator
from worker import Worker

IMAGE = "registry.example.com/ostler"
# KWOK leaves pods on a node of such a name alone (e2e/world/stages.yaml), and OwnPods plays their
# kubelet.
NODE = "own-stuck"
REPLICAS = 2


class Release:
    """Helm's release of the chart. To an Env it is an installation, and its pods are the
    operator."""

    account = "ostler"
    user = f"system:serviceaccount:{names.NAMESPACE}:ostler"

    def __init__(self, world, name="ostler"):
        self.world = world
        self._name = name

    def helm(self, verb, *args, check=True, namespace=names.NAMESPACE):
        """Runs helm; an error of it is one of ours."""
        argv = [
            self.world.tool("helm"),
            verb,
            self._name,
            *map(str, args),
            "--namespace",
            namespace,
            "--kubeconfig",
            self.world.admin_kubeconfig,
        ]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise RuntimeError(f"helm {verb}: {done.stderr.strip()}")
        return done

    def upgrade(self, chart):
        """Upgrades to a chart, as install() installs it."""
        return self.install(chart, verb="upgrade")

    def install(self, chart, *args, verb="install", check=True, tag="new", timeout="60s"):
        """Installs a chart, or upgrades to it, and waits as Helm does."""
        more = ["--create-namespace"] if verb == "install" else []
        return self.helm(
            verb,
            chart,
            *more,
            "--set",
            f"replicas={REPLICAS},image.repository={IMAGE},image.tag={tag}",
            "--set",
            f"nodeSelector.kubernetes\\.io/hostname={NODE}",
            "--wait",
            "--timeout",
            timeout,
            *args,
            check=check,
        )


def _pods(client, going):
    """Ostler's pods: those that are on their way out, or the others."""
    return [
        p
        for p in client.list("Pod", names.NAMESPACE)
        if p["spec"].get("nodeName") == NODE
        and p["spec"]["containers"][0]["image"].startswith(IMAGE)
        and ("deletionTimestamp" in p["metadata"]) == going
    ]


def _tag(pod):
    """The tag of the image that the pod runs."""
    return pod["spec"]["containers"][0]["image"].rpartition(":")[2]


def _is_replica(pod):
    """Whether it is the operator; the chart's hooks run the same image."""
    return pod["spec"]["containers"][0]["args"][0] == "run"


def replicas(client):
    """Of each replica of the operator, the tag of its image."""
    return sorted(_tag(pod) for pod in _pods(client, going=False) if _is_replica(pod))


def _expanded(text, pod):
    """An argument with the variables that the chart uses."""
    return text.replace("$(NODE_NAME)", pod["spec"]["nodeName"])


class OwnPods(Worker):
    """Runs the program for each pod of Ostler's own, and tells the API server how that goes, as
    a kubelet would."""

    def __init__(self, world, logs, programs):
        """programs: by the image's tag."""
        super().__init__(self._play)
        self._world = world
        self._client = world.client()
        self._logs = pathlib.Path(logs)
        self._programs = programs
        self.pulling = set()  # tags of images that replicas wait for
        self._stopping = threading.Event()
        self._processes = {}  # uid -> (pod's name, Operator)
        self._told = {}  # uid -> what was said last
        self._folder = tempfile.TemporaryDirectory(prefix="ostler-pods-")

    @property
    def running(self):
        """Whether it goes on; to an Env this is the operator."""
        return self.is_alive()

    @property
    def log(self):
        """Where what the programs say is."""
        return self._logs / "pods"

    def tail(self):
        """The last words of all of them."""
        return "\n".join(
            f"{name}: {process.tail(12)}" for name, process in self._processes.values()
        )

    def stop(self):
        """Ends the programs, and itself."""
        self._stopping.set()
        self.finish(20)

    def ready(self, path="/readyz?verbose"):
        """What the program of each pod that runs says of its readiness."""
        return [
            process.fetch(path) for _, process in list(self._processes.values()) if process.running
        ]

    def _play(self):
        try:
            while not self._stopping.wait(0.2):
                with contextlib.suppress(OSError):
                    self._look()
        finally:
            for _, process in self._processes.values():
                process.stop()
            self._folder.cleanup()

    def _look(self):
        pods = {p["metadata"]["uid"]: p for p in _pods(self._client, going=False)}
        for uid in set(self._processes) - set(pods):
            self._processes.pop(uid)[1].stop()
        for pod in _pods(self._client, going=True):
            if pod["metadata"]["uid"] not in self._processes:
                self._client.delete("Pod", pod["metadata"]["name"], names.NAMESPACE, grace=0)
        for uid, pod in pods.items():
            if uid not in self._processes:
                if _is_replica(pod) and _tag(pod) in self.pulling:
                    continue
                self._processes[uid] = (pod["metadata"]["name"], self._start(pod))
            self._tell(pod, self._processes[uid][1])

    def _start(self, pod):
        name, spec = pod["metadata"]["name"], pod["spec"]
        kubeconfig = self._world.token_kubeconfig(
            names.NAMESPACE, spec["serviceAccountName"], name, pod
        )
        process = Operator(
            kubeconfig, self._logs / f"{name}.log", program=self._programs[_tag(pod)]
        )
        args = [
            _expanded(a, pod) for a in spec["containers"][0]["args"] if not a.startswith("--listen")
        ]
        listen = [f"--listen=127.0.0.1:{process.port}"] if _is_replica(pod) else []
        process.become([*self._mounted(pod, args), *listen])
        return process.start(ready=False)

    def _mounted(self, pod, args):
        """The arguments, with folders that a ConfigMap is mounted at in place of those places."""
        volumes = {
            v["name"]: v["configMap"]["name"]
            for v in pod["spec"].get("volumes", [])
            if "configMap" in v
        }
        for mount in pod["spec"]["containers"][0].get("volumeMounts", []):
            if mount["name"] not in volumes:
                continue
            folder = pathlib.Path(self._folder.name) / pod["metadata"]["name"]
            folder.mkdir(exist_ok=True)
            for key, text in self._client.get("ConfigMap", volumes[mount["name"]], names.NAMESPACE)[
                "data"
            ].items():
                (folder / key).write_text(text, encoding="utf-8")
            args = [a.replace(f"={mount['mountPath']}", f"={folder}") for a in args]
        return args

    def _tell(self, pod, process):
        if process.running:
            ready = process.fetch("/readyz")[0] == 200
            phase, state = "Running", {
                "running": {"startedAt": pod["metadata"]["creationTimestamp"]}
            }
        else:
            code = process.stop()
            ready, phase = False, "Failed" if code else "Succeeded"
            state = {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed"}}
        container = pod["spec"]["containers"][0]
        status = {
            "phase": phase,
            "conditions": [
                {"type": kind, "status": "True" if ready else "False"}
                for kind in ("Ready", "ContainersReady")
            ],
            "containerStatuses": [
                {
                    "name": container["name"],
                    "image": container["image"],
                    "imageID": "",
                    "ready": ready,
                    "restartCount": 0,
                    "started": process.running,
                    "state": state,
                }
            ],
        }
        said = json.dumps(status)
        if self._told.get(pod["metadata"]["uid"]) != said:
            try:
                self._client.strategic_patch(
                    "Pod", pod["metadata"]["name"], {"status": status}, names.NAMESPACE, "status"
                )
            except kube.ApiError as e:
                if e.code != 404:
                    raise
            self._told[pod["metadata"]["uid"]] = said
