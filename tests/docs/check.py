#!/usr/bin/python3
"""Holds the documents against the program, so that they cannot quietly become untrue. Needs
build/ostler and build/ostler-node, and no cluster.

The last line is "docs: N passed, N failed".
"""

import html
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import c_source  # noqa: E402  the path above is what finds it
import pages  # noqa: E402  as above

PROGRAM = pathlib.Path(os.environ.get("OSTLER", ROOT / "build" / "ostler"))
NODE_PROGRAM = pathlib.Path(os.environ.get("OSTLER_NODE", ROOT / "build" / "ostler-node"))
MANUALS = {
    "docs/ostler.1": PROGRAM,
    "docs/ostler-node.1": NODE_PROGRAM,
    "docs/kubectl-gpu.1": PROGRAM.with_name("kubectl-gpu"),
}
CLAIMS = "reconcilers/model/claim_phases.h"
MODULES = {
    "k8s.io/kubernetes": "kubernetes",
    "go.etcd.io/etcd/server/v3": "etcd",
    "sigs.k8s.io/kwok": "tools",
    "helm.sh/helm/v4": "tools",
    "github.com/argoproj/gitops-engine": "../gitops",
    "github.com/yuin/gopher-lua": "../gitops",
    "github.com/fluxcd/cli-utils": "../gitops",
    "github.com/fluxcd/pkg/ssa": "../gitops",
}

# Words that leave open who acts, where a sentence should name the user, the node or the pod; a line
# break may divide the last two.
VAGUE = re.compile(
    r"some(?:body|one)|any(?:body|one|more)|no(?:body)"
    r"|\b(?:any[\s#*/]+more|no[\s#*/]+one)\b(?!-)",
    re.IGNORECASE,
)
# How often they are data: an alert's former name, a former version, a user of Linux.
VAGUE_DATA = {
    "CHANGELOG.md": 1,
    "e2e/previous/templates/all.yaml": 2,
    "tests/unit/support/fake_root.c": 2,
}


def read(path):
    """A file of the repository as text; of a C source with literals and macros joined."""
    if pathlib.Path(path).suffix in (".c", ".h", ".inc"):
        return c_source.read(ROOT / path)
    return (ROOT / path).read_text(encoding="utf-8")


def columns(path, macro, row, *wanted):
    """These columns of an X macro's rows, without quotes."""
    return [
        tuple(c_source.plain(arguments[i]) for i in wanted)
        for arguments, _ in c_source.rows(ROOT / path, macro, row)
    ]


def found(pattern, *paths):
    """All that the pattern's group is in these files."""
    return set(
        itertools.chain.from_iterable(re.findall(pattern, read(p), re.MULTILINE) for p in paths)
    )


def sources(pattern, *folders):
    """The same in all C files and headers of folders."""
    paths = [p.relative_to(ROOT) for f in folders for p in sorted((ROOT / f).glob("*.[ch]"))]
    return found(pattern, *paths)


def cells(path):
    """What stands in backquotes in the first cell of tables."""
    first = found(r"^\| ([^|]*`[^|]*) \|", path)
    return {word for cell in first for word in re.findall(r"`([^`]+)`", cell)}


def differences(documented, real, page, place):
    """Sentences for what is in one and not in the other."""
    return [f"{page} lacks {x}" for x in sorted(real - documented)] + [
        f"{page} has {x}, which is not in {place}" for x in sorted(documented - real)
    ]


def keys_of_names():
    """The keys in names.h, of which some begin as a constant of vendor.h says."""
    begins = dict(
        re.findall(r'^#define (NVIDIA_\w+) "([^"]+)"', read("lib/base/vendor.h"), re.MULTILINE)
    )
    rows = re.findall(
        r'^#define (?:LABEL|TAINT|ANNOTATION|RESOURCE_GPU)\w*(?: (NVIDIA_\w+))?(?: "([^"]+)")?',
        read("reconcilers/model/names.h"),
        re.MULTILINE,
    )
    return {begins.get(first, "") + rest for first, rest in rows} - {""}


