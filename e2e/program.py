"""The program under test."""

import os
import pathlib
import re
import signal
import subprocess
import threading
import urllib.error
import urllib.request

import kube
import names
import world


class Operator:
    """One process of build/ostler, or of another build of it. Its log goes to a file."""

    def __init__(self, kubeconfig, log, *flags, program=names.PROGRAM, namespace=names.NAMESPACE):
        (self.port,) = world.free_ports(1)
        self.kubeconfig = kubeconfig
        self.log = pathlib.Path(log)
        self._argv = [
            str(program),
            "run",
            "--kubeconfig",
            str(kubeconfig),
            "--namespace",
            namespace,
            "--operand-namespace",
            names.OPERANDS,
            "--listen",
            f"127.0.0.1:{self.port}",
            "--log-format",
            "text",
            *flags,
        ]
        self._process = None

    def become(self, args):
        """Another command line, as a pod has it: its command comes first."""
        self._argv = [self._argv[0], *args, f"--kubeconfig={self.kubeconfig}"]

    @property
    def running(self):
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self):
        """Its process id."""
        return self._process.pid

    def start(self, ready=True):
        """Starts it and, unless told not to, waits until it says that it is ready."""
        with open(self.log, "ab") as log:
            log.write(f"---- {' '.join(self._argv)}\n".encode())
            log.flush()
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *self._argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if ready:
            self.wait_ready()
        return self

    def fetch(self, path):
        """GET from its own HTTP server: (status, text), or (0, reason) where no program listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=2) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()
        except OSError as e:
            return 0, str(e)

    def wait_ready(self, timeout=20):
        """Waits for /readyz; a program that ended meanwhile will not become ready."""

        def ready():
            """Ostler is ready"""
            if not self.running:
                raise AssertionError(f"Ostler ended with {self._process.returncode}")
            status, text = self.fetch("/readyz?verbose")
            return status == 200 or text

        kube.wait_for(ready, timeout)

    def signal(self, number):
        """Sends a signal."""
        self._process.send_signal(number)

    def kill(self):
        """SIGKILL, and waits for the end."""
        self.signal(signal.SIGKILL)
        self._process.wait()

    def wait(self, timeout):
        """Waits for it to end, as patiently as kube.wait_for(), and returns its exit code."""
        try:
            return self._process.wait(timeout * kube.PATIENCE)
        except subprocess.TimeoutExpired:
            raise kube.Timeout(f"Ostler did not end within {timeout:g} s") from None

    def stop(self):
        """SIGTERM, and SIGKILL for one that does not listen. Returns the exit code."""
        if not self.running:
            return self._process.returncode if self._process else None
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            return self.wait(5)
        except kube.Timeout:
            self.kill()
            return self._process.returncode

    def _memory(self, *names):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        return tuple(int(fields[name].split()[0]) for name in names)

    def resident(self):
        """(RSS, RssAnon) in KiB."""
        return self._memory("VmRSS", "RssAnon")

    def most_resident(self):
        """The most that was ever resident since its start, in KiB."""
        return self._memory("VmHWM")[0]

    def tail(self, lines=25):
        """The last words of its log, of its last life."""
        if not self.log.exists():
            return ""
        text = self.log.read_text(encoding="utf-8", errors="replace").rpartition("---- ")[2]
        return "\n".join(text.splitlines()[-lines:])


_MAKING = threading.Lock()


def set_tunables():
    """Gives programs the setting of the C library that the chart gives Ostler."""
    text = (names.CHART / "templates" / "deployment.yaml").read_text()
    os.environ["GLIBC_TUNABLES"] = re.search(r"name: GLIBC_TUNABLES\n +value: (\S+)", text)[1]


def other_build():
    """The path of a build of Ostler with other built-in images (e2e/other_build.h), made from
    the sources as they are now; by one world at a time."""
    with _MAKING:
        done = subprocess.run(
            ["make", "--silent", names.OTHER_BUILD.relative_to(names.ROOT)],
            cwd=names.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"make {names.OTHER_BUILD.name}: {done.stdout}{done.stderr}")
    return names.OTHER_BUILD


def run_program(*args, stdin=None, timeout=20):
    """Runs the program for one of its short commands: the CompletedProcess, with text."""
    return subprocess.run(
        [str(names.PROGRAM), *map(str, args)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
