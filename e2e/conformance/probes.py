"""Objects that show what a real API server makes of what it reads: defaults that its code sets, and
zeros that it keeps.

The server's audit log has each object of a request as it was read and completed, before anything
was checked. So an object need not be valid: some fields of each type are said, with any value,
others are not, and what the log has is compared. Everything is a dry run.
"""

import json
import random

import kube

RECORDER = "ostler:recorder"  # the user whose objects e2e/world/audit.yaml has logged
# Types that are values of their own form: what is sent for one, and what for a zero (None: it has
# none).
VALUES = {
    "Time": ("2026-01-01T00:00:00Z", None),
    "MicroTime": ("2026-01-01T00:00:00.000000Z", None),
    "Quantity": ("1", "0"),
    "IntOrString": (1, 0),
}
# Types whose values are kept as they are.
FREE = ("RawExtension", "FieldsV1", "JSON", "JSONSchemaProps")
SCALARS = {"integer": (1, 0), "number": (1, 0), "boolean": (True, False), "string": ("x", "")}
# How often a field must be left out, and how often it must be a zero, before it is believed; and
# after how many objects of a kind without that something is wrong.
ENOUGH, TOO_MANY = 4, 400
ABSENT = object()
# Every object's own. Admission would wait a second for the account of a pod that is no mirror of
# one in a kubelet's files.
METADATA = {"name": "probe", "annotations": {"kubernetes.io/config.mirror": "probe"}}
COMMON = ("apiVersion", "kind", "metadata")  # what every object has


def short(name):
    """The last part of a type's name."""
    return name.rsplit(".", 1)[1]


def is_many(schema):
    """Whether a field is a list or a map."""
    return schema.get("type") == "array" or "additionalProperties" in schema


def values_of(schema):
    """(value, zero) of a field that has neither fields nor items; None where it does."""
    name = short(schema["$ref"]) if "$ref" in schema else ""
    if is_many(schema) or name in FREE:
        return None
    if schema.get("format") == "byte":
        return "eA==", ""
    return VALUES.get(name) if name else SCALARS.get(schema["type"])


