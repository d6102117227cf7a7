"""Creating, reading, writing and deleting single objects."""

from conformance.steps import (
    CORE,
    configmap,
    delete,
    get,
    in_ns,
    merge,
    node,
    operations,
    post,
    put,
    seq,
)

CM = in_ns("configmaps")
A = in_ns("configmaps", "a")

seq("an object is made and read", post(CM, configmap()), get(A))
seq("an object that is there cannot be made", post(CM, configmap()), post(CM, configmap()))
seq("a name that is none", post(CM, configmap("A_b")))
seq("an object without a name", post(CM, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}))
seq("a name is generated", post(CM, {"metadata": {"generateName": "gen-"}}))
seq("apiVersion and kind may be left out", post(CM, {"metadata": {"name": "a"}}))
seq(
    "the body of another kind",
    post(CM, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}),
)
seq(
    "the body of another version",
    post(CM, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}}),
)
seq("another namespace in the body", post(CM, configmap(namespace="other")))
seq("a namespace that is not there", post(f"{CORE}/namespaces/nowhere-$ns/configmaps", configmap()))
seq("a body that is no JSON object", post(CM, [1, 2]))
seq("a resourceVersion at a create", post(CM, configmap(resourceVersion="5")))
seq("what is not there cannot be read", get(A))
seq("what is not there cannot be deleted", delete(A))
seq("what is not there cannot be patched", merge(A, {"data": {"x": "y"}}))
seq("a kind that is not there", get(in_ns("unicorns")))
seq("a group that is not there", get("/apis/unicorns.example.com/v1/unicorns"))
seq("a path that is none", get("/nothing/here"))
seq("a method that is none here", put(CM, configmap()))

seq("an update needs no version", post(CM, configmap()), put(A, configmap(data={"k": "w"})), get(A))
seq(
    "an update from the version that was read",
    post(CM, configmap()).save(rv="metadata.resourceVersion"),
    put(A, configmap(data={"k": "w"}, resourceVersion="$rv")),
)
seq(
    "an update from an old version",
    post(CM, configmap()).save(rv="metadata.resourceVersion"),
    merge(A, {"data": {"x": "y"}}),
    put(A, configmap(data={"k": "w"}, resourceVersion="$rv")),
)
seq(
    "an update of another incarnation",
    post(CM, configmap()),
    put(A, configmap(data={"k": "w"}, uid="00000000-0000-4000-8000-000000000000")),
)
seq(
    "an update that changes nothing keeps the version",
    post(CM, configmap()),
    put(A, configmap()),
    get(A),
)
seq("an update of what is not there", put(A, configmap()))
seq("an update under another name", post(CM, configmap()), put(A, configmap("b")))

seq(
    "a merge patch sets, changes and removes",
    post(CM, configmap(data={"k": "v", "l": "w"})),
    merge(A, {"data": {"k": "x", "l": None, "m": "y"}}),
)
seq("a merge patch that changes nothing", post(CM, configmap()), merge(A, {"data": {"k": "v"}}))
seq(
    "a merge patch under a version",
    post(CM, configmap()).save(rv="metadata.resourceVersion"),
    merge(A, {"metadata": {"resourceVersion": "$rv"}, "data": {"k": "x"}}),
    merge(A, {"metadata": {"resourceVersion": "$rv"}, "data": {"k": "y"}}),
)
seq(
    "a merge patch under an UID",
    post(CM, configmap()).save(uid="metadata.uid"),
    merge(A, {"metadata": {"uid": "$uid"}, "data": {"k": "x"}}),
    merge(A, {"metadata": {"uid": "00000000-0000-4000-8000-000000000000"}, "data": {"k": "y"}}),
)
seq("a merge patch cannot rename", post(CM, configmap()), merge(A, {"metadata": {"name": "b"}}))
seq("a merge patch that is no object", post(CM, configmap()), merge(A, [1]))
seq(
    "a JSON patch with a test that holds",
    post(CM, configmap()),
    operations(
        A,
        [
            {"op": "test", "path": "/data/k", "value": "v"},
            {"op": "replace", "path": "/data/k", "value": "w"},
        ],
    ),
)
seq(
    "a JSON patch with a test that fails",
    post(CM, configmap()),
    operations(
        A,
        [
            {"op": "test", "path": "/data/k", "value": "x"},
            {"op": "replace", "path": "/data/k", "value": "w"},
        ],
    ),
)
seq(
    "a test for null where nothing is",
    post(CM, configmap()),
    operations(
        A,
        [
            {"op": "test", "path": "/data/none", "value": None},
            {"op": "add", "path": "/data/l", "value": "w"},
        ],
    ),
)
seq(
    "a JSON patch that removes what is not there",
    post(CM, configmap()),
    operations(A, [{"op": "remove", "path": "/data/none"}]),
)
seq(
    "a JSON patch that copies and moves",
    post(CM, configmap()),
    operations(
        A,
        [
            {"op": "copy", "from": "/data/k", "path": "/data/l"},
            {"op": "move", "from": "/data/k", "path": "/data/m"},
        ],
    ),
)
seq(
    "a JSON patch with an unknown operation",
    post(CM, configmap()),
    operations(A, [{"op": "change", "path": "/data/k", "value": "w"}]),
)
seq("a JSON patch that is no list", post(CM, configmap()), operations(A, {"op": "add"}))

