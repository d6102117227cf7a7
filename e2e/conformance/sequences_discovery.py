"""What the server says that it has. It has fewer kinds than a real one, so that only lists of
which it has all are compared; and not those of custom kinds, which a real server that was
started again does not always tell of."""

from conformance.steps import Step, delete, get, post, seq

for path in (
    "/healthz",
    "/livez",
    "/readyz",
    "/livez/ping",
    "/apis/none.example.com",
    "/apis/none.example.com/v1",
    "/apis/apps/v9",
    "/nothing",
    "/api/v2",
    "/apis/apps",
    "/apis/apps/",
    "/apis/policy",
    "/apis/ostler.dev",
    "/apis/ostler.dev/v9",
    "/apis/node.k8s.io/v1",
    "/apis/coordination.k8s.io",
    "/apis/apps/v9/daemonsets",
    "/apis/apps/v1/none",
):
    seq(f"discovery: {path}", get(path))
for path in ("/version", "/api", "/apis/apps", "/apis/apps/v1", "/api/v1"):
    seq(f"discovery: {path} is not written to", post(path, {}), delete(path))
seq("discovery: in an unknown form", Step("GET", "/apis", headers={"Accept": "text/html"}))
