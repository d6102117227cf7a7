"""Runs tests one after another and tells how they went."""

import contextlib
import json
import pathlib
import time
import traceback

import kube
from env import Env
from installation import Installation
from world import World


class Runner:
    """Runs tests one after another in one world and counts."""

    def __init__(self, tests, keep_logs):
        self._tests = tests
        self._logs = pathlib.Path(keep_logs)
        self._logs.mkdir(parents=True, exist_ok=True)
        for old in self._logs.glob("*.log"):
            old.unlink()

    def run(self):
        """Returns (passed, failed)."""
        passed = failed = 0
        with World() as world:
            env = Env(world, Installation(world), self._logs)
            try:
                for one in self._tests:
                    if self._run_one(env, one):
                        passed += 1
                    else:
                        failed += 1
            finally:
                if env.operator:
                    env.operator.stop()
                env.actor.stop()
        return passed, failed

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
        print(f"{'ok  ' if report is None else 'FAIL'} {one.scenario}.{one.name} ({seconds:.1f} s)", flush=True)
        if report is not None:
            print(report, flush=True)
            env.reset()
        return report is None

    @staticmethod
    def _report(env, error):
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "scenarios" in f.filename]
        where = f" ({pathlib.Path(frames[-1].filename).name}:{frames[-1].lineno}: {frames[-1].line})" if frames else ""
        lines = [f"{type(error).__name__}: {error}{where}"]
        if not isinstance(error, (AssertionError, kube.ApiError)):
            lines.append("".join(traceback.format_tb(error.__traceback__)[-3:]))
        with contextlib.suppress(Exception):
            lines.append("policy's status: " + json.dumps((env.get_policy() or {}).get("status"), indent=1))
        if env.operator:
            lines.append(f"end of {env.operator.log}:\n{env.operator.tail()}")
        return "\n".join("     " + line for line in "\n".join(lines).splitlines())
