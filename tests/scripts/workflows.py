"""The workflows of .github, read for tests: jobs, steps, and what each `run:` comes to."""

import itertools
import pathlib
import re
import shlex
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github/workflows"
PINNED = re.compile(r"actions/(checkout|cache|upload-artifact)@[0-9a-f]{40}")


def read():
    """The workflows by name. YAML 1.1 takes the key `on` for true."""
    return {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in sorted(FOLDER.iterdir())
    }


def jobs():
    """(workflow, job, its description) of all."""
    for workflow, document in read().items():
        for name, job in document["jobs"].items():
            yield workflow, name, job


def commands(job):
    """Each command of a job, with every value of its matrix."""
    matrix = job.get("strategy", {}).get("matrix", {})
    rows = [dict(zip(matrix, values)) for values in itertools.product(*matrix.values())]
    for step in job["steps"]:
        for row in rows if "run" in step else ():
            yield re.sub(
                r"\$\{\{ matrix\.(\w+) \}\}", lambda found, row=row: row[found[1]], step["run"]
            )


def targets():
    """All that make can be asked for by name."""
    database = subprocess.run(
        ["make", "--question", "--print-data-base", "--no-print-directory"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    return set(re.findall(r"^([a-z][a-z0-9-]*):", database, re.MULTILINE))


def of_make(command):
    """The target of `make TARGET VARIABLE=VALUE…`; nothing of another command."""
    words = shlex.split(command)
    if len(words) < 2 or words[0] != "make" or "\n" in command.strip():
        return None
    set_ = all(re.fullmatch(r"[A-Z_]+=[\w./-]+", word) for word in words[2:])
    return words[1] if set_ and "${{" not in command else None
