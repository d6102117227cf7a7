"""What the programs of this folder do with the tests in them."""

import sys
import unittest


def run(name):
    """Runs all tests of the program, prints "SKIPPED NAME: why" and "NAME: N passed, N failed";
    what it ends with."""
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    )
    failed = len(result.failures) + len(result.errors)
    for why in sorted({why for _, why in result.skipped}):
        print(f"SKIPPED {name}: {why}")
    # A class that is skipped as a whole counts in testsRun with none of its tests.
    passed = (
        result.testsRun
        - failed
        - sum(isinstance(test, unittest.TestCase) for test, _ in result.skipped)
    )
    print(f"{name}: {passed} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0