class Probes:
    """Plays all, and puts what they show into the types."""

    def __init__(self, types):
        self._types = types
        self._left_out = {}  # (type, field) -> what was there each time that it was not said
        self._zeros = {}  # (type, field) -> for each zero whether it was kept

    # ---- what is sent

    def _one(self, schema, chance, above):
        values = values_of(schema)
        if values:
            value, zero = values
            return value if zero is None or chance.random() < 0.5 else zero
        name = schema.get("$ref", "")
        return {} if not name or short(name) in FREE else self._struct(name, chance, above)

    def _struct(self, name, chance, above=()):
        if name in above:
            return {}
        said = {}
        for field, schema in self._types[name]["properties"].items():
            if chance.random() < (0.5 if values_of(schema) else 0.2):
                continue
            if schema.get("type") == "array":
                said[field] = [self._one(schema["items"], chance, (*above, name))]
            elif "additionalProperties" in schema:
                value = self._one(schema["additionalProperties"], chance, (*above, name))
                said[field] = {"x": value}
            else:
                said[field] = self._one(schema, chance, (*above, name))
        return said

    # ---- what came of it

    def _see(self, name, sent, got):
        for field, schema in self._types[name]["properties"].items():
            if field not in sent:
                seen = got.get(field, ABSENT)
                is_struct = isinstance(seen, dict) and not is_many(schema)
                self._left_out.setdefault((name, field), []).append({} if is_struct else seen)
                continue
            values = values_of(schema)
            if values and values[1] is not None and sent[field] == values[1]:
                is_kept = got.get(field, ABSENT) == sent[field]
                self._zeros.setdefault((name, field), []).append(is_kept)
            self._see_below(schema, sent[field], got.get(field))

    def _see_below(self, schema, sent, got):
        if schema.get("type") == "array":
            for one_sent, one_got in zip(sent, got or []):
                self._see_below(schema["items"], one_sent, one_got)
        elif "additionalProperties" in schema:
            for key in sent:
                self._see_below(schema["additionalProperties"], sent[key], (got or {}).get(key))
        elif isinstance(sent, dict) and isinstance(got, dict):
            if "properties" in self._types.get(schema.get("$ref"), {}):
                self._see(schema["$ref"], sent, got)

    def _conclude(self):
        for (name, field), seen in self._left_out.items():
            schema = self._types[name]["properties"][field]
            if any(value is not ABSENT for value in seen):
                # A time that the server sets is that of the request.
                is_time = short(schema.get("$ref", ".")) in ("Time", "MicroTime")
                is_now = is_time and seen[0] not in (ABSENT, None)
                if not is_now and all(value == seen[0] for value in seen):
                    schema["set"] = seen[0]
                else:
                    schema["varies"] = True
        for (name, field), kept in self._zeros.items():
            if all(kept):
                self._types[name]["properties"][field]["keeps-zero"] = True

    def _fields(self, name, found, but=()):
        """(type, field) of all fields in a value of a type."""
        for field, schema in self._types.get(name, {}).get("properties", {}).items():
            if field not in but and (name, field) not in found:
                found.add((name, field))
                for part in (schema, schema.get("items"), schema.get("additionalProperties")):
                    self._fields((part or {}).get("$ref", ""), found)
        return found

    def _is_known(self, name, field):
        """Whether a field has been left out, and has been a zero, often enough."""
        values = values_of(self._types[name]["properties"][field])
        has_zero = values and values[1] is not None
        seen = [self._left_out, *([self._zeros] if has_zero else [])]
        return all(len(observed.get((name, field), ())) >= ENOUGH for observed in seen)

    def play(self, world, kinds):
        """Sends objects of all kinds."""
        log = Log(world)
        for kind, row in kinds.items():
            api_version, name = kind.split()
            fields = self._fields(row["type"], set(), but=COMMON)
            for number in range(TOO_MANY):
                fields = {field for field in fields if not self._is_known(*field)}
                if not fields:
                    break
                sent = self._struct(row["type"], random.Random(f"{kind} {number}"))
                sent.update(apiVersion=api_version, kind=name, metadata=METADATA)
                got = log.read(row["path"].replace("{namespace}", "default"), sent)
                # What an object is called is not for the server to complete.
                self._see(row["type"], sent, {**got, "metadata": sent["metadata"]})
            else:
                raise AssertionError(
                    f"{kind}: {TOO_MANY} objects do not show what becomes of {sorted(fields)}"
                )
        log.close()
        self._conclude()


class Log:
    """What the server has read of what the recorder sent."""

    def __init__(self, world):
        self._path = world.dir / "audit.log"
        admin = world.client()
        group = "rbac.authorization.k8s.io"
        admin.ensure(
            {
                "apiVersion": f"{group}/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": "recorder"},
                "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
                "subjects": [{"apiGroup": group, "kind": "User", "name": RECORDER}],
            }
        )
        admin.close()
        self._client = kube.from_kubeconfig(world.kubeconfig(RECORDER))
        kube.wait_for(
            lambda: self._client.raw("GET", "/api/v1/nodes")[0] == 200, 10, "the recorder's rights"
        )

    def close(self):
        """Ends it."""
        self._client.close()

    def read(self, path, sent):
        """The object as the server has read it."""
        offset = self._path.stat().st_size
        query = {"dryRun": "All", "fieldValidation": "Strict"}
        answer = self._client.raw("POST", path, sent, query=query)
        with open(self._path, "rb") as log:
            log.seek(offset)
            for line in log:
                entry = json.loads(line)
                if entry["user"]["username"] == RECORDER and "requestObject" in entry:
                    return entry["requestObject"]
        raise AssertionError(f"{path}: the server has read nothing: {answer}")