def signs_of_vendors():
    """The labels by which GPUs are found, those of each vendor's row included."""
    nfd, keys = "feature.node.kubernetes.io/", set()
    for row in re.split(r"^    (?:\[\w+\] = )?\{$", read("lib/base/vendor.c"), flags=re.MULTILINE)[
        1:
    ]:
        pci = re.search(r"\.pci = 0x(\w+)", row)[1]
        classes = re.findall(r"0x(\w+)", re.search(r"\.classes = \{(.*?)\}", row, re.DOTALL)[1])
        signs = re.search(r"\.signs = \{(.*?\})\s+\},\n", row, re.DOTALL)
        keys |= {f"{nfd}pci-{pci}.present"} | {f"{nfd}pci-{x}_{pci}.present" for x in classes}
        keys |= set(re.findall(r'\{\s+"([^"]+)"', signs[1])) if signs else set()
    labels = re.findall(
        r'^    (NFD )?"([\w./-]+)",', read("reconcilers/model/detect.c"), re.MULTILINE
    )
    return keys | {nfd * bool(first) + rest for first, rest in labels}


def keys_of_marks():
    """docs/node-marks.md has every key of the code, and no other."""
    model = "reconcilers/model/"
    keys = keys_of_names() | signs_of_vendors()
    keys |= found(
        r'^#define POLICY_(?:FINALIZER|FORCE_REMOVAL|RETRY|APPROVED) "([^"]+)"', model + "policy.h"
    )
    for nfd, key in found(
        r'\{\s+SIGN_(?:LABEL|IMAGE|CLAIMS),\s+(NFD )?"([^"]+)"', model + "detect.c"
    ):
        keys.add("feature.node.kubernetes.io/" * bool(nfd) + key)
    keys |= found(r'^#define NFD_\w+ "([^"]+)"', model + "host.c")
    keys |= found(r'\{\s+NULL,\s+"([^"]+/[^"]+)"', model + "host_kind.c")
    documented = cells("docs/node-marks.md") - {"status.nodeInfo.osImage"}
    return differences(documented, keys, "docs/node-marks.md", model)


def help_of(program):
    """What a program prints of itself."""
    return subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout


def manuals():
    """Each program's manual has every command and option of its --help, and no other."""
    problems = []
    for page, program in MANUALS.items():
        shown, place = help_of(program), f"{program.name} --help"
        options = set(re.findall(r"^  (-\S+) ", shown, re.MULTILINE)) | {
            "--help",
            "-h",
            "--version",
        }
        commands = set(re.findall(r"^  ([\w-]*\w) +[\w\[]", shown, re.MULTILINE)) - options
        items = found(r"^\.It (Fl .*)$", page)
        documented = {"-" + flag for item in items for flag in re.findall(r"Fl (\S+)", item)}
        problems += differences(documented, options, page, place)
        problems += differences(found(r"^\.It Cm ([\w-]+)$", page), commands, page, place)
    return problems


def commands_of_the_plugin():
    """Commands of kubectl gpu that documents name are there, and so are the states that they ask
    for."""
    commands = set(re.findall(r"^  (\w+) ", help_of(MANUALS["docs/kubectl-gpu.1"]), re.MULTILINE))
    states = {name for name, in columns("reconcilers/decide/node_types.h", "NODE_STATES", "X", 1)}
    return [
        f"{page}: kubectl gpu has no {word}"
        for page in pages.PAGES
        for word in sorted(
            found(r"kubectl gpu ([a-z]\w+)", page) - commands
            | found(r"kubectl gpu nodes [^`\n]*--state (\w+)", page) - states
        )
    ]


def defaults_in_the_manuals():
    """They give the defaults that --help gives."""
    problems = []
    for page, program in MANUALS.items():
        text = read(page)
        wanted = re.findall(r"default: (\S+)$", help_of(program), re.MULTILINE)
        problems += [
            f"{page} lacks the default {value}"
            for value in wanted
            if not any(f".{kind} {value.lstrip('$')}" in text for kind in ("Li", "Ev"))
        ]
    return problems


