#!/usr/bin/python3
"""The lists of system calls that the chart has for a node's seccomp: what test_static.py does with the programs, under them.
A call that is not on the list ends the program here; in a cluster it is one that the kernel does not have. Prints
"seccomp: N passed, N failed".

    tests/image/test_seccomp.py      after `make static build/ostler-sim`
"""

import json
import pathlib
import re
import signal
import struct
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True

import counted  # noqa: E402  nothing is written beside the tests
import test_static  # noqa: E402

PROFILES = ROOT / "charts/ostler/files/seccomp"
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# What nobody who took the program over should find.
NEVER = {"bpf", "chroot", "finit_module", "init_module", "io_uring_setup", "kexec_load", "keyctl", "kill", "link", "linkat",
         "mount", "open_by_handle_at", "perf_event_open", "pivot_root", "process_vm_readv", "process_vm_writev", "ptrace",
         "reboot", "rename", "renameat", "renameat2", "setns", "setuid", "symlinkat", "unlink", "unlinkat", "unshare",
         "userfaultfd"}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
KILL, ALLOW = 0x80000000, 0x7FFF0000


def names(profile):
    """The calls that a profile lets through."""
    return sorted({name for rule in json.loads((PROFILES / profile).read_text())["syscalls"] for name in rule["names"]})


def numbers(calls):
    """Their numbers on this machine, of those that it has."""
    asked = "#include <sys/syscall.h>\n" + "".join(f"#ifdef SYS_{name}\n={name} SYS_{name}\n#endif\n" for name in calls)
    done = subprocess.run(["gcc", "-E", "-P", "-xc", "-"], input=asked, check=True, capture_output=True, text=True)
    return {name: int(number) for name, number in re.findall(r"^=(\w+) (\d+)$", done.stdout, re.MULTILINE)}


def filter_of(profile):
    """The profile as the kernel takes it."""
    machine = MACHINES[subprocess.run(["uname", "-m"], check=True, capture_output=True, text=True).stdout.strip()]
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, machine), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    for number in sorted(numbers(names(profile)).values()):
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
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
        subprocess.run(["gcc", "-static", "-O1", "-o", self.confine, ROOT / "tests/image/confine.c"], check=True)
        for profile in PROFILES.glob("*.json"):
            (self.root / f"{profile.stem}.filter").write_bytes(filter_of(profile.name))

    def launch(self, *command):
        super().launch("/confine", f"{command[0]}.filter", *command)

    def spawn(self, *command):
        if command[0] == test_static.NODE_PROGRAM:
            command = (self.confine, self.root / "ostler-node.filter", *command)
        super().spawn(*command)

    def test_another_call_ends_it(self):
        """The operator's list has nothing of what the agent looks with."""
        super().launch("/confine", "/ostler.filter", "/ostler-node", "look")
        self.assertEqual(self.process.wait(5), -signal.SIGSYS)


if __name__ == "__main__":
    sys.exit(counted.run("seccomp"))
