"""The API server's audit log: the meter of what a client asks for."""

import dataclasses
import datetime
import json
import threading

# What the API server answers to a JSON patch whose "test" fails: NewGenericServerResponse, 422.
FAILED_TEST = "the server rejected our request due to an error in our request"


@dataclasses.dataclass(frozen=True)
class Request:
    """One line of the audit log."""

    time: float  # seconds since the epoch when the request came in
    user: str
    credential: str  # tells two tokens of one service account apart
    agent: str
    verb: str
    resource: str  # with the subresource: "nodes", "gpuclusterpolicies/status"
    namespace: str
    name: str
    code: int
    message: str  # of a status that refuses
    allowed: bool  # by the authorizer; a 403 may have other reasons
    uri: str
    took: float  # seconds until it was answered; of a watch, until it opened

    @property
    def lost_a_race(self):
        """Whether it is a JSON patch whose "test" found that another client had written. A
        patch that is wrong, or that an admission policy denies, has a message of its own."""
        return self.code == 422 and self.message.startswith(FAILED_TEST)

    @property
    def writes(self):
        """Whether it was meant to change something. A review is sent as if it made an object,
        and only asks."""
        return self.verb in (
            "create",
            "update",
            "patch",
            "delete",
            "deletecollection",
        ) and not self.resource.endswith("reviews")

    def __str__(self):
        where = "/".join(p for p in (self.namespace, self.name) if p)
        return f"{self.verb} {self.resource} {where} -> {self.code}"


def _request_of(line):
    ref = line.get("objectRef", {})
    resource = ref.get("resource", "")
    if ref.get("subresource"):
        resource += "/" + ref["subresource"]
    extra = line.get("user", {}).get("extra", {})
    when, answered = (
        datetime.datetime.fromisoformat(line[key].replace("Z", "+00:00")).timestamp()
        for key in ("requestReceivedTimestamp", "stageTimestamp")
    )
    return Request(
        when,
        line.get("user", {}).get("username", ""),
        "".join(extra.get("authentication.kubernetes.io/credential-id", [])),
        line.get("userAgent", ""),
        line["verb"],
        resource,
        ref.get("namespace", ""),
        ref.get("name", ""),
        line.get("responseStatus", {}).get("code", 0),
        line.get("responseStatus", {}).get("message", ""),
        line.get("annotations", {}).get("authorization.k8s.io/decision") != "forbid",
        line.get("requestURI", ""),
        answered - when,
    )


class Audit:
    """Reads the API server's audit log as it grows. Every request is one entry, a watch from the
    moment that it opens."""

    def __init__(self, path):
        self._path = path
        self._offset = 0
        self._seen = set()
        self._requests = []
        self._lock = threading.Lock()

    def _read(self):
        if not self._path.exists():
            return
        with open(self._path, "rb") as f:
            f.seek(self._offset)
            for line in f:
                if not line.endswith(b"\n"):
                    break  # still being written
                self._offset += len(line)
                entry = json.loads(line)
                if entry["auditID"] not in self._seen:
                    self._seen.add(entry["auditID"])
                    self._requests.append(_request_of(entry))

    def requests(
        self,
        user=None,
        since=0.0,
        until=float("inf"),
        verb=None,
        resource=None,
        writes=None,
        where=None,
    ):
        """Requests in the order in which they came in. `since` and `until` are seconds since the
        epoch."""
        with self._lock:
            self._read()
            known = list(self._requests)
        found = [
            r
            for r in known
            if since <= r.time < until
            and (user is None or r.user == user)
            and (verb is None or r.verb == verb)
            and (resource is None or r.resource == resource)
            and (writes is None or r.writes == writes)
            and (where is None or where(r))
        ]
        return sorted(found, key=lambda r: r.time)
