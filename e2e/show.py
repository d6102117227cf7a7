#!/usr/bin/python3
"""Shows Ostler at work: a control plane, nodes that arrive one after another, and a line for
everything that changes.

    e2e/show.py            until Ctrl-C
    e2e/show.py --once     ends when the policy is Ready; fails when it does not become Ready
                           within a minute
"""

import argparse
import http.client
import pathlib
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import actor  # noqa: E402  the path above is what finds them
import installation  # noqa: E402
import kube  # noqa: E402
import names  # noqa: E402
import program  # noqa: E402
import world as world_module  # noqa: E402

ARRIVALS = [
    # (name, how its GPU shows, operating system)
    ("plain-1", None, "ubuntu24.04"),
    ("gpu-1", "nfd", "ubuntu24.04"),
    ("gpu-2", "nfd", "rhel9"),
    ("plain-2", None, "rhel9"),
    ("gpu-3", "gke", "ubuntu24.04"),
]

HINTS = """
In a second terminal:

    export KUBECONFIG={kubeconfig}
    alias kubectl={kubectl}
    kubectl get gpupolicy                                       # what a person sees
    kubectl get gpunodes                                        # and of each node
    kubectl get nodes -L nvidia.com/gpu.present,ostler.dev/driver,ostler.dev/stack
    kubectl -n ostler-operands get daemonsets,pods -o wide
    # say, exporter.interval: 5s, or driver.version
    kubectl edit gpupolicy default
    kubectl label node gpu-1 nvidia.com/gpu.present-            # comes back at once
    kubectl label node gpu-2 ostler.dev/managed=false           # everything of Ostler's comes off
    kubectl -n ostler-operands delete daemonset --all           # made again
    kubectl delete gpupolicy default                            # and all is as it was before

Ostler's log: {log}     Ctrl-C ends everything.
"""


class Screen:
    """Prints lines with the time since the start, one at a time, and counts how long nothing was
    said."""

    def __init__(self):
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self.last = self._began

    def say(self, what, text):
        """One line: about what, and what changed."""
        with self._lock:
            self.last = time.monotonic()
            print(f"{self.last - self._began:7.2f} s  {what:<34} {text}", flush=True)


class Follower(threading.Thread):
    """Watches a kind and says what `describe` makes of each change: a dictionary of aspects, of
    which changed ones are said."""

    def __init__(self, screen, client, kind, describe, namespace=None):
        super().__init__(name=f"follow {kind}", daemon=True)
        self._screen = screen
        self._client = client
        self._kind = kind
        self._describe = describe
        self._namespace = namespace
        self._known = {}

    def run(self):
        while True:
            try:
                with self._client.watch(self._kind, self._namespace, timeout=3600) as events:
                    for event, obj in events:
                        if event == "ERROR":
                            break
                        self._show(event, obj)
            except (OSError, http.client.HTTPException, kube.ApiError, ValueError):
                time.sleep(0.5)  # the API server restarts or ends

    def _show(self, event, obj):
        name = obj["metadata"]["name"]
        now = {} if event == "DELETED" else self._describe(obj)
        before = self._known.get(name, {})
        label = self._kind.lower() if self._kind == "Event" else f"{self._kind.lower()} {name}"
        for aspect in [a for a in before if a not in now and event != "DELETED"]:
            self._screen.say(label, f"no longer {aspect}")
        for aspect, value in now.items():
            if before.get(aspect) != value:
                self._screen.say(label, f"{aspect}: {value}" if value else aspect)
        if event == "DELETED":
            if before:
                self._screen.say(label, "is gone")
            self._known.pop(name, None)
        else:
            self._known[name] = now


def of_node(node):
    """What is worth a line on a node: its OS, marks, GPUs."""
    aspects = {f"arrives with {node['status'].get('nodeInfo', {}).get('osImage')}": ""}
    for key, value in node["metadata"].get("labels", {}).items():
        if key.startswith("ostler.dev/") or key == names.GPU_LABEL:
            aspects[f"label {key}={value}"] = ""
    for taint in node["spec"].get("taints", []):
        if not taint["key"].startswith("node.kubernetes.io/"):
            aspects[f"taint {taint['key']}={taint.get('value', '')}:{taint['effect']}"] = ""
    gpus = node["status"].get("allocatable", {}).get("nvidia.com/gpu")
    if gpus is not None:
        aspects["allocatable nvidia.com/gpu"] = gpus
    return aspects


