#!/usr/bin/python3
"""The fleet page in a headless Chromium, against a server that plays Ostler. Needs Debian's
chromium-headless-shell. Prints "web: N passed, N failed", or a line that says why it was skipped.

    tests/web/test_web.py [WORD…]      only tests whose name has one of these words
"""

import sys

import browser
import harness
import test_drawn  # noqa: F401  each adds its tests
import test_hands  # noqa: F401
import test_hostile  # noqa: F401
import test_link  # noqa: F401
import test_access  # noqa: F401
import test_figures  # noqa: F401


def main():
    program = browser.find()
    if not program:
        print("SKIPPED web: there is no chromium-headless-shell and no chromium (scripts/deps)")
        print("web: 0 passed, 0 failed")
        return 0
    return harness.run(lambda: browser.Browser(program, harness.HELP))


if __name__ == "__main__":
    sys.exit(main())
