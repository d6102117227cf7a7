"""What Argo CD and Flux make of objects, asked of their own libraries."""

import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CHECKS = {
    kind: ROOT / "docs" / "argocd" / f"{kind.lower()}.lua"
    for kind in ("GpuClusterPolicy", "GpuNode")
}
PAGE = ROOT / "docs" / "gitops.md"
FLUX_UNCHANGED = "unchanged"


class Libraries:
    """The program that holds them, built at the first use."""

    def __init__(self):
        self._program = subprocess.run(
            [HERE / "build"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout.strip()
        self._checks = {kind: path.read_text(encoding="utf-8") for kind, path in CHECKS.items()}

    def _ask(self, question, *command):
        return self._run(json.dumps(question), *command)

    def _run(self, text, *command):
        done = subprocess.run(
            [self._program, *map(str, command)],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"gitops {command[0]}: {done.stderr.strip()[-2000:]}")
        return json.loads(done.stdout)

    def parse(self, text):
        """The objects of a text in YAML."""
        return self._run(text, "parse")

    def examples(self):
        """The objects of the examples in docs/gitops.md."""
        blocks = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
        return [obj for block in blocks for obj in self.parse(block)]

    @property
    def application(self):
        """The file with the CustomResourceDefinition of Argo CD's Application."""
        return pathlib.Path(self._program).with_name("application.yaml")

    def flux_problems(self, objects):
        """What Flux would not take of objects of its own kinds: sentences."""
        return self._ask(objects, "flux-check")

    def health(self, objects):
        """Of each object (status, message) as Argo CD has it, and as kstatus has it."""
        said = self._ask({"scripts": self._checks, "objects": objects}, "health")
        return [
            tuple((s[who]["status"], s[who]["message"]) for who in ("argo", "kstatus"))
            for s in said
        ]

    def argo_differences(self, kubeconfig, objects):
        """What is different from these objects, in whatever way Argo CD compares: sentences."""
        return [
            f"{d['kind']} {d['name']}, {d['way']}:"
            f" {', '.join(differences(d['live'], d['desired']))}"
            for d in self._ask(objects, "argo-diff", kubeconfig)
        ]

    def flux_apply(self, kubeconfig, objects):
        """Applies as Flux does: object -> what that came to."""
        return {c["subject"]: c["action"] for c in self._ask(objects, "flux-apply", kubeconfig)}

    def flux_differences(self, kubeconfig, objects):
        """What has drifted from these objects: sentences."""
        return [
            f"{c['subject']}: {c['action']}:"
            f" {', '.join(differences(c.get('live'), c.get('desired')))}"
            for c in self._ask(objects, "flux-diff", kubeconfig)
            if c["action"] != FLUX_UNCHANGED
        ]


def differences(live, desired, path=""):
    """Where two objects differ, with both values."""
    if isinstance(live, dict) and isinstance(desired, dict):
        return [
            d
            for key in sorted(live.keys() | desired.keys())
            for d in differences(live.get(key), desired.get(key), f"{path}.{key}")
        ]
    if isinstance(live, list) and isinstance(desired, list) and len(live) == len(desired):
        return [
            d
            for i, pair in enumerate(zip(live, desired))
            for d in differences(*pair, f"{path}[{i}]")
        ]
    return (
        [] if live == desired else [f"{path} is {json.dumps(live)}, would be {json.dumps(desired)}"]
    )
