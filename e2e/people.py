"""People who run `kubectl gpu` with the roles of docs/kubectl-gpu-rbac.yaml and no more."""

import contextlib
import os
import pathlib
import subprocess
import tempfile

from harness import equal
from names import NAMESPACE, OPERANDS, ROOT

ROLES = ROOT / "docs" / "kubectl-gpu-rbac.yaml"
NAMES = ("kubectl-gpu", "kubectl_complete-gpu")
VIEWER, MANAGER = "a-viewer", "a-manager"


class Person:
    """A user with kubectl, the plugin in PATH, and a folder to work in."""

    def __init__(self, env, folder, user):
        self.user = user
        self.folder = pathlib.Path(folder)
        self._kubectl = env.world.tool("kubectl")
        self._environment = {
            "PATH": f"{folder}:{os.environ['PATH']}",
            "HOME": str(folder),
            "KUBECONFIG": str(env.world.kubeconfig(user)),
        }
        for name in NAMES:
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(ROOT / "build" / name)

    def run(self, *words):
        """Runs kubectl to its end."""
        return subprocess.run(
            [self._kubectl, *words],
            env=self._environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def gpu(self, *words):
        """What `kubectl gpu` prints when all is well."""
        done = self.run("gpu", *words)
        equal(
            (done.returncode, done.stderr),
            (0, ""),
            f"kubectl gpu {' '.join(words)}: exit code and what it says",
        )
        return done.stdout


@contextlib.contextmanager
def people(env):
    """A viewer, and one who may change things besides, for as long as the block runs."""

    def bind(*what):
        env.kubectl("create", *what)
        bound.append(what[:2] + tuple(w for w in what if w.startswith("--namespace")))

    bound = []
    env.kubectl("apply", "-f", ROLES)
    try:
        with tempfile.TemporaryDirectory() as folder:
            bind(
                "clusterrolebinding",
                "viewers",
                "--clusterrole=ostler-viewer",
                f"--user={VIEWER}",
                f"--user={MANAGER}",
            )
            bind(
                "clusterrolebinding",
                "managers",
                "--clusterrole=ostler-rollout-manager",
                f"--user={MANAGER}",
            )
            for namespace in (NAMESPACE, OPERANDS):
                bind(
                    "rolebinding",
                    "readers",
                    "--clusterrole=ostler-log-reader",
                    f"--user={MANAGER}",
                    f"--namespace={namespace}",
                )
            yield Person(env, folder, VIEWER), Person(env, folder, MANAGER)
    finally:
        for what in bound:
            env.kubectl("delete", *what)
        env.kubectl("delete", "-f", ROLES)
