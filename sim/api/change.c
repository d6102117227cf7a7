/* Writes but deletions: create, update, patch, apply. */
#include "sim/api/write.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/admit.h"
#include "sim/api/draft.h"
#include "sim/api/event_view.h"
#include "sim/api/managed.h"
#include "sim/api/merge.h"
#include "sim/api/patch.h"
#include "sim/api/rules.h"
#include "sim/api/state.h"

#define MODIFIED                                                                                   \
    "the object has been modified; please apply your changes to the latest version and try again"

struct write write_by(const char *user, enum api_verb verb, const struct kind *k, const char *ns,
                      const char *name)
{
    return (struct write){
        .user = user,
        .manager = user,
        .verb = verb,
        .kind = k,
        .ns = str_or_empty(ns),
        .name = name,
        .subresource = "",
    };
}

int write_create(struct api *api, const struct write *w, const json_t *object, json_t **ret,
                 struct refusal *r)
{
    CLEANUP_REFUSAL struct refusal unread = { 0 };
    r = r ? r : &unread;
    CLEANUP_ADMISSION struct admission a = { .api = api,
                                             .w = w,
                                             .kind = event_stored_kind(w->kind) };
    if (admission_take(&a, object, r) < 0)
        return -1;
    return admission_create(&a, ret, r);
}

/* Checks that the given resourceVersion is the current one. `always`: it is required. "0" counts as
 * absent. */
static int check_version(const struct admission *a, const json_t *object, bool always,
                         struct refusal *r)
{
    const char *rv = str_or_empty(json_str(object, "metadata.resourceVersion"));
    rv = str_eq(rv, "0") ? "" : rv;
    const char *is = json_str(a->before, "metadata.resourceVersion");
    if (!*rv && always) {
        /* Here the API server names the resource, elsewhere the kind. */
        struct kind by_resource = *a->w->kind;
        by_resource.kind = by_resource.plural;
        refuse_cause(r, "FieldValueInvalid", "metadata.resourceVersion",
                     "Invalid value: 0: must be specified for an update");
        return refuse_finish_invalid(r, &by_resource, a->w->name);
    }
    if (!*rv || str_eq(rv, is))
        return 0;
    if (!object_rv_parse(rv))
        return refuse(r, 500, "strconv.ParseUint: parsing \"%s\": invalid syntax", rv);
    return refuse_conflict(r, a->w->kind, a->w->name, MODIFIED);
}

