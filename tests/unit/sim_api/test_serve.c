#include "sim/api/body.h"
#include "tests/unit/sim_api/served.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"
#define OLD_EVENTS "/api/v1/namespaces/default/events"
#define NEW_EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"

static const struct served_refusal refusals[] = {
    { "no such resource", "GET /api/v1/foos", NULL, 404, "NotFound",
      "the server could not find the requested resource" },
    { "a name where none is", "POST /api/v1/nodes/a", "{}", 405, "MethodNotAllowed",
      "the server does not allow this method on the requested resource" },
    { "an update of a collection", "PUT /api/v1/nodes", "{}", 405, "MethodNotAllowed",
      "the server does not allow this method on the requested resource" },
    { "a new object in all namespaces", "POST /api/v1/pods", "{}", 405, "MethodNotAllowed",
      "the server does not allow this method on the requested resource" },
    { "a method of no kind", "FOO /api/v1/nodes/a", NULL, 405, "MethodNotAllowed",
      "the server does not allow this method on the requested resource" },
    { "a status that is deleted", "DELETE " PODS "/p/status", NULL, 405, "MethodNotAllowed",
      "the server does not allow this method on the requested resource" },
    { "an eviction that is read", "GET " PODS "/p/eviction", NULL, 405, "MethodNotAllowed",
      "the server does not allow this method on the requested resource" },
    { "a body of no known type", "POST text " MAPS, "{}", 415, "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml" },
    { "a patch of no known type", "PATCH yaml " MAPS "/a", "{}", 415, "UnsupportedMediaType",
      "415: Unsupported Media Type" },
    { "a body that ends too early", "POST " MAPS, "{'metadata': {", 400, "BadRequest",
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
      "json parse error: unexpected "
      "end of JSON input ({\"metadata\": {)" },
    { "no body", "POST " MAPS, NULL, 400, "BadRequest",
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
      "json parse error: unexpected "
      "end of JSON input (<empty>)" },
    { "a body that is no object", "POST " MAPS, "[]", 400, "BadRequest",
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
      "json parse error: cannot "
      "unmarshal into Go value of type struct ([])" },
    { "a patch that is no object", "PATCH " MAPS "/a", "[]", 400, "BadRequest",
      "error decoding patch: json: cannot unmarshal array into Go value of type "
      "map[string]interface {}" },
    { "a JSON patch that is no list", "PATCH json " MAPS "/a", "{}", 400, "BadRequest",
      "error decoding patch: json: cannot unmarshal object into Go value of type "
      "[]handlers.jsonPatchOp" },
    { "a dry run of something else", "POST " MAPS "?dryRun=foo", "{}", 422, "Invalid",
      "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"foo\"]: supported "
      "values: \"All\"" },
    { "a validation of no kind", "POST " MAPS "?fieldValidation=foo", "{}", 422, "Invalid",
      "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"foo\": "
      "supported values: \"\", "
      "\"Ignore\", \"Strict\", \"Warn\"" },
    { "force without an apply", "PATCH " MAPS "/a?force=true", "{}", 422, "Invalid",
      "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for "
      "non-apply patch" },
    { "an apply without a field manager", "PATCH apply " MAPS "/a", "{}", 422, "Invalid",
      "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
      "apply patch" },
    { "a manager with a line break", "POST " MAPS "?fieldManager=a%0Ab", "{}", 422, "Invalid",
      "CreateOptions.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: \"a\\nb\": invalid "
      "character U+000A (at position "
      "1)" },
    { "deletion options of another kind", "DELETE " MAPS "/a",
      "{'apiVersion': 'v1', 'kind': 'Pod'}", 400, "BadRequest",
      "no kind \"Pod\" is registered for version \"v1\"" },
    { "a binding to another pod", "POST " PODS "/p/binding", "{'target': {'name': 'n'}}", 400,
      "BadRequest", "name in URL does not match name in Binding object" },
    { "a binding of no pod", "POST " PODS "/p/binding",
      "{'metadata': {'name': 'p'}, 'target': {'name': 'n'}}", 404, "NotFound",
      "pods \"p\" not found" },
};

