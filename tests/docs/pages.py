"""Checks of the pages themselves: how they open, what they link, where they are listed, and the
figures, runbooks and the README that others rely on. check.py runs them."""

import itertools
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNBOOKS = sorted(f"docs/runbooks/{p.name}" for p in (ROOT / "docs/runbooks").glob("*.md"))
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md"))),
    *RUNBOOKS,
    "charts/ostler/README.md",
    "charts/ostler-crds/README.md",
]
INDEX = "docs/README.md"
FIGURES = "docs/figures.md"
README_LINES_MAX = 150
READERS = r"(?:admin|operator on call|contributor|user|finder|reader)\b"

# Commands that give figures beside e2e/bench, and what prints them in the words of the row,
# "…" aside, where something does.
OTHER_FIGURES = {
    "make bench-health": None,
    "make e2e-node": "e2e/node/chapters.py",
    "make scale": None,
    "tests/scale/run --only events": None,
    "docker image inspect -f '{{.Size}}'": None,
    "scripts/newest-parts": None,
}


def read(path):
    """A file of the repository as text."""
    return (ROOT / path).read_text(encoding="utf-8")


def found(pattern, *paths):
    """All that the pattern's group is in these files."""
    return set(
        itertools.chain.from_iterable(re.findall(pattern, read(p), re.MULTILINE) for p in paths)
    )


def openings():
    """Each page says first for whom it is, and what they can do with it."""
    problems = []
    for page in PAGES[1:]:
        first = read(page).split("\n\n", 2)[1]
        said = " ".join(first.split())
        if not re.match(rf"For the [^.]*{READERS}[^.]*\. With this page you can \w", said):
            problems.append(f"{page} opens with: {said[:60]}")
    return problems


def readme():
    """README.md is short, and its figures are those of docs/figures.md."""
    text = read("README.md")
    lines = text.count("\n")
    row = re.search(r"^\| 1,000 GPU nodes: .*\n\|[-|]*\n\| (.*) \|$", text, re.MULTILINE)
    figures = read(FIGURES)
    return [f"README.md has {lines} lines"] * (lines > README_LINES_MAX) + [
        f"{FIGURES} has no cell with README.md's figure {cell!r}"
        for cell in (row[1].split(" | ") if row else ["(none)"])
        if f"| {cell} " not in figures
    ]


def listed():
    """The list of documents has every page, and the page of alerts every runbook."""
    have = {
        (ROOT / "docs" / link).resolve().relative_to(ROOT).as_posix()
        for link in found(r"\]\(([^)#:]+\.md)\)", INDEX)
    }
    runbooks = found(r"\]\((runbooks/\w+\.md)\)", "docs/alerts.md")
    return [
        f"{INDEX} lacks {page}"
        for page in PAGES
        if page not in have and page not in RUNBOOKS and page != INDEX
    ] + [f"docs/alerts.md lacks {page}" for page in RUNBOOKS if page[5:] not in runbooks]


def on_call():
    """Each runbook says the same in the same order, so that the operator on call finds it: can it
    wait, when is it over, what to do without the plugin. No page takes the log of any replica."""
    order = (
        r"\n\n- \*\*Meaning:\*\* .+\n- \*\*Impact:\*\* .+"
        r"\n- \*\*Can it wait until morning\?\*\* .+\n- \*\*Over when\*\* .+"
        r"\n\n## Look\n\n`kubectl gpu` is a \[plugin\]\(\.\./operations\.md#kubectl-gpu\)\. "
        r"Without it, `kubectl get gpunodes -o wide` .+\n\n(?:    .*\n)+"
        r"\n## Fix\n\n\| you see \| do \|\n"
    )
    replica = "logs deployment/"  # of several, perhaps the standby
    return [
        f"{page} is not laid out as the other runbooks"
        for page in RUNBOOKS
        if not re.search(order, read(page))
    ] + [f"{page} has {replica}: use -l and --prefix" for page in PAGES if replica in read(page)]


