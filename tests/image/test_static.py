#!/usr/bin/python3
"""The programs of the image in a root that has nothing but them and what a pod is given. The
other side is the simulator, over TLS. Prints "static: N passed, N failed".

    tests/image/test_static.py      after `make static build/ostler-sim`; OSTLER_PROGRAMS: a
                                    folder of others
"""

import base64
import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "e2e"))

import agent  # noqa: E402  the path above is what finds the others
import counted  # noqa: E402
import kube  # noqa: E402
import world  # noqa: E402

# The other processor, and who runs its programs here; where they have been made.
OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}[os.uname().machine]
OTHER_PROGRAMS = ROOT / "build" / {"aarch64": "static-arm64", "x86_64": "static-amd64"}[OTHER]
EMULATOR = shutil.which(f"qemu-{OTHER}-static")
SIMULATOR = ROOT / "build" / "ostler-sim"
SCENARIO = ROOT / "tests" / "torture" / "small.yaml"
MAKEFILE = ROOT / "Makefile"
NAME = "api.example.internal"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "status": {"conditions": [{"type": "Established", "status": "True"}]},
}
RESIDENT_MAX = 10 << 10  # KiB, with a handful of nodes
NODE_PRIVATE_MAX = 1 << 10  # KiB, between looks


def output(*command):
    """What a command prints."""
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout


