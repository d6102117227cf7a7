#include "sim/api/container.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/draft.h"
#include "sim/api/state.h"

/* The users that delete the content, as commits record them. */
#define NAMESPACE_CONTROLLER "system:serviceaccount:kube-system:namespace-controller"
#define DEFINITION_CONTROLLER "system:apiserver"

static const char *const kept_namespaces[] = { "default", "kube-system", "kube-public", NULL };

static bool is_namespace(const struct kind *k)
{
    return str_eq(k->kind, "Namespace") && !*k->group;
}

static bool is_definition(const struct kind *k)
{
    return str_eq(k->kind, "CustomResourceDefinition");
}

bool container_is(const struct kind *k)
{
    return is_namespace(k) || is_definition(k);
}

/* ---- what is in one */

/* The custom kind of a definition; NULL if this server does not know it. */
static const struct kind *kind_defined(const char *name)
{
    for (size_t i = 0; i < kind_count(); i++) {
        const struct kind *k = kind_at(i);
        CLEANUP_FREE char *full = xasprintf("%s.%s", k->plural, k->group);
        if (k->flags & KIND_CUSTOM && str_eq(full, name))
            return k;
    }
    return NULL;
}

/* Adds the objects of a kind that are in a namespace (NULL: all of the kind) to a list. */
static void add_content(const struct api *api, const struct kind *k, const char *ns, json_t *list)
{
    CLEANUP_FREE char *prefix = ns ? xasprintf("%s/", ns) : xstrdup("");
    const struct kind_store *t = store_of_kind(&api->store, k);
    for (size_t i = kind_store_find(t, prefix);
         i < t->len && str_has_prefix(t->entries[i]->key, prefix); i++)
        json_array_append(list, t->entries[i]->object);
}

/* The content of a container: an array with one array of objects for each kind. New reference. */
static json_t *content_of(const struct api *api, const struct kind *container, const char *name)
{
    json_t *by_kind = json_array();
    const struct kind *defined = is_definition(container) ? kind_defined(name) : NULL;
    for (size_t i = 0; i < kind_count(); i++) {
        const struct kind *k = kind_at(i);
        json_t *list = json_array();
        if (is_namespace(container) ? k->namespaced : k == defined)
            add_content(api, k, is_namespace(container) ? name : NULL, list);
        json_array_append_new(by_kind, list);
    }
    return by_kind;
}

static bool container_is_empty(const struct api *api, const struct kind *container,
                               const char *name)
{
    CLEANUP_JSON json_t *by_kind = content_of(api, container, name);
    JSON_EACH_AT (i, list, by_kind)
        if (json_array_size(list) > 0)
            return false;
    return true;
}

static void delete_content(struct api *api, const struct kind *container, const char *name)
{
    CLEANUP_JSON json_t *by_kind = content_of(api, container, name);
    const char *user = is_namespace(container) ? NAMESPACE_CONTROLLER : DEFINITION_CONTROLLER;
    struct delete_options o = { .grace_s = -1, .propagation = PROPAGATE_BACKGROUND };
    JSON_EACH_AT (i, list, by_kind) {
        JSON_EACH_AT (j, object, list) {
            struct write w = write_by(user, API_DELETE, kind_at(i), object_namespace(object),
                                      object_name(object));
            CLEANUP_REFUSAL struct refusal r = { 0 };
            write_delete(api, &w, &o, NULL, NULL, &r);
        }
    }
}

/* ---- going */

/* Removes a deleted container that is empty and has no finalizers. */
static void remove_when_empty(struct api *api, const struct kind *k, const char *name)
{
    const struct entry *r = store_get(&api->store, k, NULL, name);
    if (!r || !object_is_deleting(r->object) ||
        json_array_size(json_at(r->object, "metadata.finalizers")) > 0 ||
        !container_is_empty(api, k, name))
        return;
    CLEANUP_FREE char *own = xstrdup(name);
    struct store_write s = { .kind = k,
                             .name = own,
                             .user = is_namespace(k) ? NAMESPACE_CONTROLLER : DEFINITION_CONTROLLER,
                             .verb = API_DELETE,
                             .subresource = "" };
    api_publish(api, &s, NULL);
}

void container_after(struct api *api, const struct kind *k, const char *ns, const char *name)
{
    if (container_is(k))
        remove_when_empty(api, k, name);
    if (k->namespaced)
        remove_when_empty(api, kind_named("namespaces"), ns);
    if (k->flags & KIND_CUSTOM) {
        CLEANUP_FREE char *definition = xasprintf("%s.%s", k->plural, k->group);
        remove_when_empty(api, kind_named("customresourcedefinitions"), definition);
    }
}

static int check_kept(const struct kind *k, const char *name, struct refusal *r)
{
    if (!is_namespace(k) || !str_is_any_of(name, kept_namespaces))
        return 0;
    return refuse_forbidden(r, k, name, "this namespace may not be deleted");
}

static json_t *marked(const struct api *api, const struct kind *k, const json_t *before)
{
    json_t *after = draft_own_top(before);
    char now[CLOCK_TEXT_MAX];
    api_now(api, now);
    json_set_at(after, "metadata.deletionTimestamp", json_string(now));
    if (is_namespace(k))
        json_object_set_new(after, "status", json_pack("{s:s}", "phase", "Terminating"));
    return after;
}

int container_delete(struct admission *a, json_t **ret, bool *ret_gone, struct refusal *r)
{
    if (check_kept(a->kind, a->name, r) < 0)
        return -1;
    bool first = !object_is_deleting(a->before);
    json_t *after = first ? marked(a->api, a->kind, a->before) : json_incref(a->before);
    if (first && !a->w->dry_run) {
        /* The content is deleted between the mark and the removal, so the mark must not remove it
         * at once. */
        struct store_write s = admission_store_write(a);
        api_announce(a->api, &s, json_incref(after));
        delete_content(a->api, a->kind, a->name);
        remove_when_empty(a->api, a->kind, a->name);
    }
    if (ret)
        *ret = after;
    else
        json_decref(after);
    if (ret_gone)
        *ret_gone = false;
    return 0;
}
