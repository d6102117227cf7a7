#!/usr/bin/python3
"""What a sweep does with a failing case: a command that lives it again, a short form of it, a
line that keeps it. Prints "sweep: N passed, N failed"."""

import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "sweep"
LIFE = "tests/sweep/dst.yaml"
SHORT = "tests/sweep/short.yaml"  # LIFE up to its third phase, where the whole is not needed
KEPT = "tests/sweep/regressions.txt"
TESTS = []


def test(function):
    """Adds a test; its docstring says what must be."""
    TESTS.append(function)
    return function


def said_of(one):
    """Its docstring, in one line."""
    return " ".join(one.__doc__.split())


class Tree:
    """A folder with what the program reads of the repository, so that nothing is kept in the
    real one."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / LIFE).parent.mkdir(parents=True)
        life = (ROOT / LIFE).read_text(encoding="utf-8")
        (self.folder / LIFE).write_text(life, encoding="utf-8")
        (self.folder / SHORT).write_text(life[: life.index("  # 2: ")], encoding="utf-8")
        (self.folder / KEPT).write_text("# none yet\n", encoding="utf-8")

    def run(self, *arguments):
        """Runs it: (exit code, standard output, standard error)."""
        done = subprocess.run(
            [PROGRAM, *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def sweep(self, *arguments):
        """The same without standard error."""
        return self.run(*arguments)[:2]

    def kept(self):
        """The lines of the file of cases that failed once."""
        return (self.folder / KEPT).read_text(encoding="utf-8").splitlines()[1:]


@test
def no_finding(tree):
    """Without a finding it ends with 0, and keeps nothing. Beside each invariant stands how often
    it must be tried."""
    code, out = tree.sweep("dst", "--count", "2")
    assert code == 0 and "dst: 2 passed, 0 failed" in out and "replay" not in out, out
    assert re.search(r"^    S1_BUDGET +\d+ times \(at least [1-9]\d*\): ", out, re.M), out
    assert not tree.kept()


@test
def wrong_arguments(tree):
    """What is wrong on the command line is said in one line, with what may be there, and ends
    with 2; --help ends with 0."""
    for arguments, words in (
        ((), "a sweep's name is missing; there are crash-sweep, "),
        (("crash",), "there is no sweep crash; there are crash-sweep, "),
        (("dst", "--seed", "1"), "unknown argument --seed; `sweep --help` lists them"),
        (("dst", "--case"), "--case needs N"),
        (("dst", "--case", "one"), "--case one: must be a whole number from 0 to "),
        (("dst", "--count", "0"), "--count 0: must be a whole number from 1 to "),
    ):
        code, out, err = tree.run(*arguments)
        assert (
            code == 2 and not out and err.startswith(f"sweep: {words}") and err.count("\n") == 1
        ), (arguments, code, out, err)
    code, out, _ = tree.run("--help")
    assert code == 0 and "N is the seed" in out and "\n  crash-sweep " in out, out


@test
def case_that_is_not_there(tree):
    """A case beyond the last is refused, with how many there are."""
    code, out, err = tree.run("crash-sweep", "--life", LIFE, "--case", "99999999")
    assert (
        code == 2
        and not out
        and re.fullmatch(r"sweep: crash-sweep has \d+ cases, numbered from 0\n", err)
    ), (code, out, err)


@test
def verbose(tree):
    """--verbose tells the case alone, apart from the life without faults, with the fault,
    the end of the process and its next start."""
    life = ROOT / "tests/sweep/life.yaml"
    code, out = tree.sweep("crash-sweep", "--life", life, "--case", "7", "--verbose")
    told = out[out.index("---- crash-sweep case 7\n") :]
    assert (
        code == 0
        and out.startswith("---- the life without faults: ")
        and " write 1: " not in out[: out.index(told)]
    ), out[:500]
    assert re.search(
        r"(\d+) fault: the process dies.*\n *\1 ostler 0 dies\n(.*\n)*? *\d+ ostler 0 starts\n",
        told,
    ), told[:5000]
    assert re.search(r"crash-sweep: 1 of [\d,]+ cases; crash-sweep-full lives all\n", told), told[
        -2000:
    ]


@test
def same_seed_same_life(tree):
    """Two processes live a seed in the same way, to the last write and the time of each fault;
    another seed is lived in another way. That one process does so is what the sweep `same` looks
    at."""
    said = [tree.sweep("dst", "--case", case, "--verbose")[1] for case in ("1", "1", "2")]
    lives = [re.findall(r"^ *\d+ .*", out[: out.index("\ndst: ")], re.M) for out in said]
    assert lives[0] == lives[1] != lives[2] and len(lives[0]) > 1000, lives


@test
def replay(tree):
    """Each failing case has one command that lives it again, to the same finding at the same
    time. Two faults that strike make one, and what is found is told before the seed is made
    short, which takes no longer than it may."""
    arguments = ("--life", SHORT, "--plant", "2", "--shorten", "0")
    code, out = tree.sweep("dst", "--count", "2", "--first", "3", *arguments)
    failing = re.findall(
        r"FAIL dst case (\d+), .*\n(.*planted.*)\n    replay: build/release/sweep (.*)", out
    )
    assert code == 1 and len(failing) == 2, out
    for case, finding, command in failing:
        code, again = tree.sweep(*command.split(), "--shorten", "0")
        said = (
            f"FAIL dst case {case},",
            finding,
            "replay: ",
            "made short: of ",
            "it was cut off at 0 of 200 lives",
        )
        assert code == 1 and "dst: 0 passed, 1 failed" in again, again
        assert all(words in again for words in said), (finding, again)
        places = [again.index(words) for words in said]
        assert places == sorted(places), again


@test
def short_form(tree):
    """A failing seed is made as short as it can be: the faults that it takes and no other, in
    the phases that it takes; with the first other write."""
    code, out = tree.sweep("dst", "--life", SHORT, "--case", "3", "--plant", "2")
    struck, enough, phases, all_phases = re.search(
        r"made short: of (\d+) faults that struck are enough: (\d+), in (\d+) of (\d+) phases", out
    ).groups()
    assert code == 1 and int(struck) > 10 and (enough, phases, all_phases) == ("2", "1", "2"), out
    told = out[out.index("made short") :]
    assert told.count("of its kind: ") == 2 and "planted: 2 faults have struck" in told, told
    assert re.search(r"first other write: number \d+|all writes are those", told), told


@test
def first_other_write(tree):
    """A case of one fault names the first write that differs from those of the run without it,
    and the fault just before."""
    code, out = tree.sweep("crash-sweep", "--life", LIFE, "--case", "13", "--plant", "1")
    number = re.search(r"first other write: number (\d+)", out).group(1)
    assert code == 1 and re.search(
        rf"fault: the process dies.*\n(.*\n)* *> .* write {number}: ", out
    ), out
    assert f"replay: build/release/sweep crash-sweep --case 13 --life {LIFE} --plant 1" in out, out


@test
def kept(tree):
    """What was planted is not kept; a case that is kept is lived first, besides those that were
    asked for."""
    planted = ("--life", SHORT, "--plant", "1", "--shorten", "0")
    _, out = tree.sweep("dst", "--case", "7", *planted)
    assert "FAIL dst case 7," in out and not tree.kept(), out
    with open(tree.folder / KEPT, "a", encoding="utf-8") as file:
        file.write("dst 7  what it was\n")
    _, out = tree.sweep("dst", "--count", "1")
    assert "dst: 2 passed, 0 failed" in out, out


@test
def ended_early(tree):
    """A sweep that a signal ends prints its counts first, and ends by that signal."""
    with subprocess.Popen(
        [PROGRAM, "dst", "--count", "1000", "--processes", "1"],
        cwd=tree.folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        time.sleep(4)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=600)
    assert process.returncode == -signal.SIGTERM, process.returncode
    assert re.search(r"dst: ended early by signal 15, after \d+ of 1000 cases\n$", out), out
    for line in (r"^dst: 0 of \d+ cases? with findings; ", r"^    S1_BUDGET +\d+ times"):
        assert re.search(line, out, re.M), out


@test
def tried_too_seldom(tree):
    """A case that is asked for alone need not try each invariant so often."""
    _, out = tree.sweep("dst", "--case", "1")
    assert "at least" not in out and "dst: 1 passed, 0 failed" in out, out


CASE = """
base: world.yaml
nodes: [{name: gpu, shape: h100, count: 2}]
actions:
  - at: 1s
    do: Create
    kind: gpuclusterpolicies
    with: {apiVersion: ostler.dev/v1alpha1, kind: GpuClusterPolicy, metadata: {name: default},
           spec: {driver: {version: 570.133.20}}}
