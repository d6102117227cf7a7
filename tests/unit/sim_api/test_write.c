#include "base/yaml.h"
#include "tests/unit/sim_api/served.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"
#define MAP_A "{'metadata': {'name': 'a'}, 'data': {'k': 'v'}}"
#define MODIFIED                                                                                   \
    "the object has been modified; please apply your changes to the latest version and try again"

/* Refusals of writes to a server that has the config map a, of version 6. */
static const struct served_refusal refusals[] = {
    { "create: it is there", "POST " MAPS, MAP_A, 409, "AlreadyExists",
      "configmaps \"a\" already exists" },
    { "create: no name", "POST " MAPS, "{'metadata': {}}", 422, "Invalid",
      "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
      "required" },
    { "create: a version", "POST " MAPS, "{'metadata': {'name': 'b', 'resourceVersion': '5'}}", 500,
      "", "resourceVersion should not be set on objects to be created" },
    { "create: another namespace", "POST " MAPS, "{'metadata': {'name': 'b', 'namespace': 'x'}}",
      400, "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request" },
    { "create: no such namespace", "POST /api/v1/namespaces/nope/configmaps", MAP_A, 404,
      "NotFound", "namespaces \"nope\" not found" },
    { "create: a RuntimeClass that is not there", "POST " PODS,
      "{'metadata': {'generateName': 'a-'}, 'spec': {'runtimeClassName': 'nope', 'containers': "
      "[{'name': 'm', 'image': 'i'}]}}",
      403, "Forbidden", "pods \"a-\" is forbidden: pod rejected: RuntimeClass \"nope\" not found" },
    { "update: not there", "PUT " MAPS "/b", "{'metadata': {'name': 'b'}}", 404, "NotFound",
      "configmaps \"b\" not found" },
    { "update: no name", "PUT " MAPS "/a", "{'metadata': {}}", 400, "BadRequest",
      "the name of the object (a based on URL) was undeterminable: name must be provided" },
    { "update: another name", "PUT " MAPS "/a", "{'metadata': {'name': 'b'}}", 400, "BadRequest",
      "the name of the object (b) does not match the name on the URL (a)" },
    { "update: an old version", "PUT " MAPS "/a",
      "{'metadata': {'name': 'a', 'resourceVersion': '5'}}", 409, "Conflict",
      "Operation cannot be fulfilled on configmaps \"a\": " MODIFIED },
    { "update: no version at all", "PUT " MAPS "/a",
      "{'metadata': {'name': 'a', 'resourceVersion': 'x'}}", 500, "",
      "strconv.ParseUint: parsing \"x\": invalid syntax" },
    { "patch: not there", "PATCH " MAPS "/b", "{}", 404, "NotFound", "configmaps \"b\" not found" },
    { "patch: another name", "PATCH " MAPS "/a", "{'metadata': {'name': 'b'}}", 400, "BadRequest",
      "the name of the object (b) does not match the name on the URL (a)" },
    { "patch: the name taken away", "PATCH " MAPS "/a", "{'metadata': {'name': null}}", 400,
      "BadRequest",
      "the name of the object (a based on URL) was undeterminable: name must be provided" },
    { "update: an incarnation of what is not there",
      "PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/l",
      "{'metadata': {'name': 'l', 'uid': 'u'}}", 409, "Conflict",
      "Operation cannot be fulfilled on leases.coordination.k8s.io \"l\": Precondition failed: UID "
      "in precondition: u, UID in "
      "object meta: " },
    { "patch: another namespace", "PATCH " MAPS "/a", "{'metadata': {'namespace': 'b'}}", 400,
      "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request" },
    { "patch: an old version", "PATCH " MAPS "/a", "{'metadata': {'resourceVersion': '5'}}", 409,
      "Conflict", "Operation cannot be fulfilled on configmaps \"a\": " MODIFIED },
    { "patch: another incarnation", "PATCH " MAPS "/a", "{'metadata': {'uid': '5'}}", 422,
      "Invalid",
      "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"5\": field is immutable" },
    { "patch: a deletion by hand", "PATCH " MAPS "/a",
      "{'metadata': {'deletionTimestamp': '2020-01-01T00:00:00Z'}}", 422, "Invalid",
      "ConfigMap \"a\" is invalid: metadata.deletionTimestamp: Invalid value: "
      "\"2020-01-01T00:00:00Z\": field is immutable" },
    { "apply: nothing said", "PATCH apply " MAPS "/a?fieldManager=me", "{}", 400, "BadRequest",
      "invalid object type: /, Kind=" },
    { "apply: another kind", "PATCH apply " MAPS "/a?fieldManager=me",
      "{'apiVersion': 'apps/v1', 'kind': 'DaemonSet'}", 400, "BadRequest",
      "invalid object type: apps/v1, Kind=DaemonSet" },
    { "apply: another name", "PATCH apply " MAPS "/a?fieldManager=me",
      "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'b'}}", 400, "BadRequest",
      "the name of the object (b) does not match the name on the URL (a)" },
    { "apply: a field that is unknown", "PATCH apply " MAPS "/a?fieldManager=me",
      "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'dta': {}}", 500, "",
      "failed to create typed patch object (/; /v1, Kind=ConfigMap): .dta: field not declared in "
      "schema" },
    { "apply: an unknown field of an item",
      "PATCH apply /apis/apps/v1/namespaces/default/daemonsets/a?fieldManager=me",
      "{'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'metadata': {'name': 'a'}, 'spec': "
      "{'template': {'spec': {'containers': "
      "[{'name': 'x', 'iamge': 'y'}]}}}}",
      500, "",
      "failed to create typed patch object (/a; apps/v1, Kind=DaemonSet): "
      ".spec.template.spec.containers[name=\"x\"].iamge: "
      "field not declared in schema" },
    { "apply: another incarnation of what is not there",
      "PATCH apply " MAPS "/none?fieldManager=me",
      "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'uid': 'u'}}", 409, "Conflict",
      "Operation cannot be fulfilled on configmaps \"none\": uid mismatch: the provided object "
      "specified uid u, and no existing "
      "object was found" },
    { "apply: managedFields", "PATCH apply " MAPS "/a?fieldManager=me",
      "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'managedFields': [{}]}}", 400,
      "BadRequest", "metadata.managedFields must be nil" },
    { "apply: an old version", "PATCH apply " MAPS "/a?fieldManager=me",
      "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'resourceVersion': '4'}}", 409,
      "Conflict", "Operation cannot be fulfilled on configmaps \"a\": " MODIFIED },
    { "delete: not there", "DELETE " MAPS "/b", NULL, 404, "NotFound",
      "configmaps \"b\" not found" },
    { "delete: an old version", "DELETE " MAPS "/a", "{'preconditions': {'resourceVersion': '1'}}",
      409, "Conflict",
      "Operation cannot be fulfilled on ConfigMap \"a\": the ResourceVersion in the precondition "
      "(1) does not match the "
      "ResourceVersion in record (6). "
      "The object might have been modified" },
    { "delete: a namespace that every cluster has", "DELETE /api/v1/namespaces/default", NULL, 403,
      "Forbidden", "namespaces \"default\" is forbidden: this namespace may not be deleted" },
    { "delete: a policy that is none", "DELETE " MAPS "/a", "{'propagationPolicy': 'Foo'}", 422,
      "Invalid",
      "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Foo\": "
      "supported values: "
      "\"Foreground\", \"Background\", "
      "\"Orphan\", \"nil\"" },
    { "delete: a policy said twice", "DELETE " MAPS "/a",
      "{'propagationPolicy': 'Orphan', 'orphanDependents': true}", 422, "Invalid",
      "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"Orphan\": "
      "orphanDependents and "
      "deletionPropagation cannot be both set" },
    { "delete: a dry run of another kind", "DELETE " MAPS "/a", "{'dryRun': ['All', 'Foo']}", 422,
      "Invalid",
      "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Foo\"]: supported "
      "values: \"All\"" },
};