static void check_refusal(void **state)
{
    const struct served_refusal *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_refused(&s, row->request, row->body, row->status, row->reason, row->message);
    assert_string_equal(s.answer.content_type, "application/json");
    assert_int_equal(json_int(s.body, "code", 0), row->status);
}

static const struct plain_row {
    const char *name;
    const char *request;
    int status;
    const char *text;
} plains[] = {
    { "no such group", "GET /apis/foo.example/v1/xs", 404, "404 page not found\n" },
    { "no such path", "GET /foo", 404, "404 page not found\n" },
    { "a custom kind without its definition", "GET /apis/ostler.dev/v1alpha1/gpuclusterpolicies",
      404, "404 page not found\n" },
    { "no path at all", "GET /api/v1/nodes/%zz", 400, "400 Bad Request" },
};

static void check_plain(void **state)
{
    const struct plain_row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, row->request, NULL, row->status);
    assert_string_equal(s.answer.content_type, "text/plain; charset=utf-8");
    assert_string_equal(s.answer.body, row->text);
}

static const struct accept_row {
    const char *name;
    const char *accept;
    int status;
} accepts[] = {
    { "anything", "*/*", 200 },
    { "nothing said", NULL, 200 },
    { "JSON", "application/json", 200 },
    { "JSON after something else", "application/vnd.kubernetes.protobuf, application/json;q=0.9",
      200 },
    { "objects where a form of them is unknown",
      "application/json;as=Foo;v=v1;g=meta.k8s.io,application/json", 200 },
    { "something else only", "application/xml", 406 },
};

static void check_accept(void **state)
{
    const struct accept_row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    s.accept = row->accept;
    served_expect(&s, "GET /api/v1/namespaces/default", NULL, row->status);
    assert_string_equal(served_str(&s, "kind"), row->status == 200 ? "Namespace" : "Status");
}

static void check_tables(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    s.accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/"
               "json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
    served_expect(&s, "GET /api/v1/namespaces", NULL, 200);
    assert_string_equal(served_str(&s, "kind"), "Table");
    assert_string_equal(served_str(&s, "metadata.resourceVersion"), "5");
    served_expect(&s, "GET /api/v1/namespaces/default", NULL, 200);
    assert_string_equal(served_str(&s, "kind"), "Table");
    served_expect(&s, "GET /api/v1/namespaces?watch=1", NULL, 200);
    const char *frame;
    size_t n;
    assert_int_equal(api_watch_next(s.answer.watch, &frame, &n), API_WATCH_FRAME);
    CLEANUP_JSON json_t *event = json_loadb(frame, n, 0, NULL);
    assert_string_equal(json_str(event, "object.kind"), "Table");
}

static void check_yaml(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST yaml " MAPS, "metadata:\n  name: a\ndata: {k: v}\n", 201);
    assert_string_equal(served_str(&s, "data.k"), "v");
    served_expect(&s, "PATCH apply " MAPS "/b?fieldManager=me",
                  "apiVersion: v1\nkind: ConfigMap\ndata: {k: w}\n", 201);
    assert_string_equal(served_str(&s, "data.k"), "w");
    served_expect(&s, "PATCH apply " MAPS "/b?fieldManager=me", "a: [b", 400);
}

static void check_managers(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS, "{'metadata': {'name': 'a'}, 'data': {'k': 'v'}}", 201);
    const json_t *entry = json_array_get(json_at(s.body, "metadata.managedFields"), 0);
    assert_string_equal(json_str(entry, "manager"), "served");
    assert_string_equal(json_str(entry, "operation"), "Update");
    served_expect(&s, "POST " MAPS "?fieldManager=me",
                  "{'metadata': {'name': 'b'}, 'data': {'k': 'v'}}", 201);
    entry = json_array_get(json_at(s.body, "metadata.managedFields"), 0);
    assert_string_equal(json_str(entry, "manager"), "me");
}

