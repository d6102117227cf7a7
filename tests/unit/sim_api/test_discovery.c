#include "sim/api/groups.h"

#include "tests/unit/sim_api/served.h"

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define POLICIES "gpuclusterpolicies.ostler.dev"

/* Makes the custom kind that every Ostler has. */
static void define_policies(struct served *s)
{
    served_expect(s, "POST " DEFINITIONS,
                  "{'metadata': {'name': '" POLICIES
                  "'}, 'spec': {'group': 'ostler.dev', 'scope': 'Cluster', 'names': {'kind': "
                  "'GpuClusterPolicy', "
                  "'plural': 'gpuclusterpolicies', 'singular': 'gpuclusterpolicy', 'listKind': "
                  "'GpuClusterPolicyList', "
                  "'shortNames': ['gpupolicy']}, "
                  "'versions': [{'name': 'v1alpha1', 'served': true, 'storage': true, "
                  "'subresources': {'status': {}}, 'schema': "
                  "{'openAPIV3Schema': "
                  "{'type': 'object', 'properties': {'spec': {'type': 'object', 'description': "
                  "'What is wanted.'}}}}}]}}",
                  201);
}

/* ---- texts and refusals */

static const struct path_row {
    const char *name;
    const char *request;
    int status;
    const char *body; /* its beginning */
} paths[] = {
    { "healthy", "GET /healthz", 200, "ok" },
    { "alive", "GET /livez", 200, "ok" },
    { "ready", "GET /readyz?verbose", 200, "ok" },
    { "one check of several", "GET /readyz/ping", 200, "ok" },
    { "an unknown check", "GET /readyz/magic", 404, "404 page not found" },
    { "the head of an answer", "HEAD /version", 200, "{" },
    { "a version is only read", "POST /version", 405, "{\"kind\":\"Status\"" },
    { "versions are only read", "DELETE /api", 405, "{\"kind\":\"Status\"" },
    { "groups answer whatever is asked", "POST /apis", 200, "{\"kind\":\"APIGroupList\"" },
    { "a group answers whatever is asked", "DELETE /apis/apps", 200, "{\"kind\":\"APIGroup\"" },
    { "resources are only read", "POST /apis/apps/v1", 405, "{\"kind\":\"Status\"" },
    { "documents are only read", "POST /openapi/v3/api/v1", 405, "{\"kind\":\"Status\"" },
    { "a slash at the end", "GET /apis/apps/", 200, "{\"kind\":\"APIGroup\"" },
    { "a group that is not there", "GET /apis/none.example.com", 404, "404 page not found" },
    { "a version of a group that is not there", "GET /apis/apps/v9", 404, "{\"kind\":\"Status\"" },
    { "another version of the core", "GET /api/v2", 404, "{\"kind\":\"Status\"" },
    { "no group", "GET /apis//v1", 404, "404 page not found" },
    { "a custom group without its definition", "GET /apis/ostler.dev", 404, "404 page not found" },
    { "a document that is not there", "GET /openapi/v3/apis/none.example.com/v1", 404,
      "404 page not found" },
    { "a document of a group", "GET /openapi/v3/apis/apps", 404, "404 page not found" },
    { "a document in an older form", "GET /openapi/v2", 406, "{\"kind\":\"Status\"" },
};

static void check_path(void **state)
{
    const struct path_row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, row->request, NULL, row->status);
    assert_true(str_has_prefix(s.answer.body, row->body));
    assert_string_equal(s.answer.content_type,
                        *row->body == '{' ? "application/json" : "text/plain; charset=utf-8");
}

static void check_accept(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    s.accept = "text/html";
    served_refused(
        &s, "GET /apis", NULL, 406, "NotAcceptable",
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf");
    s.accept = "text/html, */*";
    served_expect(&s, "GET /apis", NULL, 200);
}

static void check_version(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "GET /version", NULL, 200);
    assert_string_equal(served_str(&s, "gitVersion"), API_VERSION);
    assert_string_equal(served_str(&s, "minor"), API_MINOR);
    assert_string_equal(served_str(&s, "platform"), "linux/amd64");
}

