#!/usr/bin/python3
"""What a sweep does with a failing case: a command that lives it again, a short form of it, a line that keeps it. Prints "sweep: N passed, N failed"."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "sweep"
LIFE = "tests/sweep/short.yaml"
KEPT = "tests/sweep/regressions.txt"
TESTS = []


def test(function):
    """Adds a test; its docstring says what must be."""
    TESTS.append(function)
    return function


class Tree:
    """A folder with what the program reads of the repository, so that nothing is kept in the real one."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / LIFE).parent.mkdir(parents=True)
        shutil.copy(ROOT / LIFE, self.folder / LIFE)
        (self.folder / KEPT).write_text("# none yet\n", encoding="utf-8")

    def sweep(self, *arguments):
        """Runs it: (exit code, what it printed)."""
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout

    def kept(self):
        """The lines of the file of cases that failed once."""
        return (self.folder / KEPT).read_text(encoding="utf-8").splitlines()[1:]


@test
def no_finding(tree):
    """Without a finding it ends with 0, and keeps nothing."""
    code, out = tree.sweep("dst", "--count", "2")
    assert code == 0 and "dst: 2 passed, 0 failed" in out and "replay" not in out, out
    assert not tree.kept()


@test
def same_seed_same_trace(tree):
    """Two runs of a seed print the same trace hash, in one process and in two; another seed has another one."""
    said = [tree.sweep("same", "--life", LIFE, "--case", case)[1] for case in ("1", "1", "2")]
    traces = [re.search(r"trace (\w{16}) and (\w{16})", out).groups() for out in said]
    assert traces[0] == traces[1] and traces[0][0] == traces[0][1] and traces[0] != traces[2], traces


@test
def replay(tree):
    """Each failing case has one command that lives it again, to the same finding at the same time."""
    code, out = tree.sweep("dst", "--count", "2", "--first", "3", "--plant", "2")
    assert code == 1 and out.count("\nFAIL dst case") + out.startswith("FAIL dst case") == 2, out
    for case, finding, command in re.findall(r"FAIL dst case (\d+), .*\n(.*planted.*)\n    replay: build/release/sweep (.*)", out):
        code, again = tree.sweep(*command.split())
        assert code == 1 and f"FAIL dst case {case}," in again and finding in again, (finding, again)


@test
def short_form(tree):
    """A failing seed is made as short as it can be: the faults that it takes and no other, in the phases that it takes; with the first other write."""
    code, out = tree.sweep("dst", "--count", "1", "--first", "3", "--plant", "2")
    struck, enough, phases = re.search(r"made short: of (\d+) faults that struck are enough: (\d+), in (\d+) of \d+ phases", out).groups()
    assert code == 1 and int(struck) > 10 and (enough, phases) == ("2", "1"), out
    told = out[out.index("made short"):]
    assert told.count("of its kind: ") == 2 and "planted: 2 faults have struck" in told, told
    assert re.search(r"first other write: number \d+|all writes are those", told), told


@test
def first_other_write(tree):
    """A case of one fault names the first write that differs from those of the run without it, and the fault just before."""
    code, out = tree.sweep("crash-sweep", "--life", LIFE, "--case", "13", "--plant", "1")
    number = re.search(r"first other write: number (\d+)", out).group(1)
    assert code == 1 and re.search(rf"fault: the process dies.*\n(.*\n)* *> .* write {number}: ", out), out
    assert f"replay: build/release/sweep crash-sweep --case 13 --life {LIFE} --plant 1" in out, out


@test
def kept(tree):
    """A case that failed stays in a file, once, and is lived first from then on."""
    for _ in range(2):
        tree.sweep("dst", "--count", "1", "--first", "7", "--plant", "1")
    assert len(tree.kept()) == 1 and re.fullmatch(r"dst 7  phase 0, .*planted: 1 faults have struck", tree.kept()[0]), tree.kept()
    _, out = tree.sweep("dst", "--count", "1")
    assert "dst: 2 passed, 0 failed" in out, out


def main():
    """Runs all tests."""
    failed = 0
    for one in TESTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                one(Tree(folder))
                print(f"ok   {one.__name__}: {one.__doc__}")
            except Exception as e:  # a test that fails in whatever way
                failed += 1
                print(f"FAIL {one.__name__}: {one.__doc__}\n     {type(e).__name__}: {e}")
    print(f"sweep: {len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
