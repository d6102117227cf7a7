#!/usr/bin/python3
"""Records how a real API server's schemas say that fields merge, for the unit test that holds the simulator's table to them.

    tests/sim/record_merge_types.py      write tests/cases/sim_merge_types.json

The file has a text for each place of each kind that is not merged field by field without further ado: "atomic", "map", "set",
"list by containerPort protocol=TCP"; " whole" where items are not merged, " patch by KEY" for strategic merge, " always" where
the server's own type has the field even when nothing was said. Below what is replaced as a whole nothing is told.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "e2e"))

import kube  # noqa: E402
import world  # noqa: E402

FILE = ROOT / "tests" / "cases" / "sim_merge_types.json"
KINDS = {
    "api/v1": "Node Pod ConfigMap Secret Service ServiceAccount Event Namespace",
    "apis/apps/v1": "DaemonSet ControllerRevision Deployment ReplicaSet",
    "apis/batch/v1": "Job",
    "apis/node.k8s.io/v1": "RuntimeClass",
    "apis/coordination.k8s.io/v1": "Lease",
    "apis/events.k8s.io/v1": "Event",
    "apis/policy/v1": "PodDisruptionBudget",
    "apis/scheduling.k8s.io/v1": "PriorityClass",
    "apis/rbac.authorization.k8s.io/v1": "Role ClusterRole RoleBinding ClusterRoleBinding",
    "apis/apiextensions.k8s.io/v1": "CustomResourceDefinition",
}
SCALARS = ("Quantity", "Time", "MicroTime", "IntOrString")


class Schemas:
    """The schemas of one group and version."""

    def __init__(self, definitions):
        self._definitions = definitions
        self.texts = {}

    def root(self, kind, group, version):
        """The schema of a kind."""
        for schema in self._definitions.values():
            for gvk in schema.get("x-kubernetes-group-version-kind", []):
                if (gvk["kind"], gvk["group"], gvk["version"]) == (kind, group, version) and "spec" not in gvk:
                    return schema
        raise KeyError(kind)

    def _target(self, schema):
        """(name, schema) that a reference leads to; the schema itself where there is none."""
        for part in [schema, *schema.get("allOf", [])]:
            if "$ref" in part:
                name = part["$ref"].rsplit("/", 1)[1]
                return name.rsplit(".", 1)[1], self._definitions[name]
        return "", schema

    def _list_text(self, schema):
        """(text, type of the items to go on with or None)."""
        how = schema.get("x-kubernetes-list-type")
        name, items = self._target(schema["items"])
        whole = items.get("x-kubernetes-map-type") == "atomic"
        text = {"set": "set", "map": "list by"}.get(how, "atomic")
        if how == "map":
            for key in schema["x-kubernetes-list-map-keys"]:
                # A protocol's default is in the old format of schemas only.
                text += f" {key}" + ("=TCP" if key == "protocol" else "")
            text += " whole" if whole else ""
        if "merge" in schema.get("x-kubernetes-patch-strategy", "").split(","):
            text += " patch by " + schema.get("x-kubernetes-patch-merge-key", "value")
        goes_on = text != "atomic" and not whole and name not in SCALARS
        return text, items if goes_on else None

    def _text(self, schema):
        name, target = self._target(schema)
        if name in SCALARS:
            return "", None
        if schema.get("type") == "array":
            return self._list_text(schema)
        if name in ("RawExtension", "JSON"):
            return "atomic", None
        if "atomic" in (schema.get("x-kubernetes-map-type"), target.get("x-kubernetes-map-type")):
            return "atomic", None
        if "additionalProperties" in schema:
            return "map", None
        if target.get("type") == "object" and name != "FieldsV1":
            return "fields", target
        return "", None

    def tell(self, schema, path):
        """Tells the fields of a schema, and what is below."""
        for field, below in sorted(schema.get("properties", {}).items()):
            place = f"{path}.{field}" if path else field
            text, items = self._text(below)
            always = text and "set" not in text and (below.get("default") == {} or field in schema.get("required", []))
            if text == "fields" and not always:
                text = ""
            if text not in ("", "atomic") or (text == "atomic" and below.get("type") != "array"):
                self.texts[place] = text + (" always" if always else "")
            if items is not None:
                self.tell(items, place)


def record(client):
    """All kinds' texts."""
    kinds = {}
    for group_version, names in KINDS.items():
        definitions = client.request("GET", "/openapi/v3/" + group_version)["components"]["schemas"]
        group, version = ([""] + group_version.split("/")[1:])[-2:]
        for kind in names.split():
            schemas = Schemas(definitions)
            schemas.tell(schemas.root(kind, group, version), "")
            kinds[f"{group}/{version} {kind}".lstrip("/")] = schemas.texts
    return kinds


def main():
    """The command line."""
    server = world.World()
    try:
        server.etcd.start()
        server.apiserver.start()
        client = server.client()
        kube.wait_for(lambda: client.raw("GET", "/readyz")[0] == 200, 60, "the API server")
        kinds = kube.wait_for(lambda: record(client), 30, "the schemas")
    finally:
        server.stop()
    FILE.write_text(json.dumps(kinds, indent=1) + "\n", encoding="utf-8")
    print(f"{FILE.name}: {len(kinds)} kinds, {sum(map(len, kinds.values()))} places")


if __name__ == "__main__":
    main()
