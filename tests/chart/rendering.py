"""The chart as helm renders it, for the tests beside this file."""

import functools
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "charts" / "ostler"
CRD_CHART = ROOT / "charts" / "ostler-crds"
NAMESPACE, OPERANDS = "ostler-system", "ostler-operands"


@functools.cache
def tool(name):
    """A program of the end-to-end world, which is built where it is not there."""
    where = subprocess.run(
        [ROOT / "e2e/world/build"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    return str(pathlib.Path(where) / name)


def helm(*args):
    """Runs helm and returns what came of it."""
    return subprocess.run(
        [tool("helm"), *map(str, args)], capture_output=True, text=True, check=False
    )


@functools.cache
def template(*flags, chart=CHART):
    """The rendered chart as text."""
    done = helm("template", "ostler", chart, "--namespace", NAMESPACE, *flags)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


@functools.cache
def _as_json(text):
    """kubectl reads the YAML: an annotation set on a local copy makes it print JSON."""
    done = subprocess.run(
        [
            tool("kubectl"),
            "--kubeconfig",
            os.devnull,
            "annotate",
            "--local",
            "-f",
            "-",
            "-o",
            "json",
            "read=yes",
        ],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def read(yaml):
    """The objects of a text."""
    decoder, text, found = json.JSONDecoder(), _as_json(yaml).strip(), []
    while text:
        item, end = decoder.raw_decode(text)
        del item["metadata"]["annotations"]["read"]
        found.append(item)
        text = text[end:].lstrip()
    return found


def objects(*flags, chart=CHART):
    """The rendered objects."""
    return read(template(*flags, chart=chart))


def of_kind(found, kind):
    """Those of a kind."""
    return [o for o in found if o["kind"] == kind]


def only(found, kind, name=None):
    """The one of a kind, or of a kind and name."""
    (one,) = [o for o in of_kind(found, kind) if name in (None, o["metadata"]["name"])]
    return one


def hook(an_object):
    """The events of Helm that it belongs to, if any."""
    return an_object["metadata"].get("annotations", {}).get("helm.sh/hook")