/* ---- lists, one after another */

static void check_versions_of_core(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "GET /api", NULL, 200);
    assert_tree(s.body,
                "{'kind': 'APIVersions', 'versions': ['v1'], 'serverAddressByClientCIDRs': []}");
}

/* Each group of kind.h once, and the core not at all. */
static void check_groups(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    define_policies(&s);
    served_expect(&s, "GET /apis", NULL, 200);
    const json_t *groups = json_object_get(s.body, "groups");
    for (size_t i = 0; i < kind_count(); i++) {
        const struct kind *k = kind_at(i);
        bool told = *k->group && (!(k->flags & KIND_CUSTOM) || str_eq(k->group, "ostler.dev"));
        assert_int_equal(json_find(groups, "name", k->group) != NULL, told);
    }
    for (size_t i = 0; i < json_array_size(groups); i++)
        assert_ptr_equal(json_find(groups, "name", json_str(json_array_get(groups, i), "name")),
                         json_array_get(groups, i));
    served_expect(&s, "GET /apis/apps", NULL, 200);
    assert_tree(s.body, "{'kind': 'APIGroup', 'apiVersion': 'v1', 'name': 'apps', 'versions': "
                        "[{'groupVersion': 'apps/v1', "
                        "'version': 'v1'}], "
                        "'preferredVersion': {'groupVersion': 'apps/v1', 'version': 'v1'}}");
}

static const struct resource_row {
    const char *name;
    const char *list;
    const char *resource;
    const char *want;
} resources[] = {
    { "pods", "/api/v1", "pods",
      "{'name': 'pods', 'singularName': 'pod', 'namespaced': true, 'kind': 'Pod', 'verbs': "
      "['create', 'delete', "
      "'deletecollection', 'get', 'list', "
      "'patch', 'update', 'watch'], 'shortNames': ['po'], 'categories': ['all']}" },
    { "their status", "/api/v1", "pods/status",
      "{'name': 'pods/status', 'singularName': '', 'namespaced': true, 'kind': 'Pod', 'verbs': "
      "['get', 'patch', 'update']}" },
    { "their eviction", "/api/v1", "pods/eviction",
      "{'name': 'pods/eviction', 'singularName': '', 'namespaced': true, 'group': 'policy', "
      "'version': 'v1', 'kind': 'Eviction', "
      "'verbs': ['create']}" },
    { "their logs", "/api/v1", "pods/log",
      "{'name': 'pods/log', 'singularName': '', 'namespaced': true, 'kind': 'Pod', 'verbs': "
      "['get']}" },
    { "their binding", "/api/v1", "pods/binding",
      "{'name': 'pods/binding', 'singularName': '', 'namespaced': true, 'kind': 'Binding', "
      "'verbs': ['create']}" },
    { "namespaces are not deleted as a collection", "/api/v1", "namespaces",
      "{'name': 'namespaces', 'singularName': 'namespace', 'namespaced': false, 'kind': "
      "'Namespace', 'verbs': ['create', "
      "'delete', 'get', 'list', "
      "'patch', 'update', 'watch'], 'shortNames': ['ns']}" },
    { "the scale of a deployment", "/apis/apps/v1", "deployments/scale",
      "{'name': 'deployments/scale', 'singularName': '', 'namespaced': true, 'group': "
      "'autoscaling', 'version': 'v1', 'kind': "
      "'Scale', 'verbs': "
      "['get', 'patch', 'update']}" },
    { "definitions have two short names", "/apis/apiextensions.k8s.io/v1",
      "customresourcedefinitions",
      "{'name': 'customresourcedefinitions', 'singularName': 'customresourcedefinition', "
      "'namespaced': false, 'kind': "
      "'CustomResourceDefinition', "
      "'verbs': ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', "
      "'watch'], 'shortNames': ['crd', "
      "'crds'], 'categories': "
      "['api-extensions']}" },
    { "policies", "/apis/ostler.dev/v1alpha1", "gpuclusterpolicies",
      "{'name': 'gpuclusterpolicies', 'singularName': 'gpuclusterpolicy', 'namespaced': false, "
      "'kind': 'GpuClusterPolicy', "
      "'verbs': ['delete', "
      "'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'], 'shortNames': "
      "['gpupolicy'], 'categories': "
      "['gpu']}" },
};

