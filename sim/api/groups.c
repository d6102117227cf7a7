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
    const char *group; /* of what it takes, where that is not the kind's own */
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

static json_t *groups_names_of(const char *comma_separated)
{
    json_t *names = json_array();
    CLEANUP_FREE char *text = xstrdup(comma_separated);
    char *rest = text;
    for (char *name; (name = strsep(&rest, ","));)
        if (*name)
            json_array_append_new(names, json_string(name));
    return names;
}

/* Sets the names under a key, where there are any. */
static void set_names(json_t *object, const char *key, const char *comma_separated)
{
    if (*comma_separated)
        json_object_set_new(object, key, groups_names_of(comma_separated));
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
    json_t *r = json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", k->plural, "singularName",
                          k->singular, "namespaced", k->namespaced, "kind", k->kind, "verbs",
                          groups_names_of(verbs_of(k)));
    set_names(r, "shortNames", k->short_names);
    set_names(r, "categories", k->category);
    return r;
}

static json_t *subresource_json(const struct kind *k, const struct subresource_row *row)
{
    json_t *name = json_textf("%s/%s", k->plural, row->name);
    json_t *r = json_pack("{s:o, s:s, s:b}", "name", name, "singularName", "", "namespaced",
                          k->namespaced);
    if (*row->version) {
        json_object_set_new(r, "group", json_string(row->group));
        json_object_set_new(r, "version", json_string(row->version));
    }
    json_object_set_new(r, "kind", json_string(row->kind ? row->kind : k->kind));
    json_object_set_new(r, "verbs", groups_names_of(row->verbs));
    return r;
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
    json_t *list = json_pack("{s:s}", "kind", "APIResourceList");
    if (*group)
        json_object_set_new(list, "apiVersion", json_string("v1"));
    json_object_set_new(list, "groupVersion",
                        json_textf("%s%s%s", group, *group ? "/" : "", version));
    json_object_set_new(list, "resources", resources);
    return list;
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
    CLEANUP_JSON json_t *rest = group_json(k);
    json_object_update(group, rest);
    return group;
}

/* ---- the same as one document */

/* What a resource takes and gives; Kubernetes' own kinds leave out the group and version that they
 * are listed under. */
static json_t *response_kind(const char *group, const char *version, const char *kind)
{
    return json_pack("{s:s, s:s, s:s}", "group", group, "version", version, "kind", kind);
}

static json_t *own_response_kind(const struct kind *k)
{
    bool custom = k->flags & KIND_CUSTOM;
    return response_kind(custom ? k->group : "", custom ? k->version : "", k->kind);
}

static json_t *aggregated_subresources(const struct kind *k)
{
    json_t *subs = json_array();
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
    const char *scope = k->namespaced ? "Namespaced" : "Cluster";
    json_t *r = json_pack("{s:s, s:o, s:s, s:s, s:o}", "resource", k->plural, "responseKind",
                          own_response_kind(k), "scope", scope, "singularResource", k->singular,
                          "verbs", groups_names_of(verbs_of(k)));
    set_names(r, "shortNames", k->short_names);
    set_names(r, "categories", k->category);
    CLEANUP_JSON json_t *subs = aggregated_subresources(k);
    if (json_array_size(subs) > 0)
        json_object_set(r, "subresources", subs);
    return r;
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
