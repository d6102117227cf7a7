#!/usr/bin/python3
"""Holds the charts against the program: the rights against the resource table, the arguments
against the command line, the CRDs against crds/, the values against their schema and the
README, the admission policies against the operands. Renders with helm and needs no cluster;
e2e/scenarios/s19_admission.py has what needs one.

The last line is "chart: N passed, N failed".
"""

import sys
import unittest

import test_admission
import test_parts
import test_pods
import test_rights
import test_values


def main():
    """Runs all and counts."""
    modules = (test_rights, test_pods, test_parts, test_admission, test_values)
    suite = unittest.TestSuite(map(unittest.defaultTestLoader.loadTestsFromModule, modules))
    result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"chart: {result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
