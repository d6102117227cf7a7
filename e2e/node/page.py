"""The fleet page as a user reaches it: `kubectl gpu page`, through the API server, the kubelet and
the container runtime, into the leader's pod."""

import contextlib
import http.client
import io
import json
import os
import pathlib
import signal
import subprocess
import tarfile
import time

import machine
import names
from ask import equal, wait_for

RIGHTS = pathlib.Path(__file__).resolve().parents[2] / "docs/kubectl-gpu-rbac.yaml"
SECONDS = 20  # for an answer; the stream says at least each 25 s that it lives


def plugin(stage):
    """A folder with kubectl and its plugin, which is the program of Ostler's image."""
    folder = stage.folder / "plugin"
    if not folder.exists():
        folder.mkdir()
        (folder / "kubectl").symlink_to(stage.cluster.tool("kubectl"))
        for layer in stage.image.layers:
            with tarfile.open(fileobj=io.BytesIO(layer)) as tar, contextlib.suppress(KeyError):
                (folder / "kubectl-gpu").write_bytes(tar.extractfile("usr/bin/ostler").read())
        (folder / "kubectl-gpu").chmod(0o755)
    return folder


def bind(stage, kind, role, user):
    """Gives a user a role: everywhere, or in Ostler's namespace."""
    where = ("--namespace", names.NAMESPACE) if kind == "rolebinding" else ()
    stage.cluster.kubectl(
        "create", kind, f"{user}-{role}", f"--clusterrole={role}", f"--user={user}", *where
    )


class Showing:
    """`kubectl gpu page` of a user, in a process group of its own, as a terminal starts it."""

    def __init__(self, stage, user):
        folder = plugin(stage)
        self._process = subprocess.Popen(
            [folder / "kubectl", "gpu", "page", "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={
                "PATH": f"{folder}:/usr/bin:/bin",
                "HOME": str(folder),
                "KUBECONFIG": str(stage.cluster.kubeconfig(user)),
            },
        )
        self.group = self._process.pid
        self.address = self._process.stdout.readline().strip()

    def hear(self, words):
        """Reads what it says up to a line with these words, which it is sure to say soon."""
        for line in self._process.stderr:
            if words in line:
                return
        raise AssertionError(f"kubectl gpu page ended without {words!r}")

    def refusal(self):
        """What it says when it ends by itself."""
        error = self._process.communicate(timeout=SECONDS)[1]
        equal((self.address, self._process.returncode != 0), ("", True), "a refusal")
        return error

    def end(self):
        """Ctrl-C, which a terminal sends to all processes of the group; returns the exit status
        and what it has said."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.group, signal.SIGINT)
        error = self._process.communicate(timeout=SECONDS)[1]
        return self._process.returncode, error

    def connect(self):
        """A connection to the page."""
        return http.client.HTTPConnection(
            self.address.removeprefix("http://").rstrip("/"), timeout=SECONDS
        )

    def get(self, path, host=None):
        """(status, text) of an answer. `host`: the name by which a browser would have come."""
        connection = self.connect()
        with contextlib.closing(connection):
            connection.request("GET", path, headers={"Host": host} if host else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def fleet(self):
        """The fleet, or why there is none now."""
        try:
            status, text = self.get("/fleet.json")
        except (OSError, http.client.HTTPException) as e:
            return str(e)
        return json.loads(text) if status == 200 else f"{status}: {text}"

    @contextlib.contextmanager
    def events(self, after):
        """The stream of events after an id: gives [(kind, data), …] one by one."""
        connection = self.connect()
        with contextlib.closing(connection):
            connection.request("GET", f"/events?after={after}")
            answer = connection.getresponse()
            equal(answer.status, 200, "the stream's status")
            yield frames(answer)


def frames(answer):
    """The frames of a stream."""
    frame = {}
    for line in answer:
        key, _, value = line.decode().rstrip("\n").partition(": ")
        if key:
            frame[key] = value
        elif "event" in frame:
            yield frame["event"], json.loads(frame["data"])
            frame = {}


def column(fleet, name, member):
    """A member of a node in the fleet."""
    columns = fleet["columns"]
    return columns[member][columns["name"].index(name)]


def hold(stage, value):
    """Sets the label by which a user holds the node, or removes it."""
    stage.cluster.kubectl("label", "node", machine.NAME, f"ostler.dev/hold{value}")


def hear_of_hold(stage, showing):
    """A change of the node comes in a frame; returns after how many seconds."""
    fleet = showing.fleet()
    equal(column(fleet, machine.NAME, "held"), 0, "whether the node is held")
    with showing.events(fleet["id"]) as stream:
        began = time.time()
        hold(stage, "=true")
        for kind, data in stream:
            if kind == "nodes" and any(row[0] == machine.NAME and row[-1] for row in data["set"]):
                break
            assert time.time() - began < SECONDS, f"no frame has the held node: {kind} {data}"
        took = time.time() - began
    hold(stage, "-")
    return took


def follow(stage, showing):
    """The leader's pod goes. The same address leads to the next one's page; returns after how many
    seconds."""
    before = showing.fleet()["ostler"]["holder"]
    began = time.time()
    stage.client.delete("Pod", before.rpartition("_")[0], names.NAMESPACE)

    def another():
        fleet = showing.fleet()
        return isinstance(fleet, dict) and fleet["ostler"]["holder"] != before or str(fleet)

    wait_for(another, 90, "the next leader's page comes")
    took = time.time() - began
    showing.hear("kubectl gpu: the page now comes from pod")
    return took


def left(group):
    """The command lines of processes of a group."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.getpgid(int(folder.name)) == group:
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found
