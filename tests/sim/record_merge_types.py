#!/usr/bin/python3
"""Says how fields merge as the record of a real API server has it, for the unit test that holds
the simulator's tables to it.

    tests/sim/record_merge_types.py      write tests/cases/sim_merge_types.json from
                                         sim/api/kubernetes.json

The file has a text for each place of each kind that is not merged field by field without further
ado: "atomic", "map", "set", "list by containerPort protocol=TCP"; " whole" where items are not
merged, " patch by KEY" for strategic merge, " always" where the server's own type has the field
even when nothing was said. Below what is replaced as a whole nothing is told.
"""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "sim" / "api" / "kubernetes.json"
FILE = ROOT / "tests" / "cases" / "sim_merge_types.json"
SCALARS = ("Quantity", "Time", "MicroTime", "IntOrString")


class Schemas:
    """The types of the record."""

    def __init__(self, definitions):
        self._definitions = definitions
        self.texts = {}

    def _target(self, schema):
        """(name, schema) that a reference leads to; the schema itself where there is none."""
        if "$ref" not in schema:
            return "", schema
        return schema["$ref"].rsplit(".", 1)[1], self._definitions.get(schema["$ref"], {})

    def _list_text(self, schema):
        """(text, type of the items to go on with or None)."""
        how = schema.get("x-kubernetes-list-type")
        name, items = self._target(schema["items"])
        whole = items.get("x-kubernetes-map-type") == "atomic"
        text = {"set": "set", "map": "list by"}.get(how, "atomic")
        if how == "map":
            for key in schema["x-kubernetes-list-map-keys"]:
                default = items["properties"][key].get("set")
                text += f" {key}" + (f"={default}" if default else "")
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
            always = (
                text
                and "set" not in text
                and (below.get("default") == {} or field in schema.get("required", []))
            )
            if text == "fields" and not always:
                text = ""
            if text not in ("", "atomic") or (text == "atomic" and below.get("type") != "array"):
                self.texts[place] = text + (" always" if always else "")
            if items is not None:
                self.tell(items, place)


def main():
    """Writes the file."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    kinds = {}
    for kind, row in record["kinds"].items():
        schemas = Schemas(record["types"])
        schemas.tell(record["types"][row["type"]], "")
        kinds[kind] = schemas.texts
    FILE.write_text(json.dumps(kinds, indent=1) + "\n", encoding="utf-8")
    print(f"{FILE.name}: {len(kinds)} kinds, {sum(map(len, kinds.values()))} places")


if __name__ == "__main__":
    main()
