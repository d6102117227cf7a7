#include "kube/request.h"

#include <string.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* What every request is made with. */
static const struct list_options everywhere = { 0 };
static const struct list_options selected = {
    .ns = "ns",
    .field_selector = "spec.nodeName=a",
    .label_selector = "app.kubernetes.io/managed-by=ostler,x!=y"
};

static struct request list_first(const json_t *o)
{
    (void) o;
    return request_list(RESOURCE_NODE, &everywhere, NULL);
}

static struct request list_next(const json_t *o)
{
    (void) o;
    return request_list(RESOURCE_POD, &selected, "a+b/c==");
}

static struct request watch(const json_t *o)
{
    (void) o;
    return request_watch(RESOURCE_NODE, &everywhere, "12", 300);
}

static struct request watch_selected(const json_t *o)
{
    (void) o;
    return request_watch(RESOURCE_POD, &selected, "12", 599);
}

static struct request get(const json_t *o)
{
    (void) o;
    return request_get(RESOURCE_NODE, NULL, "a");
}

static struct request get_lease(const json_t *o)
{
    (void) o;
    return request_get(RESOURCE_LEASE, "ns", "ostler");
}

static struct request apply(const json_t *o)
{
    return request_apply(RESOURCE_DAEMONSET, "ns", "a", o);
}

static struct request apply_status(const json_t *o)
{
    return request_apply_status(RESOURCE_POLICY, NULL, "default", o);
}

static struct request merge_patch(const json_t *o)
{
    return request_merge_patch(RESOURCE_NODE, NULL, "a", o);
}

static struct request merge_status(const json_t *o)
{
    return request_merge_status(RESOURCE_NODE, NULL, "a", o);
}

static struct request merge_status_as(const json_t *o)
{
    return request_merge_status_as("another", RESOURCE_GPU_NODE, NULL, "a", o);
}

static struct request json_patch(const json_t *o)
{
    return request_json_patch(RESOURCE_NODE, NULL, "a", o);
}

static struct request create(const json_t *o)
{
    return request_create(RESOURCE_EVENT, "ns", o);
}

static struct request create_lease(const json_t *o)
{
    return request_create(RESOURCE_LEASE, "ns", o);
}

static struct request update_lease(const json_t *o)
{
    return request_update(RESOURCE_LEASE, "ns", "ostler", o);
}

static struct request delete (const json_t *o)
{
    (void) o;
    return request_delete(RESOURCE_DAEMONSET, "ns", "a", "uid-1", 17);
}

static struct request evict(const json_t *o)
{
    (void) o;
    return request_evict("ns", "a", "uid-1", false);
}

static struct request try_evict(const json_t *o)
{
    (void) o;
    return request_evict("ns", "a", "uid-1", true);
}

static struct request log_now(const json_t *o)
{
    (void) o;
    return request_log("ns", "a", "c+1", false);
}

static struct request log_before(const json_t *o)
{
    (void) o;
    return request_log("ns", "a", "c", true);
}

