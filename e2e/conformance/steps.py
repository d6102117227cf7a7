"""What a request sequence is made of. In paths and bodies, "$ns" is the sequence's own namespace
and "$name" what an earlier step saved."""

import dataclasses

CORE = "/api/v1"
APPS = "/apis/apps/v1"


@dataclasses.dataclass
class Step:
    """One request."""

    method: str
    path: str
    body: object = None
    content_type: str = "application/json"
    query: dict = dataclasses.field(default_factory=dict)
    headers: dict = dataclasses.field(default_factory=dict)
    saved: dict = dataclasses.field(default_factory=dict)
    user: str = "admin"

    def by(self, user):
        """Has another user send it: "ostler", with the rights of the chart's ServiceAccount, or
        "stranger", with an unknown token."""
        return dataclasses.replace(self, user=user)

    def save(self, **paths):
        """Saves parts of the answer under names: save(uid="metadata.uid")."""
        self.saved.update(paths)
        return self

    def as_table(self):
        """Asks for the columns of kubectl get."""
        self.headers["Accept"] = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
        return self


@dataclasses.dataclass
class Sequence:
    """Requests that are sent one after another, in a namespace of their own."""

    name: str
    steps: tuple


SEQUENCES = []


def seq(name, *steps):
    """Adds a sequence; its name says what it shows."""
    assert name not in [s.name for s in SEQUENCES], name
    SEQUENCES.append(Sequence(name, steps))


def get(path, **query):
    """GET of an object or a list."""
    return Step("GET", path, query=query)


def post(path, body, **query):
    """POST of an object."""
    return Step("POST", path, body, query=query)


def put(path, body, **query):
    """PUT of an object."""
    return Step("PUT", path, body, query=query)


def merge(path, body, **query):
    """A merge patch."""
    return Step("PATCH", path, body, "application/merge-patch+json", query)


def strategic(path, body, **query):
    """A strategic merge patch."""
    return Step("PATCH", path, body, "application/strategic-merge-patch+json", query)


def operations(path, body, **query):
    """A JSON patch."""
    return Step("PATCH", path, body, "application/json-patch+json", query)


def apply(path, body, manager="one", force=None, **query):
    """Server-side apply."""
    query["fieldManager"] = manager
    if force is not None:
        query["force"] = str(force).lower()
    return Step("PATCH", path, body, "application/apply-patch+yaml", query)


def delete(path, body=None, **query):
    """DELETE with DeleteOptions or without."""
    return Step("DELETE", path, body, query=query)


def watch(path, seconds=1, **query):
    """What a watch tells within that time."""
    return Step("GET", path, query={"watch": "1", "timeoutSeconds": str(seconds), **query})


# ---- objects ----


def configmap(name="a", data=None, **meta):
    """A ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **meta},
        "data": data or {"k": "v"},
    }


def in_ns(plural, name=None, group=CORE):
    """The path of a collection or an object in the sequence's namespace."""
    return f"{group}/namespaces/$ns/{plural}" + (f"/{name}" if name else "")


def node(name="$ns", **parts):
    """A Node, named after the sequence since nodes are in no namespace."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, **parts.pop("metadata", {})},
        **parts,
    }


def template(labels, image="registry.example.com/a:1", **spec):
    """A pod template of one container."""
    return {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": image}], **spec},
    }


def daemonset(name="a", **spec):
    """A DaemonSet."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template(labels), **spec},
    }


def operand(name):
    """A DaemonSet that the chart's admission policies let Ostler make."""
    labels = {"app": name}
    elsewhere = {
        "matchExpressions": [
            {"key": "node-role.kubernetes.io/control-plane", "operator": "DoesNotExist"}
        ]
    }
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [elsewhere]}
        }
    }
    made = daemonset(
        name,
        template=template(
            labels, "nvcr.io/nvidia/driver:1", automountServiceAccountToken=False, affinity=affinity
        ),
    )
    made["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "ostler"}
    return made


def pod(name="a", **spec):
    """A Pod of one container."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "main", "image": "registry.example.com/a:1"}], **spec},
    }