static void check_refusal(void **state)
{
    const struct served_refusal *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS, MAP_A, 201);
    served_refused(&s, row->request, row->body, row->status, row->reason, row->message);
    assert_int_equal(api_rv(s.api), 6);
}

static void check_other_incarnation(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS, MAP_A, 201);
    CLEANUP_FREE char *first = xstrdup(served_str(&s, "metadata.uid"));
    served_expect(&s, "DELETE " MAPS "/a", NULL, 200);
    served_expect(&s, "POST " MAPS, MAP_A, 201);
    CLEANUP_FREE char *second = xstrdup(served_str(&s, "metadata.uid"));
    assert_string_not_equal(first, second);
    CLEANUP_FREE char *put = xasprintf("{'metadata': {'name': 'a', 'uid': '%s'}}", first);
    CLEANUP_FREE char *updated = xasprintf(
        "Operation cannot be fulfilled on configmaps \"a\": Precondition failed: UID in "
        "precondition: %s, UID in object meta: %s",
        first, second);
    served_refused(&s, "PUT " MAPS "/a", put, 409, "Conflict", updated);
    CLEANUP_FREE char *preconditions = xasprintf("{'preconditions': {'uid': '%s'}}", first);
    CLEANUP_FREE char *deleted = xasprintf(
        "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (%s) "
        "does not match the UID in record (%s). The object might have been deleted and then "
        "recreated",
        first, second);
    served_refused(&s, "DELETE " MAPS "/a", preconditions, 409, "Conflict", deleted);
    CLEANUP_FREE char *right = xasprintf("{'preconditions': {'uid': '%s'}}", second);
    served_expect(&s, "DELETE " MAPS "/a", right, 200);
}

