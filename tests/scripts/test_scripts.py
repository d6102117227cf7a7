#!/usr/bin/python3
"""What a new user meets in the first hour: `make run`, `make test` and the tests where a machine
can do less. Needs build/ostler and its other names. Prints "scripts: N passed, N failed".

    tests/scripts/test_scripts.py [WORD…]      only tests whose name has one of these words
"""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
import urllib.request

import libraries
import registry
import workflows

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIO = "tests/torture/small.yaml"
TESTS = []


def test(function):
    """Adds a test; its docstring says what must be."""
    TESTS.append(function)
    return function


def until(condition, what, seconds=30):
    """Waits."""
    end = time.time() + seconds
    while not condition():
        assert time.time() < end, f"{what} did not come in {seconds} s"
        time.sleep(0.05)


def environment(**more):
    """What a script finds around it, without anything of the machine's that could change what it
    does."""
    not_here = (
        "KUBECONFIG",
        "WORLD",
        "SCENARIO",
        "SPEED",
        "LOG",
        "container",
        "OSTLER_YES",
        "AGENT_IMAGE",
        "MAKEFLAGS",
        "MFLAGS",
        "MAKELEVEL",
    )
    return {**{name: value for name, value in os.environ.items() if name not in not_here}, **more}


def said(*command, seconds=60, **more):
    """(exit code, all that it says)"""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    return done.returncode, done.stdout


def processes_of(folder):
    """Those that have a file of the folder on their command line."""
    found = []
    for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) in line.read_bytes():
                found.append(line.parent.name)
    return found


@contextlib.contextmanager
def running(folder, *options, scenario=SCENARIO, **more):
    """`make run` in a session of its own, as a terminal has one, once it shows what to open; with
    a file of its words."""
    log = pathlib.Path(folder) / "said"
    with open(log, "wb") as out:
        p = subprocess.Popen(
            [shutil.which("env"), "--default-signal=HUP", "scripts/run", *options],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env=environment(SCENARIO=scenario, TMPDIR=folder, **more),
        )
    try:
        until(lambda: p.poll() is not None or "  page  " in log.read_text(), "the page", 60)
        yield p, log
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()


def nothing_is_left(folder):
    """Neither a process nor a file."""
    return not list(pathlib.Path(folder).glob("ostler-run.*")) and not processes_of(folder)


def page_of(text):
    """The page whose address a text has."""
    url = re.search(r"^ +page +(http\S+)$", text, re.MULTILINE)[1]
    with urllib.request.urlopen(url, timeout=5) as answer:
        return url, answer.read().decode()


# ---- make run


@test
def run_leaves_nothing():
    """A closed terminal, Ctrl-C and TERM to the script alone end `make run` with all that it has
    started, and leave no file."""
    for number, whole in (
        (signal.SIGHUP, True),
        (signal.SIGINT, True),
        (signal.SIGTERM, True),
        (signal.SIGHUP, False),
        (signal.SIGTERM, False),
    ):
        with tempfile.TemporaryDirectory() as folder, running(folder) as (p, _):
            assert len(processes_of(folder)) == 2
            (os.killpg if whole else os.kill)(p.pid, number)
            assert p.wait(20) == 0, (number, whole, p.returncode)
            assert nothing_is_left(folder), (number, whole)


@test
def run_that_is_killed_leaves_no_process():
    """Without any time to clean up, it leaves no process."""
    with tempfile.TemporaryDirectory() as folder, running(folder) as (p, _):
        p.kill()
        until(lambda: not processes_of(folder), "the end of its processes")


@test
def run_says_what_to_open_and_to_try():
    """The block has a page that answers, a kubeconfig, and commands that show something; a second
    one beside it takes another port."""
    with tempfile.TemporaryDirectory() as folder, running(folder) as (_, log):
        text = log.read_text()
        url, page = page_of(text)
        assert "<html" in page, page
        kubeconfig = re.search(r"^ +terminal 2 +export KUBECONFIG=(\S+)$", text, re.MULTILINE)[1]
        commands = re.findall(r"^ +(?:try there +)?(\S*kubectl.*\S) +# ", text, re.MULTILINE)
        assert len(commands) == 3 and commands[2].startswith("kubectl edit"), text
        for command in commands[:2]:
            code, out = said(*command.split(), KUBECONFIG=kubeconfig)
            assert code == 0 and out.strip(), (command, out)
        with tempfile.TemporaryDirectory() as beside, running(beside) as (_, other):
            assert page_of(other.read_text())[0] != url


