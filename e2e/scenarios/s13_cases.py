"""13. Case files that are also played in the simulator (tests/rollouts): the same stories, held against the real API server."""

import cases as files
from harness import cases


@cases(files.of_this_world())
def played(env, file):
    """What a case file expects comes true on the real control plane."""
    files.play(env, file)
