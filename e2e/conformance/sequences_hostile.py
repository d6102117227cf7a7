"""Requests that no good client sends: broken bodies, wrong types, bad paths, too much of
everything; and clients without rights."""

from conformance.steps import (
    APPS,
    CORE,
    Step,
    apply,
    configmap,
    daemonset,
    delete,
    get,
    in_ns,
    merge,
    node,
    operand,
    operations,
    pod,
    post,
    put,
    seq,
    strategic,
    watch,
)

CM, A = in_ns("configmaps"), in_ns("configmaps", "a")
PODS = in_ns("pods")
POLICIES = "/apis/ostler.dev/v1alpha1/gpuclusterpolicies"
JSON = "application/json"
MERGE, STRATEGIC, OPERATIONS, APPLY = (
    f"application/{t}"
    for t in (
        "merge-patch+json",
        "strategic-merge-patch+json",
        "json-patch+json",
        "apply-patch+yaml",
    )
)


def raw(path, body, content_type=JSON, method="POST", **query):
    """Bytes as they are."""
    return Step(method, path, body, content_type, query)


# ---- bodies

BROKEN = {
    "half a body": b'{"metadata":{"name":"a"}',
    "no body": b"",
    "words": b"hello",
    "two bodies": b'{"metadata":{"name":"a"}}{"metadata":{"name":"b"}}',
    "a comma too many": b'{"metadata":{"name":"a"},}',
    "single quotes": b"{'metadata':{}}",
    "null": b"null",
    "a number": b"5",
    "a text": b'"a"',
    "a lonely surrogate": b'{"metadata":{"name":"a"},"data":{"k":"\\ud800"}}',
    "bytes that are no UTF-8": b'{"metadata":{"name":"a"},"data":{"k":"\xff\xfe"}}',
    "a NUL byte": b'{"metadata":{"name":"a"},"data":{"k":"\x00"}}',
    "an escaped NUL": b'{"metadata":{"name":"a"},"data":{"k":"a\\u0000b"}}',
    "a key that is no UTF-8": b'{"metadata":{"name":"a"},"data":{"\xff":"v"}}',
    "a key twice": b'{"metadata":{"name":"a"},"data":{"k":"v"},"data":{"k":"w"}}',
    "keys in other letters": b'{"METADATA":{"name":"a"},"Data":{"k":"v"}}',
    "a byte order mark": b'\xef\xbb\xbf{"metadata":{"name":"a"}}',
    "an integer beyond 64 bits": b'{"metadata":{"name":"a","generation":99999999999999999999}}',
    "infinity": b'{"metadata":{"name":"a","generation":1e999}}',
}
for what, body in BROKEN.items():
    seq(f"hostile: {what}", raw(CM, body))
for what in ("half a body", "no body", "words", "null", "a number", "a comma too many"):
    for name, kind in (
        ("merge", MERGE),
        ("strategic", STRATEGIC),
        ("operations", OPERATIONS),
        ("apply", APPLY),
    ):
        seq(
            f"hostile: {what} as a patch, {name}",
            post(CM, configmap()),
            raw(A, BROKEN[what], kind, "PATCH", **({"fieldManager": "x"} if kind == APPLY else {})),
        )
DEEP = b'{"metadata":{"name":"a"},"x":' + b"[" * 12000 + b"]" * 12000 + b"}"
seq("hostile: very deep", raw(CM, DEEP))
seq("hostile: very deep as a patch", post(CM, configmap()), raw(A, DEEP, MERGE, "PATCH"))
seq("hostile: a key twice, strictly", raw(CM, BROKEN["a key twice"], fieldValidation="Strict"))
seq("hostile: YAML", raw(CM, b"metadata:\n  name: a\ndata:\n  k: v\n", "application/yaml"), get(A))
seq(
    "hostile: YAML that is none",
    raw(CM, b"a: b: c\n", "application/yaml"),
    raw(CM, b"\t", "application/yaml"),
)
seq(
    "hostile: an intent in YAML",
    raw(
        A,
        b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n",
        APPLY,
        "PATCH",
        fieldManager="x",
    ),
    get(A),
)
seq(
    "hostile: an intent that bites",
    raw(A, b"a: &a [x,x]\nb: [*a,*a]\n", APPLY, "PATCH", fieldManager="x"),
)

