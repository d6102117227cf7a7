#!/usr/bin/python3
"""Holds the image against what the chart and a careful administrator expect of it: version, user,
files, size; and runs its demo as the README says.

    tests/image/test_image.py             the Dockerfile's last stage, with build/static/image
    tests/image/test_image.py default     the whole Dockerfile, with its own base
    tests/image/test_image.py BASE        with Debian 13 or 12 under another name

With a base it also runs the image on a control plane of its own, with the rights of the chart's
ServiceAccount and as confined as the chart's pod. Needs a Docker daemon (DOCKER_HOST), or dockerd
and root; without them it says so and is skipped. The last line is "image: N passed, N failed".
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "e2e"))

import component  # noqa: E402  the path above is what finds the others
import counted  # noqa: E402
import installation  # noqa: E402
import kube  # noqa: E402
import names  # noqa: E402
import world  # noqa: E402

BASE = sys.argv[1] if len(sys.argv) > 1 else None
PROGRAMS = ROOT / "build" / "static"
BRIDGE = pathlib.Path("/sys/class/net/docker0")  # which a daemon makes, and leaves
TAG = "ostler:image-test"
VERSION = "0.0.0-image-test"
USER = "65532:65532"
SIZE_LIMIT = 12_000_000
RESIDENT_MAX = 10 << 10  # KiB, with one node
SERVER = "api.example.internal"  # what the API server is called in the container's hosts
# What Docker itself puts into every container.
DOCKERS_OWN = re.compile(r"\.dockerenv|dev/console|etc/(hosts|hostname|resolv\.conf|mtab)")
OURS = re.compile(
    r"usr/bin/(ostler(-node|-nvml|-cuda|-sim)?|kubectl-gpu|kubectl_complete-gpu)|\.kube/config|"
    r"usr/lib/ostler/(ld-linux-[\w-]+|lib\w+)[.]so[.]\d|usr/share/doc/ostler/(copyright/)?[\w.-]+"
)
# As the container's securityContext in the chart's Deployment says it, with the strictest seccomp
# that it may name.
CONFINED = (
    "--read-only",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    f"--security-opt=seccomp={ROOT}/charts/ostler/files/seccomp/ostler.json",
)


def docker(*args, stdin=None):
    """Runs docker and returns what came of it."""
    return subprocess.run(
        ["docker", *map(str, args)], input=stdin, capture_output=True, text=True, check=False
    )


class Daemon(contextlib.ExitStack):
    """A Docker daemon; one of the test's own, if none runs here."""

    def __init__(self):
        super().__init__()
        self.problem = None  # why there is none
        if not shutil.which("docker"):
            self.problem = "there is no docker on this machine"
        elif (done := docker("version", "--format", "{{.Server.Version}}")).returncode:
            self.problem = f"docker has no daemon: {done.stderr.strip()}"
            if shutil.which("dockerd") and os.geteuid() == 0:
                self._start()

    def _start(self):
        """It leaves the machine's rules for packets alone: other tests have networks, too."""
        folder = self.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        options = {
            "data-root": f"{folder}/root",
            "exec-root": f"{folder}/exec",
            "pidfile": f"{folder}/pid",
            "host": f"unix://{folder}/socket",
            "iptables": "false",
            "ip-forward": "false",
            "ip-masq": "false",
        }
        daemon = component.Component(
            "dockerd",
            ["dockerd", *(f"--{key}={value}" for key, value in options.items())],
            f"{folder}/log",
        )
        if not BRIDGE.exists():
            self.callback(subprocess.run, ["ip", "link", "delete", BRIDGE.name], check=False)
        self.callback(daemon.stop, 30)
        daemon.start()
        os.environ["DOCKER_HOST"] = options["host"]
        deadline = time.monotonic() + 30
        while daemon.running and time.monotonic() < deadline:
            if docker("version").returncode == 0:
                self.problem = None
                return
            time.sleep(0.2)
        log = pathlib.Path(f"{folder}/log").read_text().splitlines()
        self.problem = f"dockerd does not start: {log[-1] if log else 'it says nothing'}"


def build_stage():
    """Builds the Dockerfile's last stage with what `make image-root` has made."""
    text = (ROOT / "Dockerfile").read_text()
    last = text[text.index("\nFROM scratch\n") :].replace("--from=build /image", "image")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PROGRAMS / "image", f"{folder}/image", symlinks=True)
        (pathlib.Path(folder) / "Dockerfile").write_text(last)
        return docker("build", "--tag", TAG, folder)


