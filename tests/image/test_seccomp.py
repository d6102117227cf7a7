#!/usr/bin/python3
"""The lists of system calls that the chart has for a node's seccomp: what test_static.py does
with the programs, under them. A call that is not on the list ends the program here; in a
cluster it is one that the kernel does not have. Prints "seccomp: N passed, N failed".

    tests/image/test_seccomp.py      after `make static build/ostler-sim`
"""

import collections
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True

import counted  # noqa: E402  nothing is written beside the tests
import test_static  # noqa: E402

PROFILES = ROOT / "charts/ostler/files/seccomp"
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Calls that an attacker who took the program over must not have.
NEVER = {
    "bpf",
    "chroot",
    "finit_module",
    "init_module",
    "io_uring_setup",
    "kexec_load",
    "keyctl",
    "kill",
    "link",
    "linkat",
    "mount",
    "open_by_handle_at",
    "perf_event_open",
    "pivot_root",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "reboot",
    "rename",
    "renameat",
    "renameat2",
    "setns",
    "setuid",
    "symlinkat",
    "unlink",
    "unlinkat",
    "unshare",
    "userfaultfd",
}
made = collections.defaultdict(set)  # by the name of a list
left_out = set()  # why something that makes calls was not done here
# What these tests need not make happen, and why it is allowed. They run with the libraries of one
# Debian; the lists are for both that the image is built on.
UNSEEN = {
    "the container runtime makes it before the program begins": {
        "close_range",
        "fstatfs",
        "getppid",
        "nanosleep",
        "sched_yield",
        "statx",
    },
    "it is in Go, whose threads are interrupted by signals until the program begins": {
        "rt_sigreturn",
        "sigaltstack",
    },
    "arm64 has no other for alarm, access, poll, epoll_wait, readlink": {
        "setitimer",
        "faccessat",
        "ppoll",
        "epoll_pwait",
        "readlinkat",
    },
    "the kernel is asked for the time where a process cannot read its clock": {
        "clock_gettime",
        "gettimeofday",
    },
    "a thread's start where there is no clone3": {"clone"},
    "the libraries of Debian 13 make it": {"eventfd2", "fstat", "sendmsg"},
    "those of Debian 12 make it": {"getpeername", "readlink", "socketpair", "sysinfo"},
    "the agent asks what an open file is that is called like a device of NVIDIA's": {"statx"},
    "a piece of memory becomes very large": {"mremap"},
    "threads want memory at the same moment": {"sched_getaffinity", "madvise"},
    "the C library has found a damage, says so and ends the program": {
        "writev",
        "gettid",
        "tgkill",
    },
    "the kernel goes on with a call after the process was stopped": {"restart_syscall"},
    "the agent finds a name in the file of hosts, as the operator does here": {"lseek", "uname"},
}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
KILL, NOTIFY = 0x80000000, 0x7FC00000
CALLS_MAX = 512  # as in confine.c


def names(profile):
    """The calls that a profile lets through."""
    return sorted(
        {
            name
            for rule in json.loads((PROFILES / profile).read_text())["syscalls"]
            for name in rule["names"]
        }
    )


def numbers(calls):
    """Their numbers on this machine, of those that it has."""
    asked = "#include <sys/syscall.h>\n" + "".join(
        f"#ifdef SYS_{name}\n={name} SYS_{name}\n#endif\n" for name in calls
    )
    done = subprocess.run(
        ["gcc", "-E", "-P", "-xc", "-"], input=asked, check=True, capture_output=True, text=True
    )
    return {
        name: int(number)
        for name, number in re.findall(r"^=(\w+) (\d+)$", done.stdout, re.MULTILINE)
    }


def filter_of(profile):
    """The profile as the kernel takes it."""
    machine = MACHINES[
        subprocess.run(["uname", "-m"], check=True, capture_output=True, text=True).stdout.strip()
    ]
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, machine), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    for number in sorted(numbers(names(profile)).values()):
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, NOTIFY)]
    return b"".join(struct.pack("=HBBI", *step) for step in [*steps, (RETURN, 0, 0, KILL)])


