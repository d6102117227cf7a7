/* Discovery: which groups, versions and resources the server has. */
#include "sim/api/extras.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/custom.h"
#include "sim/api/groups.h"
#include "sim/api/openapi.h"
#include "sim/api/refusal.h"
#include "sim/api/state.h"
#include "sim/api/text.h"

#define JSON_TYPE "application/json"
#define TEXT_TYPE "text/plain; charset=utf-8"
#define AGGREGATED_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

/* One request for what the server has. */
struct question {
    const struct api *api;
    const struct api_call *call;
    struct api_answer *answer;
};

/* ---- answers */

static void answer_text(const struct question *q, int status, const char *type, struct buf *text)
{
    q->answer->status = status;
    q->answer->content_type = type;
    q->answer->len = text->len;
    q->answer->body = buf_take(text);
}

static void answer_json(const struct question *q, int status, const char *type, json_t *value_steal)
{
    struct buf out = BUF_INIT(API_TEXT_MAX);
    text_add(&out, value_steal);
    json_decref(value_steal);
    answer_text(q, status, type, &out);
}

static void answer_refusal(const struct question *q, int code, const char *message)
{
    CLEANUP_REFUSAL struct refusal r = { 0 };
    refuse_generic(&r, code, message);
    answer_json(q, code, JSON_TYPE, refusal_status(&r));
}

static void answer_not_acceptable(const struct question *q)
{
    CLEANUP_REFUSAL struct refusal r = { 0 };
    refuse(&r, 406, NULL,
           "only the following media types are accepted: application/json, application/yaml, "
           "application/vnd.kubernetes.protobuf");
    answer_json(q, 406, JSON_TYPE, refusal_status(&r));
}

static bool accepts_json(const struct api_call *call)
{
    const char *accept = str_or_empty(call->accept);
    return !*accept || strstr(accept, JSON_TYPE) || strstr(accept, "*/*") ||
           strstr(accept, "application/*");
}

/* Whether the client would have a list of all groups at once, rather than one document for each. */
static bool wants_aggregated(const struct api_call *call)
{
    const char *accept = str_or_empty(call->accept);
    return strstr(accept, "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
}

static void answer_core(const struct question *q)
{
    if (wants_aggregated(q->call))
        answer_json(q, 200, AGGREGATED_TYPE, groups_aggregated(q->api, true));
    else
        answer_json(q, 200, JSON_TYPE,
                    json_pack("{s:s, s:[s], s:[]}", "kind", "APIVersions", "versions", "v1",
                              "serverAddressByClientCIDRs"));
}

static void answer_groups(const struct question *q)
{
    if (!accepts_json(q->call))
        answer_not_acceptable(q);
    else if (wants_aggregated(q->call))
        answer_json(q, 200, AGGREGATED_TYPE, groups_aggregated(q->api, false));
    else
        answer_json(q, 200, JSON_TYPE, groups_list(q->api));
}

/* The Kubernetes whose ways the server has, unless it was told to say another. */
static void answer_version(const struct question *q)
{
    const char *minor = q->api->minor ? q->api->minor : API_MINOR;
    answer_json(q, 200, JSON_TYPE,
                json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:s, s:s, s:s}", "major", "1",
                          "minor", minor, "emulationMajor", "1", "emulationMinor", minor,
                          "gitVersion", json_textf("v1.%s.3", minor), "gitCommit", "",
                          "gitTreeState", "", "buildDate", "1970-01-01T00:00:00Z", "goVersion", "",
                          "compiler", "", "platform", "linux/amd64"));
}

static void answer_health(const struct question *q)
{
    struct buf out = BUF_INIT(API_TEXT_MAX);
    buf_str(&out, "ok");
    answer_text(q, 200, TEXT_TYPE, &out);
}

static void answer_openapi_index(const struct question *q)
{
    json_t *paths = json_object();
    size_t at = 0;
    for (const struct kind *k; (k = groups_next(q->api, &at, NULL, NULL));)
        if (groups_leads(q->api, k))
            openapi_index_add(paths, k);
    answer_json(q, 200, JSON_TYPE, json_pack("{s:o}", "paths", paths));
}

