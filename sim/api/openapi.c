/* OpenAPI v3 documents. */
#include "sim/api/groups.h"

#include "base/json.h"

/* Clients look these up to learn what the server supports. */
static const char *const patch_parameters[] = { "dryRun", "fieldManager", "fieldValidation",
                                                "force" };
/* Without strategic merge patch: the schemas here do not say how lists merge, so clients must use
 * their own knowledge of Kubernetes' kinds. */
static const char *const patch_types[] = {
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
};

/* "api/v1", "apis/apps/v1". Owned by the caller. */
static char *root_of(const struct kind *k)
{
    return *k->group ? xasprintf("apis/%s", k->group_version) : xasprintf("api/%s", k->version);
}

void openapi_index_add(json_t *paths, const struct kind *k)
{
    CLEANUP_FREE char *root = root_of(k);
    json_object_set_new(
        paths, root, json_pack("{s:o}", "serverRelativeURL", json_textf(OPENAPI_ROOT "/%s", root)));
}

json_t *openapi_new(void)
{
    return json_pack("{s:s, s:{s:s, s:s}, s:{}, s:{s:{}}}", "openapi", "3.0.0", "info", "title",
                     "Kubernetes", "version", API_VERSION, "paths", "components", "schemas");
}

/* The name of a schema. Owned by the caller. */
static char *schema_name(const struct kind *k)
{
    return xasprintf("%s.%s.%s", *k->group ? k->group : "core", k->version, k->kind);
}

static json_t *group_version_kind(const struct kind *k)
{
    return json_pack("{s:s, s:s, s:s}", "group", k->group, "version", k->version, "kind", k->kind);
}

static json_t *patch_operation(const struct kind *k, const char *schema)
{
    json_t *parameters = json_array();
    for (size_t i = 0; i < ARRAY_LEN(patch_parameters); i++)
        json_array_append_new(parameters,
                              json_pack("{s:s, s:s, s:{s:s}}", "name", patch_parameters[i], "in",
                                        "query", "schema", "type", "string"));
    json_t *content = json_object();
    for (size_t i = 0; i < ARRAY_LEN(patch_types); i++)
        json_object_set_new(content, patch_types[i],
                            json_pack("{s:{s:s}}", "schema", "type", "object"));
    json_t *answer = json_pack("{s:s, s:{s:{s:{s:o}}}}", "description", "OK", "content",
                               "application/json", "schema", "$ref",
                               json_textf("#/components/schemas/%s", schema));
    return json_pack("{s:s, s:o, s:{s:o, s:b}, s:{s:o}, s:s, s:o}", "operationId", "patch",
                     "parameters", parameters, "requestBody", "content", content, "required", true,
                     "responses", "200", answer, "x-kubernetes-action", "patch",
                     "x-kubernetes-group-version-kind", group_version_kind(k));
}

void openapi_add(json_t *document, const struct kind *k, const json_t *schema)
{
    CLEANUP_FREE char *root = root_of(k);
    CLEANUP_FREE char *name = schema_name(k);
    CLEANUP_FREE char *path = xasprintf("/%s/%s%s/{name}", root,
                                        k->namespaced ? "namespaces/{namespace}/" : "", k->plural);
    json_t *own = schema ? json_copy((json_t *) schema) : json_pack("{s:s}", "type", "object");
    json_object_set_new(own, "x-kubernetes-group-version-kind",
                        json_pack("[o]", group_version_kind(k)));
    json_object_set_new(json_object_get(json_object_get(document, "components"), "schemas"), name,
                        own);
    json_object_set_new(json_object_get(document, "paths"), path,
                        json_pack("{s:o}", "patch", patch_operation(k, name)));
}
