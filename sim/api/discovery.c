/* Discovery: the groups, versions and resources of the server. */
#include "sim/api/serve.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/custom.h"
#include "sim/api/groups.h"
#include "sim/api/state.h"

#define JSON_TYPE "application/json"
#define AGGREGATED_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

/* ---- answers */

static int refuse_form(struct serving *s)
{
    return refuse(
        &s->refusal, 406,
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf");
}

static bool accepts_json(const struct api_call *call)
{
    const char *accept = str_or_empty(call->accept);
    return !*accept || strstr(accept, JSON_TYPE) || strstr(accept, "*/*") ||
           strstr(accept, "application/*");
}

/* Whether the client asks for one list of all groups, not for one document of each. */
static bool wants_aggregated(const struct api_call *call)
{
    return strstr(str_or_empty(call->accept),
                  "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
}

static int serve_aggregated(struct serving *s, bool core)
{
    serve_json(s, 200, groups_aggregated(s->api, core));
    s->answer->content_type = AGGREGATED_TYPE;
    return 0;
}

static int serve_core(struct serving *s)
{
    if (wants_aggregated(s->call))
        return serve_aggregated(s, true);
    return serve_json(s, 200,
                      json_pack("{s:s, s:[s], s:[]}", "kind", "APIVersions", "versions", "v1",
                                "serverAddressByClientCIDRs"));
}

static int serve_groups(struct serving *s)
{
    if (!accepts_json(s->call))
        return refuse_form(s);
    return wants_aggregated(s->call) ? serve_aggregated(s, false)
                                     : serve_json(s, 200, groups_list(s->api));
}

static int serve_version(struct serving *s)
{
    const char *minor = s->api->minor ? s->api->minor : API_MINOR;
    return serve_json(s, 200,
                      json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:s, s:s, s:s}", "major",
                                "1", "minor", minor, "emulationMajor", "1", "emulationMinor", minor,
                                "gitVersion", json_textf("v1.%s.3", minor), "gitCommit", "",
                                "gitTreeState", "", "buildDate", "1970-01-01T00:00:00Z",
                                "goVersion", "", "compiler", "", "platform", "linux/amd64"));
}

static int serve_health(struct serving *s)
{
    return serve_plain(s, 200, "ok");
}

static int serve_openapi_index(struct serving *s)
{
    json_t *paths = json_object();
    size_t at = 0;
    for (const struct kind *k; (k = groups_next(s->api, &at, NULL, NULL));)
        if (groups_leads(s->api, k))
            openapi_index_add(paths, k);
    return serve_json(s, 200, json_pack("{s:o}", "paths", paths));
}

/* The document of a group and version. */
static json_t *openapi_document(const struct api *api, const struct kind *first)
{
    json_t *document = openapi_new();
    size_t at = 0;
    for (const struct kind *k; (k = groups_next(api, &at, first->group, first->version));) {
        const json_t *version = k->flags & KIND_CUSTOM ? custom_version(api, k) : NULL;
        openapi_add(document, k, json_at(version, "schema.openAPIV3Schema"));
    }
    return document;
}

/* ---- paths */

static const struct fixed {
    const char *path;
    serve_fn *serve;
    bool any_method; /* serves any method, not only GET and HEAD */
} fixed_paths[] = {
    { "/api", serve_core, false },
    { "/apis", serve_groups, true },
    { "/version", serve_version, false },
    { "/healthz", serve_health, false },
    { "/livez", serve_health, false },
    { "/readyz", serve_health, false },
    { "/healthz/ping", serve_health, false },
    { "/livez/ping", serve_health, false },
    { "/readyz/ping", serve_health, false },
    { OPENAPI_ROOT, serve_openapi_index, false },
    /* Clients want this document as protobuf, which this server does not have, and work without it.
     */
    { "/openapi/v2", refuse_form, false },
};

/* Whether the method is one that only reads; otherwise 405. */
static bool only_reads(struct serving *s)
{
    if (str_eq(s->call->method, "GET") || str_eq(s->call->method, "HEAD"))
        return true;
    refuse_generic(&s->refusal, 405,
                   "the server does not allow this method on the requested resource");
    return false;
}

/* The first kind of the group, or the group and version, that a path names ("/api/v1",
 * "/apis/apps", "/apis/apps/v1"). NULL if the server has none. */
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

/* Owned by the caller. */
static char *path_of(const char *target)
{
    char *path = xstrndup(target, strcspn(target, "?"));
    size_t n = strlen(path);
    if (n > 1 && path[n - 1] == '/')
        path[n - 1] = '\0';
    return path;
}

static int serve_group(struct serving *s, const char *path)
{
    bool has_version, is_openapi = str_has_prefix(path, OPENAPI_ROOT);
    const struct kind *k = first_of_path(s->api, path + (is_openapi ? strlen(OPENAPI_ROOT) : 0),
                                         &has_version);
    if (!k || (is_openapi && !has_version))
        return 1;
    if (has_version && !only_reads(s))
        return -1;
    return serve_json(s, 200,
                      is_openapi    ? openapi_document(s->api, k)
                      : has_version ? groups_resources(s->api, k->group, k->version)
                                    : groups_one(k));
}

int discovery_serve(struct serving *s)
{
    CLEANUP_FREE char *path = path_of(s->call->target);
    for (size_t i = 0; i < ARRAY_LEN(fixed_paths); i++)
        if (str_eq(path, fixed_paths[i].path))
            return fixed_paths[i].any_method || only_reads(s) ? fixed_paths[i].serve(s) : -1;
    return serve_group(s, path);
}
