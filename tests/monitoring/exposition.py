"""The text that /metrics answers with, and PromQL expressions: which metrics and labels there
are, and which are named."""

import dataclasses
import re
import subprocess
import sys
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = pathlib.Path(
    subprocess.run(
        [ROOT / "scripts/find-prometheus"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
)
sys.path.insert(0, str(TOOLS / "python"))

import promql_parser as promql  # noqa: E402  the path above is what finds it

LINE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
OF_THE_SCRAPE = {"job", "instance"}  # what Prometheus adds to every series


@dataclasses.dataclass(frozen=True)
class Series:
    """A series' name and labels."""

    name: str
    labels: tuple  # of (name, value), sorted

    def __str__(self):
        return self.name + "{" + ",".join(f'{k}="{v}"' for k, v in self.labels) + "}"

    def label(self, name):
        """The value of a label; "" where there is none."""
        return dict(self.labels).get(name, "")


@dataclasses.dataclass
class Scrape:
    """One answer."""

    at: float  # seconds of the epoch
    values: dict  # Series to number
    kinds: dict  # family to "counter", "gauge", "histogram"

    def value(self, name, **labels):
        """The sum of all series of this name with these labels; None where there is none."""
        found = [
            v
            for s, v in self.values.items()
            if s.name == name and all(s.label(k) == x for k, x in labels.items())
        ]
        return sum(found) if found else None


def read(text, at, **more):
    """The text as a Scrape; `more` are labels that each series gets."""
    values, kinds = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            kinds[family] = kind
        elif not line.startswith("#") and line:
            name, labels, value = LINE.match(line).groups()
            pairs = tuple(sorted([*LABEL.findall(labels or ""), *more.items()]))
            values[Series(name, pairs)] = float(value)
    return Scrape(at, values, kinds)


def _children(node):
    """The expressions within an expression, and the labels that its modifiers name."""
    parts = [
        getattr(node, member, None)
        for member in ("expr", "lhs", "rhs", "param", "vector_selector", "vs")
    ]
    parts += list(getattr(node, "args", None) or [])
    modifier = getattr(node, "modifier", None)
    labels = set()
    for holder in (
        modifier,
        getattr(modifier, "matching", None),
        getattr(modifier, "group_labels", None),
    ):
        labels |= set(getattr(holder, "labels", None) or [])
    return [p for p in parts if isinstance(p, promql.Expr)], labels


def named(expression):
    """What an expression names: ([(metric, {label: [(operator, value)]})], {labels of
    groupings})."""
    selectors, grouped, todo = [], set(), [promql.parse(expression)]
    while todo:
        node = todo.pop()
        if isinstance(node, promql.VectorSelector):
            matchers = {}
            for m in node.matchers.matchers:
                matchers.setdefault(m.name, []).append((m.op, m.value))
            selectors.append((node.name, matchers))
            continue
        children, labels = _children(node)
        grouped |= labels
        todo += children
    return selectors, grouped
