"""Runs tests one after another and tells how they went."""

import collections
import contextlib
import json
import pathlib
import time
import traceback

import kube
from env import Env
from installation import Installation
from worker import Worker
from world import World


def in_turn(tests):
    """The queue that all runners take tests from: long ones first."""
    return collections.deque(sorted(tests, key=lambda t: not t.long))


class Runner(Worker):
    """Runs one test of a queue after another in a world of its own, and counts: `passed`,
    `failed`."""

    def __init__(self, queue, closing, logs):
        """closing: tests of what has happened in a world, run as its last."""
        super().__init__(self._live)
        self.passed = self.failed = 0
        self._queue = queue
        self._closing = closing
        self._world = None
        self._logs = pathlib.Path(logs)
        self._logs.mkdir(parents=True, exist_ok=True)
        for old in self._logs.glob("*.log"):
            old.unlink()

    def _live(self):
        with World() as self._world:
            self._run_all(Env(self._world, Installation(self._world), self._logs))

    def end(self):
        """Ends the world under a runner that is not to go on."""
        if self._world:
            self._world.stop()

    def _run_all(self, env):
        try:
            while self._queue:
                try:
                    one = self._queue.popleft()
                except IndexError:
                    break  # another one was faster
                self._count(env, one)
            for one in self._closing:
                self._count(env, one)
        finally:
            if env.operator:
                env.operator.stop()
            env.actor.stop()

    def _count(self, env, one):
        if self._run_one(env, one):
            self.passed += 1
        else:
            self.failed += 1

    def _run_one(self, env, one):
        began = time.monotonic()
        report = None
        try:
            env.begin(one)
            one.run(env)
        except Exception as e:  # a test may fail in any way; the others go on
            report = self._report(env, e)
        if report is None:
            try:
                env.end()
            except Exception as e:  # taking everything away again is part of each test
                report = "while cleaning up: " + self._report(env, e)
        seconds = time.monotonic() - began
        line = (
            f"{'ok  ' if report is None else 'FAIL'} {one.scenario}.{one.name} ({seconds:.1f} s,"
            f" world {self._logs.name})"
        )
        print(line if report is None else f"{line}\n{report}", flush=True)
        if report is not None:
            env.reset()
        return report is None

    @staticmethod
    def _report(env, error):
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "scenarios" in f.filename]
        where = (
            f" ({pathlib.Path(frames[-1].filename).name}:{frames[-1].lineno}: {frames[-1].line})"
            if frames
            else ""
        )
        lines = [f"{type(error).__name__}: {error}{where}"]
        if not isinstance(error, (AssertionError, kube.ApiError)):
            lines.append("".join(traceback.format_tb(error.__traceback__)[-3:]))
        with contextlib.suppress(Exception):
            lines.append(
                "policy's status: " + json.dumps((env.get_policy() or {}).get("status"), indent=1)
            )
        if env.operator:
            lines.append(f"end of {env.operator.log}:\n{env.operator.tail()}")
        return "\n".join("     " + line for line in "\n".join(lines).splitlines())