def make_targets():
    """Every `make X` of the documents is a target, docs/development.md has every target, and
    docs/sweeps.md every sweep."""
    sweeps = set(" ".join(found(r"^SWEEPS :?\+?= (.*)$", "Makefile")).split())
    plain = {
        x
        for x in " ".join(found(r"^\.PHONY: (.*)$", "Makefile")).split()
        if x[0] != "$" and x != "FORCE"
    }
    targets = plain | sweeps | {x + "-full" for x in sweeps}
    used = {
        word
        for page in pages.PAGES
        for word in found(r"(?:^ {4}|`|\] )make ([a-z0-9]+[a-z0-9-]*)(?=[ `\n])", page)
    }
    return (
        [f"make {x} is in the documents, but not in the Makefile" for x in sorted(used - targets)]
        + [
            f"docs/development.md lacks make {x}"
            for x in sorted(plain - {"all"})
            if f"`make {x}" not in read("docs/development.md")
        ]
        + [
            f"docs/sweeps.md lacks make {x}"
            for x in sorted(sweeps)
            if f"`make {x}`" not in read("docs/sweeps.md")
        ]
    )


def dependencies():
    """docs/dependencies.md has each library that is linked, each package that is installed, and
    the world's versions."""
    text = read("docs/dependencies.md")
    linked = set(" ".join(found(r"^(?:STATIC_)?LIBS := (.*)$", "Makefile")).split())
    plain = re.sub(r" #.*", "", read("scripts/deps"))
    lists = re.findall(r"(?:tools|libraries|archives|packages)\+?=\((.*?)\)", plain, re.DOTALL)
    packages = {x for x in " ".join(lists).split() if x[0] != '"'}
    problems = [
        f"docs/dependencies.md lacks {x}" for x in sorted(linked | packages) if f"`{x}`" not in text
    ]
    for module, folder in MODULES.items():
        version = re.search(
            rf"^\s*{re.escape(module)} (v\S+)", read(f"e2e/world/{folder}/go.mod"), re.MULTILINE
        )[1]
        if f"| `{module}` | {version} |" not in text:
            problems.append(f"docs/dependencies.md: {module} is {version}")
    for module, version in found(r"'(github\S+)@(v\S+)'$", "e2e/gitops/build"):
        if f"| `{module}` | {version} |" not in text:
            problems.append(f"docs/dependencies.md: {module} is {version}")
    return problems


def panel_problems(panel):
    """What Grafana would miss in a panel of the dashboard."""
    source = {"type": "prometheus", "uid": "${datasource}"}
    place = panel.get("gridPos", {})
    targets = panel.get("targets", [])
    wrong = {
        "type": panel.get("type") not in ("stat", "timeseries", "bargauge"),
        "description": not panel.get("description"),
        "gridPos": (
            set(place) != set("xywh")
            or not all(isinstance(n, int) and n >= 0 for n in place.values())
            or place["x"] + place["w"] > 24
            or not place["w"] * place["h"]
        ),
        "datasource": any(x.get("datasource") != source for x in [panel, *targets]),
        "targets": (
            not targets
            or any(not x.get("expr") for x in targets)
            or len({x.get("refId") or None for x in targets} - {None}) < len(targets)
        ),
        "fieldConfig": set(panel.get("fieldConfig", {})) != {"defaults", "overrides"},
    }
    return [f"panel {panel.get('title')}: {key}" for key in sorted(wrong) if wrong[key]]


