"""13. Case files, which the simulator plays too (tests/rollouts), on the real control plane."""

import cases as files
from harness import cases, proven_by


@cases(files.of_this_world())
def played(env, file):
    """What a case file expects comes true on the real control plane."""
    files.play(env, file)


@cases(files.of_this_world("real-full"))
@proven_by("tests/sweep/sweep_rollouts.c")
def played_in_full(env, file):
    """The same of files that take long here."""
    files.play(env, file)
