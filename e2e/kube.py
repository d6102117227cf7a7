"""A small client of the Kubernetes API for tests, and the objects that tests put into a world.

Objects are plain dictionaries. One Client is used by one thread at a time; make another with
clone().
"""

import base64
import contextlib
import http.client
import json
import socket
import ssl
import time
import urllib.parse

import names

# kind -> (API prefix, plural, namespaced)
KINDS = {
    "Node": ("/api/v1", "nodes", False),
    "Namespace": ("/api/v1", "namespaces", False),
    "Pod": ("/api/v1", "pods", True),
    "Service": ("/api/v1", "services", True),
    "ConfigMap": ("/api/v1", "configmaps", True),
    "Secret": ("/api/v1", "secrets", True),
    "ServiceAccount": ("/api/v1", "serviceaccounts", True),
    "DaemonSet": ("/apis/apps/v1", "daemonsets", True),
    "Deployment": ("/apis/apps/v1", "deployments", True),
    "StatefulSet": ("/apis/apps/v1", "statefulsets", True),
    "Job": ("/apis/batch/v1", "jobs", True),
    "ControllerRevision": ("/apis/apps/v1", "controllerrevisions", True),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases", True),
    "Event": ("/apis/events.k8s.io/v1", "events", True),
    "RuntimeClass": ("/apis/node.k8s.io/v1", "runtimeclasses", False),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1", "priorityclasses", False),
    "PodDisruptionBudget": ("/apis/policy/v1", "poddisruptionbudgets", True),
    "ResourceSlice": ("/apis/resource.k8s.io/v1", "resourceslices", False),
    "Role": ("/apis/rbac.authorization.k8s.io/v1", "roles", True),
    "RoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "rolebindings", True),
    "ClusterRole": ("/apis/rbac.authorization.k8s.io/v1", "clusterroles", False),
    "ClusterRoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", False),
    "CustomResourceDefinition": (
        "/apis/apiextensions.k8s.io/v1",
        "customresourcedefinitions",
        False,
    ),
    "ValidatingAdmissionPolicy": (
        "/apis/admissionregistration.k8s.io/v1",
        "validatingadmissionpolicies",
        False,
    ),
    "ValidatingAdmissionPolicyBinding": (
        "/apis/admissionregistration.k8s.io/v1",
        "validatingadmissionpolicybindings",
        False,
    ),
    "GpuNode": ("/apis/ostler.dev/v1alpha1", "gpunodes", False),
    "GpuClusterPolicy": ("/apis/ostler.dev/v1alpha1", "gpuclusterpolicies", False),
    "ServiceMonitor": ("/apis/monitoring.coreos.com/v1", "servicemonitors", True),
}


class ApiError(Exception):
    """An answer of the server that is not a success; `code` is the HTTP status, `message` and
    `reason` the Status object's."""

    def __init__(self, code, message, reason=""):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.reason = reason


# Seconds that a client waits for an answer: more than the 60 after which an API server itself gives
# a request up.
ANSWER = 90


class Timeout(AssertionError):
    """Something that was waited for did not come."""


def path_of(kind, name=None, namespace=None, subresource=None):
    """The URL path of a kind's collection, an object or its subresource."""
    prefix, plural, namespaced = KINDS[kind]
    parts = [prefix]
    if namespaced and namespace:
        parts.append(f"/namespaces/{namespace}")
    parts.append("/" + plural)
    if name:
        parts.append("/" + name)
    if subresource:
        parts.append("/" + subresource)
    return "".join(parts)


