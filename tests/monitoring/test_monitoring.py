#!/usr/bin/python3
"""Holds the alerts and the dashboard of the chart against the program.

The unmodified program runs in simulated clusters (worlds.py), one for each state that an alert
is for. What it exports there, held for days, goes through promtool: each alert fires in the
state that it is for, and none other does. What expressions name (metrics, labels, values) is
found by a parser of PromQL and must be among what was exported. alerts_test.yaml has what a
cluster cannot be brought to in seconds.

    tests/monitoring/test_monitoring.py [WORLD…]

Prints "monitoring: N passed, N failed".
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import exposition  # noqa: E402  the path above is what finds these
import worlds  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALERTS = ROOT / "charts/ostler/files/alerts.yaml"
DASHBOARD = ROOT / "charts/ostler/files/dashboard.json"
PROMTOOL = exposition.TOOLS / "promtool"
AT_A_TIME = 20  # worlds: they mostly wait
HOURS = 60  # how long a state lasts: the slowest alert takes two days
STEP_MIN = 5  # between two scrapes; the alerts are evaluated once an hour
OLDEST = "ostler_node_state_oldest_seconds"
MACROS = {"$__rate_interval": "5m", "$__range": "6h"}


def expressions():
    """[(where, expression)] of all alerts and panels."""
    text = ALERTS.read_text(encoding="utf-8")
    found = []
    for alert, body in re.findall(
        r"- alert: (\w+)\n\s+expr: (?:>-\n)?((?:.*\n)+?)(?=\s+(?:for|labels):)", text
    ):
        found.append((alert, " ".join(body.split())))
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for macro, value in MACROS.items():
                expression = expression.replace(macro, value)
            found.append((f"panel {panel['title']}", expression))
    return found


# ---- names


def known_values(scrapes):
    """{metric: {label: {values}}} of everything that was exported."""
    known = {}
    for scrape in scrapes:
        for series in scrape.values:
            labels = known.setdefault(series.name, {})
            for name, value in series.labels:
                labels.setdefault(name, set()).add(value)
    return known


def words_of_the_program():
    """Words that no world may have brought about: reasons of a rollout, states of nodes, words
    of agents."""
    text = "".join(
        (ROOT / path).read_text(encoding="utf-8")
        for path in (
            "reconcilers/model/reasons_rollout.inc",
            "reconcilers/decide/node_types.h",
            "reconcilers/fleet_metrics.c",
        )
    )
    return set(re.findall(r'X\(\w+, "(\w+)"', text)) | set(re.findall(r'"([A-Z]\w+)"', text))


def wrong_values(where, known, words, matchers):
    """Sentences for values that a label never has."""
    wrong = []
    for label, conditions in matchers.items():
        for operator, value in conditions:
            alternatives = (
                value.split("|")
                if str(operator) in ("=~", "!~", "MatchOp.Re", "MatchOp.NotRe")
                else [value]
            )
            plain = [a for a in alternatives if re.fullmatch(r"[\w<>]+", a)]
            wrong += [
                f"{where}: {label} is never {a}"
                for a in plain
                if a not in known.get(label, set()) | words and not re.fullmatch(r"[45]\d\d", a)
            ]
    return wrong


def names(scrapes):
    """What expressions name is what the program exports."""
    known, words, problems = known_values(scrapes), words_of_the_program(), []
    for where, expression in expressions():
        selectors, grouped = exposition.named(expression)
        for metric, matchers in selectors:
            if metric not in known:
                problems.append(f"{where}: there is no {metric}")
                continue
            problems += [
                f"{where}: {metric} has no label {label}"
                for label in set(matchers) - set(known[metric])
            ]
            problems += wrong_values(f"{where}: {metric}", known[metric], words, matchers)
        labels = {label for metric, _ in selectors for label in known.get(metric, {})}
        problems += [
            f"{where}: nothing has the label {label}" for label in sorted(grouped - labels)
        ]
    return problems


def documented():
    """Each alert has its words, and the address of a page that says what to do."""
    text, problems = ALERTS.read_text(encoding="utf-8"), []
    alerts = text.split("- alert: ")[1:]
    for alert in alerts:
        name = alert.split("\n")[0]
        problems += [
            f"{name} has no {word}"
            for word in ("severity", "summary", "description", "runbook_url")
            if f"{word}:" not in alert
        ]
        page = f"docs/runbooks/{name}.md"
        if f"runbook_url: {page}\n" not in alert or not (ROOT / page).is_file():
            problems.append(f"{name} has no runbook_url, or there is no {page}")
    tried = set().union(*(w.alerts for w in worlds.WORLDS.values()))
    tried |= set(
        re.findall(
            r"alertname: (\w+)",
            (ROOT / "tests/monitoring/alerts_test.yaml").read_text(encoding="utf-8"),
        )
    )
    return problems + [
        f"{a.split()[0]} never fires in a test" for a in alerts if a.split()[0] not in tried
    ]


def promtool(*arguments):
    """Sentences of promtool where it finds something wrong."""
    ran = subprocess.run(
        [PROMTOOL, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    return (ran.stdout + ran.stderr).splitlines() if ran.returncode else []


# ---- firing


def slope(series, first, last):
    """What the series grows by in a second: counters as they did, ages by one, all else not at
    all."""
    family = re.sub(r"_(bucket|sum|count)$", "", series.name)
    before, after = first.values.get(series), last.values[series]
    if before is None or after <= before:
        return 0
    if series.name == OLDEST:
        return 1
    grows = last.kinds.get(series.name) == "counter" or last.kinds.get(family) == "histogram"
    return (after - before) / (last.at - first.at) if grows else 0


def input_series(looks):
    """What was exported and alerts look at, going on as it is, in promtool's words."""
    rows = []
    wanted = {
        metric
        for where, e in expressions()
        if not where.startswith("panel ")
        for metric, _ in exposition.named(e)[0]
    }
    for first, last in looks:
        for series, value in last.values.items():
            if series.name in wanted:
                step = slope(series, first, last) * STEP_MIN * 60
                steps = HOURS * 60 // STEP_MIN
                rows.append({"series": str(series), "values": f"{value:.6f}+{step:.6f}x{steps}"})
    return rows