static void check_resource(void **state)
{
    const struct resource_row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    define_policies(&s);
    CLEANUP_FREE char *request = xasprintf("GET %s", row->list);
    served_expect(&s, request, NULL, 200);
    assert_string_equal(served_str(&s, "kind"), "APIResourceList");
    assert_string_equal(served_str(&s, "groupVersion"),
                        str_eq(row->list, "/api/v1") ? "v1" : row->list + strlen("/apis/"));
    assert_tree(json_find(json_object_get(s.body, "resources"), "name", row->resource), row->want);
}

/* A custom kind comes and goes with its definition. */
static void check_custom(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "GET /apis/ostler.dev/v1alpha1", NULL, 404);
    define_policies(&s);
    served_expect(&s, "GET /apis/ostler.dev/v1alpha1", NULL, 200);
    served_expect(&s, "GET /openapi/v3/apis/ostler.dev/v1alpha1", NULL, 200);
    served_expect(&s, "DELETE " DEFINITIONS "/" POLICIES, NULL, 200);
    served_expect(&s, "GET /apis/ostler.dev/v1alpha1", NULL, 404);
    served_expect(&s, "GET /apis", NULL, 200);
    assert_null(json_find(json_object_get(s.body, "groups"), "name", "ostler.dev"));
}

/* ---- all in one document */

static const json_t *aggregated(struct served *s, const char *request, const char *group,
                                const char *resource)
{
    served_expect(s, request, NULL, 200);
    assert_string_equal(s->answer.content_type, AGGREGATED);
    size_t i;
    json_t *item;
    json_array_foreach (json_object_get(s->body, "items"), i, item) {
        if (!str_eq(json_str_or_empty(item, "metadata.name"), group))
            continue;
        const json_t *version = json_array_get(json_object_get(item, "versions"), 0);
        assert_string_equal(json_str(version, "freshness"), "Current");
        return json_find(json_object_get(version, "resources"), "resource", resource);
    }
    return NULL;
}

static void check_aggregated(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    define_policies(&s);
    s.accept = AGGREGATED ",application/json";
    assert_tree(aggregated(&s, "GET /api", "", "nodes"),
                "{'resource': 'nodes', 'responseKind': {'group': '', 'version': '', "
                "'kind': 'Node'}, 'scope': 'Cluster', 'singularResource': 'node', "
                "'verbs': ['create', 'delete', 'deletecollection', 'get', 'list', "
                "'patch', 'update', 'watch'], 'shortNames': ['no'], 'subresources': "
                "[{'subresource': 'status', 'responseKind': {'group': '', 'version': "
                "'', 'kind': 'Node'}, 'verbs': ['get', 'patch', 'update']}]}");
    assert_int_equal(json_array_size(json_object_get(s.body, "items")), 1);
    assert_tree(aggregated(&s, "GET /apis", "ostler.dev", "gpuclusterpolicies"),
                "{'resource': 'gpuclusterpolicies', 'responseKind': {'group': 'ostler.dev', "
                "'version': 'v1alpha1', 'kind': "
                "'GpuClusterPolicy'}, 'scope': "
                "'Cluster', 'singularResource': 'gpuclusterpolicy', 'verbs': ['delete', "
                "'deletecollection', 'get', 'list', "
                "'patch', 'create', 'update', "
                "'watch'], 'shortNames': ['gpupolicy'], 'categories': ['gpu'], 'subresources': "
                "[{'subresource': 'status', "
                "'responseKind': {'group': "
                "'ostler.dev', 'version': 'v1alpha1', 'kind': 'GpuClusterPolicy'}, 'verbs': "
                "['get', 'patch', 'update']}]}");
    assert_null(aggregated(&s, "GET /apis", "", "nodes"));
    const json_t *leases = aggregated(&s, "GET /apis", "coordination.k8s.io", "leases");
    assert_non_null(leases);
    assert_null(json_object_get(leases, "subresources"));
}