static void check_strict(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " MAPS "?fieldValidation=Strict",
                  "{'metadata': {'name': 'a'}, 'data': {'k': 'v', 'k': 'w'}}", 400);
    served_expect(&s, "POST " MAPS "?fieldValidation=Strict",
                  "{'metadata': {'name': 'a'}, 'date': {'k': 'v'}}", 400);
    served_expect(&s, "POST " MAPS,
                  "{'metadata': {'name': 'a'}, 'date': {}, 'data': {'k': 'v', 'k': 'w'}}", 201);
    assert_string_equal(served_str(&s, "data.k"), "w");
    assert_null(json_at(s.body, "date"));
}

/* Which fields a write is warned of: those that its kind does not have, unless it asks for an error
 * or for nothing. */
static void check_unknown(void **state)
{
    static const struct {
        const char *request, *body, *unknown; /* NULL: none */
        int status;
    } rows[] = {
        { "POST " MAPS, "{'metadata': {'name': 'a'}, 'date': {}}", "date", 201 },
        { "PATCH merge " MAPS "/a", "{'data': {'k': 'v'}}", NULL, 200 },
        { "PATCH merge " MAPS "/a", "{'metadata': {'x': 1}}", "metadata.x", 200 },
        { "PATCH merge " MAPS "/a?fieldValidation=Warn", "{'spec': 1}", "spec", 200 },
        { "PATCH merge " MAPS "/a?fieldValidation=Ignore", "{'spec': 1}", NULL, 200 },
        { "PATCH merge " MAPS "/a?fieldValidation=Strict", "{'spec': 1}", NULL, 422 },
    };
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        served_expect(&s, rows[i].request, rows[i].body, rows[i].status);
        const char *first = json_string_value(json_array_get(s.answer.unknown, 0));
        assert_string_equal(str_or_empty(first), str_or_empty(rows[i].unknown));
    }
}

/* ---- sizes */

static char *map_of(size_t bytes)
{
    char *text = xcalloc(1, bytes + 128);
    int n = snprintf(text, 128, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"x\":\"");
    memset(text + n, 'x', bytes);
    strcpy(text + n + bytes, "\"}}");
    return text;
}

static void check_sizes(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    CLEANUP_FREE char *long_body = map_of(BODY_MAX);
    assert_int_equal(served_send(&s, "POST " MAPS, long_body, strlen(long_body)), 413);
    assert_string_equal(served_str(&s, "message"), "Request entity too large: limit is 3145728");
    assert_string_equal(served_str(&s, "reason"), "RequestEntityTooLarge");
}

/* Many managed labels make an object that the store of a real cluster would not take. */
static void check_object_size(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    CLEANUP_JSON json_t *object = tree("{'metadata': {'name': 'n'}, 'spec': {}, 'status': {}}");
    json_t *images = json_array();
    json_set_at(object, "status.images", images);
    assert_int_equal(api_create(s.api, "kubelet", kind_named("nodes"), object, NULL), 0);
    CLEANUP_FREE char *name = xcalloc(1, 1001);
    memset(name, 'i', 1000);
    for (int i = 0; i < 1600; i++)
        json_array_append_new(images, json_pack("{s:[s], s:i}", "names", name, "sizeBytes", i));
    CLEANUP_FREE char *text = json_compact(object);
    assert_int_equal(served_send(&s, "PUT /api/v1/nodes/n/status", text, strlen(text)), 500);
    assert_string_equal(served_str(&s, "message"), "etcdserver: request is too large");
}

/* ---- text */

static void check_text_is_json(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    static const char body[] =
        "{\"metadata\":{\"name\":\"a\"},\"data\":{\"all\":\"\\u0001\\b\\f\\n\\r\\t\\\"\\\\ "
        "\\u00e4\\ud83d\\ude00\\u007f/\"}}";
    assert_int_equal(served_send(&s, "POST " MAPS, body, strlen(body)), 201);
    assert_string_equal(served_str(&s, "data.all"),
                        "\x01\b\f\n\r\t\"\\ \xc3\xa4\xf0\x9f\x98\x80\x7f/");
    served_expect(&s, "GET " MAPS, NULL, 200);
    const json_t *item = json_array_get(json_object_get(s.body, "items"), 0);
    assert_string_equal(json_str(item, "data.all"),
                        "\x01\b\f\n\r\t\"\\ \xc3\xa4\xf0\x9f\x98\x80\x7f/");
}