for content_type in (
    "text/plain",
    "application/xml",
    "multipart/form-data",
    "application/vnd.kubernetes.protobuf",
    "nonsense",
    "application/json; charset=latin1",
):
    seq(f"hostile: a body as {content_type}", raw(CM, b'{"metadata":{"name":"a"}}', content_type))
for content_type in (
    JSON,
    "text/plain",
    "application/yaml",
    "nonsense",
    "application/merge-patch+yaml",
):
    seq(
        f"hostile: a patch as {content_type}",
        post(CM, configmap()),
        raw(A, b'{"data":{"k":"w"}}', content_type, "PATCH"),
    )
seq("hostile: a strategic patch of a policy", raw(POLICIES + "/default", b"{}", STRATEGIC, "PATCH"))
for accept in (
    "text/html",
    "application/xml",
    "application/json;as=Nothing;g=meta.k8s.io;v=v1",
    "application/json;as=Table;v=v2;g=meta.k8s.io",
    "*/*",
    "",
    "nonsense",
):
    seq(f"hostile: accepting {accept or 'nothing'}", Step("GET", CM, headers={"Accept": accept}))

# ---- too much

seq(
    "hostile: an object that is too large",
    post(CM, configmap(data={"k": "v" * (1 << 20)})),
    post(CM, configmap("b", data={"k": "v" * ((1 << 20) + 1)})),
)
seq(
    "hostile: a body that is too large",
    raw(CM, b'{"metadata":{"name":"a"},"data":{"k":"' + b"v" * (3 << 20) + b'"}}'),
)
seq(
    "hostile: a patch that is too large",
    post(CM, configmap()),
    raw(A, b'{"data":{"k":"' + b"v" * (3 << 20) + b'"}}', MERGE, "PATCH"),
)
seq(
    "hostile: a policy that is too large",
    post(
        POLICIES,
        {
            "apiVersion": "ostler.dev/v1alpha1",
            "kind": "GpuClusterPolicy",
            "metadata": {"name": "default", "annotations": {"a": "v" * 200000}},
            "spec": {"driver": {"args": ["v" * 1024] * 32}},
        },
        dryRun="All",
    ),
)
seq(
    "hostile: too many operations",
    post(CM, configmap()),
    operations(A, [{"op": "test", "path": "/data/k", "value": "v"}] * 10001),
)
seq(
    "hostile: copies of copies",
    post(CM, configmap(data={"k": "v" * 1000})),
    operations(A, [{"op": "copy", "from": "/data", "path": "/data/x"}] * 30),
)
seq(
    "hostile: a name that is too long",
    post(CM, configmap("a" * 253), dryRun="All"),
    post(CM, configmap("a" * 254)),
    get(in_ns("configmaps", "a" * 300)),
)
seq(
    "hostile: a label's key that is too long",
    post(CM, configmap(labels={"a" * 64: "b"})),
    post(CM, configmap(labels={"a" * 254 + "/b": "c"})),
)
seq("hostile: a long selector", get(CM, labelSelector=",".join(f"k{i}=v" for i in range(60))))
seq(
    "hostile: a limit beyond all",
    get(CM, limit="9223372036854775807"),
    get(CM, limit="9223372036854775808"),
)

# ---- paths and queries

for path in ("%zz", "%", "a%2fb", "%2e%2e", "a%20b", "A", "-a", "a..b", "."):
    seq(f"hostile: an object called {path}", get(f"{CM}/{path}"))
for path in (
    "//api/v1/nodes",
    "/api/v1//nodes",
    "/api/v1/namespaces/$ns/configmaps/",
    "/api/v1/namespaces/$ns//",
    "/api/v1/../v1/nodes",
    "/api/v1/namespaces/$ns/configmaps/a/b/c",
    "/api/v1/namespaces/$ns/configmaps/a/status",
    "/api/v1/configmaps/a",
    "/api/v1/namespaces/$ns/nodes",
    "/apis/apps/v1/nodes",
    "/api/v1/namespaces/A_b/configmaps",
    "/apis/apps/v1/namespaces/$ns/daemonsets/a/scale",
    "/api/v1/namespaces/$ns/pods/a/nothing",
    "/api/v1/proxy/nodes/a",
):
    seq(f"hostile: GET {path}", get(path))