class Client:
    """One connection to an API server, reopened when it breaks."""

    def __init__(self, host, port, ca, cert=None, key=None, token=None, agent="ostler-e2e"):
        """ca: an authority's certificate as a file's name, or its text as bytes."""
        self._args = (host, port, ca, cert, key, token, agent)
        self._host, self._port = host, port
        self._tls = ssl.create_default_context(
            **({"cadata": ca.decode()} if isinstance(ca, bytes) else {"cafile": ca})
        )
        if cert:
            self._tls.load_cert_chain(cert, key)
        self._headers = {"Accept": "application/json", "User-Agent": agent}
        if token:
            self._headers["Authorization"] = "Bearer " + token
        self._connection = None

    def clone(self):
        """Another client with a connection of its own, for another thread."""
        return Client(*self._args)

    def with_token(self, token):
        """Another client, that shows only this token."""
        host, port, ca, *_, agent = self._args
        return Client(host, port, ca, token=token, agent=agent)

    def close(self):
        """Closes the connection; the next request opens another."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def _connect(self, timeout):
        connection = http.client.HTTPSConnection(
            self._host, self._port, timeout=timeout, context=self._tls
        )
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _exchange(self, method, path, body, headers):
        if self._connection is None:
            self._connection = self._connect(ANSWER)
        self._connection.request(method, path, body, headers)
        reply = self._connection.getresponse()
        return reply.status, reply.read()

    def raw(
        self, method, path, body=None, content_type="application/json", query=None, headers=None
    ):
        """Sends one request and returns (status, bytes); `headers` replace the client's own, a
        body in bytes is sent as it is.

        A connection that the server closed meanwhile is opened again once.
        """
        if query:
            path += "?" + urllib.parse.urlencode(query)
        headers = {**self._headers, **(headers or {})}
        if body is not None:
            body = (
                body
                if isinstance(body, bytes)
                else json.dumps(body, separators=(",", ":")).encode()
            )
            headers["Content-Type"] = content_type
        fresh = self._connection is None
        try:
            return self._exchange(method, path, body, headers)
        except (http.client.HTTPException, OSError):
            self.close()
            if fresh:
                raise
            return self._exchange(method, path, body, headers)

    def request(self, method, path, body=None, content_type="application/json", query=None):
        """raw(), decoded; an answer of 400 or more is an ApiError."""
        status, data = self.raw(method, path, body, content_type, query)
        answer = (
            json.loads(data)
            if data[:1] in (b"{", b"[")
            else {"message": data.decode(errors="replace")}
        )
        if status >= 400:
            raise ApiError(status, answer.get("message", ""), answer.get("reason", ""))
        return answer

    def get(self, kind, name, namespace=None):
        """The object, or None where there is none."""
        try:
            return self.request("GET", path_of(kind, name, namespace))
        except ApiError as e:
            if e.code == 404:
                return None
            raise

    def list(self, kind, namespace=None, labels=None, fields=None):
        """All objects of a kind; `labels` and `fields` are selectors."""
        query = {}
        if labels:
            query["labelSelector"] = labels
        if fields:
            query["fieldSelector"] = fields
        return self.request("GET", path_of(kind, None, namespace), query=query)["items"]

    def create(self, obj):
        """Creates the object and returns what the server made of it."""
        namespace = obj["metadata"].get("namespace")
        return self.request("POST", path_of(obj["kind"], None, namespace), obj)

    def ensure(self, obj):
        """create() of what may be there: a request that was not answered in time may have been
        carried out."""
        try:
            self.create(obj)
        except ApiError as e:
            if e.reason != "AlreadyExists":
                raise

    def apply(self, obj, manager="e2e", force=True, subresource=None):
        """Server-side apply."""
        meta = obj["metadata"]
        return self.request(
            "PATCH",
            path_of(obj["kind"], meta["name"], meta.get("namespace"), subresource),
            obj,
            "application/apply-patch+yaml",
            {"fieldManager": manager, "force": str(force).lower()},
        )

    def merge_patch(self, kind, name, patch, namespace=None, subresource=None):
        """JSON merge patch."""
        return self.request(
            "PATCH",
            path_of(kind, name, namespace, subresource),
            patch,
            "application/merge-patch+json",
        )

    def json_patch(self, kind, name, patch, namespace=None, subresource=None):
        """RFC 6902 patch."""
        return self.request(
            "PATCH",
            path_of(kind, name, namespace, subresource),
            patch,
            "application/json-patch+json",
        )

    def strategic_patch(self, kind, name, patch, namespace=None, subresource=None):
        """Strategic merge patch, for built-in kinds."""
        return self.request(
            "PATCH",
            path_of(kind, name, namespace, subresource),
            patch,
            "application/strategic-merge-patch+json",
        )

    def delete(self, kind, name, namespace=None, propagation="Background", grace=None):
        """Deletes; an object that is not there is fine."""
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        try:
            return self.request("DELETE", path_of(kind, name, namespace), options)
        except ApiError as e:
            if e.code != 404:
                raise
            return None

    @contextlib.contextmanager
    def watch(self, kind, namespace=None, since=None, timeout=30, labels=None):
        """Yields an iterator over (type, object); `since` is a resourceVersion, None begins with
        what is there."""
        query = {"watch": "1", "timeoutSeconds": str(int(timeout)), "allowWatchBookmarks": "true"}
        if since is not None:
            query["resourceVersion"] = since
        if labels:
            query["labelSelector"] = labels
        connection = self._connect(timeout + 10)
        try:
            connection.request(
                "GET",
                path_of(kind, None, namespace) + "?" + urllib.parse.urlencode(query),
                headers=self._headers,
            )
            reply = connection.getresponse()
            if reply.status >= 400:
                raise ApiError(reply.status, reply.read().decode(errors="replace"))
            yield self._frames(reply)
        finally:
            connection.close()

    @staticmethod
    def _frames(reply):
        for line in reply:
            frame = json.loads(line)
            if frame["type"] != "BOOKMARK":
                yield frame["type"], frame["object"]


# Times are for a machine that has nothing else to do: so many times as long passes before something
# is said not to come.
PATIENCE = 3
# Seconds between two looks at what a test waits for: at first, and after a second or so. Looks
# are a quarter of what an API server of the tests is asked.
SOON, LATER = 0.05, 0.2


def wait_for(predicate, timeout=10, what=None, every=None):
    """Calls predicate until it returns something true, and returns that. Raises Timeout with the
    last thing that it said.

    A predicate may return a string to say what it still misses: a string counts as "not yet".
    `every`: seconds between two calls, where the usual ones do not fit.
    """
    timeout *= PATIENCE
    pause, longest = (SOON, LATER) if every is None else (every, every)
    end = time.monotonic() + timeout
    said = None
    while True:
        try:
            answer = predicate()
        except (ApiError, OSError, http.client.HTTPException) as e:
            answer = f"{type(e).__name__}: {e}"
        if answer and not isinstance(answer, str):
            return answer
        said = answer or said
        if time.monotonic() > end:
            label = (
                what
                or getattr(predicate, "__doc__", None)
                or getattr(predicate, "__name__", "condition")
            )
            raise Timeout(f"not within {timeout:g} s: {label}" + (f" ({said})" if said else ""))
        time.sleep(pause)
        pause = min(pause * 1.3, longest)


def insist(write, timeout=60):
    """Calls a write that may be repeated until it is answered: of a huge object a busy server
    says 504 or nothing for a while.

    What the server refuses for good is raised at once.
    """

    def answered():
        try:
            write()
        except ApiError as e:
            if e.code not in (429, 500, 503, 504):
                raise AssertionError(f"refused: {e}") from e
            raise
        return True

    wait_for(answered, timeout, "a huge object is written")


# ---- objects ----

OSES = {
    # name -> (osImage, kernel, NFD's ID, NFD's VERSION_ID)
    "ubuntu24.04": ("Ubuntu 24.04.1 LTS", "6.8.0-49-generic", "ubuntu", "24.04"),
    "ubuntu22.04": ("Ubuntu 22.04.5 LTS", "5.15.0-125-generic", "ubuntu", "22.04"),
    "rhel9": ("Red Hat Enterprise Linux 9.4 (Plow)", "5.14.0-427.13.1.el9_4.x86_64", "rhel", "9.4"),
    "cos": ("Container-Optimized OS from Google", "6.6.56+", "cos", "117"),
    "plan9": ("Plan 9 from Bell Labs, Fourth Edition", "4.0.0", "plan9", "4"),
}

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


def main_container(template):
    """The container of a pod, or of a template of pods, that `kubectl logs` shows: an init
    container may be it."""
    spec = template["spec"]
    name = template["metadata"].get("annotations", {}).get(DEFAULT_CONTAINER)
    named = [c for c in spec.get("initContainers", []) + spec["containers"] if c["name"] == name]
    return (named or spec["containers"])[0]


# What a kubelet says of every node that it makes.
KUBELET_ANNOTATION = "volumes.kubernetes.io/controller-managed-attach-detach"

# Every way in which a node shows that it has a GPU: (labels, allocatable).
DETECTED_BY = {
    "nfd": ({"feature.node.kubernetes.io/pci-10de.present": "true"}, {}),
    "nfd_vga": ({"feature.node.kubernetes.io/pci-0300_10de.present": "true"}, {}),
    "nfd_3d": ({"feature.node.kubernetes.io/pci-0302_10de.present": "true"}, {}),
    "gke": ({"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}, {}),
    "hand": ({"nvidia.com/gpu.present": "true"}, {}),
    "allocatable": ({}, {"nvidia.com/gpu": "8"}),
}


def nfd_labels(os):
    """About 60 labels as Node Feature Discovery writes them on a server; none of them speaks of
    a GPU."""
    _, kernel, os_id, os_version = OSES[os]
    prefix = "feature.node.kubernetes.io/"
    flags = (
        "ADX AESNI AMXBF16 AMXINT8 AMXTILE AVX AVX2 AVX512BF16 AVX512BITALG AVX512BW AVX512CD"
        " AVX512DQ AVX512F AVX512FP16 AVX512IFMA AVX512VBMI AVX512VBMI2 AVX512VL AVX512VNNI"
        " AVX512VPOPCNTDQ AVXVNNI CLDEMOTE CMPXCHG8 FMA3 FSRM FXSR FXSROPT GFNI HYPERVISOR IBPB"
        " LAHF MOVBE MOVDIR64B MOVDIRI OSXSAVE SERIALIZE SHA STIBP SYSCALL SYSEE TSXLDTRK VAES VMX"
        " VPCLMULQDQ WBNOINVD X87 XSAVE XSAVEC XSAVEOPT XSAVES"
    ).split()
    labels = {prefix + "cpu-cpuid." + flag: "true" for flag in flags}
    labels.update(
        {
            prefix + "cpu-model.family": "6",
            prefix + "cpu-model.id": "143",
            prefix + "cpu-model.vendor_id": "Intel",
            prefix + "kernel-config.NO_HZ": "true",
            prefix + "kernel-version.full": kernel.replace("+", ""),
            prefix + "memory-numa": "true",
            prefix + "pci-1a03.present": "true",
            prefix + "storage-nonrotationaldisk": "true",
            prefix + "system-os_release.ID": os_id,
            prefix + "system-os_release.VERSION_ID": os_version,
            prefix + "system-os_release.VERSION_ID.major": os_version.split(".")[0],
        }
    )
    return labels


def _images(count):
    registry = "registry.example.com/platform/some-team/some-service"
    return [
        {
            "names": [f"{registry}-{i}@sha256:{i:064x}", f"{registry}-{i}:v1.{i}.0"],
            "sizeBytes": 100_000_000 + i,
        }
        for i in range(count)
    ]


def node(
    name,
    gpu=None,
    os="ubuntu24.04",
    labels=None,
    annotations=None,
    taints=None,
    nfd=True,
    allocatable=None,
    runtime="containerd://1.7.24",
    images=50,
    down=False,
):
    """A Node of about 22 KB with its status, like a real one.

    `gpu` is a row of DETECTED_BY, None for a node without a GPU. A node that is `down` is not
    ready and stays so.
    """
    os_image, kernel, _, _ = OSES[os]
    all_labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": "metal",
        "topology.kubernetes.io/region": "r1",
        "topology.kubernetes.io/zone": "r1-a",
    }
    if nfd:
        all_labels.update(nfd_labels(os))
    resources = {
        "cpu": "64",
        "memory": "527951236Ki",
        "ephemeral-storage": "1845284Mi",
        "hugepages-2Mi": "0",
        "pods": "110",
    }
    if gpu:
        gpu_labels, gpu_resources = DETECTED_BY[gpu]
        all_labels.update(gpu_labels)
        resources.update(gpu_resources)
    all_labels.update(labels or {})
    resources.update(allocatable or {})
    annotations = {KUBELET_ANNOTATION: "true", **(annotations or {})}
    conditions = []
    if down:
        annotations["test.ostler.dev/down"] = "true"
        conditions = [
            {
                "type": "Ready",
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
            }
        ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": all_labels, "annotations": annotations},
        "spec": {"taints": taints or []},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "addresses": [
                {"type": "InternalIP", "address": "10.1.0.1"},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": "11111111-2222-3333-4444-555555555555",
                "containerRuntimeVersion": runtime,
                "kernelVersion": kernel,
                "kubeProxyVersion": "",
                "kubeletVersion": "v1.30.14" if names.OLDEST else "v1.36.3",
                "machineID": "0123456789abcdef0123456789abcdef",
                "operatingSystem": "linux",
                "osImage": os_image,
                "systemUUID": "99999999-2222-3333-4444-555555555555",
            },
            "images": _images(images),
            "conditions": conditions,
        },
    }


def gpu_pod(
    name, node_name, namespace="default", gpus=1, restart="Never", annotations=None, labels=None
):
    """A pod that holds GPUs on a node, already bound to it."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": labels or {},
            "annotations": annotations or {},
        },
        "spec": {
            "nodeName": node_name,
            "restartPolicy": restart,
            "tolerations": [{"operator": "Exists"}],
            "containers": [
                {
                    "name": "cuda",
                    "image": "registry.example.com/training:1",
                    "resources": {
                        "limits": {"nvidia.com/gpu": str(gpus)},
                        "requests": {"nvidia.com/gpu": str(gpus)},
                    },
                }
            ],
        },
    }


