"""The same plan in the simulator: the case of a sweep over the same life that strikes at the
same write."""

import re
import subprocess

import names

LIFE = names.ROOT / "e2e" / "reality" / "life.yaml"
SWEEP = names.ROOT / "build" / "release" / "sweep"
# What tests/sweep/sweep_view.c calls a notification.
WATCHED = "gpuclusterpolicies|nodes|pods|daemonsets|services|runtimeclasses"
WRITE = re.compile(r" *\d+ write (\d+): (.*)")
NOTIFICATION = re.compile(rf" *\d+ others +\w+ ({WATCHED})/")


class Simulator:
    """The simulated life and its cases."""

    def __init__(self):
        self._lines = self._sweep("crash-sweep", "--reference").stdout.splitlines()

    @staticmethod
    def _sweep(name, *flags):
        return subprocess.run(
            [SWEEP, name, "--life", LIFE, *flags],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def verdict(self, case):
        """same or different, and where it is that, what the sweep says."""
        index = case.index(self)
        done = self._sweep(case.sweep, "--case", str(index))
        struck = re.search(r"\b[1-9]\d* faults fired", done.stdout)
        findings = (
            []
            if done.returncode == 0 and struck
            else [f"{case.sweep} --case {index}:", *done.stdout.splitlines()]
        )
        return ("different" if findings else "same"), findings

    def _place(self, pattern, nth):
        """(index of the line, number of the write) of the nth write that fits."""
        wanted = re.compile(pattern)
        for place, line in enumerate(self._lines):
            write = WRITE.match(line)
            if write and wanted.search(write[2]):
                nth -= 1
                if nth == 0:
                    return place, int(write[1])
        raise LookupError(f"the simulated life has no such write: {pattern}")

    def write(self, pattern, nth):
        """The number of the nth write that fits."""
        return self._place(pattern, nth)[1]

    def notification(self, pattern, nth, resource):
        """The number of the first notification of a resource ("*": of any) after the nth write
        that fits."""
        place = self._place(pattern, nth)[0]
        seen = 0
        for at, line in enumerate(self._lines):
            found = NOTIFICATION.match(line)
            seen += bool(found)
            if found and at > place and resource in ("*", found[1]):
                return seen
        raise LookupError(f"nothing of {resource} is heard after {pattern}")


class AtWrite:
    """A case of a sweep with so many cases for each write."""

    def __init__(self, sweep, width, offset, pattern, nth):
        self.sweep = sweep
        self._width, self._offset = width, offset
        self._pattern, self._nth = pattern, nth

    def index(self, simulator):
        """Its number."""
        return (simulator.write(self._pattern, self._nth) - 1) * self._width + self._offset


class AtNotification(AtWrite):
    """A case of a sweep with so many cases for each notification: of the first one of a resource
    after a write."""

    def __init__(self, sweep, width, offset, pattern, nth, resource="*"):
        super().__init__(sweep, width, offset, pattern, nth)
        self._resource = resource

    def index(self, simulator):
        return (
            simulator.notification(self._pattern, self._nth, self._resource) - 1
        ) * self._width + self._offset