static const struct request_row {
    const char *name;
    struct request (*make)(const json_t *object);
    enum request_class class;
    const char *method, *path, *type;
    bool sends_object;
    int64_t timeout_ms;
} requests[] = {
    { "the first page of a list", list_first, REQUEST_READ, "GET", "/api/v1/nodes?limit=500", NULL,
      false, 60000 },
    { "a later page, with selectors", list_next, REQUEST_READ, "GET",
      "/api/v1/namespaces/ns/pods?fieldSelector=spec.nodeName%3Da"
      "&labelSelector=app.kubernetes.io%2Fmanaged-by%3Dostler%2Cx%21%3Dy&limit=500&continue=a%2Bb%"
      "2Fc%3D%3D",
      NULL, false, 60000 },
    { "a watch outlives the server's timeout a little", watch, REQUEST_WATCH, "GET",
      "/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=12&timeoutSeconds=300",
      NULL, false, 305000 },
    { "a watch with selectors", watch_selected, REQUEST_WATCH, "GET",
      "/api/v1/namespaces/ns/pods?fieldSelector=spec.nodeName%3Da"
      "&labelSelector=app.kubernetes.io%2Fmanaged-by%3Dostler%2Cx%21%3Dy"
      "&watch=true&allowWatchBookmarks=true&resourceVersion=12&timeoutSeconds=599",
      NULL, false, 604000 },
    { "one object", get, REQUEST_READ, "GET", "/api/v1/nodes/a", NULL, false, 60000 },
    { "the lease is of its own class and impatient", get_lease, REQUEST_LEASE, "GET",
      "/apis/coordination.k8s.io/v1/namespaces/ns/leases/ostler", NULL, false, 5000 },
    { "server-side apply, as one manager, with force", apply, REQUEST_WRITE, "PATCH",
      "/apis/apps/v1/namespaces/ns/daemonsets/a?fieldManager=ostler&force=true",
      "application/apply-patch+yaml", true, 30000 },
    { "the same on a status", apply_status, REQUEST_WRITE, "PATCH",
      "/apis/ostler.dev/v1alpha1/gpuclusterpolicies/default/status?fieldManager=ostler&force=true",
      "application/apply-patch+yaml", true, 30000 },
    { "a merge patch", merge_patch, REQUEST_WRITE, "PATCH", "/api/v1/nodes/a?fieldManager=ostler",
      "application/merge-patch+json", true, 30000 },
    { "a merge patch of a status, by another manager", merge_status_as, REQUEST_WRITE, "PATCH",
      "/apis/ostler.dev/v1alpha1/gpunodes/a/status?fieldManager=another",
      "application/merge-patch+json", true, 30000 },
    { "a merge patch of a status, lists by their keys", merge_status, REQUEST_WRITE, "PATCH",
      "/api/v1/nodes/a/status?fieldManager=ostler", "application/strategic-merge-patch+json", true,
      30000 },
    { "a JSON patch", json_patch, REQUEST_WRITE, "PATCH", "/api/v1/nodes/a?fieldManager=ostler",
      "application/json-patch+json", true, 30000 },
    { "a creation", create, REQUEST_WRITE, "POST",
      "/apis/events.k8s.io/v1/namespaces/ns/events?fieldManager=ostler", "application/json", true,
      30000 },
    { "creating the lease is a lease call", create_lease, REQUEST_LEASE, "POST",
      "/apis/coordination.k8s.io/v1/namespaces/ns/leases?fieldManager=ostler", "application/json",
      true, 5000 },
    { "renewing the lease is a lease call", update_lease, REQUEST_LEASE, "PUT",
      "/apis/coordination.k8s.io/v1/namespaces/ns/leases/ostler?fieldManager=ostler",
      "application/json", true, 5000 },
    { "a deletion", delete, REQUEST_WRITE, "DELETE", "/apis/apps/v1/namespaces/ns/daemonsets/a",
      "application/json", false, 30000 },
    { "an eviction", evict, REQUEST_WRITE, "POST", "/api/v1/namespaces/ns/pods/a/eviction",
      "application/json", false, 30000 },
    { "an eviction that is only tried", try_evict, REQUEST_WRITE, "POST",
      "/api/v1/namespaces/ns/pods/a/eviction?dryRun=All", "application/json", false, 30000 },
    { "the end of a log", log_now, REQUEST_READ, "GET",
      "/api/v1/namespaces/ns/pods/a/log?container=c%2B1&tailLines=20&limitBytes=16384", NULL, false,
      10000 },
    { "the end of the log before", log_before, REQUEST_READ, "GET",
      "/api/v1/namespaces/ns/pods/a/log?container=c&tailLines=20&limitBytes=16384&previous=true",
      NULL, false, 10000 },
};

static void check_request(void **state)
{
    const struct request_row *row = *state;
    CLEANUP_JSON json_t *object = tree("{'z':1,'a':'ä'}");
    CLEANUP(request_clear) struct request r = row->make(object);
    assert_int_equal(r.class, row->class);
    assert_string_equal(r.method, row->method);
    assert_string_equal(r.path, row->path);
    assert_int_equal(r.timeout_ms, row->timeout_ms);
    if (row->type)
        assert_string_equal(r.content_type, row->type);
    else
        assert_null(r.content_type);
    assert_int_equal(r.body != NULL, row->type != NULL);
    if (row->sends_object)
        assert_string_equal(r.body, "{\"z\":1,\"a\":\"ä\"}");
}