static void check_create(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST /api/v1/nodes",
                  "{'metadata': {'name': 'n', 'namespace': 'x', 'uid': 'mine', 'generation': 7, "
                  "'creationTimestamp': null, "
                  "'labels': {}, "
                  "'deletionTimestamp': '2020-01-01T00:00:00Z'}, 'spec': {'unschedulable': null, "
                  "'podCIDR': '10.0.0.0/24'}}",
                  201);
    const json_t *metadata = json_object_get(s.body, "metadata");
    assert_string_equal(served_str(&s, "kind"), "Node");
    assert_string_equal(served_str(&s, "apiVersion"), "v1");
    assert_string_equal(served_str(&s, "metadata.creationTimestamp"), "2026-11-20T10:00:00Z");
    assert_string_equal(served_str(&s, "metadata.resourceVersion"), "6");
    assert_int_equal(strlen(served_str(&s, "metadata.uid")), 36);
    assert_null(json_object_get(metadata, "namespace"));
    assert_null(json_object_get(metadata, "deletionTimestamp"));
    assert_null(json_object_get(metadata, "labels"));
    assert_int_equal(json_int(s.body, "metadata.generation", 0), 0);
    assert_null(json_at(s.body, "spec.unschedulable"));
}

static void check_generated_name(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS, "{'metadata': {'generateName': 'job-'}}", 201);
    CLEANUP_FREE char *first = xstrdup(served_str(&s, "metadata.name"));
    assert_true(str_has_prefix(first, "job-"));
    served_expect(&s, "POST " MAPS, "{'metadata': {'generateName': 'job-'}}", 201);
    assert_string_not_equal(first, served_str(&s, "metadata.name"));
}

/* What is the server's comes out as it was, whatever is sent. */
static void check_update_keeps_what_is_the_servers(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS, MAP_A, 201);
    CLEANUP_FREE char *uid = xstrdup(served_str(&s, "metadata.uid"));
    s.now_us += 5000000;
    served_expect(&s, "PUT " MAPS "/a",
                  "{'metadata': {'name': 'a', 'generation': 9, 'creationTimestamp': "
                  "'2020-01-01T00:00:00Z'}, 'data': {'k': 'w'}}",
                  200);
    assert_string_equal(served_str(&s, "metadata.uid"), uid);
    assert_string_equal(served_str(&s, "metadata.creationTimestamp"), "2026-11-20T10:00:00Z");
    assert_null(json_at(s.body, "metadata.generation"));
    assert_string_equal(served_str(&s, "metadata.resourceVersion"), "7");
    assert_string_equal(served_str(&s, "data.k"), "w");
}

static void check_no_change_no_commit(void **state)
{
    (void) state;
    static const char *const requests[][2] = {
        { "PATCH " MAPS "/a", "{'data': {'k': 'v'}}" },
        { "PATCH strategic " MAPS "/a", "{'data': {'k': 'v'}}" },
        { "PATCH json " MAPS "/a", "[{'op': 'replace', 'path': '/data/k', 'value': 'v'}]" },
        { "PUT " MAPS "/a", MAP_A },
    };
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS, MAP_A, 201);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        s.now_us += 1000000;
        served_expect(&s, requests[i][0], requests[i][1], 200);
        assert_string_equal(served_str(&s, "metadata.resourceVersion"), "6");
    }
    assert_int_equal(api_rv(s.api), 6);
}

