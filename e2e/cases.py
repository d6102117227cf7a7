"""Plays case files (tests/rollouts) on the real control plane: those whose `worlds` name it.

A file means the same in both worlds. In the simulator everything happens at its own time, and each row of `expect` is looked at in
its time. Here time passes when there is nothing to wait for: before an action all rows of earlier times have to come true, those of
one time together and in the order of their times; where no row says what an action waits for, it waits until nothing moves. When a
row does not come true and nothing moves any more, claims grow as old as the file's time says.

What runs for a time (`run` of programs, `pull` of images) ends when the file's time has come there. KWOK plays drivers that fail
by a word in their image (e2e/world/stages.yaml): it is put behind the version that the file's rows mean.
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
STILL = 3.0       # seconds in which nothing has moved: nothing will by itself
STAYS = 1.0       # so long the end has to stay as it is
ARRIVES = 40      # seconds for a row to come true, on a machine that has nothing else to do
# What KWOK's machines do not have: the modules, boots and files of one.
NOT_HERE = ("boots", "unloads", "configured", "label nvidia.com/cuda.driver-version.full")
# Annotations of a revision's record: since when its canary, or its last wave, has come through.
SOAKS = ("ostler.dev/canary-", "ostler.dev/wave-")
WORDS = {"FailsBuild": "crash", "Hangs": "slow"}
KIND_OF = {plural: kind for kind, (_, plural, _) in kube.KINDS.items()}
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
KEYS = {"name", "about", "base", "worlds", "shapes", "nodes", "labeller", "latencies", "programs", "images", "drivers", "objects",
        "actions", "changes", "expect"}


def seconds(text):
    """A duration as scenarios have it: "1h30m"."""
    return sum(float(n) * UNITS[unit] for n, unit in re.findall(r"(\d+)(ms|s|m|h)", text))


def read(file):
    """A case file with what it takes from its base."""
    case = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {**read(file.parent / case["base"]), **case} if "base" in case else case


def of_this_world():
    """The case files that are played here, by name."""
    cases = {file.stem.replace("-", "_"): file for file in sorted(FOLDER.glob("*.yaml"))}
    return {name: file for name, file in cases.items() if "real" in read(file).get("worlds", [])}


# ---- facts

def text_of(value):
    """A value as a row's pattern sees it."""
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
        metadata = obj["metadata"]
        if word in ("label", "annotation"):
            return text_of(metadata.get(f"{word}s", {}).get(rest))
        if word == "taint":
            return text_of(next((t["effect"] for t in obj["spec"].get("taints", []) if t["key"] == rest), None))
        if word == "condition":
            kind, _, member = rest.partition(" ")
            return text_of(kube.condition(obj, kind).get(member or "status"))
        if word.startswith("claim"):
            return self._claim(obj, word.partition(".")[2] or "phase")
        if fact == "gpus":
            return obj["status"].get("allocatable", {}).get("nvidia.com/gpu", "0")
        return self._driver(metadata["name"]) if fact == "driver" else text_of(at(obj, fact))

    @staticmethod
    def _claim(node, member):
        claim = claim_of(node)
        return "unreadable" if claim is None else text_of(claim.get(member))

    def _driver(self, node):
        """The version of the driver that runs there."""
        ready = [p for p in self._env.pods(node, "driver") if kube.pod_ready(p)]
        return kube.main_container(ready[0])["image"].rpartition(":")[2].partition("-")[0] if ready else "none"


