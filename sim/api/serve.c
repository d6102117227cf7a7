#include "sim/api/serve.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/access.h"
#include "sim/api/body.h"
#include "sim/api/custom.h"
#include "sim/api/state.h"
#include "sim/api/text.h"

/* The user if authentication is off. */
#define UNSECURED_USER "system:unsecured"
#define JSON_TYPE "application/json"
#define PLAIN_TYPE "text/plain; charset=utf-8"

/* The routes. The first matching row serves; a path without a row for the method is 405. */
static const struct route {
    const char *method;
    enum path_end end;
    unsigned subs;    /* of enum subresource; SUB_NONE: the thing itself */
    const char *verb; /* of RBAC; that of a watch is "watch" */
    serve_fn *serve;
} routes[] = {
    { "GET", PATH_COLLECTION, SUB_NONE, "list", serve_list },
    { "POST", PATH_COLLECTION, SUB_NONE, "create", serve_create },
    { "DELETE", PATH_COLLECTION, SUB_NONE, "deletecollection", serve_delete_collection },
    { "GET", PATH_OBJECT, SUB_NONE, "get", serve_get },
    { "PUT", PATH_OBJECT, SUB_NONE, "update", serve_update },
    { "PATCH", PATH_OBJECT, SUB_NONE, "patch", serve_patch },
    { "DELETE", PATH_OBJECT, SUB_NONE, "delete", serve_delete },
    { "GET", PATH_OBJECT, SUB_STATUS, "get", serve_get },
    { "PUT", PATH_OBJECT, SUB_STATUS, "update", serve_update },
    { "PATCH", PATH_OBJECT, SUB_STATUS, "patch", serve_patch },
    { "POST", PATH_OBJECT, SUB_EVICTION, "create", serve_eviction },
    { "POST", PATH_OBJECT, SUB_BINDING, "create", serve_binding },
    { "GET", PATH_OBJECT, SUB_LOG, "get", serve_log },
    { "GET", PATH_OBJECT, SUB_SCALE, "get", serve_scale },
    { "PUT", PATH_OBJECT, SUB_SCALE, "update", serve_scale },
    { "PATCH", PATH_OBJECT, SUB_SCALE, "patch", serve_scale },
};

/* Writes to a collection of a namespaced kind need a namespace. */
static bool lacks_namespace(const struct route *route, const struct path *p)
{
    return route->end == PATH_COLLECTION && p->kind->namespaced && !*p->ns &&
           !str_eq(route->method, "GET");
}

static const struct route *route_of(const char *method, const struct path *p)
{
    for (size_t i = 0; i < ARRAY_LEN(routes); i++)
        if (routes[i].end == p->end && routes[i].subs == p->sub &&
            str_eq(routes[i].method, method) && !lacks_namespace(&routes[i], p))
            return &routes[i];
    return NULL;
}

/* ---- answers */

static int answer_text(struct serving *s, int status, const char *type, struct buf *text)
{
    s->answer->status = status;
    s->answer->content_type = type;
    s->answer->len = text->len;
    s->answer->body = buf_take(text);
    return 0;
}

int serve_plain(struct serving *s, int status, const char *text)
{
    struct buf out = BUF_INIT(API_TEXT_MAX);
    buf_str(&out, text);
    return answer_text(s, status, PLAIN_TYPE, &out);
}

int serve_text(struct serving *s, int status, struct buf *text)
{
    return answer_text(s, status, JSON_TYPE, text);
}

int serve_json(struct serving *s, int status, json_t *value_steal)
{
    struct buf out = BUF_INIT(API_TEXT_MAX);
    text_add(&out, value_steal);
    json_decref(value_steal);
    return serve_text(s, status, &out);
}

int serve_object(struct serving *s, int status, json_t *object_steal)
{
    if (s->table) {
        CLEANUP_JSON json_t *object = object_steal;
        return serve_json(s, status, table_of(s->api, s->path.kind, s->table, object, false));
    }
    struct buf out = BUF_INIT(API_TEXT_MAX);
    text_add_stored(s->api, &out, object_steal);
    json_decref(object_steal);
    return serve_text(s, status, &out);
}

static void answer_refusal(struct serving *s)
{
    s->answer->retry_after_s = s->refusal.retry_after_s;
    serve_json(s, s->refusal.code, refusal_status(&s->refusal));
}

/* ---- who, what, where */