static void check_versions_guard(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS, MAP_A, 201);
    served_expect(&s, "PATCH " MAPS "/a",
                  "{'metadata': {'resourceVersion': '6'}, 'data': {'k': 'w'}}", 200);
    served_expect(&s, "PATCH " MAPS "/a",
                  "{'metadata': {'resourceVersion': '6'}, 'data': {'k': 'x'}}", 409);
    served_expect(&s, "PUT " MAPS "/a",
                  "{'metadata': {'name': 'a', 'resourceVersion': '7'}, 'data': {'k': 'x'}}", 200);
    served_expect(&s, "PATCH json " MAPS "/a",
                  "[{'op': 'replace', 'path': '/metadata/resourceVersion', 'value': '7'}]", 409);
    /* Nothing and "0" name none. */
    served_expect(&s, "PUT " MAPS "/a",
                  "{'metadata': {'name': 'a', 'resourceVersion': '0'}, 'data': {'k': 'y'}}", 200);
    served_expect(&s, "PATCH " MAPS "/a",
                  "{'metadata': {'resourceVersion': ''}, 'data': {'k': 'z'}}", 200);
}

static void check_dry_runs(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS "?dryRun=All", MAP_A, 201);
    assert_null(json_at(s.body, "metadata.resourceVersion"));
    served_expect(&s, "GET " MAPS "/a", NULL, 404);
    served_expect(&s, "POST " MAPS, MAP_A, 201);
    served_expect(&s, "PATCH " MAPS "/a?dryRun=All", "{'data': {'k': 'w'}}", 200);
    assert_string_equal(served_str(&s, "data.k"), "w");
    assert_string_equal(served_str(&s, "metadata.resourceVersion"), "6");
    served_expect(&s, "PUT " MAPS "/a?dryRun=All", "{'metadata': {'name': 'a'}}", 200);
    served_expect(&s, "DELETE " MAPS "/a?dryRun=All", NULL, 200);
    served_expect(&s, "DELETE " MAPS "/a", "{'dryRun': ['All']}", 200);
    served_expect(&s, "GET " MAPS "/a", NULL, 200);
    assert_string_equal(served_str(&s, "data.k"), "v");
    assert_int_equal(api_rv(s.api), 6);
}

static void check_put_creates(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    static const char lease[] = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    CLEANUP_FREE char *put = xasprintf("PUT %s", lease);
    served_expect(&s, put, "{'metadata': {'name': 'l'}, 'spec': {'holderIdentity': 'a'}}", 201);
    /* From here on it must say which version it replaces. */
    served_refused(&s, put, "{'metadata': {'name': 'l'}, 'spec': {'holderIdentity': 'b'}}", 422,
                   "Invalid",
                   "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid "
                   "value: 0: must be specified "
                   "for an update");
    served_expect(
        &s, put,
        "{'metadata': {'name': 'l', 'resourceVersion': '6'}, 'spec': {'holderIdentity': 'b'}}",
        200);
}

static void check_apply_creates(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    static const char intent[] = "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'data': {'k': 'v'}}";
    served_expect(&s, "PATCH apply " MAPS "/a?fieldManager=me", intent, 201);
    assert_string_equal(served_str(&s, "metadata.name"), "a");
    assert_string_equal(served_str(&s, "metadata.namespace"), "default");
    served_expect(&s, "PATCH apply " MAPS "/a?fieldManager=me", intent, 200);
    assert_int_equal(api_rv(s.api), 6);
    served_expect(&s, "PATCH apply " MAPS "/b?fieldManager=me&dryRun=All", intent, 201);
    assert_int_equal(api_rv(s.api), 6);
}

/* ---- deletion */