static void deletion_means_one_incarnation(void **state)
{
    (void) state;
    CLEANUP(request_clear)
    struct request r = request_delete(RESOURCE_DAEMONSET, "ns", "a", "uid-1", 17);
    CLEANUP_JSON json_t *body = json_parse(r.body, strlen(r.body), NULL);
    assert_tree(body, "{'kind':'DeleteOptions','apiVersion':'v1','propagationPolicy':'Background',"
                      "'preconditions':{'uid':'uid-1','resourceVersion':'17'}}");
}

static void deletion_without_a_uid_means_whichever_there_is(void **state)
{
    (void) state;
    CLEANUP(request_clear)
    struct request r = request_delete(RESOURCE_NAMESPACE, NULL, "a", NULL, 0);
    CLEANUP_JSON json_t *body = json_parse(r.body, strlen(r.body), NULL);
    assert_tree(body,
                "{'kind':'DeleteOptions','apiVersion':'v1','propagationPolicy':'Background'}");
}

static void an_apply_may_be_in_anothers_name(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree("{'kind':'x'}");
    CLEANUP(request_clear)
    struct request r = request_apply_as("helm", RESOURCE_CRD, NULL, "a.b", object);
    assert_string_equal(
        r.path,
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.b?fieldManager=helm&force=true");
    assert_string_equal(r.content_type, "application/apply-patch+yaml");
    assert_int_equal(r.class, REQUEST_WRITE);
}

static void the_version_is_asked_for_without_a_resource(void **state)
{
    (void) state;
    CLEANUP(request_clear) struct request r = request_version();
    assert_string_equal(r.path, "/version");
    assert_int_equal(r.class, REQUEST_READ);
    assert_null(r.body);
}

static void eviction_means_one_incarnation(void **state)
{
    (void) state;
    for (int dry_run = 0; dry_run <= 1; dry_run++) {
        CLEANUP(request_clear) struct request r = request_evict("ns", "a", "uid-1", dry_run);
        CLEANUP_JSON json_t *body = json_parse(r.body, strlen(r.body), NULL);
        assert_tree(
            body,
            "{'apiVersion':'policy/v1','kind':'Eviction','metadata':{'name':'a','namespace':'ns'},"
            "'deleteOptions':{'preconditions':{'uid':'uid-1'}}}");
        assert_true(r.evicts);
        assert_int_equal(r.dry_run, dry_run);
    }
}

static void endless_token_is_sent_as_it_is(void **state)
{
    (void) state;
    static char token[100001];
    memset(token, '=', sizeof token - 1);
    CLEANUP(request_clear) struct request r = request_list(RESOURCE_NODE, &everywhere, token);
    assert_true(strlen(r.path) > 3 * strlen(token));
}

static void cleared_requests_hold_nothing(void **state)
{
    (void) state;
    struct request r = request_get(RESOURCE_NODE, NULL, "a");
    request_clear(&r);
    assert_null(r.path);
    request_clear(&r);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_request, requests);
    suite_add(&s, "a deletion means one incarnation", deletion_means_one_incarnation, NULL);
    suite_add(&s, "a deletion without a uid means whichever there is",
              deletion_without_a_uid_means_whichever_there_is, NULL);
    suite_add(&s, "an apply may be in another's name", an_apply_may_be_in_anothers_name, NULL);
    suite_add(&s, "the version is asked for without a resource",
              the_version_is_asked_for_without_a_resource, NULL);
    suite_add(&s, "an eviction means one incarnation", eviction_means_one_incarnation, NULL);
    suite_add(&s, "a token without end is sent as it is", endless_token_is_sent_as_it_is, NULL);
    suite_add(&s, "a cleared request holds nothing", cleared_requests_hold_nothing, NULL);
    return suite_run(&s, "request");
}
