"""Tests with names, collected in the order in which they are written, and what they compare
with."""

import dataclasses
import inspect


@dataclasses.dataclass(frozen=True)
class Test:
    """A named test: a function of one Env. `row` is its argument where it came from cases()."""

    name: str
    scenario: str
    about: str
    function: object
    row: object = None
    long: bool = False

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

    def cases(self, rows):
        """Decorator: one test for each row of a dictionary, named FUNCTION_ROW."""

        def register(function):
            for name, row in rows.items():
                self._add(function, f"{function.__name__}_{name}", row)
            return function

        return register

    def _add(self, function, name, row, long=False):
        about = inspect.getdoc(function)
        if not about:
            raise ValueError(f"{name} does not say what it is about")
        scenario = function.__module__.rpartition(".")[2]
        self.tests.append(Test(name, scenario, about.splitlines()[0], function, row, long))


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