static void check_finalizers(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS,
                  "{'metadata': {'name': 'a', 'finalizers': ['x.example/y', 'x.example/z']}}", 201);
    served_expect(&s, "DELETE " MAPS "/a", NULL, 200);
    assert_string_equal(served_str(&s, "kind"), "ConfigMap");
    assert_string_equal(served_str(&s, "metadata.deletionTimestamp"), "2026-11-20T10:00:00Z");
    assert_int_equal(json_int(s.body, "metadata.deletionGracePeriodSeconds", -1), 0);
    /* A second deletion changes nothing. */
    s.now_us += 60000000;
    served_expect(&s, "DELETE " MAPS "/a", NULL, 200);
    assert_string_equal(served_str(&s, "metadata.resourceVersion"), "7");
    served_refused(&s, "PATCH " MAPS "/a",
                   "{'metadata': {'finalizers': ['x.example/y', 'x.example/z', 'x.example/new']}}",
                   422, "Invalid",
                   "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers "
                   "can be added if the object is "
                   "being deleted, found new finalizers []string{\"x.example/new\"}");
    served_expect(&s, "PATCH " MAPS "/a", "{'metadata': {'finalizers': ['x.example/z']}}", 200);
    served_expect(&s, "GET " MAPS "/a", NULL, 200);
    served_expect(&s, "PATCH " MAPS "/a", "{'metadata': {'finalizers': null}}", 200);
    assert_null(json_at(s.body, "metadata.finalizers"));
    served_expect(&s, "GET " MAPS "/a", NULL, 404);
    served_expect(&s, "GET " MAPS "?watch=1&resourceVersion=5", NULL, 200);
    served_expect_news(&s, "ADDED a@6 MODIFIED a@7 MODIFIED a@8 DELETED a@9");
}

static const struct propagation_row {
    const char *name;
    const char *body;
    const char *finalizers; /* NULL: it is gone */
} propagations[] = {
    { "a plain deletion", NULL, NULL },
    { "in the background", "{'propagationPolicy': 'Background'}", NULL },
    { "in the foreground", "{'propagationPolicy': 'Foreground'}", "['foregroundDeletion']" },
    { "orphans", "{'propagationPolicy': 'Orphan'}", "['orphan']" },
    { "orphans, in the old words", "{'orphanDependents': true}", "['orphan']" },
    { "no orphans, in the old words", "{'orphanDependents': false}", NULL },
};

static void check_propagation(void **state)
{
    const struct propagation_row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS, MAP_A, 201);
    served_expect(&s, "DELETE " MAPS "/a", row->body, 200);
    assert_string_equal(served_str(&s, "kind"), row->finalizers ? "ConfigMap" : "Status");
    if (row->finalizers)
        assert_tree(json_at(s.body, "metadata.finalizers"), row->finalizers);
    served_expect(&s, "GET " MAPS "/a", NULL, row->finalizers ? 200 : 404);
}

static void check_propagation_changes(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS, "{'metadata': {'name': 'a', 'finalizers': ['x.example/y']}}",
                  201);
    served_expect(&s, "DELETE " MAPS "/a?propagationPolicy=Foreground", NULL, 200);
    assert_tree(json_at(s.body, "metadata.finalizers"), "['x.example/y', 'foregroundDeletion']");
    served_expect(&s, "DELETE " MAPS "/a?propagationPolicy=Orphan", NULL, 200);
    assert_tree(json_at(s.body, "metadata.finalizers"), "['x.example/y', 'orphan']");
    served_expect(&s, "DELETE " MAPS "/a", NULL, 200);
    assert_tree(json_at(s.body, "metadata.finalizers"), "['x.example/y', 'orphan']");
}

#define POD(name, more)                                                                            \
    "{'metadata': {'name': '" name "'}, "                                                          \
    "'spec': {'containers': [{'name': 'c', 'image': 'i'}], 'terminationGracePeriodSeconds': "      \
    "30" more "}}"

static void check_pod_that_no_node_runs(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " PODS, POD("p", ""), 201);
    served_expect(&s, "DELETE " PODS "/p", NULL, 200);
    assert_string_equal(served_str(&s, "kind"), "Pod");
    assert_int_equal(json_int(s.body, "metadata.deletionGracePeriodSeconds", -1), 0);
    assert_string_equal(served_str(&s, "metadata.resourceVersion"), "8");
    served_expect(&s, "GET " PODS "/p", NULL, 404);
    /* The mark can be seen before the end. */
    served_expect(&s, "GET " PODS "?watch=1&resourceVersion=5", NULL, 200);
    served_expect_news(&s, "ADDED p@6 MODIFIED p@7 DELETED p@8");
}