def policy(spec=None, **metadata):
    """The policy."""
    return {
        "apiVersion": "ostler.dev/v1alpha1",
        "kind": "GpuClusterPolicy",
        "metadata": {"name": "default", **metadata},
        "spec": spec or {},
    }


def condition(obj, kind):
    """The condition of that type, or an empty dictionary."""
    for c in ((obj or {}).get("status") or {}).get("conditions") or []:
        if c["type"] == kind:
            return c
    return {}


def pod_ready(pod):
    """Whether a pod is ready and stays."""
    return (
        condition(pod, "Ready").get("status") == "True"
        and "deletionTimestamp" not in pod["metadata"]
    )


def taint(node_object, key):
    """The taint with that key as KEY=VALUE:EFFECT, or None."""
    for t in node_object["spec"].get("taints", []):
        if t["key"] == key:
            return f"{key}={t.get('value', '')}:{t['effect']}"
    return None


def from_kubeconfig(path, agent="ostler-e2e"):
    """A client from a kubeconfig in JSON, as world.py and ostler-sim write them: the authority
    embedded or by a file's name."""
    with open(path, encoding="utf-8") as f:
        config = json.load(f)
    cluster = config["clusters"][0]["cluster"]
    user = config["users"][0]["user"]
    token = user.get("token")
    if "tokenFile" in user:
        with open(user["tokenFile"], encoding="utf-8") as f:
            token = f.read().strip()
    url = urllib.parse.urlsplit(cluster["server"])
    embedded = cluster.get("certificate-authority-data")
    ca = base64.b64decode(embedded) if embedded else cluster["certificate-authority"]
    return Client(
        url.hostname,
        url.port,
        ca,
        user.get("client-certificate"),
        user.get("client-key"),
        token,
        agent,
    )
