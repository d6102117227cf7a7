"""Plays sequences against an API server and returns what it answered, as text that can be
compared."""

import json
import urllib.parse

import kube
from conformance.normal import Normal


def _fill(value, names):
    if isinstance(value, dict):
        return {_fill(k, names): _fill(v, names) for k, v in value.items()}
    if isinstance(value, list):
        return [_fill(v, names) for v in value]
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace("$" + name, text)
    return value


def _part(answer, path):
    for key in path.split("."):
        answer = answer[int(key)] if isinstance(answer, list) else answer.get(key, {})
    return answer if isinstance(answer, str) else ""


def _frames(text):
    """The frames of a watch but for bookmarks, which come when a server likes; the one that ends
    the first list counts."""
    frames = [json.loads(line) for line in text.strip().split("\n")]
    return [
        f for f in frames if f["type"] != "BOOKMARK" or "annotations" in f["object"]["metadata"]
    ]


def _decode(data):
    """An object, the frames of a watch, or text."""
    text = data.decode(errors="replace")
    for read in (json.loads, _frames):
        try:
            return read(text)
        except ValueError:
            continue
    return text


class Player:
    """One server."""

    def __init__(self, kubeconfig, ostler):
        """Kubeconfigs of the administrator and of Ostler's ServiceAccount."""
        self._client = kube.from_kubeconfig(kubeconfig, agent="conformance/1")
        self._clients = {
            "admin": self._client,
            "ostler": kube.from_kubeconfig(ostler, agent="conformance/1"),
            "stranger": self._client.with_token("nonsense"),
        }

    def _send(self, step, names):
        path = _fill(step.path, names)
        if step.query:
            path += "?" + urllib.parse.urlencode(_fill(step.query, names))
        body = _fill(step.body, names)
        return self._clients[step.user].raw(
            step.method, path, body, step.content_type, headers=step.headers
        )

    def play(self, sequence, namespace):
        """The answers, one text for each step."""
        names = {"ns": namespace}
        normal = Normal(namespace)
        self._client.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        if any("/pods" in step.path for step in sequence.steps):
            self._client.request(
                "POST",
                f"/api/v1/namespaces/{namespace}/serviceaccounts",
                {"metadata": {"name": "default"}},
            )
        answers = []
        for step in sequence.steps:
            status, data = self._send(step, names)
            answer = _decode(data)
            for name, where in step.saved.items():
                names[name] = _part(answer if isinstance(answer, dict) else {}, where)
            answers.append((status, normal.of(answer)))
        return [f"{status}\n{normal.text(answer)}" for status, answer in answers]
