#!/usr/bin/python3
"""What an editor of the policy can bring into a pod: tries fields with words that are something
else to YAML, JSON, a shell or a path, and holds that the pods differ from those of an empty
policy in nothing but the places that these fields have. Needs build/ostler and kubectl of the
end-to-end world (which reads YAML), and no cluster.

Prints "policy-editor: N passed, N failed".
"""

import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("OSTLER", ROOT / "build" / "ostler"))
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "gpu-1",
        "labels": {
            "nvidia.com/gpu.present": "true",
            "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
            "feature.node.kubernetes.io/system-os_release.VERSION_ID": "24.04",
        },
    },
    "status": {
        "nodeInfo": {
            "osImage": "Ubuntu 24.04.1 LTS",
            "kernelVersion": "6.8.0-49-generic",
            "architecture": "amd64",
            "containerRuntimeVersion": "containerd://1.7.1",
            "kubeletVersion": "v1.31.0",
            "operatingSystem": "linux",
            "bootID": "b",
        }
    },
}

# Words that break out of something, for fields that take any text.
WORDS = [
    "\"",
    "'",
    "\\",
    "`id`",
    "$(id)",
    "${IFS}",
    "$(POD_UID)",
    "$$(POD_UID)",
    "; id",
    "| id",
    "&& id",
    "{{ .x }}",
    "- a: b",
    "a: b",
    "#",
    "%s%n",
    "!!python/object",
    "&a",
    "*a",
    "é",
    "\u2028",
    "../../etc",
    "null",
    "true",
    "0x10",
    "x" * 4000,
]
# Fields of each operand, beside the words: what a pod may have from them.
FIELDS = {
    "imagePullPolicy": "Always",
    "imagePullSecrets": ["pull"],
    "priorityClassName": "system-cluster-critical",
    "labels": {"team": "a", "kubernetes.io/x": "b"},
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute"}],
    "resources": {"requests": {"cpu": "10m"}, "limits": {"memory": "1Gi"}},
}
OPERANDS = ("driver", "toolkit", "devicePlugin", "exporter")
# Of Ostler's own image and command: what a pod may have.
OWN_FIELDS = {k: FIELDS[k] for k in ("priorityClassName", "labels", "tolerations", "resources")}
# component -> its container with the operand's own image, and the only one that variables and
# arguments are for
CONTAINERS = {
    "driver": "driver",
    "toolkit": "install",
    "device-plugin": "device-plugin",
    "exporter": "exporter",
}
OPERANDS_OWN = set(CONTAINERS.values())
# What the offline commands have to refuse; the API server's own tests are in
# e2e/scenarios/s21_security.py.
REFUSED = {
    "another host": {"driver": {"repository": "nvcr.io.evil.example/nvidia"}},
    "a parent": {"driver": {"repository": "nvcr.io/nvidia/../evil"}},
    "a tag with a command": {"driver": {"version": "$(id)"}},
    "a folder of the host": {"toolkit": {"installDir": "/usr/../etc/nvidia"}},
    "a folder that is not for drivers": {"toolkit": {"installDir": "/etc"}},
    "a folder in a container": {"toolkit": {"installDir": "/proc/4711/root/tmp/nvidia"}},
    "a folder of a volume": {
        "toolkit": {"installDir": "/var/lib/kubelet/pods/0/volume-subpaths/v/c/0/nvidia"}
    },
    "a folder that all can write to": {"toolkit": {"installDir": "/tmp/nvidia"}},
    "a variable of the shell": {"driver": {"env": [{"name": "BASH_ENV", "value": "$(id)"}]}},
    "a label of Ostler's": {"driver": {"labels": {"app.kubernetes.io/component": "node-agent"}}},
    "repositories with a path": {"driver": {"repoConfig": {"name": "../../kube-system/x"}}},
    "a Secret that no administrator has named": {"driver": {"secretEnv": "pull"}},
    "a probe without end": {"driver": {"startupProbe": {"failureThreshold": 1000000}}},
    "a profile of another folder": {"nodeAgent": {"seccompProfile": "../../etc/a.json"}},
    "no profile": {"nodeAgent": {"seccompProfile": {"type": "Unconfined"}}},
    "a number of no fault": {"health": {"xids": {"Xid79": "Close"}}},
    "a level of no fault": {"health": {"xids": {"79": "Cordon"}}},
    "a secret with a path": {"driver": {"imagePullSecrets": ["../kube-system/x"]}},
    "a configuration with a path": {"devicePlugin": {"config": {"name": "../x", "default": "a"}}},
    "a key with a path": {"devicePlugin": {"config": {"name": "x", "default": "../a"}}},
    "a list of metrics with a path": {"exporter": {"metricsConfig": "../x"}},
    "a class with a newline": {"driver": {"priorityClassName": "a\nb"}},
    "a toleration with a newline": {
        "driver": {"tolerations": [{"key": "a\nb", "operator": "Exists"}]}
    },
    "a quantity that is a word": {"driver": {"resources": {"limits": {"memory": "lots"}}}},
    "a GPU as a resource": {"driver": {"resources": {"limits": {"nvidia.com/gpu": "1"}}}},
    "an image for the NVML reader": {"nodeCards": {"repository": "nvcr.io/nvidia"}},
    "a variable for the NVML reader": {"nodeCards": {"env": [{"name": "A", "value": "b"}]}},
    "an interval that is a word": {"exporter": {"interval": "$(id)"}},
    "a privilege": {"driver": {"securityContext": {"privileged": True}}},
    "a folder": {"exporter": {"volumes": [{"name": "x", "hostPath": {"path": "/"}}]}},
    "a command": {"exporter": {"command": ["sh"]}},
}


