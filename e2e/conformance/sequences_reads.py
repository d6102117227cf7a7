"""Lists, pages, selectors, watches, tables, discovery."""

from conformance.steps import (
    APPS,
    CORE,
    configmap,
    daemonset,
    delete,
    get,
    in_ns,
    merge,
    node,
    pod,
    post,
    seq,
    watch,
)

CM = in_ns("configmaps")
THREE = [post(CM, configmap(n, labels={"n": n, "all": "yes"})) for n in ("c", "a", "b")]

seq("a list is in order of names", *THREE, get(CM))
seq("an empty list", get(CM))
seq(
    "a list in pages",
    *THREE,
    get(CM, limit="2").save(token="metadata.continue"),
    get(CM, limit="2", **{"continue": "$token"}),
)
seq(
    "the last page is exact, though more has come",
    *THREE,
    get(CM, limit="2").save(token="metadata.continue"),
    post(CM, configmap("d")),
    get(CM, **{"continue": "$token"}),
)
seq("a token that is none", get(CM, limit="2", **{"continue": "nonsense"}))
seq(
    "a token with a version",
    *THREE,
    get(CM, limit="2").save(token="metadata.continue"),
    get(CM, limit="2", resourceVersion="1", **{"continue": "$token"}),
)
seq("a limit that is none", get(CM, limit="many"))
seq("a limit below zero", get(CM, limit="-1"))
seq("a list from any version", *THREE, get(CM), get(CM, resourceVersion="0"))
seq(
    "a list at an exact version",
    post(CM, configmap("a")),
    post(CM, configmap("b")).save(rv="metadata.resourceVersion"),
    post(CM, configmap("c")),
    get(CM, resourceVersion="$rv", resourceVersionMatch="Exact"),
)
seq(
    "a list not older than",
    post(CM, configmap("a")).save(rv="metadata.resourceVersion"),
    post(CM, configmap("b")),
    get(CM, resourceVersion="$rv", resourceVersionMatch="NotOlderThan"),
)
seq("a match without a version", get(CM, resourceVersionMatch="Exact"))
seq("a match that is none", get(CM, resourceVersion="1", resourceVersionMatch="About"))
seq("a version that is none", get(CM, resourceVersion="yesterday"))
seq("labels that are equal", *THREE, get(CM, labelSelector="n=a"))
seq("labels that are not equal", *THREE, get(CM, labelSelector="n!=a"))
seq("labels that are in a set", *THREE, get(CM, labelSelector="n in (a, b)"))
seq("labels that are not in a set", *THREE, get(CM, labelSelector="n notin (a),all"))
seq("labels that are not there", *THREE, get(CM, labelSelector="!n"))
seq(
    "labels that are numbers",
    post(CM, configmap("a", labels={"n": "3"})),
    get(CM, labelSelector="n>2"),
    get(CM, labelSelector="n<2"),
)
seq("a label selector that is none", get(CM, labelSelector="a in"))
seq("a field selector by name", *THREE, get(CM, fieldSelector="metadata.name=a"))
seq(
    "a field selector by two fields",
    *THREE,
    get(CM, fieldSelector="metadata.name=a,metadata.namespace!=$ns"),
)
seq("a field selector by a field that cannot be asked", get(CM, fieldSelector="data.k=v"))
seq(
    "pods by their node",
    post(in_ns("pods"), pod("a", nodeName="n1-$ns")),
    post(in_ns("pods"), pod("b")),
    get(in_ns("pods"), fieldSelector="spec.nodeName=n1-$ns"),
)
seq(
    "pods without a node",
    post(in_ns("pods"), pod("a", nodeName="n1-$ns")),
    post(in_ns("pods"), pod("b")),
    get(in_ns("pods"), fieldSelector="spec.nodeName="),
)
seq(
    "pods by their phase",
    post(in_ns("pods"), pod("a")),
    get(in_ns("pods"), fieldSelector="status.phase!=Running"),
)

FIRST = post(CM, configmap("a", labels={"on": "yes"})).save(rv="metadata.resourceVersion")