class Lists(unittest.TestCase):
    """The files."""

    def test_they_are_for_both_processors_and_say_no_to_the_rest(self):
        for path in PROFILES.glob("*.json"):
            profile = json.loads(path.read_text())
            self.assertEqual(profile["defaultAction"], "SCMP_ACT_ERRNO")
            self.assertEqual(profile["architectures"], ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"])
            self.assertEqual({rule["action"] for rule in profile["syscalls"]}, {"SCMP_ACT_ALLOW"})

    def test_nothing_dangerous_is_on_them(self):
        for path in PROFILES.glob("*.json"):
            self.assertEqual(set(names(path.name)) & NEVER, set(), path.name)


class Confined(test_static.Alone):
    """Everything that the programs do in a root of their own."""

    def setUp(self):
        super().setUp()
        self.confine = self.root / "confine"
        subprocess.run(
            ["gcc", "-static", "-O1", "-o", self.confine, ROOT / "tests/image/confine.c"],
            check=True,
        )
        for profile in PROFILES.glob("*.json"):
            (self.root / f"{profile.stem}.filter").write_bytes(filter_of(profile.name))
            (self.root / f"{profile.stem}.calls").write_bytes(bytes(CALLS_MAX))
            self.addCleanup(self.count, profile.stem)

    def count(self, stem):
        """Keeps which calls have been made."""
        made[stem] |= {
            number for number, was in enumerate((self.root / f"{stem}.calls").read_bytes()) if was
        }

    def skipTest(self, reason):
        left_out.add(reason)
        super().skipTest(reason)

    def launch(self, *command, more=()):
        super().launch(
            "/confine", f"{command[0]}.filter", f"{command[0]}.calls", *command, more=more
        )

    def test_another_call_ends_it(self):
        """The operator's list has nothing of what the agent looks with."""
        super().launch("/confine", "/ostler.filter", "/ostler.calls", "/ostler-node", "look")
        self.assertEqual(self.process.wait(5), -signal.SIGSYS)


class Started(unittest.TestCase):
    """By a container runtime, which sets the list and then has things of its own to do, never
    quite the same."""

    STARTS = 100

    def setUp(self):
        if os.geteuid() != 0 or not shutil.which("runc"):
            self.skipTest("containers are started by root, with runc")
        folder = tempfile.TemporaryDirectory(prefix="ostler-runc-")
        self.addCleanup(folder.cleanup)
        self.bundle = pathlib.Path(folder.name)
        (self.bundle / "rootfs").mkdir()
        for program in ("ostler", "ostler-node"):
            shutil.copy(
                test_static.Rooted.programs / program, self.bundle / "rootfs", follow_symlinks=False
            )
        for readable in (self.bundle, self.bundle / "rootfs"):
            readable.chmod(0o755)
        self.write(self.spec("ostler"))
        done = self.start("ostler-seccomp-probe")
        if done.returncode:
            self.skipTest(f"runc can start nothing here: {done.stderr.strip()}")

    def start(self, name):
        """Runs it as a container, of which nothing is left."""
        runc = ["runc", "--root", self.bundle / "state"]
        try:
            return subprocess.run(
                [*runc, "run", name],
                cwd=self.bundle,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=30,
            )
        finally:
            subprocess.run([*runc, "delete", "--force", name], check=False, capture_output=True)

    def spec(self, program):
        """A container with the program, as runc proposes one."""
        (self.bundle / "config.json").unlink(missing_ok=True)
        subprocess.run(["runc", "spec"], cwd=self.bundle, check=True)
        config = json.loads((self.bundle / "config.json").read_text())
        config["process"].update(terminal=False, args=[f"/{program}", "--version"])
        config["linux"].update(maskedPaths=[], readonlyPaths=[])
        return config

    def write(self, config):
        """Has the next one started so."""
        (self.bundle / "config.json").write_text(json.dumps(config))

    def confine(self, profile):
        """As the chart has them: another user, no privileges, nothing to write to, this list."""
        config = self.spec(profile)
        config["process"].update(capabilities={}, user={"uid": 65532, "gid": 65532})
        config["linux"]["seccomp"] = seccomp = json.loads(
            (PROFILES / f"{profile}.json").read_text()
        )
        for rule in seccomp["syscalls"]:
            del rule["comment"]
        self.write(config)

    def test_each_start_is_one(self):
        for path in PROFILES.glob("*.json"):
            with self.subTest(path.name):
                self.confine(path.stem)
                ends = collections.Counter()
                for i in range(self.STARTS):
                    done = self.start(f"ostler-seccomp-{os.getpid()}-{i}")
                    ends[done.returncode, done.stderr.strip()] += 1
                self.assertEqual(ends, {(0, ""): self.STARTS})


class Needed(unittest.TestCase):
    """What was made of the lists: by its name it comes after those who make the calls."""

    def test_each_call_is_made_or_has_its_reason(self):
        if left_out or os.geteuid():
            self.skipTest("not all that makes calls can be done here")
        for path in PROFILES.glob("*.json"):
            idle = {
                name
                for name, number in numbers(names(path.name)).items()
                if number not in made[path.stem]
            }
            self.assertEqual(
                idle - set().union(*UNSEEN.values()),
                set(),
                f"{path.name} allows what no program does",
            )

    def test_no_reason_is_for_nothing(self):
        listed = {name for path in PROFILES.glob("*.json") for name in names(path.name)}
        self.assertEqual(set().union(*UNSEEN.values()) - listed, set())


if __name__ == "__main__":
    sys.exit(counted.run("seccomp"))
