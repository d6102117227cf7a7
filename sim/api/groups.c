#include "sim/api/groups.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/api.h"
#include "sim/api/custom.h"

#define VERBS "create,delete,deletecollection,get,list,patch,update,watch"
#define VERBS_OF_NAMESPACES "create,delete,get,list,patch,update,watch"
#define VERBS_OF_CUSTOM_KINDS "delete,deletecollection,get,list,patch,create,update,watch"

static const struct subresource_row {
    enum subresource sub;
    const char *name;
    const char *group; /* of its body, if that is not the kind's own type */
    const char *version;
    const char *kind; /* NULL: the kind itself */
    const char *verbs;
} subresources[] = {
    { SUB_BINDING, "binding", "", "", "Binding", "create" },
    { SUB_EVICTION, "eviction", "policy", "v1", "Eviction", "create" },
    { SUB_LOG, "log", "", "", NULL, "get" },
    { SUB_SCALE, "scale", "autoscaling", "v1", "Scale", "get,patch,update" },
    { SUB_STATUS, "status", "", "", NULL, "get,patch,update" },
};

/* ---- what there is */

/* NULL for "". */
static json_t *groups_names_of(const char *comma_separated)
{
    json_t *names = *comma_separated ? json_array() : NULL;
    CLEANUP_FREE char *text = xstrdup(comma_separated);
    char *rest = text;
    for (char *name; names && (name = strsep(&rest, ","));)
        json_array_append_new(names, json_string(name));
    return names;
}

static const char *verbs_of(const struct kind *k)
{
    if (k->flags & KIND_CUSTOM)
        return VERBS_OF_CUSTOM_KINDS;
    return !*k->group && str_eq(k->plural, "namespaces") ? VERBS_OF_NAMESPACES : VERBS;
}

const struct kind *groups_next(const struct api *api, size_t *at, const char *group,
                               const char *version)
{
    while (*at < kind_count()) {
        const struct kind *k = kind_at((*at)++);
        if ((!group || str_eq(k->group, group)) && (!version || str_eq(k->version, version)) &&
            custom_is_served(api, k))
            return k;
    }
    return NULL;
}

bool groups_leads(const struct api *api, const struct kind *k)
{
    size_t at = 0;
    return groups_next(api, &at, k->group, NULL) == k;
}

/* ---- groups and resources, one document for each */

static json_t *resource_json(const struct kind *k)
{
    return json_pack("{s:s, s:s, s:b, s:s, s:o, s:o*, s:o*}", "name", k->plural, "singularName",
                     k->singular, "namespaced", k->namespaced, "kind", k->kind, "verbs",
                     groups_names_of(verbs_of(k)), "shortNames", groups_names_of(k->short_names),
                     "categories", groups_names_of(k->category));
}

static json_t *subresource_json(const struct kind *k, const struct subresource_row *row)
{
    bool own = *row->version;
    return json_pack("{s:o, s:s, s:b, s:s*, s:s*, s:s, s:o}", "name",
                     json_textf("%s/%s", k->plural, row->name), "singularName", "", "namespaced",
                     k->namespaced, "group", own ? row->group : NULL, "version",
                     own ? row->version : NULL, "kind", row->kind ? row->kind : k->kind, "verbs",
                     groups_names_of(row->verbs));
}

json_t *groups_resources(const struct api *api, const char *group, const char *version)
{
    json_t *resources = json_array();
    size_t at = 0;
    for (const struct kind *k; (k = groups_next(api, &at, group, version));) {
        json_array_append_new(resources, resource_json(k));
        for (size_t i = 0; i < ARRAY_LEN(subresources); i++)
            if (k->subresources & subresources[i].sub)
                json_array_append_new(resources, subresource_json(k, &subresources[i]));
    }
    return json_pack("{s:s, s:s*, s:o, s:o}", "kind", "APIResourceList", "apiVersion",
                     *group ? "v1" : NULL, "groupVersion",
                     json_textf("%s%s%s", group, *group ? "/" : "", version), "resources",
                     resources);
}

static json_t *group_json(const struct kind *k)
{
    json_t *version = json_pack("{s:s, s:s}", "groupVersion", kind_api_version(k), "version",
                                k->version);
    return json_pack("{s:s, s:[O], s:o}", "name", k->group, "versions", version, "preferredVersion",
                     version);
}

json_t *groups_list(const struct api *api)
{
    json_t *groups = json_array();
    size_t at = 0;
    for (const struct kind *k; (k = groups_next(api, &at, NULL, NULL));)
        if (*k->group && groups_leads(api, k))
            json_array_append_new(groups, group_json(k));
    return json_pack("{s:s, s:s, s:o}", "kind", "APIGroupList", "apiVersion", "v1", "groups",
                     groups);
}

json_t *groups_one(const struct kind *k)
{
    json_t *group = json_pack("{s:s, s:s}", "kind", "APIGroup", "apiVersion", "v1");
    json_object_update_new(group, group_json(k));
    return group;
}

/* ---- the same as one document */

/* The type of a resource; for Kubernetes' own kinds without group and version. */
static json_t *response_kind(const char *group, const char *version, const char *kind)
{
    return json_pack("{s:s, s:s, s:s}", "group", group, "version", version, "kind", kind);
}

static json_t *own_response_kind(const struct kind *k)
{
    bool custom = k->flags & KIND_CUSTOM;
    return response_kind(custom ? k->group : "", custom ? k->version : "", k->kind);
}

/* NULL if there are none. */
static json_t *aggregated_subresources(const struct kind *k)
{
    json_t *subs = k->subresources ? json_array() : NULL;
    for (size_t i = 0; i < ARRAY_LEN(subresources); i++) {
        const struct subresource_row *row = &subresources[i];
        if (!(k->subresources & row->sub))
            continue;
        json_t *kind = row->kind ? response_kind(row->group, row->version, row->kind)
                                 : own_response_kind(k);
        json_array_append_new(subs,
                              json_pack("{s:s, s:o, s:o}", "subresource", row->name, "responseKind",
                                        kind, "verbs", groups_names_of(row->verbs)));
    }
    return subs;
}

static json_t *aggregated_resource(const struct kind *k)
{
    return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o*, s:o*, s:o*}", "resource", k->plural,
                     "responseKind", own_response_kind(k), "scope",
                     k->namespaced ? "Namespaced" : "Cluster", "singularResource", k->singular,
                     "verbs", groups_names_of(verbs_of(k)), "shortNames",
                     groups_names_of(k->short_names), "categories", groups_names_of(k->category),
                     "subresources", aggregated_subresources(k));
}

static json_t *aggregated_group(const struct api *api, const struct kind *first)
{
    json_t *resources = json_array();
    size_t at = 0;
    for (const struct kind *k; (k = groups_next(api, &at, first->group, first->version));)
        json_array_append_new(resources, aggregated_resource(k));
    json_t *metadata = *first->group ? json_pack("{s:s}", "name", first->group) : json_object();
    return json_pack("{s:o, s:[{s:s, s:o, s:s}]}", "metadata", metadata, "versions", "version",
                     first->version, "resources", resources, "freshness", "Current");
}

json_t *groups_aggregated(const struct api *api, bool core)
{
    json_t *groups = json_array();
    size_t at = 0;
    for (const struct kind *k; (k = groups_next(api, &at, NULL, NULL));)
        if (core == !*k->group && groups_leads(api, k))
            json_array_append_new(groups, aggregated_group(api, k));
    return json_pack("{s:s, s:s, s:{}, s:o}", "kind", "APIGroupDiscoveryList", "apiVersion",
                     "apidiscovery.k8s.io/v2", "metadata", "items", groups);
}
