"""What a real API server says of Kubernetes' own types, and what it makes of objects:
sim/api/kubernetes.json, of which scripts/embed-types makes the simulator's tables.

The types are the server's OpenAPI document without what the simulator does not need. That document
does not say what the server's code does to an object that it reads, so objects are sent
(conformance/probes.py) and three more members of a field say it: "set" is the value that the field
gets whenever a request leaves it out, "varies" says that it gets one that depends on other fields,
and "keeps-zero" that "", 0 and false are values there, and not the same as nothing.
"""

import difflib
import json
import subprocess

import kube
import names
from conformance.probes import FREE, VALUES, Probes, short

FILE = names.ROOT / "sim" / "api" / "kubernetes.json"
KINDS = {
    "api/v1": "Namespace Node Pod ConfigMap Service ServiceAccount Event",
    "apis/events.k8s.io/v1": "Event",
    "apis/apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet",
    "apis/batch/v1": "Job",
    "apis/coordination.k8s.io/v1": "Lease",
    "apis/node.k8s.io/v1": "RuntimeClass",
    "apis/policy/v1": "PodDisruptionBudget",
    "apis/resource.k8s.io/v1": "ResourceSlice",
    "apis/scheduling.k8s.io/v1": "PriorityClass",
    "apis/apiextensions.k8s.io/v1": "CustomResourceDefinition",
}
# Not the type of a kind: what deletions are asked with.
OPTIONS = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
KEPT = (
    "type",
    "format",
    "default",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-patch-merge-key",
)


def pruned(schema):
    """A schema with what the simulator needs; a reference stands where the document has a list of
    one."""
    small = {key: schema[key] for key in KEPT if key in schema}
    for part in [schema, *schema.get("allOf", [])]:
        if "$ref" in part:
            small["$ref"] = part["$ref"].rsplit("/", 1)[1]
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            small[key] = pruned(schema[key])
    return small


def add_types(types, schemas, name):
    """Adds a type and all that its fields refer to."""
    if name in types or short(name) in VALUES:
        return
    schema = schemas[name]
    types[name] = small = pruned(schema)
    if short(name) in FREE:
        return
    fields = sorted(schema.get("properties", {}).items())
    small["properties"] = {field: pruned(below) for field, below in fields}
    if schema.get("required"):
        small["required"] = sorted(schema["required"])
    for field in small["properties"].values():
        for part in (field, field.get("items", {}), field.get("additionalProperties", {})):
            if "$ref" in part:
                add_types(types, schemas, part["$ref"])


def type_of(schemas, **kind):
    """The name of a kind's type."""
    return next(
        name
        for name, schema in schemas.items()
        if kind in schema.get("x-kubernetes-group-version-kind", [])
    )


def read_types(client):
    """(kinds, types) as the server's documents have them."""
    kinds, types = {}, {}
    for path, listed in KINDS.items():
        document = client.request("GET", "/openapi/v3/" + path)
        schemas = document["components"]["schemas"]
        group, version = ([""] + path.split("/")[1:])[-2:]
        for kind in listed.split():
            name = type_of(schemas, group=group, version=version, kind=kind)
            paths = document["paths"]
            place = min(
                (p for p, verbs in paths.items() if type_of_post(verbs) == (group, version, kind)),
                key=len,
            )
            kinds[f"{path.split('/', 1)[1]} {kind}"] = {
                "type": name,
                "path": place,
                "status": f"{place}/{{name}}/status" in paths,
            }
            add_types(types, schemas, name)
        if path == "api/v1":
            add_types(types, schemas, OPTIONS)
    return kinds, types


def type_of_post(verbs):
    """(group, version, kind) of what is created at a path."""
    kind = verbs.get("post", {}).get("x-kubernetes-group-version-kind", {})
    return kind.get("group"), kind.get("version"), kind.get("kind")


def read(world):
    """The record, as text: a line for each field."""
    client = world.client()
    version = client.request("GET", "/version")["gitVersion"]
    kinds, types = kube.wait_for(lambda: read_types(client), 30, "the server's documents")
    client.close()
    Probes(types).play(world, kinds)
    return text_of({"version": version, "kinds": kinds, "types": types})


def text_of(record):
    """A line for each kind and for each field."""

    def line(value):
        return json.dumps(value, sort_keys=True)

    out = ["{", f' "version": {line(record["version"])},', ' "kinds": {']
    out += [",\n".join(f"  {line(name)}: {line(kind)}" for name, kind in record["kinds"].items())]
    out += [" },", ' "types": {']
    parts = []
    for name, schema in sorted(record["types"].items()):
        rest = "".join(
            f", {line(key)}: {line(value)}"
            for key, value in sorted(schema.items())
            if key != "properties"
        )
        fields = ",\n".join(
            f"   {line(field)}: {line(below)}"
            for field, below in schema.get("properties", {}).items()
        )
        parts.append(
            f'  {line(name)}: {{"properties": {{\n{fields}\n  }}{rest}}}'
            if fields
            else f"  {line(name)}: {line(schema)}"
        )
    return "\n".join([*out, ",\n".join(parts), " }", "}"]) + "\n"


def write(world):
    """Writes the file anew, and what a unit test holds the tables to."""
    FILE.write_text(read(world), encoding="utf-8")
    subprocess.run([names.ROOT / "tests" / "sim" / "record_merge_types.py"], check=True)


def differences(world):
    """Lines that the file has otherwise than this server says."""
    kept, said = FILE.read_text(encoding="utf-8"), read(world)
    return list(
        difflib.unified_diff(
            kept.split("\n"),
            said.split("\n"),
            str(FILE.relative_to(names.ROOT)),
            "the real server",
            lineterm="",
            n=0,
        )
    )