static void check_pod_that_ends(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " PODS, POD("p", ", 'nodeName': 'n'"), 201);
    served_expect(&s, "DELETE " PODS "/p", NULL, 200);
    assert_string_equal(served_str(&s, "metadata.deletionTimestamp"), "2026-11-20T10:00:30Z");
    assert_int_equal(json_int(s.body, "metadata.deletionGracePeriodSeconds", -1), 30);
    /* Neither the same again nor a longer period changes anything. */
    s.now_us += 1000000;
    served_expect(&s, "DELETE " PODS "/p", NULL, 200);
    served_expect(&s, "DELETE " PODS "/p?gracePeriodSeconds=60", NULL, 200);
    assert_string_equal(served_str(&s, "metadata.resourceVersion"), "7");
    /* A shorter one counts from the first deletion. */
    served_expect(&s, "DELETE " PODS "/p?gracePeriodSeconds=5", NULL, 200);
    assert_string_equal(served_str(&s, "metadata.deletionTimestamp"), "2026-11-20T10:00:05Z");
    /* Its labels can be changed until the end. */
    served_expect(&s, "PATCH " PODS "/p", "{'metadata': {'labels': {'a': 'b'}}}", 200);
    served_expect(&s, "DELETE " PODS "/p", "{'gracePeriodSeconds': 0}", 200);
    served_expect(&s, "GET " PODS "/p", NULL, 404);
    served_expect(&s, "GET " PODS "?watch=1&resourceVersion=6", NULL, 200);
    served_expect_news(&s, "MODIFIED p@7 MODIFIED p@8 MODIFIED p@9 MODIFIED p@10 DELETED p@11");
}

static void check_pod_with_finalizer(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " PODS, POD("p", ", 'nodeName': 'n'"), 201);
    served_expect(&s, "PATCH " PODS "/p", "{'metadata': {'finalizers': ['x.example/y']}}", 200);
    served_expect(&s, "DELETE " PODS "/p?gracePeriodSeconds=0", NULL, 200);
    served_expect(&s, "GET " PODS "/p", NULL, 200);
    served_expect(&s, "PATCH " PODS "/p", "{'metadata': {'finalizers': []}}", 200);
    served_expect(&s, "GET " PODS "/p", NULL, 404);
}

static void check_pod_that_has_ended(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " PODS, POD("p", ", 'nodeName': 'n'"), 201);
    served_expect(&s, "PATCH " PODS "/p/status", "{'status': {'phase': 'Succeeded'}}", 200);
    served_expect(&s, "DELETE " PODS "/p", NULL, 200);
    served_expect(&s, "GET " PODS "/p", NULL, 404);
}

static void check_delete_collection(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS, "{'metadata': {'name': 'a', 'labels': {'x': '1'}}}", 201);
    served_expect(&s, "POST " MAPS, "{'metadata': {'name': 'b'}}", 201);
    served_expect(&s, "POST " MAPS, "{'metadata': {'name': 'c', 'labels': {'x': '2'}}}", 201);
    served_expect(&s, "DELETE " MAPS "?labelSelector=x", NULL, 200);
    CLEANUP_FREE char *names = served_names(&s);
    assert_string_equal(names, "default/a default/c");
    served_expect_names(&s, MAPS, "default/b");
}

/* ---- namespaces and definitions hold what is in them */

static void check_namespace_goes(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST /api/v1/namespaces", "{'metadata': {'name': 'x'}}", 201);
    served_expect(&s, "POST /api/v1/namespaces/x/configmaps",
                  "{'metadata': {'name': 'a', 'finalizers': ['x.example/y']}}", 201);
    served_expect(&s, "POST /api/v1/namespaces/x/configmaps", "{'metadata': {'name': 'b'}}", 201);
    served_expect(&s, "DELETE /api/v1/namespaces/x", NULL, 200);
    assert_string_equal(served_str(&s, "status.phase"), "Terminating");
    served_expect_names(&s, "/api/v1/namespaces/x/configmaps", "x/a");
    served_refused(&s, "POST /api/v1/namespaces/x/configmaps", "{'metadata': {'name': 'c'}}", 403,
                   "Forbidden",
                   "configmaps \"c\" is forbidden: unable to create new content in namespace x "
                   "because it is being terminated");
    served_expect(&s, "DELETE /api/v1/namespaces/x", NULL, 200);
    served_expect(&s, "PATCH /api/v1/namespaces/x/configmaps/a",
                  "{'metadata': {'finalizers': null}}", 200);
    served_expect(&s, "GET /api/v1/namespaces/x", NULL, 404);
    served_expect(&s, "GET /api/v1/namespaces?watch=1&resourceVersion=5", NULL, 200);
    served_expect_news(&s, "ADDED x@6 MODIFIED x@9 DELETED x@13");
}

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define POLICIES "/apis/ostler.dev/v1alpha1/gpuclusterpolicies"