class Rows:
    """Rows of `expect`, tried on the world as it is."""

    def __init__(self, env, journal):
        self._env, self._journal, self._facts = env, journal, Facts(env)

    def broken(self, row, spoilt=False):
        """Why a row does not hold; None: it does. Spoilt, no row may."""
        if "most" in row:
            return self._counted(row, self._journal.most(row["most"]), spoilt)
        if "times" in row:
            times = self._journal.times(row["times"], row["of"])
            return "nobody of such a name was there" if times is None else self._counted(row, times, spoilt)
        if "order" in row:
            patterns = ["spoilt " * spoilt + p for p in row["order"]]
            claims = self._journal.claims
            so = len(patterns) <= len(claims) and all(map(fits, patterns, claims))
            return None if so else f"it was {claims}"
        return self._of_objects(row, spoilt)

    @staticmethod
    def _counted(row, n, spoilt):
        low, _, high = str(row["count"]).partition("..")
        by = 1000000 * spoilt
        return None if int(low) + by <= n <= int(high or low) + by else f"it was {n}"

    def _of_objects(self, row, spoilt):
        kind, name = KIND_OF[row.get("kind", "nodes")], row.get("nodes", row.get("name", "*"))
        meant = [o for o in self._env.k.list(kind, row.get("namespace")) if fits(name, o["metadata"]["name"])]
        why, good = [], 0
        for one in meant:
            lacks = self._lacks(one, row.get("have", {}), spoilt and "count" not in row)
            why += [f"{one['metadata']['name']} has {lacks}"] if lacks else []
            good += not lacks
        said = "; ".join([*why[:5], f"{len(meant)} are there, {good} of them so"])
        if "count" in row:
            so = self._counted(row, good, spoilt) is None and (meant or "have" not in row)
        else:
            so = bool(meant) and good == len(meant)
        return None if so else said

    def _lacks(self, obj, have, spoilt):
        for fact, wanted in have.items():
            if fact in NOT_HERE:
                continue
            found = self._facts.of(obj, fact)
            if not fits("spoilt " * spoilt + text_of(wanted), found):
                return f"{fact} \"{found[:300]}\""
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
        self._now = 0.0      # the file's time
        self._began = {}     # uid of a pod -> the file's time when it was first seen
        self._cordoned = set()  # nodes that an action has cordoned
        self._journal = None

    def play(self):
        """From the beginning to the end."""
        for node in self._case.get("nodes", []):
            names = [f"{node['name']}-{i + 1}" for i in range(node["count"])] if "count" in node else [node["name"]]
            for name in names:
                self._node_add({"name": name, **{k: node[k] for k in ("shape", "labels") if k in node}})
        for obj in self._case.get("objects", []):
            self._env.create(obj)
        with Journal(self._env) as self._journal:
            rows = Rows(self._env, self._journal)
            was_action = False
            for when, row, action in self._moments():
                if action and was_action and when - self._now > 10:
                    self._env.wait(lambda: time.monotonic() - self._journal.changed > STILL, ARRIVES, "nothing moves")
                self._pass(when) if action else self._arrive(when, row, rows)
                was_action = bool(action)
                if action:
                    self._do(action)

    def _moments(self):
        """(time, rows, None) and (time, None, action) in order; rows of a time come before its actions, those without one last."""
        times = {}
        for row in self._case["expect"]:
            times.setdefault(seconds(row["at"]) if "at" in row else FOR_EVER, []).append(row)
        moments = [(when, rows, None) for when, rows in times.items()]
        moments += [(seconds(a["at"]), None, a) for a in self._case.get("actions", [])]
        return sorted(moments, key=lambda m: (m[0], m[2] is not None))

    def _arrive(self, when, group, rows):
        """Waits until all rows of a time hold together."""
        before, began, meant = self._now, time.monotonic(), {}
        self._pass(when)

        def hold():
            broken = [f"{row}: {why}" for row, why in ((r, rows.broken(r)) for r in group) if why]
            if not broken:
                return True
            self._end_programs()
            if time.monotonic() - max(began, self._journal.changed) > STILL:
                self._grow_old(when - before + time.monotonic() - began, meant, when < FOR_EVER)
            return "; ".join(broken)[:2000]
        self._env.wait(hold, ARRIVES, f"what is expected at {when:g} s", every=0.1 if when < FOR_EVER else 0.3)
        if when == FOR_EVER:
            self._env.stays(lambda: not any(rows.broken(r) for r in group), STAYS, "the end")
        assert self._journal.cordons <= self._cordoned, f"cordoned, by no action: {self._journal.cordons - self._cordoned}"
        idle = [row for row in group if not set(row.get("have", {})) & set(NOT_HERE) and not rows.broken(row, spoilt=True)]
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
                self._end_pods(row["image"], seconds(row["run"]), None, "test.ostler.dev/complete")
        for change in self._case.get("changes", []):
            if seconds(change["at"]) <= self._now and "drivers" in change:
                self._end_pods("*-slow*", 0, "app.kubernetes.io/component=driver", "test.ostler.dev/go")
        for row in self._case.get("images", []):
            if "pull" in row:
                self._end_pods(row["image"], seconds(row["pull"]), "ostler.dev/task=pull", "test.ostler.dev/go")

    def _end_pods(self, image, run, labels, annotation):
        for pod in self._env.k.list("Pod", labels=labels):
            metadata = pod["metadata"]
            images = [c["image"] for c in pod["spec"]["containers"]]
            if not any(fits(image, i) or fits(image, i.replace("-heavy", "")) for i in images) or annotation in metadata.get("annotations", {}):
                continue
            if self._now - self._began.setdefault(metadata["uid"], self._now) >= run:
                self._env.k.merge_patch("Pod", metadata["name"], {"metadata": {"annotations": {annotation: "true"}}},
                                        metadata["namespace"])

    def _grow_old(self, by, meant, claims):
        """What soaks grows older, and so do claims, each try of an upgrade for itself: what moves none is over after its time."""
        for record in self._env.k.list("ControllerRevision", OPERANDS):
            soaks = {k: upgrades.ago(by) for k in record["metadata"].get("annotations", {}) if k.startswith(SOAKS)}
            if soaks and record["metadata"]["uid"] not in meant:
                meant[record["metadata"]["uid"]] = True
                self._env.k.merge_patch("ControllerRevision", record["metadata"]["name"], {"metadata": {"annotations": soaks}}, OPERANDS)
        claimed = [n["metadata"]["name"] for n in self._env.k.list("Node") if claims and claim_of(n)]
        for node in claimed:
            meant.setdefault(node, upgrades.try_of(self._env.get_node(node)))
        if claimed:
            upgrades.old_news(self._env, *claimed)
            upgrades.news(self._env, claimed)
            for node in claimed:
                upgrades.age(self._env, node, by, meant[node])

    # ---- actions

    def _do(self, action):
        getattr(self, "_" + re.sub(r"(?<!^)([A-Z])", r"_\1", action["do"]).lower())(action)

    def _named(self, action):
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
        self._patch(action, {**patch, "spec": self._worded(patch["spec"])} if action.get("kind") == "gpuclusterpolicies" else patch)

    def _delete(self, action):
        kind, name, namespace = self._named(action)
        self._env.k.delete(kind, name, namespace)

    def _label(self, action):
        self._patch(action, {"metadata": {"labels": action["with"]}})

    def _annotate(self, action):
        self._patch(action, {"metadata": {"annotations": {k: self._value(action, v) for k, v in action["with"].items()}}})

    def _cordon(self, action):
        self._cordoned.add(action["node"])
        self._patch(action, {"spec": {"unschedulable": True}})

    def _untaint(self, action):
        taints = self._env.get_node(action["node"])["spec"].get("taints", [])
        self._patch(action, {"spec": {"taints": [t for t in taints if t["key"] != action["with"]["key"]]}})

    def _uncordon(self, action):
        self._patch(action, {"spec": {"unschedulable": None}})

    def _node_add(self, action):
        shape = self._shapes[action["shape"]]
        assert shape["osID"] + str(shape["osVersion"]) == "ubuntu24.04", "nodes have this system here"
        self._env.add_node(action["name"], "nfd" if self._case.get("labeller") and shape["gpus"] else None, images=2,
                           labels={**shape.get("labels", {}), **action.get("labels", {})}, taints=shape.get("taints"),
                           annotations={"test.ostler.dev/gpus": str(shape["gpus"])})

    def _node_remove(self, action):
        self._env.vanish(action.get("node", action.get("name")))

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
        """A value that people read elsewhere: "=status.rollout.plan.hash", "=gpunodes/gpu-1 status.driver.target .2"."""
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
        """A policy's spec in whose driver versions the word stands that has KWOK play them as the file's rows say."""
        spec = json.loads(json.dumps(spec))
        for part in [spec, *(spec.get("pools") or [])]:
            driver = part.get("driver") or {}
            if driver.get("version"):
                row = self._row(driver["version"])
                if row.get("outcome") == "FailsProof":
                    spec["validation"] = {**(spec.get("validation") or {}), "version": "vectoradd-crash" + self._where(row)}
                elif row:
                    driver["version"] += self._word(row) + self._where(row)
        return spec

    def _row(self, version):
        """The first row of drivers or images that means a version; {} where it fares well."""
        drivers = [r for r in self._case.get("drivers", []) if fits(r.get("version", "*"), version)]
        images = [r for r in self._case.get("images", []) if fits(r["image"], f"nvcr.io/nvidia/driver:{version}-ubuntu24.04")]
        return next((r for r in [*drivers, *images] if r.get("outcome") != "Works"), {})

    @staticmethod
    def _word(row):
        return "-" + (WORDS[row["outcome"]] if "outcome" in row else "missing" if row.get("missing") else "heavy")

    @staticmethod
    def _where(row):
        return f"-on-{row['node'].replace('-', '.')}" if "node" in row else ""


def play(env, file):
    """Plays a case file."""
    Case(env, pathlib.Path(file)).play()