def tool(name):
    """A program of the end-to-end world, which is built where it is not there."""
    where = subprocess.run(
        [ROOT / "e2e/world/build"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    return pathlib.Path(where) / name


def ostler(folder, spec, *flags):
    """(exit code, output) of `ostler render` for a policy with this spec."""
    policy, node = folder / "policy.json", folder / "node.json"
    policy.write_text(
        json.dumps(
            {
                "apiVersion": "ostler.dev/v1alpha1",
                "kind": "GpuClusterPolicy",
                "metadata": {"name": "default"},
                "spec": spec,
            }
        ),
        encoding="utf-8",
    )
    node.write_text(json.dumps(NODE), encoding="utf-8")
    done = subprocess.run(
        [PROGRAM, "render", "-f", policy, "--node", node, "--agent-image", "ostler:1", *flags],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr


def templates(text):
    """{component: pod template} of the rendered DaemonSets."""
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
        check=True,
    )
    decoder, rest, found = json.JSONDecoder(), done.stdout.strip(), {}
    while rest:
        item, end = decoder.raw_decode(rest)
        rest = rest[end:].lstrip()
        if item["kind"] == "DaemonSet":
            found[item["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]] = (
                item["spec"]["template"]
            )
    return found


# That of the runtime, or that which the policy names.
AGENTS_PROFILES = (
    {"type": "RuntimeDefault"},
    {"type": "Localhost", "localhostProfile": "profiles/a.json"},
)


def stripped(template):
    """A template without the places that fields of the policy have: what is left may never
    differ."""
    left = copy.deepcopy(template)
    for part in ("labels", "annotations"):
        left["metadata"].pop(part, None)
    for part in (
        "imagePullSecrets",
        "priorityClassName",
        "tolerations",
        "nodeSelector",
        "affinity",
    ):
        left["spec"].pop(part, None)
    for container in left["spec"]["containers"] + left["spec"].get("initContainers", []):
        for part in (
            "imagePullPolicy",
            "resources",
            *(("env", "args") if container["name"] in OPERANDS_OWN else ()),
        ):
            container.pop(part, None)
        if (
            container["name"] == "agent"
            and container["securityContext"]["seccompProfile"] in AGENTS_PROFILES
        ):
            container["securityContext"].pop("seccompProfile")
        for variable in container.get("env", []):
            if re.fullmatch("[a-z0-9]{10}", variable.get("value", "")):
                variable["value"] = "a revision's hash"
    return left


# What a field of docs/policy.md is set to, by the end of its name, else by its type there.
BY_NAME = {
    "repository": "nvcr.io/nvidia/other",
    "image": "other",
    "env[].name": "HTTP_PROXY",
    "env[].value": "x",
    "args": ["--device-id-strategy=uuid"],
    "imagePullSecrets": ["x"],
    "installDir": "/opt/nvidia",
    "seccompProfile": "a/b.json",
    "timeoutSeconds": 90,
    "default": "x",
    "timeZone": "Asia/Tokyo",
    "xids": {"109": "Event"},
    "pools[].name": "other",
}
BY_TYPE = {
    "label key": "a.example/b",
    "label value": "b",
    "object name": "x",
    "quantity": "7",
    "tag or digest": "1.2.3",
    "map of labels": {"a.example/b": "c"},
    "cron schedule": "1 2 * * 6",
    "duration 1s to 1h": "45s",
    "number 0 to 4": 3,
}
# What must stand beside a field, by the list or object that both are in.
BESIDE = {
    "env[]": {"name": "HTTPS_PROXY", "value": "y"},
    "tolerations[]": {"key": "a", "operator": "Equal", "effect": "NoExecute"},
    "pools[]": {"name": "a", "nodeSelector": {"nvidia.com/gpu.present": "true"}},
    "config": {"name": "y", "default": "y"},
    "windows[]": {"schedule": "0 2 * * 6", "duration": "2h"},
    "gdrcopy": {"enabled": True},
}
# They choose nodes and pods, and a node that is not chosen has no operands.
SELECTORS = re.compile(r"[sS]elector")


def fields_of_docs():
    """(field, its path, its type) of all that docs/policy.md has and that holds a value;
    test_policy_docs.c: none is missing."""
    rows = re.findall(
        r"^\| `([\w.*\[\]-]+)` \| (.*?) \| .*? \| .* \|$",
        (ROOT / "docs/policy.md").read_text(encoding="utf-8"),
        re.M,
    )
    names = [field for field, _ in rows]
    leaves = [
        (f, kind)
        for f, kind in rows
        if "." in f and not any(n.startswith((f + ".", f + "[")) for n in names)
    ]
    for field, kind in leaves:
        for operand in OPERANDS if field.startswith("*.") else ("",):
            yield field, field.replace("*", operand, 1), kind


def values_for(field, kind):
    """Values of a field that are not all its default."""
    for end, value in BY_NAME.items():
        if field.endswith(end):
            return [value]
    words = re.findall("`([^`]+)`", kind)
    if words:
        return [{"true": True, "false": False}.get(word, word) for word in words]
    return [BY_TYPE.get(kind, 7 if kind.startswith("number") else "90m")]


def spec_with(path, value):
    """A spec in which the field at this path has this value, and what must stand beside it is
    there."""
    spec = at = {}
    *way, last = path.split(".")
    for part in way:
        more = copy.deepcopy(BESIDE.get(part, {}))
        at[part.removesuffix("[]")] = [more] if part.endswith("[]") else more
        at = more
    at[last] = value
    return spec


def daemonsets(folder, spec):
    """The text of the DaemonSets that are rendered."""
    code, said = ostler(folder, spec, "--allowed-settings", "*", "--allow-repairs")
    if code:
        raise AssertionError(f"{spec}: {said}")
    return [text for text in said.split("\n---\n") if "\nkind: DaemonSet\n" in "\n" + text]


def fields_that_reach_pods(folder):
    """The fields of docs/policy.md with which the DaemonSets of operands differ."""
    found = set()
    nothing, one_pool = daemonsets(folder, {}), daemonsets(folder, spec_with("pools[].name", "a"))
    for field, path, kind in fields_of_docs():
        if SELECTORS.search(field) or field in found:
            continue
        base = one_pool if path.startswith("pools[]") else nothing
        for value in values_for(field, kind):
            if daemonsets(folder, spec_with(path, value)) != base:
                found.add(field)
    return found


def fields_without_a_row(folder):
    """Sentences for fields that reach a pod and have no row in docs/security.md, and for rows of
    fields that do not."""
    table = (
        (ROOT / "docs/security.md")
        .read_text(encoding="utf-8")
        .partition("## What a policy puts into privileged pods")[2]
    )
    rows = [
        line.split(" | ")[0]
        for line in table.partition("\n## ")[0].splitlines()
        if line.startswith("| `")
    ]
    named = {name for row in rows for name in re.findall("`([^`]+)`", row)}
    reach = fields_that_reach_pods(folder)

    def covers(name, field):
        return field == name or field.startswith((name + ".", name + "["))

    missing = [
        f"docs/security.md has no row for {f}"
        for f in sorted(reach)
        if not any(covers(n, f) for n in named)
    ]
    return missing + [
        f"{n} reaches no pod" for n in sorted(named) if not any(covers(n, f) for f in reach)
    ]


def problems_of(folder):
    """What is wrong, as {test: sentences}."""
    empty = templates(ostler(folder, {})[1])
    results = {}
    texts = [{"name": f"ALLOWED_{i}", "value": word} for i, word in enumerate(WORDS)]
    arguments = ["--allowed=" + word[:1000] for word in WORDS]
    spec = {operand: {**FIELDS, "env": texts, "args": arguments} for operand in OPERANDS}
    spec["nodeCards"] = OWN_FIELDS
    spec["nodeAgent"] = {
        "imagePullPolicy": "Always",
        "imagePullSecrets": ["pull"],
        "seccompProfile": "profiles/a.json",
    }
    code, said = ostler(folder, spec, "--allowed-settings", "ALLOWED_*,--allowed")
    results["words are rendered"] = [] if code == 0 else [said]
    full = templates(said) if code == 0 else {}
    differ = [c for c in empty if c in full and stripped(full[c]) != stripped(empty[c])]
    missing = [f"{c} is missing" for c in set(empty) - set(full)]
    results["nothing else of a pod changes"] = [f"{c} differs" for c in differ] + missing
    results["words stay what they are"] = words_that_changed(full)
    results["each field that reaches a pod has a row"] = fields_without_a_row(folder)
    for name, wrong in REFUSED.items():
        code, said = ostler(folder, wrong)
        results[f"{name} is refused"] = [] if code else ["it was rendered"]
    return results


def words_that_changed(full):
    """Sentences for texts that are not in their operand's container as they were given."""
    wrong = []
    for component, name in CONTAINERS.items():
        spec = full.get(component, {"spec": {"containers": []}})["spec"]
        container = next(
            (c for c in spec["containers"] + spec.get("initContainers", []) if c["name"] == name),
            {},
        )
        values = {v["name"]: v.get("value") for v in container.get("env", [])}
        for i, word in enumerate(WORDS):
            if values.get(f"ALLOWED_{i}") != word:
                wrong.append(
                    f"{component}: {word[:20]!r} is {str(values.get(f'ALLOWED_{i}'))[:20]!r} as a"
                    " variable"
                )
            if "--allowed=" + word[:1000] not in container.get("args", []):
                wrong.append(f"{component}: {word[:20]!r} is no argument")
    return wrong


def main():
    """Runs everything and counts."""
    with tempfile.TemporaryDirectory() as folder:
        results = problems_of(pathlib.Path(folder))
    failed = 0
    for name, problems in results.items():
        failed += bool(problems)
        if problems:
            print(f"FAIL {name}\n" + "\n".join(f"     {p}" for p in problems[:20]))
    print(f"policy-editor: {len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