/* ---- events have two views */

static void check_event_views(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(
        &s, "POST " NEW_EVENTS,
        "{'metadata': {'name': 'e'}, 'eventTime': '2026-11-20T10:00:00.000000Z', 'regarding': "
        "{'kind': 'Node', 'name': "
        "'n', 'namespace': "
        "'default'}, 'note': 'hello', 'reason': 'Greeting', 'action': 'Greet', 'type': 'Normal', "
        "'reportingController': 'ostler.dev/ostler', "
        "'reportingInstance': 'a'}",
        201);
    assert_string_equal(served_str(&s, "apiVersion"), "events.k8s.io/v1");
    assert_string_equal(served_str(&s, "note"), "hello");
    served_expect(&s, "GET " OLD_EVENTS "/e", NULL, 200);
    assert_string_equal(served_str(&s, "apiVersion"), "v1");
    assert_string_equal(served_str(&s, "message"), "hello");
    assert_string_equal(served_str(&s, "involvedObject.name"), "n");
    assert_string_equal(served_str(&s, "reportingComponent"), "ostler.dev/ostler");
    assert_null(json_at(s.body, "note"));
    served_expect_names(&s, "/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dn",
                        "default/e");
    served_expect_names(&s, "/api/v1/events?fieldSelector=involvedObject.name%3Dm", "");
    served_expect(&s, "PATCH " NEW_EVENTS "/e",
                  "{'series': {'count': 2, 'lastObservedTime': '2026-11-20T10:00:01.000000Z'}}",
                  200);
    assert_int_equal(json_int(s.body, "series.count", 0), 2);
    served_expect(&s, "GET " NEW_EVENTS "?watch=1&resourceVersion=5", NULL, 200);
    const char *frame;
    size_t n;
    assert_int_equal(api_watch_next(s.answer.watch, &frame, &n), API_WATCH_FRAME);
    CLEANUP_JSON json_t *event = json_loadb(frame, n, 0, NULL);
    assert_string_equal(json_str(event, "object.note"), "hello");
    assert_string_equal(json_str(event, "object.apiVersion"), "events.k8s.io/v1");
    served_expect(&s, "DELETE " OLD_EVENTS "/e", NULL, 200);
    served_expect(&s, "GET " NEW_EVENTS "/e", NULL, 404);
}

/* ---- subresources */

static void check_binding(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(
        &s, "POST " PODS,
        "{'metadata': {'name': 'p'}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}", 201);
    served_expect(&s, "POST " PODS "/p/binding",
                  "{'metadata': {'name': 'p'}, 'target': {'kind': 'Node', 'name': 'n'}}", 201);
    assert_string_equal(served_str(&s, "status"), "Success");
    served_expect(&s, "GET " PODS "/p", NULL, 200);
    assert_string_equal(served_str(&s, "spec.nodeName"), "n");
    assert_string_equal(json_str(json_array_get(json_at(s.body, "status.conditions"), 0), "type"),
                        "PodScheduled");
    served_refused(&s, "POST " PODS "/p/binding",
                   "{'metadata': {'name': 'p'}, 'target': {'kind': 'Node', 'name': 'm'}}", 409,
                   "Conflict",
                   "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned "
                   "to node \"n\"");
}

static void check_eviction(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " PODS,
                  "{'metadata': {'name': 'p'}, 'spec': {'containers': [{'name': 'c', 'image': "
                  "'i'}], 'nodeName': 'n'}}",
                  201);
    static const char eviction[] =
        "{'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': 'p'}}";
    served_expect(&s, "POST " PODS "/p/eviction?dryRun=All", eviction, 201);
    served_expect(&s, "GET " PODS "/p", NULL, 200);
    assert_null(json_at(s.body, "metadata.deletionTimestamp"));
    served_expect(&s, "POST " PODS "/p/eviction", eviction, 201);
    served_expect(&s, "GET " PODS "/p", NULL, 200);
    assert_non_null(json_at(s.body, "metadata.deletionTimestamp"));
}

