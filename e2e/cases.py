"""Plays case files (tests/rollouts) on the real control plane: those whose `worlds` name it.

A file means the same in both worlds. In the simulator everything happens at its own time, and each
row of `expect` is tried at its time. Here time passes when there is nothing to wait for: before an
action, the rows of all earlier times must come true, those of one time together. Where no row says
what an action waits for, it waits until nothing moves. When a row does not come true and nothing
moves, claims and soaks grow as old as the file's time says.

What runs for a time (`run` of programs, `pull` of images) ends when the file's time has come there.
KWOK plays drivers that fail by a word in their image (e2e/world/stages.yaml): the player puts that
word behind the version that a row of the file means.
"""

import json
import pathlib
import re
import time

import kube
import upgrades
import yaml
from journal import Journal, claim_of, fits
from names import OPERANDS, ROOT

FOLDER = ROOT / "tests" / "rollouts"
FOR_EVER = 366 * 24 * 3600.0
STILL = 3.0  # seconds in which nothing has moved: nothing will by itself
STAYS = 1.0  # so long the end has to stay as it is
ARRIVES = 40  # seconds for a row to come true, on a machine that has nothing else to do
QUIET_GAP = 10.0  # seconds between two actions of a file after which the second waits for quiet
# Facts of machines that KWOK does not have.
NOT_HERE = {"boots", "unloads", "configured", "label nvidia.com/cuda.driver-version.full"}
# Annotations of a revision's record: since when its canary, or its last wave, has come through.
SOAKS = ("ostler.dev/canary-", "ostler.dev/wave-")
WORDS = {"FailsBuild": "crash", "Hangs": "slow"}
ENDS = "test.ostler.dev/complete"  # on a pod: it comes to its end
GOES = "test.ostler.dev/go"  # on a pod: it fares well after all
KIND_OF = {plural: kind for kind, (_, plural, _) in kube.KINDS.items()}
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
KEYS = {
    "name",
    "about",
    "base",
    "worlds",
    "shapes",
    "nodes",
    "labeller",
    "latencies",
    "programs",
    "images",
    "drivers",
    "changes",
    "objects",
    "actions",
    "expect",
}


def seconds(text):
    """A duration as scenarios have it: "1h30m"."""
    return sum(float(n) * UNITS[unit] for n, unit in re.findall(r"(\d+)(ms|s|m|h)", text))


def read(file):
    """A case file with what it takes from its base."""
    case = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {**read(file.parent / case["base"]), **case} if "base" in case else case


def of_this_world(world):
    """The case files that are played here, by name; "real-full": those that the simulator alone
    plays in `make test`."""
    cases = {file.stem.replace("-", "_"): file for file in sorted(FOLDER.glob("*.yaml"))}
    return {name: file for name, file in cases.items() if world in read(file).get("worlds", [])}


# ---- facts


def text_of(value):
    """A value as the pattern of a row sees it."""
    if value is None or value == "":
        return "none"
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def at(value, path):
    """What stands at a path, or None."""
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


class Facts:
    """What is so of objects (tests/sweep/fact.h)."""

    def __init__(self, env):
        self._env = env

    def of(self, obj, fact):
        """One fact as text."""
        word, _, rest = fact.partition(" ")
        if word in ("label", "annotation"):
            return text_of(obj["metadata"].get(f"{word}s", {}).get(rest))
        if word == "taint":
            taints = {t["key"]: t["effect"] for t in obj["spec"].get("taints", [])}
            return text_of(taints.get(rest))
        if word == "condition":
            kind, _, member = rest.partition(" ")
            return text_of(kube.condition(obj, kind).get(member or "status"))
        if word.startswith("claim"):
            return self._claim(obj, word.partition(".")[2] or "phase")
        if fact == "gpus":
            return obj["status"].get("allocatable", {}).get("nvidia.com/gpu", "0")
        return self._driver(obj["metadata"]["name"]) if fact == "driver" else text_of(at(obj, fact))

    @staticmethod
    def _claim(node, member):
        claim = claim_of(node)
        return "unreadable" if claim is None else text_of(claim.get(member))

    def _driver(self, node):
        """The version of the driver that runs there."""
        ready = [p for p in self._env.pods(node, "driver") if kube.pod_ready(p)]
        if not ready:
            return "none"
        tag = kube.main_container(ready[0])["image"].rpartition(":")[2]
        return tag.partition("-")[0]


