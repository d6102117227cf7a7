"""13. Case files, which the simulator plays too (tests/rollouts), on the real control plane."""

import cases as files
from harness import cases


@cases(files.of_this_world())
def played(env, file):
    """What a case file expects comes true on the real control plane."""
    files.play(env, file)
