"""22. `kubectl gpu`, run by kubectl on a real API server by people with the roles of
docs/kubectl-gpu-rbac.yaml and no more."""

import tarfile

from harness import contains, equal, test
from names import HOLD
from people import MANAGER, VIEWER, people


@test
def people_with_their_roles(env):
    """The published roles are enough for what they are for, to look, to hold nodes, to write a
    bundle, and for no more."""
    node = env.serving("gpu")
    env.wait_reported(node)
    with people(env) as (viewer, manager):
        contains(viewer.gpu("status"), ["1 of 1", "Ready"], "status")
        contains(viewer.gpu("nodes"), [node, "Ready"], "nodes")
        contains(viewer.gpu("explain", node), [node, "Ready"], "explain")
        contains(viewer.gpu("events"), node, "events")
        completed = viewer.run("__complete", "gpu", "explain", "").stdout
        contains(completed, [node, ":4"], "what kubectl completes")
        refused = viewer.run("gpu", "hold", node)
        equal(refused.returncode, 1, "exit code for a viewer who holds a node")
        contains(refused.stderr, [VIEWER, "patch", "nodes"], "what a viewer is told")
        manager.gpu("hold", node)
        equal(env.labels(node).get(HOLD), "true", "the label of a node that is held")
        manager.gpu("release", node)
        equal(env.labels(node).get(HOLD), None, "the label of one that is released")
        manager.gpu("pause")
        equal(env.get_policy()["spec"]["rollout"]["paused"], True, "what is paused")
        manager.gpu("resume")
        manager.gpu("bundle", "-f", "bundle.tar.gz")
        with tarfile.open(manager.folder / "bundle.tar.gz") as bundle:
            contains(
                " ".join(bundle.getnames()),
                ["policy.yaml", "nodes.yaml", "revisions.yaml"],
                "files of the bundle",
            )
    asked = [r for r in env.world.audit.requests(user=MANAGER, since=env.began) if not r.allowed]
    equal([str(r) for r in asked], [], "what a manager was refused")