def dashboard():
    """The dashboard has what Grafana demands of one, and docs/dashboard.svg draws its panels and
    no others."""
    path, picture = "charts/ostler/files/dashboard.json", "docs/dashboard.svg"
    board = json.loads(read(path))
    panels = board["panels"]
    squares = [
        (panel["gridPos"]["x"] + x, panel["gridPos"]["y"] + y)
        for panel in panels
        for x in range(panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["h"])
    ]
    wrong = {
        "title, uid or schemaVersion": not all(
            board.get(key) for key in ("title", "uid", "schemaVersion")
        ),
        "the variable datasource": [
            (v["name"], v["type"], v["query"]) for v in board["templating"]["list"]
        ] != [("datasource", "datasource", "prometheus")],
        "ids of panels": len({panel.get("id") or None for panel in panels} - {None}) < len(panels),
        "panels lie over each other": len(set(squares)) < len(squares),
    }
    drawn = {
        html.unescape(title)
        for title in found(r'font-size="12"[^>]* font-weight="bold">([^<]*)<', picture)
    }
    return (
        [f"{path}: {what}" for what in sorted(wrong) if wrong[what]]
        + [problem for panel in panels for problem in panel_problems(panel)]
        + differences(
            drawn, {panel["title"] for panel in panels}, picture + " (scripts/draw-dashboard)", path
        )
    )


def table_of_reasons():
    """The text of each reason, by its id."""
    return {
        id_: c_source.plain(text)
        for path in sorted((ROOT / "reconcilers/model").glob("reasons_*.inc"))
        for (id_, text, *_), _, _ in c_source.calls(c_source.read(path), "REASON")
    }


def reasons_in(*paths):
    """The texts of the reasons that these files give."""
    texts = table_of_reasons()
    return {texts[id_] for id_ in found(r"REASON_([A-Z0-9_]+)", *paths) if id_ in texts}


def reasons():
    """Documents have the tables of reasons as the code has them, and every state of nodes; and
    steps of claims, alerts and what to do about them name reasons that there are."""
    ran = subprocess.run(
        [ROOT / "scripts/describe-reasons", "--check"], check=False, capture_output=True, text=True
    )
    text, known = read("docs/operations.md"), set(table_of_reasons().values())
    states = {name for name, in columns("reconcilers/decide/node_types.h", "NODE_STATES", "X", 1)}
    steps = {
        word for words, in columns(CLAIMS, "CLAIM_TABLE", "STEP", 2) for word in words.split(", ")
    }
    return (
        ran.stderr.splitlines()
        + [f"docs/operations.md lacks {x}" for x in sorted(states) if f"`{x}`" not in text]
        + [
            f"reconcilers/model/claim_phases.h: no reason is called {x}"
            for x in sorted(steps - known)
        ]
    )


def alerts_of_reasons():
    """An alert about reasons of a rollout names those that there are, says what to do about one
    in the words of the table, and its page has each with the page of the table."""
    rows = {
        c_source.plain(text): (c_source.plain(page), c_source.plain(todo) or "")
        for (_, text, _, page, todo), _, _ in c_source.calls(
            read("reconcilers/model/reasons_rollout.inc"), "REASON"
        )
    }
    problems = []
    for alert in re.split(
        r"^      - alert: ", read("charts/ostler/files/alerts.yaml"), flags=re.MULTILINE
    )[1:]:
        name, said = alert.partition("\n")[0], " ".join(alert.split())
        named = {
            r
            for words in re.findall(r'ostler_rollout_state\{reason=~?"([\w|]+)"', said)
            for r in words.split("|")
        }
        about = {
            r
            for words in re.findall(
                r'ostler_rollout_state\{reason=~?"([\w|]+)"', said.partition("unless on")[0]
            )
            for r in words.split("|")
        }
        page, section = f"docs/runbooks/{name}.md", read(f"docs/runbooks/{name}.md")
        problems += [
            f"{name}: no reason of rollouts is called {r}" for r in sorted(named - set(rows))
        ]
        for r in sorted(about & set(rows)):
            where, todo = rows[r][0], rows[r][1].replace("`", "")
            if len(about) == 1 and todo.lower() not in said.lower():
                problems.append(f"{name}: its description does not say: {todo}")
            if f"`{r}`" not in section or where is not None and f"](../{where})" not in section:
                problems.append(f"{page}: no `{r}` with a link to {where}")
    return problems


