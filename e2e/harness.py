"""Tests with names, collected in the order in which they are written, and what they compare
with."""

import dataclasses
import inspect

import names


@dataclasses.dataclass(frozen=True)
class Test:
    """A named test: a function of one Env. `row` is its argument where it came from cases().
    `proof`: the file of another part of `make test` that proves the same; such a test is left to
    `make e2e-full`."""

    name: str
    scenario: str
    about: str
    function: object
    row: object = None
    long: bool = False
    proof: str = ""

    def run(self, env):
        """Runs it; an exception is a failure."""
        if self.row is None:
            self.function(env)
        else:
            self.function(env, self.row)


class Registry:
    """Collects the tests of scenario modules in the order in which they are written."""

    def __init__(self):
        self.tests = []
        self.closing_tests = []

    def test(self, function):
        """Decorator: this function is a test."""
        self._add(function, function.__name__, None)
        return function

    def long_test(self, function):
        """Decorator: a test that takes more than 15 s, most of which it waits.

        These begin first, so that none is left alone at the end.
        """
        self._add(function, function.__name__, None, long=True)
        return function

    def closing(self, function):
        """Decorator: this function is a test of what has happened in a world, run as its last."""
        self._add(function, function.__name__, None)
        self.closing_tests.append(self.tests.pop())
        return function

    def cases(self, rows, proven=None, long=False):
        """Decorator: one test for each row of a dictionary, named FUNCTION_ROW. `proven`: of some
        rows what proven_by() is of a whole test. `long`: each is what long_test() makes of one."""
        proven = proven or {}

        def register(function):
            for name, row in rows.items():
                proof = proven.get(name, "")
                self._add(function, f"{function.__name__}_{name}", row, long, proof)
            return function

        return register

    def _add(self, function, name, row, long=False, proof=""):
        about = inspect.getdoc(function)
        if not about:
            raise ValueError(f"{name} does not say what it is about")
        scenario = function.__module__.rpartition(".")[2]
        proof = proof or getattr(function, "proof", "")
        if not (names.ROOT / proof).exists():
            raise ValueError(f"there is no {proof}")
        self.tests.append(Test(name, scenario, about.splitlines()[0], function, row, long, proof))


def proven_by(file):
    """Decorator, below the one that makes a function a test: a file of another part of `make
    test`, which proves the same."""

    def mark(function):
        function.proof = file
        return function

    return mark


REGISTRY = Registry()
test = REGISTRY.test
long_test = REGISTRY.long_test
cases = REGISTRY.cases
closing = REGISTRY.closing


def equal(got, want, what):
    """Fails unless both are the same, and says both."""
    assert got == want, f"{what}: got {got!r}, want {want!r}"


def contains(text, parts, what):
    """Fails unless each part is in the text, in whatever case."""
    for part in [parts] if isinstance(parts, str) else parts:
        assert part.lower() in (text or "").lower(), f"{what}: {part!r} is not in {text!r}"
