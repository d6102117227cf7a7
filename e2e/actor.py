"""Plays the part of kubelets that KWOK does not: a node's device plugin tells its kubelet how
many GPUs there are.

When the device plugin's pod on a node is ready, the node's capacity and allocatable get
nvidia.com/gpu (as many as the annotation test.ostler.dev/gpus on the node says, else 8). When
that pod goes, allocatable becomes 0 and the key stays, as with a real kubelet.
"""

import http.client
import threading
import time

import kube
from worker import Worker

SELECTOR = "app.kubernetes.io/component=device-plugin"
GPUS_ANNOTATION = "test.ostler.dev/gpus"


class PluginActor(Worker):
    """Follows the device plugin's pods of all nodes until stop()."""

    def __init__(self, client):
        super().__init__(self._play)
        self._client = client
        self._stopping = threading.Event()
        self._ready = {}  # node -> names of its ready plugin pods
        self.paused = False  # while true, kubelets do not notice their plugins

    def stop(self):
        """Ends it; it notices at its next event at the latest, and does not hold the process."""
        self._stopping.set()

    def _play(self):
        while not self._stopping.is_set():
            try:
                self._follow()
            except (kube.ApiError, OSError, http.client.HTTPException, ValueError):
                time.sleep(0.2)  # the API server is away; it may come back

    def _follow(self):
        answer = self._client.request("GET", kube.path_of("Pod"), query={"labelSelector": SELECTOR})
        there = {}
        for pod in answer["items"]:
            if kube.pod_ready(pod):
                there.setdefault(pod["spec"]["nodeName"], set()).add(pod["metadata"]["name"])
        for node in set(self._ready) | set(there):
            self._set(node, there.get(node, set()))
        with self._client.watch(
            "Pod", since=answer["metadata"]["resourceVersion"], labels=SELECTOR, timeout=300
        ) as events:
            for kind, pod in events:
                if kind == "ERROR" or self._stopping.is_set():
                    return
                self._on_pod(kind, pod)

    def _on_pod(self, kind, pod):
        node = pod["spec"].get("nodeName")
        if not node:
            return
        names = set(self._ready.get(node, set()))
        if kind != "DELETED" and kube.pod_ready(pod):
            names.add(pod["metadata"]["name"])
        else:
            names.discard(pod["metadata"]["name"])
        self._set(node, names)

    def _set(self, node, names):
        before = bool(self._ready.get(node))
        if bool(names) != before and not self.paused:
            self._write(node, bool(names))
        self._ready[node] = names

    def _write(self, name, served):
        node = self._client.get("Node", name)
        if node is None:
            return
        gpus = node["metadata"].get("annotations", {}).get(GPUS_ANNOTATION, "8") if served else "0"
        status = {"allocatable": {"nvidia.com/gpu": gpus}}
        if served:
            status["capacity"] = {"nvidia.com/gpu": gpus}
        try:
            self._client.merge_patch("Node", name, {"status": status}, subresource="status")
        except kube.ApiError as e:
            if e.code != 404:
                raise