static void define_policies(struct served *s)
{
    CLEANUP_JSON json_t *documents = yaml_parse_file("crds/ostler.dev_gpuclusterpolicies.yaml",
                                                     NULL, NULL);
    CLEANUP_FREE char *text = json_compact(json_array_get(documents, 0));
    assert_int_equal(served_send(s, "POST " DEFINITIONS, text, strlen(text)), 201);
}

static void check_definition(void **state)
{
    (void) state;
    static const char policy[] =
        "{'apiVersion': 'ostler.dev/v1alpha1', 'kind': 'GpuClusterPolicy', 'metadata': {'name': "
        "'default', 'finalizers': "
        "['ostler.dev/x']}, 'spec': {}}";
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "GET " POLICIES, NULL, 404);
    assert_string_equal(s.answer.body, "404 page not found\n");
    served_expect(&s, "POST " POLICIES, policy, 404);
    define_policies(&s);
    served_expect_names(&s, POLICIES, "");
    served_expect(&s, "POST " POLICIES, policy, 201);
    served_expect(&s, "GET " POLICIES "?watch=1", NULL, 200);
    struct api_watch *w = TAKE(s.answer.watch);

    served_expect(&s, "DELETE " DEFINITIONS "/gpuclusterpolicies.ostler.dev", NULL, 200);
    assert_non_null(json_at(s.body, "metadata.deletionTimestamp"));
    served_expect_names(&s, POLICIES, "default");
    CLEANUP_FREE char *other = xstrdup(policy);
    memcpy(strstr(other, "default"), "another", strlen("another"));
    served_refused(&s, "POST " POLICIES, other, 403, "Forbidden",
                   "gpuclusterpolicies.ostler.dev \"another\" is forbidden: create not allowed "
                   "while custom resource definition "
                   "is terminating");
    served_expect(&s, "PATCH " POLICIES "/default", "{'metadata': {'finalizers': []}}", 200);
    served_expect(&s, "GET " POLICIES, NULL, 404);
    served_expect(&s, "GET " DEFINITIONS "/gpuclusterpolicies.ostler.dev", NULL, 404);
    api_answer_clear(&s.answer);
    s.answer.watch = w;
    served_expect_news(&s, "ADDED default@7 MODIFIED default@9 DELETED default@10");
}

static void check_definition_without_objects(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    define_policies(&s);
    served_expect(&s, "DELETE " DEFINITIONS "/gpuclusterpolicies.ostler.dev", NULL, 200);
    served_expect(&s, "GET " DEFINITIONS "/gpuclusterpolicies.ostler.dev", NULL, 404);
}

/* ---- actors */

struct seen {
    size_t count;
    struct api_commit last;
};

static void see(void *arg, const struct api_commit *c)
{
    struct seen *seen = arg;
    seen->count++;
    seen->last = *c;
}

static void check_commits_are_told(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    struct seen seen = { 0 };
    api_on_commit(s.api, see, &seen);
    const struct kind *k = kind_named("configmaps");
    CLEANUP_JSON json_t *object = tree(
        "{'metadata': {'name': 'a', 'namespace': 'default'}, 'data': {'k': 'v'}}");
    assert_int_equal(api_create(s.api, "alice", k, object, NULL), 0);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.last.verb, API_CREATE);
    assert_null(seen.last.before);
    assert_string_equal(seen.last.user, "alice");
    CLEANUP_JSON json_t *patch = tree("{'data': {'k': 'w'}}");
    assert_int_equal(api_merge(s.api, "other", k, "default", "a", "", patch, NULL), 0);
    assert_int_equal(seen.last.verb, API_PATCH);
    assert_string_equal(json_str(seen.last.before, "data.k"), "v");
    assert_string_equal(json_str(seen.last.after, "data.k"), "w");
    assert_int_equal(api_merge(s.api, "other", k, "default", "a", "", patch, NULL), 0);
    assert_int_equal(seen.count, 2);
    assert_int_equal(api_delete(s.api, "other", k, "default", "a", NULL, -1, NULL), 0);
    assert_int_equal(seen.last.verb, API_DELETE);
    assert_null(seen.last.after);
    CLEANUP_REFUSAL struct refusal r = { 0 };
    assert_int_equal(api_delete(s.api, "other", k, "default", "a", NULL, -1, &r), -1);
    assert_int_equal(r.code, 404);
}