seq("a delete answers with what was done", post(CM, configmap()), delete(A), get(A))
seq(
    "a delete of another incarnation",
    post(CM, configmap()),
    delete(A, {"preconditions": {"uid": "00000000-0000-4000-8000-000000000000"}}),
    get(A),
)
seq(
    "a delete of this incarnation",
    post(CM, configmap()).save(uid="metadata.uid"),
    delete(A, {"preconditions": {"uid": "$uid"}}),
)
seq(
    "a delete from an old version",
    post(CM, configmap()).save(rv="metadata.resourceVersion"),
    merge(A, {"data": {"x": "y"}}),
    delete(A, {"preconditions": {"resourceVersion": "$rv"}}),
    get(A),
)
seq(
    "a finalizer keeps the object until it is taken off",
    post(CM, configmap(finalizers=["example.com/a"])),
    delete(A),
    get(A),
    merge(A, {"metadata": {"finalizers": None}}),
    get(A),
)
seq(
    "an object that goes takes no new finalizer",
    post(CM, configmap(finalizers=["example.com/a"])),
    delete(A),
    merge(A, {"metadata": {"finalizers": ["example.com/a", "example.com/b"]}}),
)
seq(
    "an object that goes can be deleted again",
    post(CM, configmap(finalizers=["example.com/a"])),
    delete(A),
    delete(A),
)
seq("a finalizer without a domain", post(CM, configmap(finalizers=["mine"])))
seq(
    "a deletion in the foreground",
    post(CM, configmap()),
    delete(A, {"propagationPolicy": "Foreground"}),
    get(A),
)
seq(
    "a deletion that leaves orphans",
    post(CM, configmap()),
    delete(A, {"propagationPolicy": "Orphan"}),
    get(A),
)
seq(
    "a propagation that is none",
    post(CM, configmap()),
    delete(A, {"propagationPolicy": "Sideways"}),
)
seq(
    "a whole collection goes",
    post(CM, configmap("a")),
    post(CM, configmap("b")),
    delete(CM),
    get(CM),
)

seq("a dry run changes nothing", post(CM, configmap(), dryRun="All"), get(A))
seq("a dry run that is none", post(CM, configmap(), dryRun="Some"))
seq("a label that is none", post(CM, configmap(labels={"a b": "c"})))
seq("a label's value that is none", post(CM, configmap(labels={"a": "c d"})))
seq("a label's value that is too long", post(CM, configmap(labels={"a": "c" * 64})))
seq("an annotation's key that is none", post(CM, configmap(annotations={"/a": "c"})))
seq("annotations that are too long", post(CM, configmap(annotations={"a": "c" * 263000})))
seq(
    "an owner that is whole, and one that is not",
    post(
        CM,
        configmap(
            ownerReferences=[
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "name": "o",
                    "uid": "00000000-0000-4000-8000-000000000000",
                }
            ]
        ),
    ),
    post(
        CM, configmap("b", ownerReferences=[{"apiVersion": "v1", "kind": "ConfigMap", "name": "o"}])
    ),
)
seq(
    "two controllers",
    post(
        CM,
        configmap(
            ownerReferences=[
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "name": n,
                    "uid": f"00000000-0000-4000-8000-00000000000{n}",
                    "controller": True,
                }
                for n in "12"
            ]
        ),
    ),
)
seq(
    "a node is made, cordoned and labelled",
    post(f"{CORE}/nodes", node()),
    merge(f"{CORE}/nodes/$ns", {"spec": {"unschedulable": True}}),
    merge(f"{CORE}/nodes/$ns", {"metadata": {"labels": {"a": "b"}}}),
    delete(f"{CORE}/nodes/$ns"),
)