def sentences():
    """docs/operations.md, *When it cannot work*, has every reason and readiness check, and what
    it quotes is said."""
    table = re.search(
        r"^## When it cannot work\n(.*?)^## ", read("docs/operations.md"), re.MULTILINE | re.DOTALL
    )[1]
    quoted = set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))
    files = [
        path
        for folder in ("lib", "commands", "controller", "reconcilers")
        for path in sorted((ROOT / folder).rglob("*.c"))
    ]
    said = "".join(read(path) for path in files)
    real = reasons_in("reconcilers/model/prerequisites.c")
    checks = found(r'\{\s+"(\w+)",\s+engine_why', "controller/operator.c")
    return (
        [f"docs/operations.md lacks {x}" for x in sorted(real - quoted)]
        + [
            f"docs/operations.md: no source says {x!r}"
            for x in sorted(quoted)
            if x not in said and x not in real
        ]
        + [
            f"docs/operations.md lacks the check {x}"
            for x in sorted(checks)
            if f"`{x}` (" not in read("docs/operations.md")
            and f"`{x}`." not in read("docs/operations.md")
        ]
    )


def upgrades():
    """docs/upgrades.md has each phase and each reason of an upgrade that docs/reasons.md lacks,
    and each field of spec.rollout."""
    plan, page = "reconcilers/decide/", "docs/upgrades.md"
    real = {name for name, in columns(CLAIMS, "CLAIM_TABLE", "PHASE", 1)}
    real |= reasons_in(plan + "rollout_grants.c", plan + "rollout_report.c", plan + "drain.c")
    real |= reasons_in(plan + "upgrade_steps.c", plan + "upgrade_phases.c") - set(
        found(r"`(\w+)`", "docs/reasons.md")
    )
    text = read(page)
    example = text[text.index("## What you can say") : text.index("## See it")]
    fields = {
        f.rpartition(".")[2] for f in found(r"^\| `rollout\.([\w.\[\]]+)` \|", "docs/policy.md")
    }
    fields -= {"matchExpressions", "key", "operator", "values"}
    return [f"{page} lacks {x}" for x in sorted(real) if f"`{x}`" not in text] + [
        f"{page} has no example of rollout.{x}" for x in sorted(fields) if f"{x}:" not in example
    ]


def metrics():
    """docs/operations.md has every metric."""
    prefixes = "ostler|controller_runtime|workqueue|rest_client|leader_election"
    real = sources(
        rf'\{{\s+"((?:{prefixes})_\w+)"',
        "controller",
        "controller/engine",
        "lib/runtime",
        "reconcilers",
    )
    text = read("docs/operations.md")
    return [f"docs/operations.md lacks {x}" for x in sorted(real) if f"`{x}`" not in text]


def invariants():
    """docs/sweeps.md has every invariant of the sweeps, in its words, and no other."""
    real = {
        f"`{name}`: {text}"
        for name, text in columns("tests/sweep/invariants.h", "INVARIANTS", "X", 0, 1)
    }
    documented = {
        f"`{name}`: {text}"
        for name, text in found(r"^\| `([GHLSU][A-Z0-9_]+)` \| (.*) \|$", "docs/sweeps.md")
    }
    return differences(documented, real, "docs/sweeps.md", "tests/sweep/invariants.h")


def files():
    """docs/files.md has each file with what its header says, and each file says what it is."""
    ran = subprocess.run(
        [ROOT / "scripts/describe-files", "--check"], check=False, capture_output=True, text=True
    )
    return ran.stderr.splitlines()


def states():
    """docs/ARCHITECTURE.md has the states of nodes and the steps of claims as the code has them."""
    ran = subprocess.run(
        [ROOT / "scripts/describe-states", "--check"], check=False, capture_output=True, text=True
    )
    return ran.stderr.splitlines()