@test
def run_says_how_to_get_kubectl():
    """Where kubectl is missing, and only there."""
    for path, missing in (("", True), ("/kubectl", False)):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("bin", "bin/kubectl"):
                os.makedirs(f"{folder}/{name}")
            with open(f"{folder}/bin/kubectl/kubectl", "w", encoding="utf-8") as f:
                os.fchmod(f.fileno(), 0o755)
            out = pathlib.Path(folder) / "said"
            with open(out, "wb") as f:
                p = subprocess.Popen(
                    [ROOT / "build/ostler", "demo", "--scenario", SCENARIO],
                    cwd=ROOT,
                    stdout=f,
                    env={"PATH": f"{folder}/bin{path}", "TMPDIR": folder},
                )
            until(lambda out=out: "edit gpupolicy" in out.read_text(), "the block")
            p.terminate()
            assert p.wait(20) == 0 and missing == ("curl -LO https://dl.k8s.io/" in out.read_text())


@test
def run_tells_a_story():
    """Without a terminal it prints a line for each thing that happens: a bad driver that is rolled
    back, a GPU that fails, a canary, a job that is waited for. The rollback stands alone for a
    while: only then comes a good driver."""
    with tempfile.TemporaryDirectory() as folder, running(folder, scenario="") as (p, log):
        began = time.time()
        for words in (
            r"carol sets driver 585\.10\.01",
            r"Ostler: infer-c2-7: (closed for new pods|GpuLost of)",
            r"Ostler: driver 585\.10\.01, pool \w+: it failed on \S+ with ValidationFailed",
            r"Ostler: \S+: Ostler rolls the node back to the last known good",
            r"Ostler: driver 575\.57\.08, pool \w+: the canary has run it",
            r"Ostler: train-\S+: the node takes no new GPU pods; Ostler waits for 1 pod",
        ):
            while not re.search(words, log.read_text()):
                assert p.poll() is None, log.read_text()
                assert time.time() - began < 150, f"no line has {words}:\n{log.read_text()}"
                time.sleep(0.1)
        text = log.read_text()
        assert text.index("rolls the node back") < text.index("carol sets driver 575"), text
        assert not [line for line in log.read_text().splitlines() if len(line) > 400], log


@test
def run_prints_the_log():
    """--log, or LOG=1 for make, prints Ostler's log too."""
    for options, more in ((["--log"], {}), ([], {"LOG": "1"})):
        with tempfile.TemporaryDirectory() as folder, running(folder, *options, **more) as (_, log):
            until(lambda log=log: "working leading=true" in log.read_text(), "the log")


