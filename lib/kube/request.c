#include "kube/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/url.h"

/* Page size of lists, as in client-go (tools/pager/pager.go). */
#define PAGE_SIZE "500"
/* The size of a log tail. */
#define LOG_LINES "20"
#define LOG_BYTES "16384"

enum {
    READ_TIMEOUT_MS = 60 * 1000,
    LOG_TIMEOUT_MS = 10 * 1000, /* the kubelet may be unreachable */
    WRITE_TIMEOUT_MS = 30 * 1000,
    /* Half of the renew deadline of 10 s, as in controller-runtime. */
    LEASE_TIMEOUT_MS = 5 * 1000,
    /* How much longer the client waits than the watch's timeout on the server. */
    WATCH_MARGIN_MS = 5 * 1000,
};

static void add_query(struct buf *b, const char *name, const char *value)
{
    buf_printf(b, "%c%s=", b->data && b->len && strchr(b->data, '?') ? '&' : '?', name);
    url_escape(b, value);
}

/* Starts the path of a collection with its selectors. */
static void start_list(struct buf *b, enum resource_id id, const struct list_options *o)
{
    CLEANUP_FREE char *path = resource_path(id, o->ns, NULL, NULL);
    buf_str(b, path);
    if (o->field_selector)
        add_query(b, "fieldSelector", o->field_selector);
    if (o->label_selector)
        add_query(b, "labelSelector", o->label_selector);
}

/* A GET of a path. */
static struct request get_path(enum request_class class, enum resource_id id, char *path_steal,
                               int64_t timeout_ms)
{
    return (struct request){ .class = class,
                             .method = "GET",
                             .path = path_steal,
                             .timeout_ms = timeout_ms,
                             .resource = id };
}

struct request request_list(enum resource_id id, const struct list_options *o, const char *token)
{
    struct buf b = BUF_INIT(URL_ROOM);
    start_list(&b, id, o);
    add_query(&b, "limit", PAGE_SIZE);
    if (token)
        add_query(&b, "continue", token);
    return get_path(REQUEST_READ, id, buf_take(&b), READ_TIMEOUT_MS);
}

struct request request_look(enum resource_id id, const struct list_options *o)
{
    struct buf b = BUF_INIT(URL_ROOM);
    start_list(&b, id, o);
    struct request r = get_path(REQUEST_READ, id, buf_take(&b), READ_TIMEOUT_MS);
    r.looks = true;
    return r;
}

struct request request_watch(enum resource_id id, const struct list_options *o, const char *rv,
                             int timeout_s)
{
    struct buf b = BUF_INIT(URL_ROOM);
    start_list(&b, id, o);
    add_query(&b, "watch", "true");
    add_query(&b, "allowWatchBookmarks", "true");
    add_query(&b, "resourceVersion", rv);
    buf_printf(&b, "&timeoutSeconds=%d", timeout_s);
    return get_path(REQUEST_WATCH, id, buf_take(&b), (int64_t) timeout_s * 1000 + WATCH_MARGIN_MS);
}

struct request request_get(enum resource_id id, const char *ns, const char *name)
{
    char *path = resource_path(id, ns, name, NULL);
    return id == RESOURCE_LEASE ? get_path(REQUEST_LEASE, id, path, LEASE_TIMEOUT_MS)
                                : get_path(REQUEST_READ, id, path, READ_TIMEOUT_MS);
}

struct request request_version(void)
{
    return get_path(REQUEST_READ, RESOURCE_COUNT, xstrdup("/version"), READ_TIMEOUT_MS);
}

/* A request with a body; `query` is a constant with its "?", or "". */
static struct request with_body(enum resource_id id, const char *method, char *path_steal,
                                const char *query, const char *content_type, const json_t *body)
{
    CLEANUP_FREE char *path = path_steal;
    return (struct request){
        .class = id == RESOURCE_LEASE ? REQUEST_LEASE : REQUEST_WRITE,
        .method = method,
        .path = xasprintf("%s%s", path, query),
        .content_type = content_type,
        .body = json_compact(body),
        .timeout_ms = id == RESOURCE_LEASE ? LEASE_TIMEOUT_MS : WRITE_TIMEOUT_MS,
        .resource = id,
    };
}

struct request request_rules_review(const char *ns)
{
    CLEANUP_JSON json_t *body = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion",
                                          "authorization.k8s.io/v1", "kind",
                                          "SelfSubjectRulesReview", "spec", "namespace", ns);
    struct request r = with_body(RESOURCE_COUNT, "POST",
                                 xstrdup("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"),
                                 "", "application/json", body);
    r.class = REQUEST_READ;
    r.timeout_ms = READ_TIMEOUT_MS;
    return r;
}