def runbooks():
    """docs/alerts.md has each alert with severity and summary, its runbook has its name, and there
    is no other runbook."""
    problems, names = [], set()
    for alert in re.split(
        r"^      - alert: ", read("charts/ostler/files/alerts.yaml"), flags=re.MULTILINE
    )[1:]:
        name = alert.partition("\n")[0]
        names.add(f"docs/runbooks/{name}.md")
        severity = re.search(r"severity: (\w+)", alert)[1]
        summary = re.search(r"summary: (.*)", alert)[1]
        row = f"| [{name}](runbooks/{name}.md) | {severity} | {summary} |\n"
        if row not in read("docs/alerts.md"):
            problems.append(f"docs/alerts.md lacks {row.strip()}")
        if f"docs/runbooks/{name}.md" not in RUNBOOKS:
            problems.append(f"{name} has no runbook")
        elif not read(f"docs/runbooks/{name}.md").startswith(f"# {name}\n"):
            problems.append(f"docs/runbooks/{name}.md has another title")
    return problems + [f"no alert has the runbook {page}" for page in set(RUNBOOKS) - names]


def anchors(path):
    """What links can lead to in a page: its headings, as forges name them."""
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in found(r"^#+ (.*)$", path)
    }


def links():
    """Links between documents lead to a file, and to a heading in it; pictures are there."""
    problems = []
    for page in PAGES:
        targets = found(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page)
        targets |= {(path, "") for path in found(r'(?:src|srcset)="(?!https?:)([^"]+)"', page)}
        for target, anchor in sorted(targets):
            path = (ROOT / page).parent / target if target else ROOT / page
            if not path.exists() or anchor and path.suffix == ".md" and anchor not in anchors(path):
                problems.append(f"{page}: {target}{'#' if anchor else ''}{anchor} is not there")
    return problems


def paths():
    """Files and folders that documents name are there; NAME and its like stand for any."""
    folders = "lib|commands|controller|reconcilers|node|tests|e2e|scripts|crds|charts|docs"
    pattern = rf"`((?:{folders})/(?![^`]*(?:NAME|LAYER|PARSER))[\w./-]*)`"
    return [
        f"{page}: {path} is not there"
        for page in PAGES
        for path in sorted(found(pattern, page))
        if not (ROOT / path).exists()
    ]


def rows_of_figures():
    """The cells of the figures: what, how much, by which command."""
    return [
        [cell.strip(" `") for cell in line.split("|")[1:4]]
        for line in read(FIGURES).splitlines()
        if re.match(r"\| (?!\|)", line)
    ]


def figures():
    """docs/figures.md has all that e2e/bench prints, and some of other commands, in the words of
    what prints them. Figures of health are those of docs/health.md."""
    shown = subprocess.run(
        [ROOT / "e2e/bench", "--rows"], check=True, capture_output=True, text=True
    ).stdout
    rows = {
        row: re.escape(row).replace("NODES", "[0-9,]+").replace("MANY", "([0-9,]+|one)")
        for row in shown.splitlines()
    }
    problems, named = [], set()
    health = read("docs/health.md").partition("\n## Figures\n")[2].partition("\n## ")[0]
    for name, much, command in rows_of_figures():
        if command == "make bench":
            known = {row for row, form in rows.items() if re.fullmatch(form, name)}
            named |= known
        elif command == "make bench-health":
            known = all(f in health for f in re.findall(r"[\d.]+ (?:s|MiB)\b", much))
        else:
            text = read(OTHER_FIGURES[command]) if OTHER_FIGURES.get(command) else name
            known = command in OTHER_FIGURES and all(part in text for part in name.split("…"))
        if not known:
            problems.append(f"{FIGURES}: {command} prints no row {name!r}, or not {much!r}")
    return problems + [f"{FIGURES} lacks the row {row!r}" for row in rows if row not in named]


def manifests():
    """No manifest for kubectl begins with a brace: before 1.33 it reads such a stream as JSON. A
    placeholder for a version, pasted as it is, is refused by the API server."""
    return [
        f"{page} has a manifest that begins with a brace, after {m[1]!r}"
        for page in PAGES
        for m in re.finditer(r"^ *(kubectl .*<<.*)\n\s*\{", read(page), re.MULTILINE)
    ] + [
        f"{page} has the placeholder {m[1]!r} for a version: write it in angle brackets"
        for page in PAGES
        for m in re.finditer(r'"version": ?"([A-Z]+)"', read(page))
    ]


CHECKS = [openings, readme, listed, on_call, runbooks, links, paths, manifests, figures]
