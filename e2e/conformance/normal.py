"""Answers with everything taken out that may differ between two servers: times, UIDs, absolute resourceVersions, generated names."""

import json
import re

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
ADDRESS_FIELDS = {"clusterIP", "clusterIPs"}
GENERATED = re.compile(r"(?<=gen-)[a-z0-9]{5}\b")


class Normal:
    """Of one sequence on one server: names UIDs by the order in which they were seen, versions by their rank."""

    def __init__(self, namespace):
        self._namespace = namespace
        self._uids = {}
        self.versions = set()

    def _text(self, text):
        text = text.replace(self._namespace, "$ns")
        text = TIME.sub("<time>", text)
        text = UID.sub(lambda m: self._uids.setdefault(m.group(), f"<uid {len(self._uids) + 1}>"), text)
        return GENERATED.sub("<generated>", text)

    def _value(self, key, value):
        if key == "resourceVersion" and isinstance(value, str) and value.isdigit():
            self.versions.add(int(value))
            return Version(int(value))
        if key == "continue" and value:
            return "<continue>"
        if key in ADDRESS_FIELDS and value not in ("None", ["None"]):
            return "<address>"
        return self.of(value)

    def of(self, value):
        """The value with placeholders; versions become ranks in text()."""
        if isinstance(value, dict):
            return {self._text(k): self._value(k, v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.of(v) for v in value]
        if isinstance(value, str):
            return self._text(value)
        return value

    def text(self, value):
        """As indented JSON, versions as their rank among all of the sequence."""
        ranks = {v: i for i, v in enumerate(sorted(self.versions), 1)}

        def plain(v):
            return f"<version {ranks[v.number]}>"

        text = json.dumps(value, indent=1, sort_keys=True, default=plain)
        # Versions that are named in sentences.
        return re.sub(r"\b\d{2,}\b", lambda m: f"<version {ranks[int(m.group())]}>" if int(m.group()) in ranks else m.group(), text)


class Version:
    """A resourceVersion, until its rank is known."""

    def __init__(self, number):
        self.number = number