def build():
    """Builds the image, and shows how it goes. Containers get their packages through the host's
    network."""
    if not BASE:
        done = build_stage()
        print(done.stderr if done.returncode else "", end="")
        return done.returncode
    arguments = [
        "--build-arg",
        f"VERSION={VERSION}",
        *(["--build-arg", f"BASE={BASE}"] if BASE != "default" else []),
    ]
    return subprocess.run(
        ["docker", "build", "--network=host", *arguments, "--tag", TAG, ROOT], check=False
    ).returncode


def version():
    """The version that the image has."""
    if BASE:
        return VERSION
    done = subprocess.run(
        [PROGRAMS / "ostler", "--version"], check=True, capture_output=True, text=True
    )
    return done.stdout.split()[-1]


def program(*args, stdin=None):
    """Runs the image for one of the program's short commands."""
    return docker("run", "--rm", "--interactive", *CONFINED, TAG, *args, stdin=stdin)


class Image(unittest.TestCase):
    """The image as it lies there."""

    def inspect(self):
        """What docker says about the image."""
        return json.loads(docker("image", "inspect", TAG).stdout)[0]

    def test_it_is_the_version_that_was_built(self):
        done = program("--version")
        self.assertEqual((done.returncode, done.stdout), (0, f"ostler {version()}\n"), done.stderr)

    def test_it_says_what_it_can_do(self):
        done = program("--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("usage: ostler", done.stdout)

    def test_its_user_is_that_of_the_chart(self):
        self.assertEqual(self.inspect()["Config"]["User"], USER)
        security = (ROOT / "charts/ostler/templates/_helpers.tpl").read_text()
        self.assertEqual(
            tuple(re.findall(r"runAs(?:User|Group): (\d+)", security)), tuple(USER.split(":"))
        )

    def test_it_is_small(self):
        self.assertLessEqual(self.inspect()["Size"], SIZE_LIMIT)

    def test_it_holds_the_program_and_licences_only(self):
        container = docker("create", TAG).stdout.strip()
        self.addCleanup(docker, "rm", container)
        with tempfile.TemporaryFile() as file:
            subprocess.run(["docker", "export", container], stdout=file, check=True)
            file.seek(0)
            with tarfile.open(fileobj=file) as archive:
                files = [m for m in archive if not m.isdir() and not DOCKERS_OWN.fullmatch(m.name)]
        programs = {
            f"usr/bin/{name}" for name in ("ostler", "ostler-node", "ostler-nvml", "ostler-cuda")
        }
        self.assertLessEqual(programs, {m.name for m in files})
        self.assertEqual(
            [m.name for m in files if not OURS.fullmatch(m.name)],
            [],
            "files that the image does not need",
        )
        loose = [m.name for m in files if m.mode & 0o7022 and not m.issym()]
        self.assertEqual(loose, [], "set-id files, and files that others may write")

    def test_its_other_names_are_other_programs(self):
        for name in ("ostler-node", "kubectl-gpu"):
            done = docker(
                "run", "--rm", *CONFINED, f"--entrypoint=/usr/bin/{name}", TAG, "--version"
            )
            self.assertEqual(
                (done.returncode, done.stdout), (0, f"{name} {version()}\n"), done.stderr
            )

    def test_it_renders_a_policy(self):
        done = program(
            "render",
            "-f",
            "-",
            stdin=json.dumps(kube.policy({"driver": {"version": "570.124.06"}})),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nvcr.io/nvidia/driver:570.124.06-", done.stdout)

    def test_it_refuses_a_wrong_policy(self):
        done = program(
            "validate",
            "-f",
            "-",
            stdin=json.dumps(kube.policy({"driver": {"source": "Elsewhere"}})),
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("spec.driver.source", done.stdout + done.stderr)

    @unittest.skipUnless(BASE, "the test `seccomp` runs these programs")
    def test_it_makes_no_other_calls_than_those_of_the_charts_lists(self):
        """Its libraries are those of the Dockerfile's Debian, and not of this machine's."""
        container = docker("create", TAG).stdout.strip()
        self.addCleanup(docker, "rm", container)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(docker("cp", f"{container}:/usr/bin", folder).returncode, 0)
            done = subprocess.run(
                [ROOT / "tests/image/test_seccomp.py"],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "OSTLER_PROGRAMS": f"{folder}/bin"},
            )
        self.assertEqual(done.returncode, 0, done.stdout)


@unittest.skipUnless(BASE, "the test `e2e-node` runs this image")
class Container(unittest.TestCase):
    """The image at work."""

    def start(self, a_world):
        """Starts it with the token of the chart's ServiceAccount; returns the container's name."""
        kubeconfig = a_world.token_kubeconfig(
            names.NAMESPACE, installation.Installation(a_world).account
        )
        config = json.loads(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        host, _, port = cluster["server"].removeprefix("https://").partition(":")
        cluster.update({"server": f"https://{SERVER}:{port}", "tls-server-name": host})
        kubeconfig.write_text(json.dumps(config))
        folder = kubeconfig.parent
        folder.chmod(0o755)  # inside a folder of the world's that only its owner can enter
        for path in folder.iterdir():
            path.chmod(0o644)
        (self.port,) = world.free_ports(1)
        done = docker(
            "run",
            "--detach",
            "--network=host",
            f"--add-host={SERVER}:{host}",
            *CONFINED,
            "--volume",
            f"{folder}:{folder}:ro",
            TAG,
            "run",
            "--kubeconfig",
            kubeconfig,
            "--namespace",
            names.NAMESPACE,
            "--operand-namespace",
            names.OPERANDS,
            "--listen",
            f"127.0.0.1:{self.port}",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        container = done.stdout.strip()
        self.addCleanup(docker, "rm", "--force", container)
        return container

    def resident(self, container):
        """KiB of its memory."""
        pid = docker("inspect", "--format", "{{.State.Pid}}", container).stdout.strip()
        return int(
            re.search(
                r"^VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE
            )[1]
        )

    def test_it_looks_after_a_node_and_ends_when_told(self):
        with world.World() as a_world:
            client = a_world.client()
            container = self.start(a_world)
            client.create(kube.policy())
            client.create(kube.node("gpu", "nfd"))

            def served():
                """the node is labelled and has a driver"""
                labels = client.get("Node", "gpu")["metadata"]["labels"]
                missing = [
                    key for key in (names.GPU_LABEL, names.DRIVER, names.STACK) if key not in labels
                ]
                return not missing or f"missing: {missing}\n{docker('logs', container)}"

            kube.wait_for(served, 60)
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.port}/metrics", timeout=5
            ) as answer:
                self.assertIn(f'ostler_build_info{{version="{VERSION}"', answer.read().decode())
            self.assertLess(self.resident(container), RESIDENT_MAX)
            docker("stop", "--time", "5", container)
            self.assertEqual(
                docker("inspect", "--format", "{{.State.ExitCode}}", container).stdout.strip(), "0"
            )


class Demo(unittest.TestCase):
    """What the README shows to who has Docker alone."""

    def setUp(self):
        done = docker("run", "--detach", "--publish=127.0.0.1::8081", TAG, "demo")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.container = done.stdout.strip()
        self.addCleanup(docker, "rm", "--force", self.container)
        kube.wait_for(lambda: "kubectl-gpu events" in self.said(), 30, "what to try")

    def said(self):
        """What it prints."""
        return docker("logs", self.container).stdout

    def test_its_page_is_served_at_the_published_port(self):
        address = docker("port", self.container, "8081").stdout.strip()
        with urllib.request.urlopen(f"http://{address}/", timeout=5) as answer:
            self.assertIn("<html", answer.read().decode())

    def test_each_command_that_it_says_works(self):
        commands = re.findall(r"docker (exec .*?) +# ", self.said())
        self.assertEqual(len(commands), 3)
        for command in commands:
            done = docker(*command.split())
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")

    def test_it_ends_when_told(self):
        docker("stop", "--time", "10", self.container)
        code = docker("inspect", "--format", "{{.State.ExitCode}}", self.container)
        self.assertEqual(code.stdout.strip(), "0")


def main():
    """Builds, runs all and counts."""
    with Daemon() as daemon:
        if daemon.problem:
            print(
                f"SKIPPED image: {daemon.problem.splitlines()[0]}; docs/development.md says what"
                " it needs\nimage: 0 passed, 0 failed"
            )
            return 0
        if build():
            print("image: docker build failed\nimage: 0 passed, 1 failed")
            return 1
        return counted.run("image")


if __name__ == "__main__":
    sys.exit(main())
