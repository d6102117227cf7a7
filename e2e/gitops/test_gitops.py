#!/usr/bin/python3
"""Argo CD's health checks (docs/argocd) and kstatus, by the real libraries, on what the program
says of itself; the examples of docs/gitops.md. The policies are those of tests/cases/cluster,
as they stand after each step. Needs build/ostler, and no cluster.

The last line is "gitops: N passed, N failed".
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from libraries import ROOT, Libraries  # noqa: E402  no bytecode of it is to be written

sys.path.insert(0, str(ROOT / "scripts"))
import c_source  # noqa: E402  the path above is what finds it

CASES = "build/release/tests/unit/decide/test_cluster_cases"
STALE = "Ostler has not looked at this generation yet"
DONE, UNDER_WAY, FAILED = "Current", "InProgress", "Failed"

# Step of a case: Argo CD's health, a part of its message, kstatus.
EXPECTED = {
    "no-nodes-0": ("Healthy", "there is no GPU node to serve", DONE),
    "no-detector-0": ("Degraded", "Ostler cannot tell which of 2 nodes have a GPU", UNDER_WAY),
    "headline-namespace-deleted-1": (
        "Degraded",
        "kubectl create namespace ostler-operands",
        FAILED,
    ),
    "headline-rollout-with-few-nodes-ready-2": (
        "Progressing",
        "2 nodes wait for jobs to end",
        DONE,
    ),
    "foreign-stack-0": ("Healthy", "served by another GPU stack: 1 node", DONE),
    "foreign-stack-beside-ours-0": ("Healthy", "every GPU node is in its desired state", DONE),
    "first-node-0": ("Healthy", "every GPU node is in its desired state", DONE),
    "nothing-is-deleted-while-unsettled-1": (
        "Progressing",
        "Ostler is reading the nodes",
        UNDER_WAY,
    ),
    "exporter-beside-a-broken-node-0": ("Healthy", "exporters that are up: 1 of 2", DONE),
    "daemonset-that-no-node-takes-0": (
        "Progressing",
        "there is no driver pod on the node yet",
        UNDER_WAY,
    ),
    "refusal-that-passes-1": ("Progressing", "HTTP 500", UNDER_WAY),
    "refusal-that-a-person-must-mend-1": ("Degraded", "HTTP 403: no quota", FAILED),
    "invalid-spec-from-the-start-0": (
        "Degraded",
        "correct the spec: spec.driver.repository",
        FAILED,
    ),
    "invalid-spec-later-1": ("Degraded", "correct the spec", FAILED),
    "images-cannot-be-pulled-0": ("Degraded", "ImagePullBackOff", UNDER_WAY),
    "exporter-missing-1": ("Degraded", "CrashLoopBackOff", DONE),
    "unsupported-node-beside-others-0": ("Degraded", "no driver image exists", UNDER_WAY),
    "version-that-never-ran-is-not-held-1": ("Progressing", "1 node is under way", DONE),
    "upgrade-canary-soaks-1": ("Progressing", "waits until the soak of driver 580.1 ends", DONE),
    "upgrade-approval-1": ("Suspended", "annotate the policy with ostler.dev/approved=", DONE),
    "drift-daemonset-of-an-old-revision-deleted-1": (
        "Suspended",
        "spec.rollout.paused is true",
        DONE,
    ),
    "upgrade-failed-revision-2": (
        "Degraded",
        "was rolled back. Correct the policy, or retry the revision",
        DONE,
    ),
    "upgrade-held-node-1": ("Healthy", "2 nodes are skipped", DONE),
    "agents-have-not-looked-1": ("Progressing", "not all of their agents are up", UNDER_WAY),
    "removal-waits-for-gpu-pods-1": ("Progressing", "Pending deletion", "Terminating"),
}

# Why a rollout begins with no other node, where nothing is under way: Argo CD's health.
ROLLOUTS = {
    "UpToDate": "Healthy",
    "NodesDown": "Healthy",
    "NodesSkipped": "Healthy",
    "Paused": "Suspended",
    "WaitingForApproval": "Suspended",
    "WaitingForWindow": "Suspended",
    "RevisionFailed": "Degraded",
    "": "Progressing",
    "WaitingForImages": "Progressing",
    "CanaryRunning": "Progressing",
    "Soaking": "Progressing",
    "MaxParallel": "Progressing",
    "MaxUnavailable": "Progressing",
    "MaxUnavailableGpus": "Progressing",
    "OtherDomain": "Progressing",
    "WaitingToRetry": "Progressing",
    "WaitingForJobs": "Progressing",
}

# State of a node: Argo CD's health of its GpuNode.
NODES = {
    "Unmanaged": "Healthy",
    "Ready": "Healthy",
    "ForeignStack": "Healthy",
    "Discovered": "Progressing",
    "Installing": "Progressing",
    "Waiting": "Progressing",
    "Draining": "Progressing",
    "Unloading": "Progressing",
    "Resetting": "Progressing",
    "Rebooting": "Progressing",
    "Resetting": "Progressing",
    "Rebooting": "Progressing",
    "Validating": "Progressing",
    "Removing": "Progressing",
    "Failed": "Degraded",
    "Unsupported": "Degraded",
    "Lost": "Degraded",
    "Unhealthy": "Degraded",
}


def recorded():
    """The policy after each step of each case, by "CASE-STEP"."""
    subprocess.run(["make", "--no-print-directory", "-s", CASES], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        # Whether the cases pass is another test's matter.
        subprocess.run(
            [ROOT / CASES],
            cwd=ROOT,
            env={"OSTLER_STATES": folder},
            capture_output=True,
            check=False,
        )
        return {
            path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in pathlib.Path(folder).glob("*.json")
        }


def words_of(path, macro):
    """The second column of an X macro, each a word in quotes."""
    return {c_source.plain(arguments[1]) for arguments, _ in c_source.rows(ROOT / path, macro)}


def reasons_of_rollouts():
    """The text of the reason of each hold of a rollout; "" where there is none."""
    texts = {"NONE": ""}
    for path in sorted((ROOT / "reconcilers/model").glob("reasons_*.inc")):
        for (id_, text, *_), _, _ in c_source.calls(c_source.read(path), "REASON"):
            texts[id_] = c_source.plain(text)
    holds = c_source.rows(ROOT / "reconcilers/decide/rollout_types.h", "ROLLOUT_HOLDS")
    return {texts[reason] for (_, reason), _ in holds}


def condition(policy, kind):
    """A condition of the policy."""
    return next(c for c in policy["status"]["conditions"] if c["type"] == kind)


def kstatus_of(policy):
    """What kstatus is to say: Failed where a person must act, Current where nodes have what they
    should have."""
    if "deletionTimestamp" in policy["metadata"]:
        return "Terminating"
    if condition(policy, "Stalled")["status"] == "True":
        return FAILED
    calm = (
        condition(policy, "Ready")["status"] == "True"
        and condition(policy, "Reconciling")["status"] == "False"
    )
    return DONE if calm else UNDER_WAY


# What kstatus says, and what Argo CD may say beside it: it tells of rollouts and of failed nodes
# where kstatus does not.
BESIDE = {
    DONE: {"Healthy", "Progressing", "Suspended", "Degraded"},
    UNDER_WAY: {"Progressing", "Degraded"},
    FAILED: {"Degraded"},
    "Terminating": {"Progressing"},
}


class Report:
    """Counts, and says what is wrong."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, wrong):
        """wrong: a sentence, or something false."""
        self.passed += not wrong
        self.failed += bool(wrong)
        if wrong:
            print(f"FAIL {name}: {wrong}")