#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"

static void check_scale(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " DEPLOYMENTS,
                  "{'metadata': {'name': 'd'}, 'spec': {'replicas': 2, 'selector': {'matchLabels': "
                  "{'a': 'b'}}, 'template': "
                  "{'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'c', "
                  "'image': 'i'}]}}}}",
                  201);
    served_expect(&s, "GET " DEPLOYMENTS "/d/scale", NULL, 200);
    assert_string_equal(served_str(&s, "kind"), "Scale");
    assert_int_equal(json_int(s.body, "spec.replicas", 0), 2);
    assert_string_equal(served_str(&s, "status.selector"), "a=b");
    served_expect(&s, "PATCH " DEPLOYMENTS "/d/scale", "{'spec': {'replicas': 5}}", 200);
    assert_int_equal(json_int(s.body, "spec.replicas", 0), 5);
    served_expect(&s, "PUT " DEPLOYMENTS "/d/scale",
                  "{'metadata': {'name': 'd', 'resourceVersion': '6'}, 'spec': {'replicas': 7}}",
                  409);
    served_expect(&s, "GET " DEPLOYMENTS "/d", NULL, 200);
    assert_int_equal(json_int(s.body, "spec.replicas", 0), 5);
    assert_int_equal(json_int(s.body, "metadata.generation", 0), 2);
}

static void check_status(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "POST " PODS,
                  "{'metadata': {'name': 'p'}, 'spec': {'containers': [{'name': 'c', 'image': "
                  "'i'}]}, 'status': {'phase': "
                  "'Failed'}}",
                  201);
    assert_string_not_equal(served_str(&s, "status.phase"), "Failed");
    served_expect(&s, "PATCH " PODS "/p/status",
                  "{'status': {'phase': 'Running'}, 'spec': {'activeDeadlineSeconds': 5}}", 200);
    assert_string_equal(served_str(&s, "status.phase"), "Running");
    assert_null(json_at(s.body, "spec.activeDeadlineSeconds"));
    assert_int_equal(json_int(s.body, "metadata.generation", 0), 1);
    served_expect(&s, "PATCH " PODS "/p",
                  "{'status': {'phase': 'Failed'}, 'metadata': {'labels': {'a': 'b'}}}", 200);
    assert_string_equal(served_str(&s, "status.phase"), "Running");
    assert_int_equal(json_int(s.body, "metadata.generation", 0), 1);
    served_expect(&s, "PATCH " PODS "/p", "{'spec': {'activeDeadlineSeconds': 5}}", 200);
    assert_int_equal(json_int(s.body, "metadata.generation", 0), 2);
    served_expect(&s, "GET " PODS "/p/status", NULL, 200);
    assert_string_equal(served_str(&s, "kind"), "Pod");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_refusal, refusals);
    SUITE_ROWS(&s, check_plain, plains);
    SUITE_ROWS(&s, check_accept, accepts);
    suite_add(&s, "tables for those who ask", check_tables, NULL);
    suite_add(&s, "YAML is read, too", check_yaml, NULL);
    suite_add(&s, "who manages fields", check_managers, NULL);
    suite_add(&s, "strict reading", check_strict, NULL);
    suite_add(&s, "a body that is too long", check_sizes, NULL);
    suite_add(&s, "an object that is too large", check_object_size, NULL);
    suite_add(&s, "every string comes out as it went in", check_text_is_json, NULL);
    suite_add(&s, "fields that a write is warned of", check_unknown, NULL);
    suite_add(&s, "events in both words", check_event_views, NULL);
    suite_add(&s, "a pod is bound once", check_binding, NULL);
    suite_add(&s, "an eviction", check_eviction, NULL);
    suite_add(&s, "the scale of a deployment", check_scale, NULL);
    suite_add(&s, "spec and status are written apart", check_status, NULL);
    return suite_run(&s, "sim_api/serve");
}