seq(
    "a watch tells what came after a version",
    FIRST,
    merge(in_ns("configmaps", "a"), {"data": {"x": "y"}}),
    post(CM, configmap("b")),
    delete(in_ns("configmaps", "a")),
    watch(CM, resourceVersion="$rv"),
)
seq("a watch without a version begins with what is there", FIRST, watch(CM))
seq(
    "a watch from any version begins with what is there",
    FIRST,
    get(CM),
    watch(CM, resourceVersion="0"),
)
seq(
    "an object that stops to match is deleted for the watch",
    FIRST,
    merge(in_ns("configmaps", "a"), {"metadata": {"labels": {"on": None}}}),
    merge(in_ns("configmaps", "a"), {"data": {"x": "y"}}),
    merge(in_ns("configmaps", "a"), {"metadata": {"labels": {"on": "yes"}}}),
    watch(CM, resourceVersion="$rv", labelSelector="on=yes"),
)
seq(
    "a watch of one object",
    FIRST,
    post(CM, configmap("b")),
    merge(in_ns("configmaps", "a"), {"data": {"x": "y"}}),
    watch(CM, resourceVersion="$rv", fieldSelector="metadata.name=a"),
)
seq("a watch from a version that is forgotten", watch(CM, resourceVersion="1"))
seq(
    "a list at a version that is forgotten",
    get(CM, resourceVersion="1", resourceVersionMatch="Exact"),
    get(CM, resourceVersion="1", limit="5"),
    get(CM, resourceVersion="1"),
    get(CM, resourceVersion="1", resourceVersionMatch="NotOlderThan"),
)
seq(
    "a list at a version, in pages",
    *THREE[:2],
    post(CM, configmap("b", labels={"n": "b"})).save(rv="metadata.resourceVersion"),
    post(CM, configmap("d")),
    get(CM, resourceVersion="$rv", resourceVersionMatch="Exact", limit="1").save(
        token="metadata.continue"
    ),
    delete(in_ns("configmaps", "c")),
    get(CM, **{"continue": "$token"}),
)
seq(
    "pages and selectors",
    *THREE,
    get(CM, limit="1", labelSelector="n in (b, c)").save(token="metadata.continue"),
    get(CM, limit="1", labelSelector="n in (b, c)", **{"continue": "$token"}),
)
seq(
    "a watch that begins with a list",
    FIRST,
    post(CM, configmap("b")),
    watch(
        CM,
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks="true",
    ),
)
seq(
    "a watch with a match and no list",
    watch(CM, resourceVersionMatch="NotOlderThan"),
    watch(CM, sendInitialEvents="true"),
)
seq(
    "a watch of an object as a table",
    FIRST,
    merge(in_ns("configmaps", "a"), {"data": {"x": "y"}}),
    watch(CM, resourceVersion="$rv").as_table(),
)
seq(
    "a watch tells of labels and finalizers",
    FIRST,
    merge(in_ns("configmaps", "a"), {"metadata": {"finalizers": ["example.com/a"]}}),
    delete(in_ns("configmaps", "a")),
    merge(in_ns("configmaps", "a"), {"metadata": {"finalizers": None}}),
    watch(CM, resourceVersion="$rv"),
)
seq("a watch from a version that is none", watch(CM, resourceVersion="new"))
seq("a watch with a timeout that is none", get(CM, watch="1", timeoutSeconds="soon"))
seq(
    "a change that changes nothing is not told",
    FIRST,
    merge(in_ns("configmaps", "a"), {"data": {"k": "v"}}),
    watch(CM, resourceVersion="$rv"),
)

seq(
    "nodes as a table",
    post(f"{CORE}/nodes", node(metadata={"labels": {"node-role.kubernetes.io/worker": ""}})),
    get(f"{CORE}/nodes", fieldSelector="metadata.name=$ns").as_table(),
)
seq("pods as a table", post(in_ns("pods"), pod()), get(in_ns("pods")).as_table())
seq("one pod as a table", post(in_ns("pods"), pod()), get(in_ns("pods", "a")).as_table())
seq(
    "daemonsets as a table",
    post(in_ns("daemonsets", group=APPS), daemonset()),
    get(in_ns("daemonsets", group=APPS)).as_table(),
)
seq("configmaps as a table", *THREE, get(CM).as_table())
seq("an empty table", get(CM).as_table())
seq(
    "namespaces as a table", get(f"{CORE}/namespaces", fieldSelector="metadata.name=$ns").as_table()
)

seq("the version is told", get("/livez"), get("/readyz"))
seq("the resources of a group that is not there", get("/apis/unicorns.example.com/v1"))