@test
def run_says_why_a_part_ended():
    """When Ostler ends by itself, its last words are printed, and nothing is left."""
    with tempfile.TemporaryDirectory() as folder, running(folder) as (p, log):
        (ostler,) = [
            pid
            for pid in processes_of(folder)
            if b"\0run\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        os.kill(int(ostler), signal.SIGKILL)
        assert p.wait(20) == 1 and nothing_is_left(folder)
        text = log.read_text()
        assert "starting version=" in text and "ostler demo: ostler ended by itself\n" in text, text


@test
def run_says_once_that_a_scenario_cannot_be_read():
    """The simulator says why it cannot begin; that it ended adds nothing."""
    with tempfile.TemporaryDirectory() as folder:
        code, out = said(ROOT / "build/ostler", "demo", "--scenario", "nope.yaml", TMPDIR=folder)
        assert code == 1 and nothing_is_left(folder), (code, out)
        assert out == "ostler-sim: cannot read nope.yaml: No such file or directory\n", out


@test
def run_counts_what_it_builds():
    """The first build says how far it is, here with a make that builds nothing."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (
            ("scripts/deps", "true"),
            ("build/kubectl-gpu", "true"),
            (
                "make",
                'case "$*" in *" -n "*) before="echo \\"" ;;\n'
                "*) cp build/kubectl-gpu build/ostler ;; esac\n"
                'for file in a b c; do echo "$before  CC    $file"; done',
            ),
        ):
            path = pathlib.Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            path.chmod(0o755)
        shutil.copy(ROOT / "scripts/run", f"{folder}/scripts/run")
        code, out = said(f"{folder}/scripts/run", MAKE=f"{folder}/make")
        assert code == 0 and "run: building Ostler in 3 steps;" in out, (code, out)
        assert out.endswith("run: step 3 of 3\n"), out
        code, out = said(f"{folder}/scripts/run", MAKE=f"{folder}/make")
        assert code == 0 and not out, (code, out)


def pictures(folder, rows, columns, enough, **more):
    """What `make run` draws on a terminal of that size until that many pictures: each picture as
    its rows, without colours, in the order of time. Then the terminal is closed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    p = subprocess.Popen(
        [shutil.which("env"), "--default-signal=HUP", shutil.which("setsid"), "-c", "scripts/run"],
        cwd=ROOT,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment(TMPDIR=folder, TERM="xterm", **more),
    )
    os.close(theirs)
    drawn, end = b"", time.time() + 60
    while drawn.count(b"\x1b[2J") <= enough and time.time() < end:
        if select.select([ours], [], [], 1)[0]:
            drawn += os.read(ours, 65536)
    os.close(ours)
    assert p.wait(20) == 0
    # What is drawn last may be cut off.
    whole = drawn.decode("utf-8", "replace").split("\x1b[H\x1b[2J")[1:-1]
    return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", picture).split("\r\n") for picture in whole]


@test
def run_shows_a_live_view():
    """In a terminal of 80 columns and 24 rows the block stays above a live view, each picture fits,
    and closing the terminal leaves nothing."""
    with tempfile.TemporaryDirectory() as folder:
        found = pictures(folder, 24, 80, 6, SPEED="60")
        assert len(found) >= 6, found
        for picture in found:
            block = [row for row in picture if row.startswith("  page  ")]
            kubeconfig = [row for row in picture if f"export KUBECONFIG={folder}/ostler-r" in row]
            assert len(block) == len(kubeconfig) == 1, picture
            assert sum(max(1, -(-len(row) // 80)) for row in picture) <= 24, picture
            assert not [row for row in picture if len(row) > 80 and row not in kubeconfig], picture
        last = "\n".join(found[-1])
        assert re.search(r"^\d\d:\d\d:\d\d  \w", last, re.MULTILINE), last
        assert "\nPolicy     default: " in last and re.search(r"\nas of ", last), last
        assert nothing_is_left(folder)


@test
def run_does_not_use_an_exported_kubeconfig():
    """An exported KUBECONFIG changes nothing but a line that says so: `make run` shows the
    simulator."""
    with tempfile.TemporaryDirectory() as folder, running(folder, KUBECONFIG="/nowhere/config") as (
        _,
        log,
    ):
        assert (
            "run: KUBECONFIG is set and not used: WORLD=sim has a cluster of its own;"
            " WORLD=cluster is" in log.read_text()
        )


@test
def run_on_a_cluster_needs_an_image():
    """WORLD=cluster stops without the image that nodes are to have, and says why and how to make
    one."""
    code, out = said("scripts/run", WORLD="cluster", KUBECONFIG="/nowhere/config")
    assert (
        code == 2 and "which image of Ostler can the nodes pull?" in out and "docker push" in out
    ), out


@test
def run_names_its_worlds():
    """Another WORLD is refused with those that there are."""
    code, out = said("scripts/run", WORLD="moon")
    assert (
        code == 2 and "run: there is no WORLD=moon, only sim" in out and "cluster (yours)" in out
    ), out


@test
def run_on_a_cluster():
    """WORLD=cluster shows which cluster it is and asks; then definitions come, a namespace gets
    its label, and Ostler begins."""
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "config"
        server = subprocess.Popen(
            [ROOT / "build/ostler-sim", "--api-only", "--kubeconfig", config],
            stdout=subprocess.DEVNULL,
        )
        try:
            until(config.exists, "the simulator")
            here = {
                "WORLD": "cluster",
                "KUBECONFIG": str(config),
                "AGENT_IMAGE": "registry.example/ostler:1",
            }
            code, out = said("scripts/run", **here)
            assert (
                code == 1
                and re.search(r"context +ostler-sim\n +server +https://127", out)
                and "set OSTLER_YES=1" in out
            ), out
            assert "agent image  registry.example/ostler:1\n" in out, out
            assert "serverside-applied" not in out, out
            with open(f"{folder}/said", "wb") as log:
                p = subprocess.Popen(
                    ["scripts/run"],
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=environment(OSTLER_YES="1", **here),
                )
            text = lambda: pathlib.Path(f"{folder}/said").read_text(encoding="utf-8")
            try:
                until(lambda: p.poll() is not None or "working leading=true" in text(), "Ostler")
                for part in (
                    "gpunodes.ostler.dev serverside-applied\n",
                    "ostler-operands labeled\n",
                    "There is no policy yet",
                ):
                    assert p.poll() is None and part in text(), (part, text())
            finally:
                p.terminate()
                p.wait(10)
        finally:
            server.kill()
            server.wait()


# ---- build/ostler


@test
def ostler_without_arguments():
    """Without arguments the program prints its usage and ends with 2; in a pod it is the
    operator."""
    no_kubeconfig = {"HOME": "/nowhere"}
    code, out = said("build/ostler", **no_kubeconfig)
    assert (
        code == 2 and "\nusage: ostler [COMMAND] [OPTION…]\n" in out and '"level"' not in out
    ), out
    code, out = said("build/ostler", KUBERNETES_SERVICE_HOST="127.0.0.1", **no_kubeconfig)
    assert code == 1 and "cannot start" in out and "usage:" not in out, out


# ---- make test


@test
def test_says_what_it_will_do():
    """`make test` says first how long it takes, what it installs, downloads and keeps; each
    part, and the whole, says how long it took."""
    code, out = said("scripts/test", "layers")
    assert code == 0 and out.startswith("make test: everything that must pass. It takes "), out
    parts = (
        "  installs ",
        "  downloads ",
        "  keeps ",
        "== layers",
        "-- layers: ",
        "-- all of it: ",
    )
    places = [out.index(words) for words in parts]
    assert places == sorted(places) and re.search(
        r"\n-- layers: \d+ s, \d+ s of one processor\n", out
    ), out
    assert out.endswith("1 passed, 0 failed, 0 skipped\n"), out


@test
def test_repeats_what_failed():
    """The end of `make test` names each part that failed, with the lines that say what broke in
    it."""
    for printed, shown in (
        ("ok   one\\nFAIL two: it broke\\n     line 7", "FAIL two: it broke\n     line 7\n"),
        ("compiler: out of space", "compiler: out of space\n"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            nice = pathlib.Path(folder) / "nice"
            nice.write_text(f"#!/bin/sh\necho '{printed}'\nexit 3\n")
            nice.chmod(0o755)
            code, out = said("scripts/test", "layers", PATH=f"{folder}:{os.environ['PATH']}")
        end = out[out.index("== what failed, once more") :]
        assert (
            code == 1
            and f"== layers: 1 failed, exit status 3\n{shown}" in end
            and "ok   one" not in end
        ), out


FAKE = """#!/bin/sh
sleep {seconds}
echo '[       OK ] {name}'
"""


@test
def unit_tests_say_how_far_they_are():
    """While unit tests run, a line now and then says how many programs have ended and which run."""
    with tempfile.TemporaryDirectory() as folder:
        programs = []
        for name, seconds in (("quick", 0), ("slow", 3)):
            programs.append(pathlib.Path(folder) / name)
            programs[-1].write_text(FAKE.format(name=name, seconds=seconds))
            programs[-1].chmod(0o755)
        code, out = said("scripts/run-tests", "unit-x", *map(str, programs), EVERY="1")
        assert code == 0 and out.endswith("unit-x: 2 passed, 0 failed\n"), out
        assert re.search(
            r"^unit-x: after \d s 1 of 2 programs have ended; now: slow$", out, re.MULTILINE
        ), out
        assert "programs" not in said("scripts/run-tests", "unit-x", str(programs[0]))[1]


@test
def no_root_of_ones_own_is_skipped():
    """Where unshare cannot change the propagation of mounts, the tests of the static program are
    skipped, with the reason; none fails."""
    why = "unshare: cannot change root filesystem propagation: Operation not permitted"
    with tempfile.TemporaryDirectory() as folder:
        unshare = pathlib.Path(folder) / "unshare"
        unshare.write_text(f"#!/bin/sh\necho '{why}' >&2\nexit 1\n")
        unshare.chmod(0o755)
        code, out = said(
            "tests/image/test_static.py",
            PATH=f"{folder}:{os.environ['PATH']}",
            OSTLER_PROGRAMS=str(ROOT / "build"),
        )
    assert code == 0 and "static: 0 passed, 0 failed" in out, out
    assert re.search(
        rf"^SKIPPED static: a program cannot be given a root of its own here: .*{why}$",
        out,
        re.MULTILINE,
    ), out


@test
def the_table_of_images_agrees_with_a_registry_that_has_them_all():
    """scripts/check-images reads every page, with a token that any client gets, and finds no
    difference."""
    with registry.serving(registry.table() + ["580.95.05-ubuntu20.04", "latest"]) as url:
        code, text = registry.compare(url)
    assert code == 0 and "0 differences" in text, text


@test
def the_table_of_images_differs_from_a_registry():
    """An image that is only in the table, one that is only in the registry, and a kernel
    without a precompiled image are named."""
    tags = [
        t
        for t in registry.table()
        if t not in ("580.178.04-rocky8", "580-6.8.0-49-oracle-ubuntu24.04")
    ]
    with registry.serving(tags + ["580.178.04-ubuntu26.04"]) as url:
        code, text = registry.compare(url)
    assert code == 1 and "3 differences" in text, text
    for line in (
        "580.178.04-rocky8 is in the table and not in the registry",
        "580.178.04-ubuntu26.04 is in the registry and not in the table",
        "580-6.8.*-oracle-ubuntu24.04 is in the table and not in the registry",
    ):
        assert line in text, text


@test
def the_table_of_images_is_not_compared_without_a_registry():
    """Where none answers, check-images says that it skips the comparison, and why."""
    with registry.serving([]) as url:
        pass
    code, text = registry.compare(url)
    assert code == 0 and "skipped, since" in text and "refused" in text, text


# ---- workflows


@test
def workflows_call_make_targets_and_nothing_else():
    """Each `run:` of a workflow is `make TARGET`, and there is such a target."""
    known = workflows.targets()
    for workflow, name, job in workflows.jobs():
        commands = list(workflows.commands(job))
        assert commands, (workflow, name)
        for command in commands:
            assert workflows.of_make(command) in known, (workflow, name, command)
    assert workflows.of_make("make test && curl x") is None
    assert workflows.of_make("make release A=${{ x }}") is None


@test
def workflows_can_do_little():
    """They read the repository and no more, keep no token and no secret, use actions of GitHub's
    own by their commit, run no stranger's change with rights, and end."""
    for path in workflows.FOLDER.iterdir():
        text = path.read_text(encoding="utf-8")
        assert "secrets." not in text and "pull_request_target" not in text, path
        for use in re.findall(r"uses: (.*)", text):
            assert re.fullmatch(workflows.PINNED.pattern + r" # v\d+\.\d+\.\d+", use), (path, use)
    for workflow, document in workflows.read().items():
        assert document["permissions"] == {"contents": "read"}, workflow
    for workflow, name, job in workflows.jobs():
        assert "permissions" not in job and job["timeout-minutes"] <= 360, (workflow, name)
        (checkout,) = [s for s in job["steps"] if s.get("uses", "").startswith("actions/checkout")]
        assert checkout["with"]["persist-credentials"] is False, (workflow, name)


@test
def the_nightly_workflow_has_every_sweep():
    """At full size; of random lives, so many seeds as six hours allow."""
    code, names = said("make", "--no-print-directory", "sweep-names")
    assert code == 0, names
    commands = list(workflows.commands(workflows.read()["nightly"]["jobs"]["long"]))
    asked = {workflows.of_make(command) for command in commands}
    seeds = {"dst", "dst-short"}
    wanted = {name if name in seeds else f"{name}-full" for name in names.split()}
    assert wanted <= asked, wanted - asked


@test
def libraries_are_built_from_what_debian_has():
    """A server of Debian may lack the newest sources."""
    for case in libraries.CASES:
        libraries.check(case)


def main():
    """Runs all tests."""
    failed = 0
    wanted = [
        t for t in TESTS if len(sys.argv) < 2 or any(word in t.__name__ for word in sys.argv[1:])
    ]
    for one in wanted:
        about = " ".join(one.__doc__.split())
        try:
            one()
            print(f"ok   {one.__name__}: {about}")
        except Exception as e:  # pylint: disable=broad-except
            failed += 1
            places = ", ".join(f"line {w.lineno}" for w in traceback.extract_tb(e.__traceback__))
            print(f"FAIL {one.__name__} ({places}): {about}\n     {type(e).__name__}: {e}")
    print(f"scripts: {len(wanted) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