/* The user's right to a verb, in the words of the API server. */
int serve_authorize(struct serving *s, const char *verb)
{
    const struct path *p = &s->path;
    bool is_namespace = !*p->kind->group && str_eq(p->kind->plural, "namespaces");
    const char *ns = is_namespace ? p->name : p->ns;
    struct access_request q = { .user = s->user,
                                .verb = verb,
                                .group = p->kind->group,
                                .resource = p->kind->plural,
                                .subresource = p->subresource,
                                .ns = ns,
                                .name = p->name };
    if (!s->api->access || access_allows(s->api->access, &q))
        return 0;
    CLEANUP_FREE char *scope = *ns ? xasprintf("in the namespace \"%s\"", ns)
                                   : xstrdup("at the cluster scope");
    CLEANUP_FREE char *why = xasprintf(
        "User \"%s\" cannot %s resource \"%s%s%s\" in API group \"%s\" %s", q.user, verb,
        q.resource, *q.subresource ? "/" : "", q.subresource, q.group, scope);
    return refuse_forbidden(&s->refusal, p->kind, p->name, why);
}

/* The form that the first acceptable media type asks for; objects go out as JSON or as tables, in
 * nothing else. */
static int negotiate(struct serving *s)
{
    if (!s->call->accept || !*s->call->accept)
        return 0;
    CLEANUP_FREE char *types = xstrdup(s->call->accept);
    char *rest = types;
    bool any_json = false;
    for (char *type; (type = strsep(&rest, ","));) {
        type += strspn(type, " ");
        size_t n = strcspn(type, "; ");
        bool is_json = strncmp(type, JSON_TYPE, n) == 0 || strncmp(type, "*/*", n) == 0 ||
                       strncmp(type, "application/*", n) == 0;
        bool is_table = strstr(type, "as=Table") && strstr(type, "v=v1") &&
                        !strstr(type, "v=v1beta1");
        if (n == 0 || !is_json)
            continue;
        any_json = true;
        if (strstr(type, "as=") && !is_table)
            continue;
        return is_table ? table_form_parse(str_or_empty(path_parameter(&s->path, "includeObject")),
                                           &s->table, &s->refusal)
                        : 0;
    }
    if (any_json)
        return refuse(&s->refusal, 406, "only the following media types are accepted: " JSON_TYPE);
    return refuse_generic(&s->refusal, 406,
                          "406: Not Acceptable\n\nAvailable representations: " JSON_TYPE);
}

/* Names that no object can have since they mean something else in a path. */
static int serve_check_name(struct serving *s)
{
    const char *name = s->path.name;
    if (str_eq(name, ".") || str_eq(name, ".."))
        return refuse(&s->refusal, 400, "Name parameter invalid: \"%s\": may not be '%s'", name,
                      name);
    if (strchr(name, '%'))
        return refuse(&s->refusal, 400, "Name parameter invalid: \"%s\": may not contain '%%'",
                      name);
    return 0;
}

static int refuse_path(struct serving *s)
{
    if (s->path.end == PATH_NO_KIND)
        return refuse_generic(&s->refusal, 404, "the server could not find the requested resource");
    if (s->path.end == PATH_BROKEN)
        return serve_plain(s, 400, "400 Bad Request");
    return serve_plain(s, 404, "404 page not found\n");
}

static int serve_path(struct serving *s)
{
    const struct path *p = &s->path;
    if (p->end != PATH_COLLECTION && p->end != PATH_OBJECT)
        return refuse_path(s);
    const struct route *route = route_of(s->call->method, p);
    bool is_watch = route && route->serve == serve_list && path_flag(p, "watch");
    const char *verb = is_watch ? "watch" : route ? route->verb : s->call->method;
    if (serve_authorize(s, verb) < 0)
        return -1;
    if (!custom_is_served(s->api, p->kind))
        return serve_plain(s, 404, "404 page not found\n");
    if (!route)
        return refuse_generic(&s->refusal, 405,
                              "the server does not allow this method on the requested resource");
    if (serve_check_name(s) < 0 || negotiate(s) < 0 || body_check_size(s->call, &s->refusal) < 0)
        return -1;
    return route->serve(s);
}

void api_serve(struct api *api, const struct api_call *call, struct api_answer *ret)
{
    *ret = (struct api_answer){ 0 };
    struct serving s = {
        .api = api, .call = call, .answer = ret, .user = call->user ? call->user : UNSECURED_USER
    };
    path_parse(call->target, &s.path);
    int rc = api->access && !call->user  ? refuse(&s.refusal, 401, "Unauthorized")
             : s.path.end != PATH_BROKEN ? discovery_serve(&s)
                                         : 1;
    if (rc > 0)
        rc = serve_path(&s);
    if (rc < 0)
        answer_refusal(&s);
    path_clear(&s.path);
    free(s.manager);
    refusal_clear(&s.refusal);
}

void api_answer_clear(struct api_answer *a)
{
    mem_cleanup_free(&a->body);
    json_decref(a->unknown);
    api_watch_free(a->watch);
    *a = (struct api_answer){ 0 };
}