static void check_objects_never_change(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    const struct kind *k = kind_named("nodes");
    CLEANUP_JSON json_t *object = tree(
        "{'metadata': {'name': 'n', 'labels': {'a': 'b'}}, 'spec': {'taints': [{'key': 'x', "
        "'effect': 'NoSchedule'}]}, "
        "'status': {'conditions': [{'type': 'Ready', 'status': 'True'}]}}");
    assert_int_equal(api_create(s.api, "alice", k, object, NULL), 0);
    json_t *live = json_incref(api_get(s.api, k, "", "n"));
    CLEANUP_JSON json_t *copy = json_deep_copy(live);
    static const char *const patches[] = {
        "{'metadata': {'labels': {'c': 'd'}}}",
        "{'spec': {'unschedulable': true, 'taints': [{'key': 'y', 'effect': 'NoExecute'}]}}",
        "{'metadata': {'finalizers': ['x.example/y']}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(patches); i++) {
        CLEANUP_JSON json_t *patch = tree(patches[i]);
        assert_int_equal(api_merge(s.api, "other", k, "", "n", "", patch, NULL), 0);
        assert_true(json_equal(live, copy));
    }
    assert_int_equal(api_delete(s.api, "other", k, "", "n", NULL, -1, NULL), 0);
    assert_true(json_equal(live, copy));
    json_decref(live);
}

static void check_same_calls_same_answers(void **state)
{
    (void) state;
    char *texts[2];
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CLEANUP_SERVED struct served s;
        served_init(&s);
        served_expect(&s, "POST " MAPS, "{'metadata': {'generateName': 'a-'}}", 201);
        served_expect(&s, "POST " PODS, POD("p", ""), 201);
        served_expect(&s, "DELETE " PODS "/p", NULL, 200);
        served_expect(&s, "POST " PODS, POD("p", ""), 201);
        struct buf all = BUF_INIT(1 << 20);
        served_expect(&s, "GET " PODS, NULL, 200);
        buf_str(&all, s.answer.body);
        served_expect(&s, "GET " MAPS, NULL, 200);
        buf_str(&all, s.answer.body);
        texts[i] = buf_take(&all);
    }
    assert_string_equal(texts[0], texts[1]);
    mem_cleanup_free(&texts[0]);
    mem_cleanup_free(&texts[1]);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_refusal, refusals);
    SUITE_ROWS(&s, check_propagation, propagations);
    suite_add(&s, "writes to another incarnation are refused", check_other_incarnation, NULL);
    suite_add(&s, "a create fills in what is the server's", check_create, NULL);
    suite_add(&s, "a name is made where none is given", check_generated_name, NULL);
    suite_add(&s, "an update leaves what is the server's", check_update_keeps_what_is_the_servers,
              NULL);
    suite_add(&s, "a write that changes nothing is no write", check_no_change_no_commit, NULL);
    suite_add(&s, "a version guards a write", check_versions_guard, NULL);
    suite_add(&s, "a dry run answers and writes nothing", check_dry_runs, NULL);
    suite_add(&s, "a PUT creates a lease", check_put_creates, NULL);
    suite_add(&s, "an apply creates", check_apply_creates, NULL);
    suite_add(&s, "finalizers hold an object", check_finalizers, NULL);
    suite_add(&s, "a later deletion may change the propagation", check_propagation_changes, NULL);
    suite_add(&s, "a pod that no node runs goes at once", check_pod_that_no_node_runs, NULL);
    suite_add(&s, "a pod has time to end", check_pod_that_ends, NULL);
    suite_add(&s, "a pod with a finalizer outlives its grace period", check_pod_with_finalizer,
              NULL);
    suite_add(&s, "a pod that has ended goes at once", check_pod_that_has_ended, NULL);
    suite_add(&s, "a collection", check_delete_collection, NULL);
    suite_add(&s, "a namespace takes its content with it", check_namespace_goes, NULL);
    suite_add(&s, "a kind is there as long as its definition", check_definition, NULL);
    suite_add(&s, "a definition without objects goes at once", check_definition_without_objects,
              NULL);
    suite_add(&s, "commits are told as they come", check_commits_are_told, NULL);
    suite_add(&s, "objects of the store never change", check_objects_never_change, NULL);
    suite_add(&s, "the same calls give the same answers", check_same_calls_same_answers, NULL);
    return suite_run(&s, "sim_api/write");
}