seq(
    "hostile: a slash too many",
    get(CORE + "/nodes/", fieldSelector="metadata.name=none"),
    get(A + "/"),
)
for query in (
    {"labelSelector": "a b"},
    {"labelSelector": "a in (b"},
    {"labelSelector": "=a"},
    {"labelSelector": "a=b c"},
    {"labelSelector": "a==b,,c"},
    {"fieldSelector": "a"},
    {"fieldSelector": "metadata.name"},
    {"fieldSelector": "=a"},
    {"limit": "-5"},
    {"limit": ""},
    {"resourceVersion": "-1"},
    {"resourceVersion": "9999999"},
    {"resourceVersion": "1.5"},
    {"resourceVersion": "0", "resourceVersionMatch": "Exact"},
    {"resourceVersion": "", "resourceVersionMatch": "NotOlderThan"},
    {"continue": "e30"},
    {"watch": "maybe", "timeoutSeconds": "1"},
    {"pretty": "maybe"},
    {"timeoutSeconds": "-1"},
    {"unknown": "parameter"},
    {"allowWatchBookmarks": "perhaps"},
    {"watch": "1", "timeoutSeconds": "1", "limit": "x"},
    {"watch": "1", "timeoutSeconds": "1", "resourceVersionMatch": "Exact", "resourceVersion": "5"},
    {"watch": "1", "timeoutSeconds": "1", "sendInitialEvents": "true"},
    {"sendInitialEvents": "true"},
    {"watch": "1", "resourceVersion": "9999999", "timeoutSeconds": "1"},
):
    seq(f"hostile: a list with {query}", get(CM, **query))
for query in (
    {"dryRun": "all"},
    {"fieldManager": "x" * 129},
    {"fieldManager": "a\tb"},
    {"fieldValidation": "strict"},
    {"force": "true"},
    {"dryRun": ""},
):
    seq(f"hostile: a create with {query}", post(CM, configmap(), **query))
for options in (
    {"gracePeriodSeconds": -1},
    {"gracePeriodSeconds": "soon"},
    {"propagationPolicy": "Orphan", "orphanDependents": True},
    {"orphanDependents": True},
    {"preconditions": 5},
    {"dryRun": ["Some"]},
    {"kind": "ConfigMap", "apiVersion": "v1"},
    {"unknown": 1},
    {"gracePeriodSeconds": 0},
):
    seq(f"hostile: a delete with {options}", post(CM, configmap()), delete(A, options))
seq(
    "hostile: options of a delete in the query",
    post(CM, configmap()),
    delete(A, propagationPolicy="Foreground"),
    delete(A, gracePeriodSeconds="soon"),
    delete(A, dryRun="Some"),
)
seq(
    "hostile: a delete with a body that is none",
    post(CM, configmap()),
    raw(A, b"nonsense", method="DELETE"),
    raw(A, b"{}", "text/plain", "DELETE"),
)
for method in ("HEAD", "OPTIONS", "TRACE", "BREW"):
    seq(f"hostile: the method {method}", Step(method, CM))
seq(
    "hostile: methods in places that are not theirs",
    Step("DELETE", CORE + "/nodes/none/status"),
    post(A, {}),
    Step("PATCH", CM, {}, MERGE),
    put(PODS + "/a/eviction", {}),
    get(PODS + "/a/eviction"),
    get(PODS + "/a/binding"),
    post(CORE + "/configmaps", configmap()),
    delete(CORE + "/configmaps"),
)

# ---- objects