def check_expected(report, states, said):
    """Each state that has a name here is judged as the table says."""
    for name, (health, part, kstatus) in EXPECTED.items():
        if name not in states:
            report.check(name, "no case has this step")
            continue
        (status, message), (result, _) = said[name]
        fits = (status, result) == (health, kstatus) and part in message
        report.check(name, not fits and f"Argo CD: {status}, {message!r}; kstatus: {result}")


def check_every(report, states, said):
    """What holds in each state there is."""
    for name, policy in states.items():
        (status, message), (result, _) = said[name]
        both = all(
            condition(policy, kind)["status"] == "True" for kind in ("Stalled", "Reconciling")
        )
        report.check(
            f"{name} for kstatus",
            both and "Stalled and Reconciling" or result != kstatus_of(policy) and result,
        )
        report.check(
            f"{name} for Argo CD",
            (status not in BESIDE[result] or not message) and f"{status}, {message!r}; {result}",
        )


def check_stale(report, libraries, states):
    """A generation that Ostler has not looked at, and a policy that it has not seen, are under
    way; one that is deleted goes."""
    changes = {
        "newer generation": (
            lambda p: p["metadata"].update(generation=p["metadata"]["generation"] + 1),
            STALE,
            UNDER_WAY,
        ),
        "new policy": (lambda p: p.update(status={"observedGeneration": -1}), STALE, UNDER_WAY),
        "deleted policy": (
            lambda p: p["metadata"].update(deletionTimestamp="2026-11-20T10:00:00Z"),
            "Pending deletion",
            "Terminating",
        ),
    }
    policies = [p for p in states.values() if "deletionTimestamp" not in p["metadata"]]
    for what, (change, message, kstatus) in changes.items():
        changed = copy.deepcopy(policies)
        for policy in changed:
            change(policy)
        said = {(argo, result) for argo, (result, _) in libraries.health(changed)}
        report.check(what, said != {(("Progressing", message), kstatus)} and said)


def check_rollouts(report, libraries, states):
    """Every reason of a rollout, and any of them while a node is under way."""
    ready = states["upgrade-approval-1"]
    report.check("reasons of rollouts", reasons_of_rollouts() ^ set(ROLLOUTS))
    for moving in ("False", "True"):
        policies = []
        for reason in ROLLOUTS:
            policy = copy.deepcopy(ready)
            condition(policy, "RollingOut").update(status=moving, reason=reason or "Progressing")
            policies.append(policy)
        for (reason, health), ((status, _), _) in zip(ROLLOUTS.items(), libraries.health(policies)):
            want = "Progressing" if moving == "True" and health != "Degraded" else health
            report.check(f"rollout {reason}, under way: {moving}", status != want and status)


