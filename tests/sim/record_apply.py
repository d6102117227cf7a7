#!/usr/bin/python3
"""Records what a real API server answers to the writes of the case files in tests/cases/sim_apply.

    tests/sim/record_apply.py [FILE...]      play the files (all unless given) and write the
                                             answers into them

A file is the story of one object: steps that create, change, apply or delete it, each by a
manager. The unit tests hold the simulator to these answers, each step on the object as the real
server left it. Only an API server and its etcd run: no other client writes. What is different in
each run is replaced: times are those of steps, uids and versions go.
"""

import copy
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "e2e"))

import kube  # noqa: E402
import world  # noqa: E402

CASES = ROOT / "tests" / "cases" / "sim_apply"
PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


def merged(value, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), change)
    return result


def text_of(data):
    """A case file: a line for each part of a step."""
    lines = [
        f" {json.dumps(key)}: {json.dumps(value)}," for key, value in data.items() if key != "steps"
    ]
    steps = [
        ",\n".join(
            f"   {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
            for key, value in step.items()
        )
        for step in data["steps"]
    ]
    return (
        "\n".join(
            [
                "{",
                *lines,
                ' "steps": [',
                ",\n".join(f"  {{\n{step}\n  }}" for step in steps),
                " ]",
                "}",
            ]
        )
        + "\n"
    )


class Story:
    """One case file, played on the server."""

    def __init__(self, client, path):
        self._client = client
        self._path = path
        self._data = json.loads(path.read_text(encoding="utf-8"))
        self._times = {}
        self._live = None

    def _send(self, step):
        kind, name, namespace = self._data["kind"], self._data["name"], self._data.get("namespace")
        verb, query = step["verb"], {"fieldManager": step["manager"]}
        if verb == "create":
            return self._client.raw(
                "POST", kube.path_of(kind, None, namespace), step["body"], query=query
            )
        path = kube.path_of(kind, name, namespace, step.get("subresource"))
        if verb == "update":
            return self._client.raw("PUT", path, merged(self._live, step["body"]), query=query)
        if verb == "apply":
            query["force"] = str(step.get("force", False)).lower()
        return self._client.raw("PATCH", path, step["body"], PATCHES[verb], query)

    def _settled(self, live, number):
        """The object without what each run has anew; the step's time for times that were not
        seen before."""
        obj = copy.deepcopy(live)
        meta = obj["metadata"]
        for key in ("uid", "resourceVersion", "creationTimestamp"):
            meta.pop(key, None)
        for entry in meta.get("managedFields", []):
            if "time" in entry:
                entry["time"] = self._times.setdefault(
                    entry["time"], f"2026-01-01T00:00:{number:02}Z"
                )
        return obj

    def play(self):
        """Plays all steps and writes the file anew."""
        for number, step in enumerate(self._data["steps"]):
            time.sleep(
                1.0 - time.time() % 1.0 + 0.02
            )  # managedFields know seconds only: each step gets one of its own
            status, data = self._send(step)
            answer = json.loads(data)
            step["code"] = status
            step.pop("after", None)
            step.pop("refusal", None)
            if status < 400:
                self._live = answer
                step["after"] = self._settled(answer, number)
            else:
                # The server has the causes of a conflict in no order of managers.
                answer.get("details", {}).get("causes", []).sort(key=lambda cause: cause["message"])
                step["refusal"] = {
                    key: answer[key] for key in ("reason", "message", "details") if key in answer
                }
        self._path.write_text(text_of(self._data), encoding="utf-8")
        print(
            f"{self._path.name}: {len(self._data['steps'])} steps, answers "
            + " ".join(str(step["code"]) for step in self._data["steps"])
        )


def start(server):
    """Starts the server without its controllers, and makes what stories need."""
    server.etcd.start()
    server.apiserver.start()
    client = server.client()
    kube.wait_for(lambda: client.raw("GET", "/readyz")[0] == 200, 60, "the API server")
    kube.wait_for(lambda: client.get("Namespace", "default"), 30, "the namespace")
    client.create(
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": "default"},
        }
    )
    subprocess.run(
        [
            server.tool("kubectl"),
            "--kubeconfig",
            server.admin_kubeconfig,
            "apply",
            "--server-side",
            "-f",
            ROOT / "crds",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    kube.wait_for(
        lambda: client.raw("GET", kube.path_of("GpuClusterPolicy"))[0] == 200, 30, "the definition"
    )
    return client


def main():
    """The command line."""
    paths = [pathlib.Path(p) for p in sys.argv[1:]] or sorted(CASES.glob("*.json"))
    server = world.World()
    try:
        client = start(server)
        for path in paths:
            Story(client, path).play()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
