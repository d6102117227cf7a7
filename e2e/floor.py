#!/usr/bin/python3
"""The least that marking nodes costs: a loop that watches nodes and patches each new one,
with no guard, no decision and no record.

    e2e/floor.py KUBECONFIG PREFIX      marks each new node whose name begins so, until it is
                                        ended; says "ready" when it watches

A process of its own, so that it competes with the measurement as little as what is measured
against it.
"""

import concurrent.futures
import pathlib
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import kube  # noqa: E402  the path above is what finds it

IN_FLIGHT = 8  # as many as Ostler has
TAINT = "bench"
MARKS = {"labels": {"bench": "x"}}


def main():
    """The command line."""
    kubeconfig, prefix = sys.argv[1:]
    client = kube.from_kubeconfig(kubeconfig)
    local = threading.local()

    def mark(node):
        if not hasattr(local, "client"):
            local.client = client.clone()
        taints = node["spec"].get("taints", []) + [{"key": TAINT, "effect": "NoSchedule"}]
        local.client.merge_patch(
            "Node", node["metadata"]["name"], {"metadata": MARKS, "spec": {"taints": taints}}
        )

    version = client.request("GET", kube.path_of("Node"), query={"limit": 1})["metadata"][
        "resourceVersion"
    ]
    with concurrent.futures.ThreadPoolExecutor(IN_FLIGHT) as pool, client.watch(
        "Node", since=version, timeout=600
    ) as events:
        print("ready", flush=True)
        for kind, node in events:
            if kind == "ADDED" and node["metadata"]["name"].startswith(prefix):
                pool.submit(mark, node)


if __name__ == "__main__":
    main()