class Rows:
    """Rows of `expect`, tried on the world as it is."""

    def __init__(self, env, journal):
        self._env, self._journal, self._facts = env, journal, Facts(env)

    def broken(self, row, spoilt=False):
        """Why a row does not hold; None: it does. Spoilt, no row may."""
        if "most" in row:
            return self._counted(row, self._journal.most(row["most"]), spoilt)
        if "times" in row:
            n = self._journal.times(row["times"], row["of"])
            return "no such name was there" if n is None else self._counted(row, n, spoilt)
        if "order" in row:
            return self._in_order(["spoilt " * spoilt + p for p in row["order"]])
        return self._of_objects(row, spoilt)

    def _in_order(self, patterns):
        claims = self._journal.claims
        so = len(patterns) <= len(claims) and all(map(fits, patterns, claims))
        return None if so else f"it was {claims}"

    @staticmethod
    def _counted(row, n, spoilt):
        low, _, high = str(row["count"]).partition("..")
        by = 1000000 * spoilt
        return None if int(low) + by <= n <= int(high or low) + by else f"it was {n}"

    def _of_objects(self, row, spoilt):
        name = row.get("nodes", row.get("name", "*"))
        there = self._env.k.list(KIND_OF[row.get("kind", "nodes")], row.get("namespace"))
        meant = [o for o in there if fits(name, o["metadata"]["name"])]
        lacks = [self._lacks(o, row.get("have", {}), spoilt and "count" not in row) for o in meant]
        good = lacks.count(None)
        if "count" in row:
            so = self._counted(row, good, spoilt) is None and (meant or "have" not in row)
        else:
            so = bool(meant) and good == len(meant)
        why = [lack for lack in lacks if lack][:5]
        return None if so else "; ".join([*why, f"{len(meant)} are there, {good} of them so"])

    def _lacks(self, obj, have, spoilt):
        for fact, wanted in have.items():
            found = None if fact in NOT_HERE else self._facts.of(obj, fact)
            if found is not None and not fits("spoilt " * spoilt + text_of(wanted), found):
                return f"{obj['metadata']['name']} has {fact} \"{found[:300]}\""
        return None


# ---- the world