def check_bad_gpus(report, libraries, states):
    """A bad GPU alone changes nothing of a policy's health; any other reason of Degraded does."""
    policies = list(states.values())
    calm = [p for p in policies if condition(p, "Degraded")["status"] == "False"]
    bad = copy.deepcopy(calm)
    for policy in bad:
        condition(policy, "Degraded").update(status="True", reason="GpusUnhealthy")
    said = [argo for argo, _ in libraries.health(calm)]
    report.check("bad GPUs", [argo for argo, _ in libraries.health(bad)] != said and said)
    other = copy.deepcopy(states["first-node-0"])
    condition(other, "Degraded").update(status="True", reason="MetricsMissing", message="why")
    argo, _ = libraries.health([other])[0]
    report.check("metrics are missing", argo != ("Degraded", "why") and argo)


def check_nodes(report, libraries):
    """Every state of a GpuNode, and one of which nothing is known."""
    report.check(
        "states of nodes", words_of("reconcilers/decide/node_types.h", "NODE_STATES") ^ set(NODES)
    )
    nodes = [
        {
            "apiVersion": "ostler.dev/v1alpha1",
            "kind": "GpuNode",
            "metadata": {"name": "gpu-1", "generation": 1},
            "status": {"state": state, "message": "a sentence"},
        }
        for state in NODES
    ]
    for (state, health), (argo, _) in zip(NODES.items(), libraries.health(nodes)):
        report.check(f"node {state}", argo != (health, "a sentence") and argo)
    bare = {**nodes[0], "status": {}}
    report.check("node without a report", libraries.health([bare])[0][0][0] != "Progressing")


def values_of(obj):
    """The chart's values in an example; None where it has none."""
    if obj["kind"] == "HelmRelease":
        return obj["spec"]["values"]
    return (
        obj["spec"]["source"].get("helm", {}).get("valuesObject")
        if obj["kind"] == "Application"
        else None
    )


def complaint(command, text):
    """What a program says against its input; empty where it has nothing against it."""
    done = subprocess.run(
        [*map(str, command), "-"], input=text, capture_output=True, text=True, check=False
    )
    return (done.stdout + done.stderr) if done.returncode else ""


def check_examples(report, libraries):
    """The examples of the page: Flux decodes its own, the chart takes their values, Ostler takes
    the policies."""
    world = subprocess.run(
        [ROOT / "e2e/world/build"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    examples = libraries.examples()
    kinds = [obj["kind"] for obj in examples]
    flux = [obj for obj in examples if "fluxcd" in obj["apiVersion"]]
    report.check(
        "examples", {"Application", "HelmRelease", "Kustomization", "GpuClusterPolicy"} - set(kinds)
    )
    report.check("Flux's examples", libraries.flux_problems(flux))
    for obj in examples:
        if obj["kind"] == "GpuClusterPolicy":
            report.check(
                "example of a policy",
                complaint([ROOT / "build/ostler", "validate", "-f"], json.dumps(obj)),
            )
        values = values_of(obj)
        if values:
            render = [f"{world}/helm", "template", "ostler", ROOT / "charts/ostler", "-f"]
            report.check(f"values of the {obj['kind']}", complaint(render, json.dumps(values)))


def defaults(schema, path):
    """Where a schema has the server fill in a field that no client wrote."""
    found = [path] if "default" in schema else []
    inner = [(f"{path}.{name}", s) for name, s in schema.get("properties", {}).items()]
    inner += [
        (f"{path}{mark}", schema[key])
        for key, mark in (("items", "[]"), ("additionalProperties", ".*"))
        if isinstance(schema.get(key), dict)
    ]
    return found + [place for where, s in inner for place in defaults(s, where)]


def check_schemas(report, libraries):
    """The server fills in nothing but the status that Ostler has not written yet, without which
    kstatus calls a new policy done."""
    found = []
    for path in sorted((ROOT / "crds").glob("*.yaml")):
        for crd in libraries.parse(path.read_text(encoding="utf-8")):
            kind = crd["spec"]["names"]["kind"]
            found += [
                d
                for v in crd["spec"]["versions"]
                for d in defaults(v["schema"]["openAPIV3Schema"], kind)
            ]
    report.check("defaults of the CRDs", found != ["GpuClusterPolicy.status"] and found)


def main():
    """Runs all of it."""
    libraries, report = Libraries(), Report()
    states = recorded()
    said = dict(zip(states, libraries.health(list(states.values()))))
    check_expected(report, states, said)
    check_every(report, states, said)
    check_stale(report, libraries, states)
    check_rollouts(report, libraries, states)
    check_bad_gpus(report, libraries, states)
    check_nodes(report, libraries)
    check_schemas(report, libraries)
    check_examples(report, libraries)
    print(
        f"gitops: {len(states)} recorded policies; {report.passed} passed, {report.failed} failed"
    )
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
