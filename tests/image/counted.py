"""What the programs of this folder do with the tests in them."""

import sys
import unittest


def run(name):
    """Runs all tests of the program, prints "NAME: N passed, N failed"; what it ends with."""
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    failed = len(result.failures) + len(result.errors)
    print(f"{name}: {result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0