#define MANAGER_QUERY "?fieldManager=" FIELD_MANAGER
#define APPLY_TYPE "application/apply-patch+yaml"
#define MERGE_TYPE "application/merge-patch+json"

/* A patch of an object, or of its `subresource` if that is not NULL. */
static struct request patch_as(const char *manager, enum resource_id id, const char *ns,
                               const char *name, const char *subresource, const char *content_type,
                               const json_t *body)
{
    bool applies = str_eq(content_type, APPLY_TYPE);
    CLEANUP_FREE char *query = xasprintf("?fieldManager=%s%s", manager,
                                         applies ? "&force=true" : "");
    return with_body(id, "PATCH", resource_path(id, ns, name, subresource), query, content_type,
                     body);
}

struct request request_apply(enum resource_id id, const char *ns, const char *name,
                             const json_t *object)
{
    return request_apply_as(FIELD_MANAGER, id, ns, name, object);
}

struct request request_apply_as(const char *manager, enum resource_id id, const char *ns,
                                const char *name, const json_t *object)
{
    return patch_as(manager, id, ns, name, NULL, APPLY_TYPE, object);
}

struct request request_apply_status(enum resource_id id, const char *ns, const char *name,
                                    const json_t *object)
{
    return patch_as(FIELD_MANAGER, id, ns, name, "status", APPLY_TYPE, object);
}

struct request request_merge_patch(enum resource_id id, const char *ns, const char *name,
                                   const json_t *patch)
{
    return patch_as(FIELD_MANAGER, id, ns, name, NULL, MERGE_TYPE, patch);
}

struct request request_merge_status_as(const char *manager, enum resource_id id, const char *ns,
                                       const char *name, const json_t *patch)
{
    return patch_as(manager, id, ns, name, "status", MERGE_TYPE, patch);
}

struct request request_merge_status(enum resource_id id, const char *ns, const char *name,
                                    const json_t *patch)
{
    return patch_as(FIELD_MANAGER, id, ns, name, "status", "application/strategic-merge-patch+json",
                    patch);
}

struct request request_json_patch(enum resource_id id, const char *ns, const char *name,
                                  const json_t *operations)
{
    return patch_as(FIELD_MANAGER, id, ns, name, NULL, "application/json-patch+json", operations);
}

struct request request_create(enum resource_id id, const char *ns, const json_t *object)
{
    return with_body(id, "POST", resource_path(id, ns, NULL, NULL), MANAGER_QUERY,
                     "application/json", object);
}

struct request request_update(enum resource_id id, const char *ns, const char *name,
                              const json_t *object)
{
    return with_body(id, "PUT", resource_path(id, ns, name, NULL), MANAGER_QUERY,
                     "application/json", object);
}

struct request request_delete(enum resource_id id, const char *ns, const char *name,
                              const char *uid, uint64_t rv)
{
    CLEANUP_JSON json_t *body = json_pack("{s:s, s:s, s:s}", "kind", "DeleteOptions", "apiVersion",
                                          "v1", "propagationPolicy", "Background");
    if (uid)
        json_set_at(body, "preconditions.uid", json_string(uid));
    if (rv)
        json_set_at(body, "preconditions.resourceVersion",
                    json_textf("%llu", (unsigned long long) rv));
    return with_body(id, "DELETE", resource_path(id, ns, name, NULL), "", "application/json", body);
}

bool request_deletes(const struct request *r)
{
    return str_eq(r->method, "DELETE");
}

struct request request_evict(const char *ns, const char *name, const char *uid, bool dry_run)
{
    CLEANUP_JSON json_t *body = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:{s:{s:s}}}", "apiVersion", "policy/v1", "kind", "Eviction",
        "metadata", "name", name, "namespace", ns, "deleteOptions", "preconditions", "uid", uid);
    struct request r = with_body(RESOURCE_POD, "POST",
                                 resource_path(RESOURCE_POD, ns, name, "eviction"),
                                 dry_run ? "?dryRun=All" : "", "application/json", body);
    r.evicts = true;
    r.dry_run = dry_run;
    return r;
}

struct request request_log(const char *ns, const char *pod, const char *container, bool previous)
{
    CLEANUP_FREE char *path = resource_path(RESOURCE_POD, ns, pod, "log");
    struct buf b = BUF_INIT(URL_ROOM);
    buf_str(&b, path);
    add_query(&b, "container", container);
    add_query(&b, "tailLines", LOG_LINES);
    add_query(&b, "limitBytes", LOG_BYTES); /* counted from the first of those lines */
    if (previous)
        add_query(&b, "previous", "true");
    return get_path(REQUEST_READ, RESOURCE_POD, buf_take(&b), LOG_TIMEOUT_MS);
}

void request_clear(struct request *r)
{
    free(r->path);
    free(r->body);
    r->path = r->body = NULL;
}