def health():
    """docs/health.md has every Xid as the code has it, and every level has a section."""
    ran = subprocess.run(
        [ROOT / "scripts/describe-health", "--check"], check=False, capture_output=True, text=True
    )
    levels = found(r'\[HEALTH_\w+\] = "(\w+)"', "reconcilers/model/xid.c")
    sections = found(r"^### (\w+)$", "docs/health.md")
    return ran.stderr.splitlines() + [
        f"docs/health.md has no section {level}" for level in sorted(levels - sections)
    ]


def events():
    """docs/reasons.md has every Event about a node's writes and about a rollout."""
    real = reasons_in(
        "reconcilers/notices.c", "reconcilers/decide/rollout_events.c", "reconcilers/log_tail.c"
    )
    text = read("docs/reasons.md")
    return [f"docs/reasons.md lacks the Event {x}" for x in sorted(real) if f"`{x}`" not in text]


def security():
    """Each threat of docs/security.md has a test, and each test that it names is there, with the
    words that it gives."""
    page = "docs/security.md"
    table = read(page).partition("## Threats")[2].partition("\n## ")[0]
    rows = [
        line.strip("| ").split(" | ")
        for line in table.splitlines()
        if line.startswith("| ") and not line.startswith("| threat")
    ]
    problems = [
        f"{page} has no test for: {row[0]}"
        for row in rows
        if len(row) != 3 or not re.search(r'`[^`]+`: "', row[2])
    ]
    fields = (
        read(page).partition("## What a policy puts into privileged pods")[2].partition("\n## ")[0]
    )
    fields = [line for line in fields.splitlines() if line.startswith("| `")]
    problems += [
        f"{page} has no test for: {line}"
        for line in fields
        if not re.search(r'`[^`]+`: "[^|]+\|$', line)
    ]
    for path, words in sorted(found(r'`([\w.-]+/[\w./-]+)`: "([^"]+)"', page)):
        if not (ROOT / path).exists() or words not in read(path):
            problems.append(f"{page}: {path} has no {words!r}")
    return problems if rows else [f"{page} has no threats"]


def settings():
    """docs/policy.md has the variables and arguments that a policy may set by default, and no
    others."""
    real = set(
        "".join(
            re.findall(
                r'"([^"]*)"',
                read("reconcilers/model/policy.h")
                .partition("#define POLICY_SETTINGS")[2]
                .partition("\n\n")[0]
                .partition("/*")[0],
            )
        ).split(",")
    )
    block = read("docs/policy.md").partition("By default that is\n\n")[2].partition("\n\n")[0]
    return differences(
        set(block.replace(",", " ").split()), real, "docs/policy.md", "POLICY_SETTINGS"
    )


def words():
    """No file of the repository has a vague word, in its text or in its name."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    problems = []
    for path in sorted(p for p in listed.split("\0") if (ROOT / p).is_file()):
        text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
        places = [
            f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {m[0]!r}"
            for m in VAGUE.finditer(text)
        ]
        if len(places) != VAGUE_DATA.get(path, 0):
            problems += places or [f"{path} has none of the words that VAGUE_DATA gives it"]
        problems += [f"the name of {path}: {m[0]!r}" for m in VAGUE.finditer(path)]
    return problems


CHECKS = [
    words,
    security,
    settings,
    dashboard,
    states,
    health,
    events,
    keys_of_marks,
    manuals,
    commands_of_the_plugin,
    defaults_in_the_manuals,
    make_targets,
    dependencies,
    reasons,
    alerts_of_reasons,
    upgrades,
    metrics,
    invariants,
    files,
    sentences,
    *pages.CHECKS,
]


def main():
    """Runs all checks and counts."""
    failed = 0
    for check in CHECKS:
        try:
            problems = check()
        except (OSError, TypeError, subprocess.CalledProcessError) as e:
            problems = [f"cannot be checked: {e}"]
        if problems:
            failed += 1
            print("FAIL " + " ".join(check.__doc__.split()))
            print("\n".join(f"     {problem}" for problem in problems))
    print(f"docs: {len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
