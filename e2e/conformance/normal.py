"""Answers with everything taken out that may differ between two servers: times, UIDs, absolute
resourceVersions, generated names, what columns of tables are described as."""

import bisect
import json
import re

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
LEFT_OUT = {"storageVersionHash"}
ADDRESS_FIELDS = {"clusterIP", "clusterIPs"}
AGE = re.compile(r"\b(\d+[smhdy])+\b")
GENERATED = re.compile(r"(?<=gen-|ess-)[a-z0-9]{5}\b")
# Parts of sentences that speak of the insides of a server in Go.
INSIDES = [
    (re.compile(r"\n@@ .*", re.DOTALL), ""),  # what differs between two of its structs
    (re.compile(r"(?<=' is missing) in '.*", re.DOTALL), ""),
    (
        re.compile(
            r"(?<=Invalid value: )\"\{.*\}\": (?=strict decoding error|json: |no kind )", re.DOTALL
        ),
        "",
    ),
    (re.compile(r"(?<=invalid character)[: ].*", re.DOTALL), " <which>"),
    (re.compile(r"(?<=error decoding YAML: ).*", re.DOTALL), "<what>"),
    (
        re.compile(
            r"(?<=accepted media types include: ).*|(?<=media types are accepted: ).*|(?<=Available"
            r" representations: ).*"
        ),
        "<types>",
    ),
    (re.compile(r"(?<=Too large resource version: 9999999, current: )\d+"), "<newest>"),
    (re.compile(r" in scheme \"[^\"]*\""), ""),
    (
        re.compile(
            r"StorageError: invalid object, Code: 4, Key: [^,]*, ResourceVersion: 0,"
            r" AdditionalErrorMsg: "
        ),
        "",
    ),
    (re.compile(r"(yaml: |couldn't get version/kind; json parse error: ).*", re.DOTALL), "<what>"),
    (re.compile(r"(?<=continue key is not valid: ).*", re.DOTALL), "<what>"),
    (re.compile(r"(?<=too old resource version: 1 )\(\d+\)"), "(<oldest>)"),
    (re.compile(r"\\x00"), r"\\u0000"),  # a NUL in quotes
]

SHOWN = re.compile(r"(?<=value: )(\{.*\})(?=: )")


def _shown(match):
    """A value in a sentence: structs of the server's own are shown with the names that Go has
    for their fields."""

    def plain(value):
        if isinstance(value, dict):
            return {k[:1].lower() + k[1:]: plain(v) for k, v in value.items() if v is not None}
        return [plain(v) for v in value] if isinstance(value, list) else value

    try:
        return json.dumps(plain(json.loads(match.group())), separators=(",", ":"))
    except ValueError:
        return match.group()


def _in_order(status):
    """A refusal of a custom kind names its causes in any order."""
    details = status.get("details") or {}
    if (
        status.get("kind") != "Status"
        or status.get("reason") != "Invalid"
        or "." not in details.get("group", "")
    ):
        return status
    causes = sorted(details.get("causes", []), key=lambda c: (c["field"], c["message"]))
    message = status["message"].partition(" is invalid: ")[0] + " is invalid: <causes>"
    return {**status, "details": {**details, "causes": causes}, "message": message}


class Normal:
    """Of one sequence on one server: names UIDs by the order in which they were seen, versions
    by their rank."""

    def __init__(self, namespace):
        self._namespace = namespace
        self._uids = {}
        self.versions = set()

    def _text(self, text):
        text = UID.sub(
            lambda m: self._uids.setdefault(m.group(), f"<uid {len(self._uids) + 1}>"), text
        )
        text = text.replace(self._namespace, "$ns")
        text = TIME.sub("<time>", text)
        text = SHOWN.sub(_shown, text)
        for pattern, instead in INSIDES:
            text = pattern.sub(instead, text)
        return GENERATED.sub("<generated>", text)

    def _value(self, key, value):
        if key == "resourceVersion" and isinstance(value, str) and value.isdigit():
            self.versions.add(int(value))
            return Version(int(value))
        if key == "continue" and value:
            return "<continue>"
        if key == "causes":
            return self._causes(value)
        if key == "managedFields":
            # They are in order of seconds, and one may have gone by on one of the servers alone.
            return self.of(
                sorted(
                    value or [],
                    key=lambda e: [
                        str(e.get(k)) for k in ("operation", "manager", "apiVersion", "subresource")
                    ],
                )
            )
        if key == "columnDefinitions":
            return [{**self.of(v), "description": ""} for v in value or []]
        if key == "cells":
            return [AGE.sub("<age>", self._text(v)) if isinstance(v, str) else v for v in value]
        if key in ADDRESS_FIELDS and value not in ("None", ["None"]):
            return "<address>"
        return self.of(value)

    def _causes(self, causes):
        """Owners come in any order."""
        conflicts = [c for c in causes if c.get("reason") == "FieldManagerConflict"]
        return self.of(
            sorted(conflicts, key=lambda c: (c["message"], c["field"])) if conflicts else causes
        )

    @staticmethod
    def _of_list(metadata):
        """A list's version is that of the whole server, on which others may have written."""
        version = metadata.get("resourceVersion", "")
        return (
            {**metadata, "resourceVersion": Version(int(version), True)}
            if version.isdigit()
            else metadata
        )

    def of(self, value):
        """The value with placeholders; versions become ranks in text()."""
        if isinstance(value, dict):
            if str(value.get("kind")).endswith(("List", "Table")):
                value = {**value, "metadata": self._of_list(value.get("metadata") or {})}
            return {
                self._text(k): self._value(k, v)
                for k, v in sorted(_in_order(value).items())
                if k not in LEFT_OUT
            }
        if isinstance(value, list):
            return [self.of(v) for v in value]
        if isinstance(value, str):
            return self._text(value)
        return value

    def text(self, value):
        """As indented JSON, versions as their rank among all of the sequence."""
        ranks = {v: i for i, v in enumerate(sorted(self.versions), 1)}

        def text_of(v):
            if v.of_list:
                return f"<version {bisect.bisect_right(sorted(self.versions), v.number)} or later>"
            return f"<version {ranks[v.number]}>"

        text = json.dumps(value, indent=1, sort_keys=True, default=text_of)
        # Versions that are named in sentences.
        return re.sub(
            r"(?<!\": )\b\d{2,}\b",
            lambda m: (
                f"<version {ranks[int(m.group())]}>" if int(m.group()) in ranks else m.group()
            ),
            text,
        )


class Version:
    """A resourceVersion, until its rank is known."""

    def __init__(self, number, of_list=False):
        self.number = number
        self.of_list = of_list