/* The document of a kind's group and version. */
static void answer_openapi(const struct question *q, const struct kind *k)
{
    json_t *document = openapi_new();
    size_t at = 0;
    for (const struct kind *each; (each = groups_next(q->api, &at, k->group, k->version));) {
        const json_t *version = each->flags & KIND_CUSTOM ? custom_version(q->api, each) : NULL;
        openapi_add(document, each, json_at(version, "schema.openAPIV3Schema"));
    }
    answer_json(q, 200, JSON_TYPE, document);
}

/* ---- paths */

static const struct fixed {
    const char *path;
    void (*answer)(const struct question *q);
    bool any_method; /* answers whatever is asked */
} fixed_paths[] = {
    { "/api", answer_core, false },
    { "/apis", answer_groups, true },
    { "/version", answer_version, false },
    { "/healthz", answer_health, false },
    { "/livez", answer_health, false },
    { "/readyz", answer_health, false },
    { "/healthz/ping", answer_health, false },
    { "/livez/ping", answer_health, false },
    { "/readyz/ping", answer_health, false },
    { OPENAPI_ROOT, answer_openapi_index, false },
    /* Clients read this document as protobuf, which nothing here is answered in, and do without
     * where there is none. */
    { "/openapi/v2", answer_not_acceptable, false },
};

/* What is only read refuses every other method; whether it did. */
static bool refuse_method(const struct question *q)
{
    if (str_eq(q->call->method, "GET") || str_eq(q->call->method, "HEAD"))
        return false;
    answer_refusal(q, 405, "the server does not allow this method on the requested resource");
    return true;
}

static bool serve_fixed(const struct question *q, const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(fixed_paths); i++) {
        if (!str_eq(path, fixed_paths[i].path))
            continue;
        if (fixed_paths[i].any_method || !refuse_method(q))
            fixed_paths[i].answer(q);
        return true;
    }
    return false;
}

/* The first kind of what a path names, as "/api/v1", "/apis/apps" or "/apis/apps/v1" do; NULL when
 * it names no group or version that is served. */
static const struct kind *first_of_path(const struct api *api, const char *path,
                                        bool *ret_has_version)
{
    size_t at = 0;
    *ret_has_version = true;
    if (str_eq(path, "/api/v1"))
        return groups_next(api, &at, "", "v1");
    if (!str_has_prefix(path, "/apis/"))
        return NULL;
    CLEANUP_FREE char *group = xstrdup(path + strlen("/apis/"));
    char *version = strchr(group, '/');
    *ret_has_version = version;
    if (version)
        *version++ = '\0';
    return *group ? groups_next(api, &at, group, version) : NULL;
}

static bool serve_group(const struct question *q, const char *path)
{
    bool has_version;
    const struct kind *k = first_of_path(q->api, path, &has_version);
    if (!k)
        return false;
    if (!has_version)
        answer_json(q, 200, JSON_TYPE, groups_one(k));
    else if (!refuse_method(q))
        answer_json(q, 200, JSON_TYPE, groups_resources(q->api, k->group, k->version));
    return true;
}

static bool serve_openapi(const struct question *q, const char *path)
{
    if (!str_has_prefix(path, OPENAPI_ROOT))
        return false;
    bool has_version;
    const struct kind *k = first_of_path(q->api, path + strlen(OPENAPI_ROOT), &has_version);
    if (!k || !has_version)
        return false;
    if (!refuse_method(q))
        answer_openapi(q, k);
    return true;
}

/* Owned by the caller. */
static char *path_of(const char *target)
{
    char *path = xstrndup(target, strcspn(target, "?"));
    size_t n = strlen(path);
    if (n > 1 && path[n - 1] == '/')
        path[n - 1] = '\0';
    return path;
}

bool discovery_serve(const struct api *api, const struct api_call *call, struct api_answer *ret)
{
    struct question q = { .api = api, .call = call, .answer = ret };
    CLEANUP_FREE char *path = path_of(call->target);
    return serve_fixed(&q, path) || serve_group(&q, path) || serve_openapi(&q, path);
}