def of_daemonset(daemonset):
    """Image and counts."""
    status = daemonset.get("status", {})
    image = kube.main_container(daemonset["spec"]["template"])["image"]
    desired = status.get("desiredNumberScheduled", 0)
    return {
        f"runs {image}": "",
        **({"ready": f"{status.get('numberReady', 0)} of {desired}"} if desired else {}),
    }


def of_pod(pod):
    """Where it is, once it is ready, goes, or has something to wait for."""
    waiting = [
        c["state"]["waiting"]["reason"]
        for c in pod["status"].get("initContainerStatuses", [])
        + pod["status"].get("containerStatuses", [])
        if "waiting" in c.get("state", {})
    ]
    if "deletionTimestamp" in pod["metadata"]:
        state = "going"
    elif kube.pod_ready(pod):
        state = "ready"
    else:
        state = waiting[0] if waiting else None
    return {f"on {pod['spec'].get('nodeName')}": state} if state else {}


def of_policy(policy):
    """The conditions and the columns of kubectl get."""
    aspects = {
        c["type"]: f"{c['status']} {c['reason']}: {c['message']}"
        for c in policy.get("status", {}).get("conditions", [])
        if c["type"] == "Ready" or c["status"] == "True"
    }
    nodes = policy.get("status", {}).get("summary", {}).get("nodes")
    if nodes:
        aspects["nodes"] = nodes
    return aspects


def of_gpunode(report):
    """State and reason, as `kubectl get gpunodes` has them."""
    status = report.get("status", {})
    return {"state": f"{status['state']} {status.get('reason', '')}"} if "state" in status else {}


def of_event(event):
    """What it says, where it comes from Ostler."""
    if not event.get("reportingController", "").startswith("ostler"):
        return {}
    return {
        f"{event.get('reason')} on {event.get('regarding', {}).get('name')}": event.get("note", "")
    }


def follow(screen, world):
    """Starts a follower for each kind that is shown."""
    for kind, describe, namespace in (
        ("Node", of_node, None),
        ("DaemonSet", of_daemonset, names.OPERANDS),
        ("Pod", of_pod, names.OPERANDS),
        ("GpuClusterPolicy", of_policy, None),
        ("GpuNode", of_gpunode, None),
        ("Event", of_event, None),
    ):
        Follower(screen, world.client(), kind, describe, namespace).start()


def until_ready(client, screen, timeout=60):
    """Waits until the policy is Ready with all GPU nodes and nothing has changed for a second."""
    wanted = sum(1 for _, gpu, _ in ARRIVALS if gpu)

    def ready():
        """the policy is Ready"""
        policy = client.get("GpuClusterPolicy", "default")
        nodes = (policy or {}).get("status", {}).get("nodes", {})
        return (
            kube.condition(policy, "Ready").get("status") == "True"
            and nodes.get("ready") == wanted
            and time.monotonic() - screen.last > 1
        )

    kube.wait_for(ready, timeout)


def show(options):
    """The whole show."""
    logs = names.ROOT / "build" / "run"
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / "ostler.log"
    log.unlink(missing_ok=True)
    print(
        "world: starting etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK",
        flush=True,
    )
    with world_module.World() as world:
        account = installation.Installation(world).account
        kubeconfig = world.token_kubeconfig(names.NAMESPACE, account)
        print(f"kubeconfig: {world.admin_kubeconfig}\n", flush=True)
        client = world.client()
        screen = Screen()
        follow(screen, world)
        actor.PluginActor(world.client()).start()
        operator = program.Operator(kubeconfig, log)
        try:
            screen.say("ostler", "starts")
            operator.start()
            screen.say("ostler", "is ready")
            client.create(
                kube.policy({"rollout": {"canary": {"soak": "20s"}}})
            )  # a version that one tries goes on soon
            for name, gpu, os in ARRIVALS:
                time.sleep(1.2)
                client.create(kube.node(name, gpu, os=os))
            until_ready(client, screen)
            print(
                HINTS.format(
                    kubeconfig=world.admin_kubeconfig, kubectl=world.tool("kubectl"), log=log
                ),
                flush=True,
            )
            while not options.once:
                time.sleep(0.5)
                if not operator.running:
                    print(f"Ostler has ended:\n{operator.tail()}", file=sys.stderr)
                    return 1
        except kube.Timeout as e:
            print(f"{e}\n{operator.tail()}", file=sys.stderr)
            return 1
        finally:
            operator.stop()
    return 0


def main():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--once", action="store_true", help="end when the policy is Ready")
    options = parser.parse_args()
    world_module.end_on_signals()
    try:
        return show(options)
    except KeyboardInterrupt:
        print("\nended: nothing is left running", flush=True)
        return 0


if __name__ == "__main__":
    sys.exit(main())