class Names(threading.Thread):
    """A name server that knows one name, on an address of the loopback. At the first of the
    name's addresses no server answers."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.asked = set()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((address, 53))
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while (question_and_who := self._socket.recvfrom(512))[0]:
                self._socket.sendto(self._answer(question_and_who[0]), question_and_who[1])

    def _answer(self, question):
        end = question.index(b"\0", 12) + 5
        labels, (kind,) = question[12 : end - 5], struct.unpack(">H", question[end - 4 : end - 2])
        name = b".".join(labels[i + 1 : i + 1 + labels[i]] for i in starts(labels)).decode()
        self.asked.add(name)
        known = name == NAME
        found = known and kind == 1
        head = question[:2] + struct.pack(
            ">HHHHH", 0x8180 if known else 0x8183, 1, 2 if found else 0, 0, 0
        )
        records = (
            struct.pack(">HHHIH", 0xC00C, 1, 1, 5, 4) + socket.inet_aton(a)
            for a in ("127.91.17.54", "127.0.0.1")
        )
        return head + question[12:end] + (b"".join(records) if found else b"")

    def close(self):
        """Answers no more."""
        self._socket.sendto(b"", self._socket.getsockname())
        self.join()
        self._socket.close()


def starts(labels):
    """Where each label of a name begins."""
    at = 0
    while at < len(labels):
        yield at
        at += 1 + labels[at]


@functools.cache
def why_not(*unshare):
    """Why such an `unshare` starts nothing here, as in a container that may not mount; None when
    it does."""
    done = subprocess.run([*unshare, "true"], check=False, capture_output=True, text=True)
    return f"{' '.join(unshare[1:])}: {done.stderr.strip()}" if done.returncode else None


class Rooted(unittest.TestCase):
    """A root that has the programs, and a cluster."""

    programs = pathlib.Path(os.environ.get("OSTLER_PROGRAMS", ROOT / "build" / "static"))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "root"
        for name in ("etc/ssl/certs", "dev", "tmp"):
            (self.root / name).mkdir(parents=True)
        (self.root / "dev/urandom").write_bytes(os.urandom(1 << 16))  # a device is root's to make
        for program in ("ostler", "ostler-node"):
            shutil.copy(self.programs / program, self.root, follow_symlinks=False)
        self.admin, ours = (pathlib.Path(folder.name) / name for name in ("admin", "ours"))
        simulator = subprocess.Popen(
            [
                SIMULATOR,
                "--scenario",
                SCENARIO,
                "--speed",
                "40",
                "--kubeconfig",
                self.admin,
                "--ostler-kubeconfig",
                ours,
            ],
            stdout=subprocess.DEVNULL,
        )
        self.addCleanup(simulator.wait)
        self.addCleanup(simulator.kill)
        kube.wait_for(self.admin.exists, 10, "the simulator")
        self.client = kube.from_kubeconfig(self.admin)
        self.kubeconfig = json.loads(ours.read_text())
        self.cluster = self.kubeconfig["clusters"][0]["cluster"]
        self.log = pathlib.Path(folder.name) / "log"

    def said(self):
        """The program's log."""
        return self.log.read_text()

    def start(self):
        """Starts the program where nothing else is."""
        (self.port,) = world.free_ports(1)
        (self.root / "kubeconfig").write_text(json.dumps(self.kubeconfig))
        self.launch(
            "/ostler", "run", "--kubeconfig", "/kubeconfig", "--listen", f"127.0.0.1:{self.port}"
        )

    def launch(self, *command, more=()):
        """Starts a program in the root; `more`: options of unshare."""
        unshare = [shutil.which("unshare"), *(["--map-root-user"] if os.geteuid() else []), *more]
        if why_not(*unshare, "--root", "/"):
            self.skipTest(
                "a program cannot be given a root of its own here:"
                f" {why_not(*unshare, '--root', '/')}"
            )
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*unshare, "--root", self.root, *command], stdout=log, stderr=log, env={}
            )
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)

    def end(self):
        """Tells it to stop, as a kubelet does."""
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(5), 0, self.said())

    def memory(self, name):
        """What the kernel says of the process, in KiB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(
            next(line.split()[1] for line in status.splitlines() if line.startswith(f"{name}:"))
        )

    def fetch(self, path):
        """What it serves."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=2) as answer:
            return answer.read().decode()

    def works(self):
        """Waits until it has led the cluster to the policy, and has told so."""

        def ready():
            """the policy is fulfilled"""
            if self.process.poll() is not None:
                raise AssertionError(f"it ended: {self.said()}")
            condition = kube.condition(self.client.get("GpuClusterPolicy", "default"), "Ready")
            return (
                condition and condition["status"] == "True"
            ) or f"{condition}\n{self.said()[-2000:]}"

        kube.wait_for(ready, 30)

    def inventory(self):
        """What the agent has said of its machine."""
        return (self.client.get("GpuNode", "machine") or {}).get("status", {}).get("inventory")

    def call_it(self, name):
        """The API server by a name that its certificate does not have."""
        port = self.cluster["server"].rpartition(":")[2]
        self.cluster.update({"server": f"https://{name}:{port}", "tls-server-name": "127.0.0.1"})

    def serve_names(self):
        """Starts a name server, and has it asked for the API server."""
        names = Names("127.91.17.53")
        self.addCleanup(names.close)
        (self.root / "etc/resolv.conf").write_text(
            "nameserver 127.91.17.53\nsearch internal\noptions ndots:5\n"
        )
        self.call_it("api.example")
        return names

    def trust(self):
        """Puts the server's authority where a distribution keeps those that it trusts: in one file,
        and in a folder by their hashes."""
        folder = self.root / "etc/ssl/certs"
        bundle = folder / "ca-certificates.crt"
        bundle.write_bytes(base64.b64decode(self.cluster["certificate-authority-data"]))
        shutil.copy(
            bundle,
            folder / (output("openssl", "x509", "-hash", "-noout", "-in", bundle).strip() + ".0"),
        )