/* ---- documents */

static void check_documents(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    define_policies(&s);
    served_expect(&s, "GET /openapi/v3", NULL, 200);
    CLEANUP_JSON json_t *index = json_incref(json_object_get(s.body, "paths"));
    assert_string_equal(json_str(json_object_get(index, "api/v1"), "serverRelativeURL"),
                        "/openapi/v3/api/v1");
    const char *root;
    json_t *entry;
    json_object_foreach (index, root, entry) {
        CLEANUP_FREE char *request = xasprintf("GET %s", json_str(entry, "serverRelativeURL"));
        served_expect(&s, request, NULL, 200);
        assert_string_equal(served_str(&s, "openapi"), "3.0.0");
        assert_true(json_object_size(json_object_get(s.body, "paths")) > 0);
    }
}

/* What a client looks for before it asks the server to check fields, or to try something. */
static void check_patch(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    served_expect(&s, "GET /openapi/v3/apis/apps/v1", NULL, 200);
    const json_t *patch = json_object_get(
        json_object_get(json_object_get(s.body, "paths"),
                        "/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}"),
        "patch");
    assert_tree(json_object_get(patch, "x-kubernetes-group-version-kind"),
                "{'group': 'apps', 'version': 'v1', 'kind': "
                "'DaemonSet'}");
    static const char *const parameters[] = { "dryRun", "fieldValidation", "fieldManager",
                                              "force" };
    for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
        assert_string_equal(
            json_str(json_find(json_object_get(patch, "parameters"), "name", parameters[i]), "in"),
            "query");
    assert_null(json_object_get(json_at(patch, "requestBody.content"),
                                "application/strategic-merge-patch+json"));
    served_expect(&s, "GET /openapi/v3/api/v1", NULL, 200);
    assert_non_null(json_object_get(json_object_get(s.body, "paths"), "/api/v1/nodes/{name}"));
}

/* The schema of a custom kind is that of its definition. */
static void check_schema(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    define_policies(&s);
    served_expect(&s, "GET /openapi/v3/apis/ostler.dev/v1alpha1", NULL, 200);
    const json_t *schema = json_object_get(
        json_object_get(json_object_get(s.body, "components"), "schemas"), "ostler.dev."
                                                                           "v1alpha1."
                                                                           "GpuClusterPolicy");
    assert_string_equal(json_str(schema, "properties.spec.description"), "What is wanted.");
    assert_tree(json_object_get(schema, "x-kubernetes-group-version-kind"),
                "[{'group': 'ostler.dev', 'version': 'v1alpha1', 'kind': 'GpuClusterPolicy'}]");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_path, paths);
    suite_add(&s, "forms that are accepted", check_accept, NULL);
    suite_add(&s, "the version", check_version, NULL);
    suite_add(&s, "versions of the core", check_versions_of_core, NULL);
    suite_add(&s, "groups", check_groups, NULL);
    SUITE_ROWS(&s, check_resource, resources);
    suite_add(&s, "a custom kind and its definition", check_custom, NULL);
    suite_add(&s, "all in one document", check_aggregated, NULL);
    suite_add(&s, "each document of the index", check_documents, NULL);
    suite_add(&s, "what a patch takes", check_patch, NULL);
    suite_add(&s, "the schema of a custom kind", check_schema, NULL);
    return suite_run(&s, "discovery");
}
