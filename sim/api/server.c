/* The API server as a whole, and the verbs for actors. */
#include "sim/api/api.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/container.h"
#include "sim/api/custom_rules.h"
#include "sim/api/draft.h"
#include "sim/api/event_view.h"
#include "sim/api/share.h"
#include "sim/api/state.h"
#include "sim/api/write.h"

/* Namespaces that every cluster has. */
static const char *const first_namespaces[] = { "default", "kube-node-lease", "kube-public",
                                                "kube-system" };
#define SERVER_USER "system:apiserver"

struct api *api_new(const struct clock *clock)
{
    struct api *api = xcalloc(1, sizeof *api);
    *api = (struct api){ .clock = *clock,
                         .frame = BUF_INIT(API_TEXT_MAX),
                         .schemas = custom_schemas_new() };
    store_init(&api->store);
    for (size_t i = 0; i < ARRAY_LEN(first_namespaces); i++) {
        CLEANUP_JSON json_t *ns = json_pack("{s:{s:s}}", "metadata", "name", first_namespaces[i]);
        api_create(api, SERVER_USER, kind_named("namespaces"), ns, NULL);
    }
    return api;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    for (size_t i = 0; i < API_TEXTS; i++) {
        json_decref(api->texts[i].value);
        free(api->texts[i].bytes);
    }
    if (!api->shares_schemas)
        custom_schemas_free(api->schemas);
    store_clear(&api->store);
    buf_clear(&api->frame);
    free(api->listeners);
    free(api);
}

void api_share_parts(struct api *api)
{
    api->store.shares = true;
}

void api_share_schemas(struct api *api, struct custom_schemas *schemas)
{
    if (!api->shares_schemas)
        custom_schemas_free(api->schemas);
    api->schemas = schemas;
    api->shares_schemas = true;
}

void api_on_commit(struct api *api, api_commit_fn *fn, void *arg)
{
    api->listeners = xreallocarray(api->listeners, api->listener_count + 1, sizeof *api->listeners);
    api->listeners[api->listener_count++] = (struct api_listener){ fn, arg };
}

void api_announce(struct api *api, const struct store_write *w, json_t *after_steal)
{
    const struct api_commit *c = store_commit(&api->store, w, after_steal);
    for (size_t i = 0; i < api->listener_count; i++)
        api->listeners[i].fn(api->listeners[i].arg, c);
}

void api_publish(struct api *api, const struct store_write *w, json_t *after_steal)
{
    bool may_empty = !after_steal || container_is(w->kind);
    api_announce(api, w, after_steal);
    if (may_empty)
        container_after(api, w->kind, w->ns, w->name);
}

json_t *api_last_state(const json_t *object, uint64_t rv)
{
    json_t *last = draft_own_top(object);
    json_set_at(last, "metadata.resourceVersion", json_textf("%" PRIu64, rv));
    return last;
}

void api_now(const struct api *api, char ret[static CLOCK_TEXT_MAX])
{
    clock_rfc3339(clock_wall_us(&api->clock), ret);
}

uint64_t api_rv(const struct api *api)
{
    return api->store.rv;
}

void api_set_access(struct api *api, const struct access *access)
{
    api->access = access;
}

void api_set_minor(struct api *api, const char *minor)
{
    api->minor = minor;
}

void api_compact(struct api *api, uint64_t rv)
{
    store_compact(&api->store, rv);
}

void api_forget_older(struct api *api, int64_t now_ms, int64_t keep_ms)
{
    if (now_ms - api->marks[api->newest_mark].at_ms < keep_ms / API_MARKS)
        return;
    api->newest_mark = (api->newest_mark + 1) % API_MARKS;
    struct api_mark *oldest = &api->marks[api->newest_mark];
    api_compact(api, oldest->rv);
    share_forget_unused(&api->store.parts);
    *oldest = (struct api_mark){ .at_ms = now_ms, .rv = api->store.rv };
}

/* ---- the verbs for actors */

json_t *api_get(const struct api *api, const struct kind *k, const char *ns, const char *name)
{
    const struct entry *r = store_get(&api->store, event_stored_kind(k), ns, name);
    return r ? r->object : NULL;
}

size_t api_count(const struct api *api, const struct kind *k)
{
    return store_of_kind(&api->store, event_stored_kind(k))->len;
}

size_t api_from(const struct api *api, const struct kind *k, const char *ns)
{
    CLEANUP_FREE char *before_all = xasprintf("%s/", ns);
    return kind_store_find(store_of_kind(&api->store, event_stored_kind(k)), before_all);
}

json_t *api_at(const struct api *api, const struct kind *k, size_t i)
{
    return store_of_kind(&api->store, event_stored_kind(k))->entries[i]->object;
}

int api_create(struct api *api, const char *user, const struct kind *k, const json_t *object,
               struct refusal *r)
{
    struct write w = write_by(user, API_CREATE, k, k->namespaced ? object_namespace(object) : "",
                              "");
    return write_create(api, &w, object, NULL, r);
}

int api_update(struct api *api, const char *user, const struct kind *k, const char *subresource,
               const json_t *object, struct refusal *r)
{
    struct write w = write_by(user, API_UPDATE, k, object_namespace(object), object_name(object));
    w.subresource = subresource;
    return write_update(api, &w, object, NULL, r);
}

int api_merge(struct api *api, const char *user, const struct kind *k, const char *ns,
              const char *name, const char *subresource, const json_t *patch, struct refusal *r)
{
    struct write w = write_by(user, API_PATCH, k, ns, name);
    w.subresource = subresource;
    return write_patch(api, &w, PATCH_MERGE, patch, NULL, r);
}

int api_apply(struct api *api, const char *user, const struct kind *k, const json_t *object,
              bool force, struct refusal *r)
{
    struct write w = write_by(user, API_APPLY, k, object_namespace(object), object_name(object));
    CLEANUP_JSON json_t *typed = json_copy((json_t *) object);
    json_object_set_new(typed, "apiVersion", json_string(kind_api_version(k)));
    json_object_set_new(typed, "kind", json_string(k->kind));
    return write_apply(api, &w, typed, force, NULL, NULL, r);
}

int api_delete(struct api *api, const char *user, const struct kind *k, const char *ns,
               const char *name, const char *uid, int grace_s, struct refusal *r)
{
    struct write w = write_by(user, API_DELETE, k, ns, name);
    struct delete_options o = { .grace_s = grace_s,
                                .uid = uid,
                                .propagation = PROPAGATE_BACKGROUND };
    return write_delete(api, &w, &o, NULL, NULL, r);
}

int api_evict(struct api *api, const char *user, const char *ns, const char *name,
              struct refusal *r)
{
    CLEANUP_REFUSAL struct refusal unread = { 0 };
    return evict_pod(api, user, ns, name, NULL, r ? r : &unread);
}

void api_restore(struct api *api, const struct kind *k, const json_t *object)
{
    const struct store_write w = { .kind = k,
                                   .ns = object_namespace(object),
                                   .name = object_name(object),
                                   .user = "",
                                   .subresource = "",
                                   .verb = API_CREATE };
    api_publish(api, &w, json_deep_copy(object));
}