class Alone(Rooted):
    """The programs at work."""

    def test_it_does_its_work(self):
        self.start()
        self.works()
        self.assertIn("ostler_build_info", self.fetch("/metrics"))
        self.assertLess(self.memory("VmRSS"), RESIDENT_MAX)
        self.end()

    def test_it_brings_definitions_and_takes_all_away(self):
        """As the hooks of the chart have it done, who may more than the operator."""
        shutil.copytree(ROOT / "crds", self.root / "crds")
        shutil.copy(self.admin, self.root / "admin")
        self.start()
        self.works()
        self.end()
        self.assertIn("ostler.dev", json.dumps(self.client.list("Node")))
        for name in (
            "gpuclusterpolicies",
            "gpunodes",
        ):  # which a server does, and the simulator does not
            self.client.apply(
                {**DEFINITION, "metadata": {"name": f"{name}.ostler.dev"}}, subresource="status"
            )
        for command in (
            ["install-crds", "--from=/crds"],
            ["cleanup", "--delete-policy", "--delete-crds"],
        ):
            self.launch("/ostler", *command, "--kubeconfig=/admin")
            self.assertEqual(self.process.wait(60), 0, command)
        self.assertNotIn("ostler.dev", json.dumps(self.client.list("Node")))
        self.assertEqual(
            [c["metadata"]["name"] for c in self.client.list("CustomResourceDefinition")], []
        )

    @unittest.skipIf(os.geteuid(), "a name server's port, and a procfs in the root, are root's")
    def test_the_agent_does_its_work(self):
        agent.make_machine(self.root / "machine", gpus=2)
        (self.root / "proc").mkdir()
        self.kubeconfig = json.loads(self.admin.read_text())
        self.cluster = self.kubeconfig["clusters"][0]["cluster"]
        names = self.serve_names()
        (self.root / "kubeconfig").write_text(json.dumps(self.kubeconfig))
        self.launch(
            "/ostler-node",
            "run",
            "--node=machine",
            "--root=/machine",
            "--kubeconfig=/kubeconfig",
            more=["--mount-proc"],
        )
        kube.wait_for(lambda: self.inventory() or self.said(), 20, "the inventory")
        self.assertEqual(
            (len(self.inventory()["gpus"]), self.inventory()["bootId"]), (2, agent.BOOT)
        )
        self.assertIn(NAME, names.asked)
        self.assertLess(self.memory("RssAnon"), NODE_PRIVATE_MAX)
        self.end()

    def test_without_a_procfs_the_agent_says_nothing_of_gpus(self):
        agent.make_machine(self.root / "machine", gpus=2)
        self.launch("/ostler-node", "look", "--root=/machine")
        self.process.wait(5)
        self.assertIn("GPUs: not known", self.said())
        self.assertIn("unreadable: ", self.said())

    def test_the_agent_reads_the_kernel_log_or_says_why_not(self):
        agent.make_machine(self.root / "machine", gpus=2)
        self.launch("/ostler-node", "look", "--root=/machine", "--kernel-log")
        self.process.wait(5)
        self.assertRegex(self.said(), r"faults: \d+|unreadable: kernel log: CAP_SYSLOG is missing")

    def test_it_finds_the_server_by_the_file_of_hosts(self):
        (self.root / "etc/hosts").write_text(f"127.0.0.1 {NAME}\n")
        self.call_it(NAME)
        self.start()
        self.works()

    @unittest.skipIf(os.geteuid(), "a name server's port is root's")
    def test_it_asks_a_name_server(self):
        names = self.serve_names()
        self.start()
        self.works()
        self.assertIn(NAME, names.asked)

    def test_a_name_that_no_server_knows_is_named(self):
        (self.root / "etc/hosts").write_text("127.0.0.1 localhost\n")
        (self.root / "etc/resolv.conf").write_text(
            "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"
        )
        self.call_it("nowhere.example.internal")
        self.start()
        kube.wait_for(
            lambda: "cannot find the address of https://nowhere.example.internal" in self.said(),
            10,
            "it says which name",
        )

    def test_no_other_authority_is_trusted_than_the_one_that_is_given(self):
        self.trust()
        key, other = self.root.parent / "key", self.root.parent / "other"
        output(
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-subj",
            "/CN=other",
            "-keyout",
            key,
            "-out",
            other,
        )
        self.cluster["certificate-authority-data"] = base64.b64encode(other.read_bytes()).decode()
        self.start()
        kube.wait_for(lambda: "TLS: the certificate of" in self.said(), 10, "it says what is wrong")
        self.assertIsNone(self.client.get("Lease", "ostler", "ostler-system"))

    def test_without_one_the_distributions_file_counts(self):
        self.trust()
        del self.cluster["certificate-authority-data"]
        self.start()
        self.works()