expect:
"""


@test
def case_files(tree):
    """A case file whose expectations hold passes; one that does not hold, cannot fail, is
    misspelt or missing is told, with what is so instead."""
    shutil.copy(ROOT / "tests/rollouts/base/world.yaml", tree.folder / "world.yaml")
    for row, words in (
        ('{nodes: gpu-*, have: {driver: 570.133.20, claim: none}, count: 2}', None),
        ('{times: claimed, of: gpu-*, count: 0}', None),
        (
            '{nodes: gpu-*, have: {driver: 575.57.08}}',
            (
                'gpu-1 has driver "570.133.20"; gpu-2 has driver "570.133.20"; 2 are there, 0 of'
                ' them so'
            ),
        ),
        ('{nodes: gpu-*, have: {driver: 570.133.20}, count: 1}', "2 are there, 2 of them so"),
        ('{nodes: gqu-*, have: {driver: 575.57.08}, count: 0}', "0 are there, 0 of them so"),
        ('{at: 30s, times: claimed, of: gpu-*, count: 1}', "30.000 s: expected: "),
        ('{times: claimed, of: gqu-*, count: 0}', "no object of such a name was there"),
        ('{most: closed, count: 1}', "it was 0"),
        ('{order: [gpu-1]}', "it was\n"),
        ('{nodes: gpu-*, have: {driver: "*"}}', 'anything would do for "driver"'),
        ('{nodes: gpu-*, hava: {}}', "expect[0].hava: unknown"),
        ('{most: claimed, count: 1}', 'there is no "claimed"'),
        ('{nodes: gpu-*, most: closed, count: 1}', "needs one of nodes, kind, most, times, order"),
        ('', "nothing is expected of it"),
    ):
        (tree.folder / "case.yaml").write_text(
            CASE + (f"  - {row}\n" if row else "  []\n"), encoding="utf-8"
        )
        code, out = tree.sweep("rollouts", "--life", "case.yaml")
        assert code == (1 if words else 0) and (words or "rollouts: 1 passed, 0 failed") in out, (
            row,
            out,
        )
    assert not tree.kept()


def main():
    """Runs all tests."""
    failed = 0
    for one in TESTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                one(Tree(folder))
                print(f"ok   {one.__name__}: {said_of(one)}")
            except Exception as e:  # a test that fails in whatever way
                failed += 1
                print(f"FAIL {one.__name__}: {said_of(one)}\n     {type(e).__name__}: {e}")
    print(f"sweep: {len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
