"""13. Case files, which the simulator plays too (tests/rollouts), on the real control plane."""

import cases as files
from harness import cases

OFTEN, FULL = files.of_this_world("real"), files.of_this_world("real-full")


@cases({**OFTEN, **FULL}, proven=dict.fromkeys(FULL, "tests/sweep/sweep_rollouts.c"))
def played(env, file):
    """What a case file expects comes true on the real control plane."""
    files.play(env, file)
