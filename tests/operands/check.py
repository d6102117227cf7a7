#!/usr/bin/python3
"""Holds the manifests against the programs that they start: tests/operands/NAME.json has, for
the version that Ostler takes by default, what the program reads (its variables, by alias: the
first that is set wins), what it cannot do without, its arguments and the paths that it uses,
each with the place where that was looked up; of some also the container that NVIDIA's
operator makes. What Ostler renders is in tests/golden.

The last line is "operands: N passed, N failed".
"""

import collections
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/chart"))
import rendering  # noqa: E402

GOLDEN = sorted((ROOT / "tests/golden").glob("*.yaml"))
NOTHING = ["/ostler-runs-nothing-here"]  # of a pod that only pulls images
OWN = {
    "/ostler",
    "/host-dev-char",
}  # what brings Ostler's program, and what that uses (node/operand/devices.h)
Case = collections.namedtuple("Case", "file component container pod")


def tables():
    """The tables of operand programs by name; what the container runtime reads of any container
    is none of them."""
    found = {
        p.stem: json.loads(p.read_text(encoding="utf-8"))
        for p in sorted(pathlib.Path(__file__).parent.glob("*.json"))
    }
    return found.pop("runtime"), found


def component_of(obj):
    """Which operand, or which task, the object belongs to. What removes an operand runs its
    program."""
    labels = obj["spec"].get("template", obj)["metadata"].get("labels", {})
    return labels.get(
        "ostler.dev/task", labels.get("app.kubernetes.io/component", "")
    ).removesuffix("-removal")


def pods():
    """Golden file and object of everything that has a pod's specification."""
    for path in GOLDEN:
        for obj in rendering.read(path.read_text(encoding="utf-8")):
            if obj["kind"] in ("DaemonSet", "Pod"):
                yield path.name, obj


def rendered():
    """Each container that Ostler renders of another's image."""
    for name, obj in pods():
        pod = obj["spec"].get("template", obj)["spec"]
        for container in pod.get("initContainers", []) + pod["containers"]:
            if not runs_no_program_of_others(container):
                yield Case(name, component_of(obj), container, pod)


def runs_no_program_of_others(container):
    """Ostler's own image, whose arguments tests/unit/node/test_options.c checks; and what only
    has to be there."""
    image = container["image"].split("/")[-1].split(":")[0]
    return image in ("ostler", "pause") or container.get("command") == NOTHING


def text_of(container):
    """What the container's command line says, with its variables."""
    return " ".join(container.get("command", []) + container.get("args", []))


def read_by_us():
    """The variables that Ostler's program reads where it starts another's."""
    texts = [
        (ROOT / "node" / file).read_text(encoding="utf-8")
        for file in ("options.c", "ostler_node.c")
    ]
    return set(re.findall(r'"([A-Z][A-Z_]+)"', "".join(texts)))


def unread(case, table, runtime):
    """The variables that the manifest sets and no program reads."""
    known = (
        {name for names in table["variables"] for name in names.split()}
        | set(runtime["variables"])
        | read_by_us()
    )
    known |= set(table.get("other_versions", {}))
    known |= set(re.findall(r"\$\(([A-Z_]+)\)", text_of(case.container)))
    return sorted(v["name"] for v in case.container.get("env", []) if v["name"] not in known)


def lacking(case, table, _):
    """The variables without which the program does something else."""
    return sorted(set(table["required"]) - {v["name"] for v in case.container.get("env", [])})


def refused():
    """The variables that a policy may never set."""
    source = (ROOT / "reconcilers/model/operand_rows.h").read_text(encoding="utf-8")
    lists = re.findall(r'OPERAND_VARIABLES\(([^)]*)\)', source)
    return set(re.findall(r'"([A-Z_]+)"', " ".join(lists)))


def is_used(mount, paths):
    """Whether a path of the program is in this mount, or has it."""
    return any(
        (p + "/").startswith(mount + "/") or (mount + "/").startswith(p.rstrip("/") + "/")
        for p in paths
    )


def unused(case, table, _):
    """The mounts of which the program, or a variable that it reads, uses nothing."""
    values = [v.get("value", "") for v in case.container.get("env", [])]
    paths = (
        set(table["paths"])
        | OWN
        | {p for v in values for p in re.findall(r"/[^,= ]+|^/$", v) if p != "/"}
    )
    return sorted(
        m["mountPath"]
        for m in case.container.get("volumeMounts", [])
        if not is_used(m["mountPath"], paths)
    )