seq(
    "hostile: wrong types",
    post(CM, {"metadata": {"name": 5}}),
    post(CM, {"metadata": []}),
    post(CM, {"metadata": {"name": "a", "labels": {"a": 1}}}),
    post(CM, {"metadata": {"name": "a"}, "data": {"a": 1}}),
    post(CM, {"metadata": {"name": "a"}, "data": [1]}),
    post(CM, {"metadata": {"name": "a", "finalizers": "x"}}),
)
seq(
    "hostile: wrong types in a pod",
    post(PODS, pod(containers={})),
    post(PODS, pod(nodeName=5)),
    post(PODS, pod(containers=[5])),
    post(PODS, pod(containers=[{"name": "a", "image": "b", "ports": [{"containerPort": "x"}]}])),
    post(PODS, pod(terminationGracePeriodSeconds=1.5)),
)
seq(
    "hostile: a patch to wrong types",
    post(CM, configmap()),
    merge(A, {"data": {"k": 5}}),
    merge(A, {"metadata": {"labels": 5}}),
    merge(A, {"metadata": None}),
    merge(A, {"data": None}),
)
seq(
    "hostile: a patch that deletes what names the object",
    post(CM, configmap()),
    merge(A, {"metadata": {"name": None}}),
    merge(A, {"metadata": {"namespace": "other"}}),
    merge(A, {"apiVersion": "v2"}),
    merge(A, {"metadata": {"uid": None, "creationTimestamp": None}}),
)
seq(
    "hostile: what only the server writes",
    post(
        CM,
        configmap(
            uid="mine",
            creationTimestamp="2020-01-01T00:00:00Z",
            deletionTimestamp="2020-01-01T00:00:00Z",
            deletionGracePeriodSeconds=5,
            selfLink="/x",
        ),
    ),
    merge(A, {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}}),
    merge(A, {"metadata": {"generation": 9}}),
    merge(A, {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}}),
    merge(A, {"metadata": {"deletionGracePeriodSeconds": 7}}),
)
seq(
    "hostile: operations on the way to nowhere",
    post(CM, configmap()),
    operations(A, [{"op": "add", "path": "/a/b/c", "value": 1}]),
    operations(A, [{"op": "add", "path": "data", "value": 1}]),
    operations(A, [{"op": "replace", "path": "/data/none", "value": "x"}]),
    operations(A, [{"op": "move", "from": "/none", "path": "/data/x"}]),
    operations(A, [{"op": "add", "path": "/metadata/finalizers/-", "value": "x/y"}]),
    operations(A, [{"path": "/data"}]),
    operations(A, [{"op": "remove", "path": ""}]),
    operations(A, [5]),
    operations(A, []),
)
seq(
    "hostile: indices that are none",
    post(APPS + "/namespaces/$ns/daemonsets", daemonset()),
    *[
        operations(
            in_ns("daemonsets", "a", group=APPS),
            [
                {
                    "op": "add",
                    "path": f"/spec/template/spec/containers/{i}",
                    "value": {"name": "x", "image": "y"},
                }
            ],
        )
        for i in ("5", "-1", "01", "x", "1")
    ],
)

# ---- who

SERVICES = in_ns("services")
seq(
    "access: an unknown token",
    get(CM).by("stranger"),
    get("/version").by("stranger"),
    post(CM, configmap()).by("stranger"),
    watch(CM).by("stranger"),
    get("/nothing").by("stranger"),
)
seq(
    "access: Ostler has no right to it",
    *[
        s.by("ostler")
        for s in (
            get(SERVICES + "/a"),
            get(SERVICES),
            post(SERVICES, {"metadata": {"name": "a"}}),
            delete(CORE + "/nodes/none"),
            delete(CORE + "/nodes"),
            post(CORE + "/nodes", node()),
            merge(CORE + "/namespaces/$ns", {}),
            post(CORE + "/namespaces", {"metadata": {"name": "x-$ns"}}),
            watch(SERVICES),
            put(in_ns("configmaps", "a"), configmap()),
            apply(in_ns("configmaps", "a"), configmap()),
            delete(in_ns("pods")),
        )
    ],
)
seq(
    "access: Ostler has the right to it",
    post(CORE + "/nodes", node()),
    get(CORE + "/nodes", fieldSelector="metadata.name=$ns").by("ostler"),
    merge(CORE + "/nodes/$ns", {"metadata": {"labels": {"a": "b"}}}).by("ostler"),
    delete(CORE + "/nodes/$ns"),
)
seq(
    "access: what Ostler may do in its own namespace, it may not elsewhere",
    post(APPS + "/namespaces/ostler-operands/daemonsets", operand("d-$ns")).by("ostler"),
    delete(APPS + "/namespaces/ostler-operands/daemonsets/d-$ns").by("ostler"),
    post(in_ns("daemonsets", group=APPS), daemonset()).by("ostler"),
    delete(in_ns("daemonsets", "a", group=APPS)).by("ostler"),
)
seq(
    "access: a subresource has a right of its own",
    post(CORE + "/nodes", node()),
    merge(CORE + "/nodes/$ns/status", {}).by("ostler"),
    post(PODS, pod()),
    post(PODS + "/a/binding", {"target": {"kind": "Node", "name": "x"}}).by("ostler"),
    merge(PODS + "/a/status", {}).by("ostler"),
    delete(CORE + "/nodes/$ns"),
)
seq(
    "access: a kind that is not there",
    get(in_ns("unicorns")).by("ostler"),
    get(in_ns("servicemonitors", group="/apis/monitoring.coreos.com/v1")).by("ostler"),
)