class Demo(Rooted):
    """`docker run IMAGE demo`: the files of the image as the first process, as another user, with
    nothing to write to but the folder of shared memory."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "root"
        os.chmod(folder.name, 0o755)
        for name in ("usr/bin", "proc", "dev/shm", "etc"):
            (self.root / name).mkdir(parents=True)
        for program in ("ostler", "ostler-sim", "kubectl-gpu"):
            shutil.copy(self.programs / program, self.root / "usr/bin", follow_symlinks=False)
        target, link = re.search(r"ln -s (/\S+) \$S/image/(\S+)", MAKEFILE.read_text()).groups()
        (self.root / link).parent.mkdir()
        (self.root / link).symlink_to(target)
        self.shared = self.root / "dev/shm"
        self.shared.chmod(0o777)
        (self.root / "dev/urandom").write_bytes(os.urandom(1 << 16))
        self.log = pathlib.Path(folder.name) / "log"

    def first(self):
        """The first process of the container."""
        of = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        return int(pathlib.Path(of).read_text().split()[0])

    def execute(self, *command):
        """What a command prints in the container, as with `docker exec`."""
        nsenter = [shutil.which("nsenter"), f"--target={self.first()}", "--pid", "--root", "--wd"]
        return subprocess.run(
            [*nsenter, "--setuid=65532", "--setgid=65532", *command],
            check=True,
            capture_output=True,
            text=True,
            env={"HOME": "/", "PATH": "/usr/bin"},
        ).stdout

    @unittest.skipIf(os.geteuid(), "another user is root's to become")
    def test_the_image_has_a_demo(self):
        (self.port,) = world.free_ports(1)
        self.launch(
            "/usr/bin/ostler",
            "demo",
            "--fleet-listen",
            f"0.0.0.0:{self.port}",
            more=["--pid", "--fork", "--mount-proc", "--setuid=65532", "--setgid=65532"],
        )
        kube.wait_for(lambda: "carol sets driver" in self.said() or self.said(), 60, "the story")
        self.assertIn(f"http://127.0.0.1:{self.port}/\n", self.said())
        said = re.search(r"try +docker exec \S+ (kubectl-gpu explain infer-c2-7) ", self.said())[1]
        self.assertIn("infer-c2-7", self.execute(*said.split()))
        self.assertIn("<html", self.fetch("/"))
        fleet = json.loads(self.fetch("/fleet.json"))
        self.assertEqual(len(fleet["columns"]["name"]), 104)
        os.kill(self.first(), signal.SIGTERM)
        self.assertEqual(self.process.wait(15), 0, self.said())
        self.assertEqual(list(self.shared.iterdir()), [])


@unittest.skipUnless(
    OTHER_PROGRAMS.exists(), f"programs of {OTHER} were not made: docs/dependencies.md says how"
)
@unittest.skipUnless(
    EMULATOR, f"nothing runs programs of {OTHER} here: apt-get install qemu-user-static"
)
class AloneOnAnother(Rooted):
    """Those of the other processor, by an emulator."""

    programs = OTHER_PROGRAMS

    def launch(self, *command, more=()):
        shutil.copy(EMULATOR, self.root / "emulator")
        super().launch("/emulator", "-0", command[0], *command, more=more)

    def test_it_does_its_work(self):
        self.start()
        self.works()
        self.assertIn("ostler_build_info", self.fetch("/metrics"))
        self.end()


if __name__ == "__main__":
    sys.exit(counted.run("static"))