/* 409 if the given uid is not that of the existing object. */
static int check_uid(const struct admission *a, const json_t *object, struct refusal *r)
{
    const char *uid = str_or_empty(json_str(object, "metadata.uid")), *is = object_uid(a->before);
    if (!*uid || str_eq(uid, is))
        return 0;
    CLEANUP_FREE char *why = xasprintf(
        "Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, is);
    return refuse_conflict(r, a->w->kind, a->w->name, why);
}

int write_update(struct api *api, const struct write *w, const json_t *object, json_t **ret,
                 struct refusal *r)
{
    CLEANUP_REFUSAL struct refusal unread = { 0 };
    r = r ? r : &unread;
    CLEANUP_ADMISSION struct admission a = { 0 };
    if (admission_begin(&a, api, w, r) < 0) {
        if (!(w->kind->flags & KIND_PUT_CREATES) || *w->subresource)
            return -1;
        refusal_clear(r);
        if (check_uid(&a, object, r) < 0)
            return -1;
        CLEANUP_JSON json_t *unversioned = json_deep_copy(object);
        json_object_del(json_object_get(unversioned, "metadata"), "resourceVersion");
        return write_create(api, w, unversioned, ret, r);
    }
    bool versioned = w->from_outside && w->kind->flags & KIND_NEEDS_VERSION;
    if (admission_take(&a, object, r) < 0 || check_uid(&a, object, r) < 0 ||
        check_version(&a, object, versioned, r) < 0)
        return -1;
    return admission_update(&a, ret, r);
}

static json_t *patched(const struct merge_root *root, enum patch_type type, const json_t *live,
                       const json_t *patch, struct refusal *r)
{
    switch (type) {
    case PATCH_MERGE:
        return patch_merge(live, patch);
    case PATCH_JSON:
        return patch_json(live, patch, r);
    case PATCH_STRATEGIC:
        return patch_strategic(&root->type, live, patch, r);
    }
    return NULL;
}

int write_patch(struct api *api, const struct write *w, enum patch_type type, const json_t *patch,
                json_t **ret, struct refusal *r)
{
    CLEANUP_REFUSAL struct refusal unread = { 0 };
    r = r ? r : &unread;
    CLEANUP_ADMISSION struct admission a = { 0 };
    if (admission_begin(&a, api, w, r) < 0)
        return -1;
    CLEANUP_JSON json_t *live = admission_view(&a);
    CLEANUP_JSON json_t *result = patched(rules_merge(api->schemas, w->kind), type, live, patch, r);
    if (!result || admission_take(&a, result, r) < 0 || check_version(&a, result, false, r) < 0)
        return -1;
    return admission_update(&a, ret, r);
}

/* Checks the form of an intent. */
static int check_intent(const struct write *w, const json_t *intent, struct refusal *r)
{
    const char *version = str_or_empty(json_key(intent, "apiVersion")),
               *kind = str_or_empty(json_key(intent, "kind"));
    if (!json_is_object(intent))
        return refuse(
            r, 400,
            "error decoding YAML: cannot unmarshal into Go value of type map[string]interface {}");
    if (!str_eq(version, kind_api_version(w->kind)) || !str_eq(kind, w->kind->kind)) {
        const char *slash = strchr(version, '/');
        int group = slash ? (int) (slash - version) : 0;
        return refuse(r, 400, "invalid object type: %.*s/%s, Kind=%s", group, version,
                      slash ? slash + 1 : version, kind);
    }
    if (json_at(intent, "metadata.managedFields"))
        return refuse(r, 400, "metadata.managedFields must be nil");
    return 0;
}

/* Fills in name and namespace from the request. */
static json_t *completed(const struct write *w, const json_t *merged)
{
    json_t *whole = draft_own_top(merged), *metadata = json_object_get(whole, "metadata");
    if (!json_object_get(metadata, "name"))
        json_object_set_new(metadata, "name", json_string(w->name));
    if (w->kind->namespaced && !json_object_get(metadata, "namespace"))
        json_object_set_new(metadata, "namespace", json_string(w->ns));
    return whole;
}

/* Checks that the kind has every field of the intent. */
static int check_declared(const struct api *api, const struct write *w, const json_t *intent,
                          struct refusal *r)
{
    if (!w->from_outside)
        return 0;
    CLEANUP_JSON json_t *unknown = NULL;
    CLEANUP_FREE char *why = NULL;
    json_decref(rules_read(api->schemas, w->kind, NULL, intent, false, &unknown, &why));
    return unknown ? merge_refuse_unknown(rules_merge(api->schemas, w->kind), intent, unknown, r)
                   : 0;
}

/* Checks version and uid of an intent against the existing object. */
static int check_live(const struct admission *a, const json_t *intent, struct refusal *r)
{
    if (a->before)
        return check_version(a, intent, false, r);
    const char *uid = json_str_or_empty(intent, "metadata.uid");
    if (!*uid)
        return 0;
    CLEANUP_FREE char *why = xasprintf(
        "uid mismatch: the provided object specified uid %s, and no existing object was found",
        uid);
    return refuse_conflict(r, a->w->kind, a->w->name, why);
}

int write_apply(struct api *api, const struct write *w, const json_t *intent, bool force,
                json_t **ret, bool *ret_created, struct refusal *r)
{
    CLEANUP_REFUSAL struct refusal unread = { 0 };
    r = r ? r : &unread;
    if (check_intent(w, intent, r) < 0)
        return -1;
    CLEANUP_ADMISSION struct admission a = { 0 };
    bool is_new = admission_begin(&a, api, w, r) < 0;
    refusal_clear(r);
    if (is_new && *w->subresource)
        return refuse_not_found(r, w->kind, w->name);
    if (check_declared(api, w, intent, r) < 0 || check_live(&a, intent, r) < 0)
        return -1;
    char now[CLOCK_TEXT_MAX];
    api_now(api, now);
    struct managed_writer writer = {
        .manager = w->manager,
        .api_version = kind_api_version(w->kind),
        .subresource = w->subresource,
        .time = now,
        .root = rules_merge(api->schemas, w->kind),
    };
    CLEANUP_JSON json_t *live = is_new ? NULL : admission_view(&a);
    CLEANUP_JSON json_t *merged = managed_apply(live, intent, &writer, force, r);
    CLEANUP_JSON json_t *whole = merged ? completed(w, merged) : NULL;
    if (!whole || admission_take(&a, whole, r) < 0)
        return -1;
    a.applied = true;
    if (ret_created)
        *ret_created = is_new;
    return is_new ? admission_create(&a, ret, r) : admission_update(&a, ret, r);
}