def unknown_arguments(case, table, _):
    """The arguments that the program does not take."""
    given = {word.split("=")[0] for word in case.container.get("args", [])}
    return sorted(given - set(table["arguments"]) - set(table["flags"]))


def unmounted_volumes(case, _, __):
    """The volumes of the pod that no container mounts."""
    mounted = {
        m["name"]
        for c in case.pod.get("initContainers", []) + case.pod["containers"]
        for m in c.get("volumeMounts", [])
    }
    return sorted({v["name"] for v in case.pod.get("volumes", [])} - mounted)


def not_refused(case, table, _):
    """The other names of a variable that would win over the one that the manifest sets, and that
    a policy may set, though nothing says that an administrator decides (docs/policy.md)."""
    own = {v["name"] for v in case.container.get("env", [])}
    before = {
        n
        for names in table["variables"]
        for i, n in enumerate(names.split())
        if own & set(names.split()[i + 1 :])
    }
    return sorted(before - refused() - set(table.get("replaceable", [])))


def parts_of(container):
    """The fields of a container by path; variables and mounts by what they are for."""
    found = {}

    def put(path, value):
        if isinstance(value, dict):
            for key, below in value.items():
                put(f"{path}.{key}".lstrip("."), below)
        else:
            found[path] = value

    put("", {k: v for k, v in container.items() if k not in ("env", "volumeMounts")})
    for key, names in (("env", "name"), ("volumeMounts", "mountPath")):
        found |= {f"{key}.{item[names]}": item for item in container.get(key, [])}
    return found


def unlike_model(case, table, _):
    """The fields in which the container is not the one of NVIDIA's operator, though no reason is
    given."""
    model = table.get("model", {}).get("containers", {}).get(case.file)
    if not model:
        return []
    ours, theirs = parts_of(case.container), parts_of(model)
    return sorted(
        {k for k in ours.keys() | theirs.keys() if ours.get(k) != theirs.get(k)}
        - set(table["model"]["otherwise"])
    )


CHECKS = {
    "reads each variable that is set": unread,
    "has no other variable that overrides one of Ostler's": not_refused,
    "has each variable that it needs": lacking,
    "uses each mount": unused,
    "takes each argument": unknown_arguments,
    "is in a pod that mounts each of its volumes": unmounted_volumes,
    "is what NVIDIA's operator makes of it": unlike_model,
}


def table_of(case, by_name):
    """The name of the program that this container runs, or None. What installs the driver
    differs between systems."""
    fit = [
        n
        for n, t in by_name.items()
        if t["component"] == case.component and t["container"] in (case.container["name"], None)
    ]
    return fit[0] if fit else None


def defaults():
    """Image and version that Ostler takes where the policy says nothing."""
    rows = re.findall(
        r'OPERAND_IMAGE\(\s*\w+,\s+"([^"]*)",\s+"([^"]*)",\s+"([^"]*)"\)',
        (ROOT / "reconcilers/model/operand_rows.h").read_text(encoding="utf-8"),
    )
    return {f"{repository}/{image}": version for repository, image, version in rows}


def main():
    runtime, by_name = tables()
    results = []

    def note(name, wrong):
        results.append(not wrong)
        print(
            f"{'ok  ' if not wrong else 'FAIL'} {name}" + (f": {'; '.join(wrong)}" if wrong else "")
        )

    built_in = {t["image"]: t["version"] for t in by_name.values()}
    for image, version in defaults().items():
        note(
            f"default version of {image}",
            (
                []
                if built_in.get(image) == version
                else [
                    f"Ostler's is {version}, the table is of {built_in.get(image)}: first look up"
                    " what the new program reads"
                ]
            ),
        )
    seen = collections.Counter()
    wrong = collections.defaultdict(list)
    for case in rendered():
        name = table_of(case, by_name)
        if not name:
            wrong["every program has a table"].append(f"{case.container['image']} ({case.file})")
            continue
        seen[name] += 1
        for what, check in CHECKS.items():
            wrong[name, what] += [
                f"{found} ({case.file})" for found in check(case, by_name[name], runtime)
            ]
    note("every program has a table", wrong["every program has a table"])
    note(
        "every model has its golden file",
        sorted(
            {
                file
                for table in by_name.values()
                for file in table.get("model", {}).get("containers", {})
            }
            - {p.name for p in GOLDEN}
        ),
    )
    for name in by_name:
        for what in CHECKS:
            tried = [] if seen[name] else ["no golden file has this program"]
            note(
                f"{name}, of which {seen[name]} manifests were seen, {what}",
                tried + wrong[name, what],
            )
    print(f"operands: {sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


sys.exit(main())