def firing(looks, alerts):
    """Which alerts fire when this goes on is what it should be."""
    test = {
        "rule_files": [str(ALERTS)],
        "evaluation_interval": "1h",
        "tests": [
            {
                "interval": f"{STEP_MIN}m",
                "input_series": input_series(looks),
                "promql_expr_test": [
                    {
                        "expr": 'group by (alertname) (ALERTS{alertstate="firing"})',
                        "eval_time": f"{HOURS}h",
                        "exp_samples": [
                            {"labels": f'{{alertname="{a}"}}', "value": 1} for a in sorted(alerts)
                        ],
                    }
                ],
            }
        ],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(test, file)
        file.flush()
        return promtool("test", "rules", file.name)


def live(world):
    """(what was exported in a world, what is wrong with the alerts there)."""
    try:
        looks = worlds.live(world)
    except (TimeoutError, RuntimeError) as e:
        return [], [str(e)]
    return looks, firing(looks, world.alerts)


def main():
    """Runs everything and counts."""
    chosen = [worlds.WORLDS[name] for name in sys.argv[1:] or worlds.WORLDS]
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        lived = list(pool.map(live, chosen))
    results = {world.about: problems for world, (_, problems) in zip(chosen, lived)}
    if not sys.argv[1:]:
        scrapes = [look for looks, _ in lived for pair in looks for look in pair]
        results["expressions name what is exported"] = names(scrapes)
        results["each alert is explained and tried"] = documented()
        results["alerts that take longer"] = promtool(
            "test", "rules", ROOT / "tests/monitoring/alerts_test.yaml"
        )
    failed = 0
    for name, problems in results.items():
        failed += bool(problems)
        if problems:
            print("FAIL " + name)
            print("\n".join(f"     {p}" for p in problems[:20]))
    print(f"monitoring: {len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