class Case:
    """One case while it is played."""

    def __init__(self, env, file):
        self._env = env
        self._case = read(file)
        unknown = set(self._case) - KEYS
        assert not unknown, f"{file.name} cannot be played here: {sorted(unknown)}"
        self._shapes = {s["name"]: s for s in self._case.get("shapes", [])}
        self._now = 0.0  # the file's time
        self._began = {}  # uid of a pod -> the file's time when it was first seen
        self._cordoned = set()  # nodes that an action has cordoned
        self._journal = None

    def play(self):
        """From the beginning to the end."""
        for node in self._case.get("nodes", []):
            ends = [f"-{i + 1}" for i in range(node["count"])] if "count" in node else [""]
            for end in ends:
                self._node_add({**node, "name": node["name"] + end})
        for obj in self._case.get("objects", []):
            self._env.create(obj)
        with Journal(self._env) as self._journal:
            self._play_moments(Rows(self._env, self._journal))
        odd = self._journal.cordons - self._cordoned
        assert not odd, f"cordoned, by no action: {odd}"

    def _play_moments(self, rows):
        after_action = False
        for when, group, action in self._moments():
            if action and after_action and when - self._now > QUIET_GAP:
                self._env.wait(lambda: self._is_still(0.0), ARRIVES, "nothing moves")
            if action:
                self._pass(when)
                self._do(action)
            else:
                self._arrive(when, group, rows)
            after_action = bool(action)

    def _moments(self):
        """(time, rows, None) and (time, None, action) in the order of their times.

        Rows of a time come before its actions, and those without one last.
        """
        times = {}
        for row in self._case["expect"]:
            times.setdefault(seconds(row["at"]) if "at" in row else FOR_EVER, []).append(row)
        moments = [(when, rows, None) for when, rows in times.items()]
        moments += [(seconds(a["at"]), None, a) for a in self._case.get("actions", [])]
        return sorted(moments, key=lambda m: (m[0], m[2] is not None))

    def _is_still(self, since):
        """Whether nothing has moved for a while; nothing before `since` counts."""
        return time.monotonic() - max(since, self._journal.changed) > STILL

    def _arrive(self, when, group, rows):
        """Waits until all rows of a time hold together."""
        gap, began, meant = when - self._now, time.monotonic(), {}
        self._pass(when)

        def hold():
            broken = [f"{row}: {why}" for row, why in ((r, rows.broken(r)) for r in group) if why]
            if not broken:
                return True
            self._end_programs()
            if self._is_still(began):
                self._grow_old(gap + time.monotonic() - began, meant, when < FOR_EVER)
            return "; ".join(broken)[:2000]

        self._env.wait(hold, ARRIVES, f"what is expected at {when:g} s")
        if when == FOR_EVER:
            self._env.stays(lambda: not any(rows.broken(r) for r in group), STAYS, "the end")
        idle = [
            r
            for r in group
            if not set(r.get("have", {})) & NOT_HERE and not rows.broken(r, spoilt=True)
        ]
        assert not idle, f"this cannot fail: {idle}"

    # ---- time

    def _pass(self, when):
        """The file's time comes to be that; what ran until then is over."""
        self._end_programs()
        self._now = max(self._now, when)
        self._end_programs()

    def _end_programs(self):
        for row in self._case.get("programs", []):
            if "run" in row:
                self._end_pods(row["image"], seconds(row["run"]), ENDS)
        for row in self._case.get("images", []):
            if "pull" in row:
                self._end_pods(row["image"], seconds(row["pull"]), GOES, "ostler.dev/task=pull")
        for change in self._case.get("changes", []):
            assert set(change) == {"at", "drivers"} and not change["drivers"], "no such change here"
            if seconds(change["at"]) <= self._now:
                self._end_pods("*-slow*", 0, GOES, "app.kubernetes.io/component=driver")

    def _end_pods(self, image, run, annotation, labels=None):
        for pod in self._env.k.list("Pod", labels=labels):
            metadata = pod["metadata"]
            images = [c["image"].replace("-heavy", "") for c in pod["spec"]["containers"]]
            if annotation in metadata.get("annotations", {}):
                continue
            began = self._began.setdefault(metadata["uid"], self._now)
            if any(fits(image, i) for i in images) and self._now - began >= run:
                patch = {"metadata": {"annotations": {annotation: "true"}}}
                self._env.k.merge_patch("Pod", metadata["name"], patch, metadata["namespace"])

    def _grow_old(self, by, meant, claims):
        """What soaks grows older, once, and so do claims: what moves none is over after its time.

        meant: what was made older already, and the try of an upgrade that a claim is of.
        """
        for record in self._env.k.list("ControllerRevision", OPERANDS):
            metadata = record["metadata"]
            soaks = {
                key: upgrades.ago(by)
                for key in metadata.get("annotations", {})
                if key.startswith(SOAKS)
            }
            if soaks and meant.setdefault(metadata["uid"], by) == by:
                patch = {"metadata": {"annotations": soaks}}
                self._env.k.merge_patch("ControllerRevision", metadata["name"], patch, OPERANDS)
        claimed = [n for n in self._env.k.list("Node") if claims and claim_of(n)]
        names = [n["metadata"]["name"] for n in claimed]
        if names:
            upgrades.old_news(self._env, *names)
            upgrades.news(self._env, names)
        for name, node in zip(names, claimed):
            upgrades.age(self._env, name, by, meant.setdefault(name, upgrades.try_of(node)))

    # ---- actions

    def _do(self, action):
        name = re.sub(r"(?<!^)([A-Z])", r"_\1", action["do"]).lower()
        getattr(self, f"_{name}")(action)

    @staticmethod
    def _named(action):
        if "node" in action:
            return "Node", action["node"], None
        return KIND_OF[action["kind"]], action["name"], action.get("namespace")

    def _patch(self, action, patch):
        kind, name, namespace = self._named(action)
        self._env.k.merge_patch(kind, name, patch, namespace)

    def _create(self, action):
        obj = action["with"]
        if obj["kind"] == "GpuClusterPolicy":
            self._env.policy(self._worded(obj["spec"]))
        else:
            self._env.create(obj)

    def _edit(self, action):
        patch = action["with"]
        if action["kind"] == "gpuclusterpolicies":
            patch = {**patch, "spec": self._worded(patch["spec"])}
        self._patch(action, patch)

    def _delete(self, action):
        kind, name, namespace = self._named(action)
        self._env.k.delete(kind, name, namespace)

    def _label(self, action):
        self._patch(action, {"metadata": {"labels": action["with"]}})

    def _annotate(self, action):
        values = {key: self._value(action, value) for key, value in action["with"].items()}
        self._patch(action, {"metadata": {"annotations": values}})

    def _cordon(self, action):
        self._cordoned.add(action["node"])
        self._patch(action, {"spec": {"unschedulable": True}})

    def _uncordon(self, action):
        self._patch(action, {"spec": {"unschedulable": None}})

    def _untaint(self, action):
        taints = self._env.get_node(action["node"])["spec"].get("taints", [])
        left = [t for t in taints if t["key"] != action["with"]["key"]]
        self._patch(action, {"spec": {"taints": left}})

    def _node_add(self, action):
        shape = self._shapes[action["shape"]]
        assert (shape["osID"], shape["osVersion"]) == ("ubuntu", "24.04"), "nodes have Ubuntu 24.04"
        gpu = "nfd" if self._case.get("labeller") and shape["gpus"] else None
        labels = {**shape.get("labels", {}), **action.get("labels", {})}
        self._env.add_node(
            action["name"],
            gpu,
            images=2,
            labels=labels,
            taints=shape.get("taints"),
            annotations={"test.ostler.dev/gpus": str(shape["gpus"])},
        )

    def _node_remove(self, action):
        self._env.vanish(action["node"])

    def _node_down(self, action):
        upgrades.go_down(self._env, action["node"])

    def _node_up(self, action):
        upgrades.come_back(self._env, action["node"])

    def _reboot(self, action):
        upgrades.reboot(self._env, action["node"])

    def _crash(self, _action):
        self._env.operator.kill()
        self._env.operator.start()

    def _value(self, action, value):
        """What people read elsewhere: "=status.rollout.reason", "=gpunodes/gpu-1 status.state"."""
        if not isinstance(value, str) or not value.startswith("="):
            return value
        place, _, rest = value[1:].partition(" ")
        if "/" not in place:
            kind, name, namespace = self._named(action)
            return text_of(at(self._env.k.get(kind, name, namespace), place))
        plural, _, name = place.partition("/")
        path, _, behind = rest.partition(" ")
        return text_of(at(self._env.k.get(KIND_OF[plural], name), path)) + behind

    # ---- versions

    def _worded(self, spec):
        """A policy's spec with the words by which KWOK plays its drivers as the file's rows say."""
        spec = json.loads(json.dumps(spec))
        for part in [spec, *(spec.get("pools") or [])]:
            driver = part.get("driver") or {}
            row = self._row(driver["version"]) if driver.get("version") else {}
            where = f"-on-{row['node'].replace('-', '.')}" if "node" in row else ""
            if row:
                driver["version"] += f"-{self._word(row)}{where}"
        return spec

    def _row(self, version):
        """The first row of drivers or images that means a version; {} where it fares well."""
        image = f"nvcr.io/nvidia/driver:{version}-ubuntu24.04"
        rows = [r for r in self._case.get("drivers", []) if fits(r.get("version", "*"), version)]
        rows += [r for r in self._case.get("images", []) if fits(r["image"], image)]
        return next((r for r in rows if r.get("outcome") != "Works"), {})

    @staticmethod
    def _word(row):
        if "outcome" in row:
            return WORDS[row["outcome"]]
        return "missing" if row.get("missing") else "heavy"


def play(env, file):
    """Plays a case file."""
    Case(env, pathlib.Path(file)).play()
