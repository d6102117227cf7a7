#include "sim/api/admit.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/event_view.h"
#include "sim/api/managed.h"
#include "sim/api/references.h"
#include "sim/api/rules.h"
#include "sim/api/state.h"
#include "sim/api/text.h"

/* etcd's limit on a request. */
enum { OBJECT_MAX = 1536 << 10 };

/* Fields that only the server writes; every update restores them. */
static const char *const server_fields[] = {
    "uid",        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "generation", "selfLink",          "resourceVersion",
};

static json_t *metadata_of(const json_t *object)
{
    return json_object_get(object, "metadata");
}

int admission_begin(struct admission *a, struct api *api, const struct write *w, struct refusal *r)
{
    *a = (struct admission){
        .api = api, .w = w, .kind = event_stored_kind(w->kind), .name = w->name
    };
    const struct entry *live = store_get(&api->store, a->kind, w->ns, w->name);
    if (!live)
        return refuse_not_found(r, w->kind, w->name);
    a->before = json_incref(live->object);
    return 0;
}

void admission_clear(struct admission *a)
{
    json_decref(a->before);
    json_decref(a->after);
}

json_t *admission_view(const struct admission *a)
{
    return event_view(a->w->kind, a->before);
}

/* 400 for an object of a request, 422 for the result of a patch. */
static int refuse_shape(const struct write *w, const char *why, struct refusal *r)
{
    if (w->verb != API_PATCH)
        return refuse(r, 400, "%s in version \"%s\" cannot be handled as a %s: %s", w->kind->kind,
                      w->kind->version, w->kind->kind, why);
    refuse_cause(r, "FieldValueInvalid", "patch", "Invalid value: %s", why);
    const struct kind nameless = { .group = "", .kind = "" };
    return refuse_finish_invalid(r, &nameless, "");
}

/* The name of a kind's type: in the server "apps.DaemonSet", in requests (`sent`) "v1.DaemonSet".
 */
static char *type_name(const struct kind *k, bool sent)
{
    size_t n = strcspn(k->group, ".");
    return sent ? xasprintf("%s.%s", k->version, k->kind)
                : xasprintf("%.*s.%s", n ? (int) n : 4, n ? k->group : "core", k->kind);
}

/* 400: the object is not of the kind that the path names. */
static int refuse_type(const struct write *w, const char *version, const char *kind,
                       struct refusal *r)
{
    const struct kind *other = kind_of(version, kind);
    const char *slash = strrchr(version, '/');
    CLEANUP_FREE char *why = NULL;
    if (other) {
        CLEANUP_FREE char *from = type_name(other, true), *to = type_name(w->kind, false);
        why = xasprintf("converting (%s) to (%s): unknown conversion", from, to);
    } else {
        why = xasprintf("no kind \"%s\" is registered for version \"%s\"", kind, version);
    }
    return refuse(r, 400, "%s in version \"%s\" cannot be handled as a %s: %s", kind,
                  slash ? slash + 1 : version, w->kind->kind, why);
}

/* Objects of custom kinds must have apiVersion and kind. */
static int check_custom_type(const struct write *w, const json_t *object, const char *version,
                             const char *kind, struct refusal *r)
{
    const char *wanted = kind_api_version(w->kind);
    if (!*kind)
        return refuse(
            r, 400,
            "the object provided is unrecognized (must be of type %s): Object 'Kind' is missing",
            w->kind->kind);
    if (w->verb != API_PATCH && !str_eq(version, wanted))
        return refuse(
            r, 400, "the API version in the data (%s) does not match the expected API version (%s)",
            version, wanted);
    if (!str_eq(version, wanted))
        refuse_cause(r, "FieldValueInvalid", "apiVersion", "Invalid value: \"%s\": must be %s",
                     version, wanted);
    if (!str_eq(kind, w->kind->kind))
        refuse_cause(r, "FieldValueInvalid", "kind", "Invalid value: \"%s\": must be %s", kind,
                     w->kind->kind);
    const char *slash = strchr(version, '/');
    CLEANUP_FREE char *group = xstrndup(version, slash ? (size_t) (slash - version) : 0);
    const struct kind said = { .group = group, .kind = kind };
    return refuse_finish_invalid(r, &said, json_str_or_empty(object, "metadata.name"));
}

/* Checks apiVersion and kind, which objects of Kubernetes' own kinds may omit. */
static int check_type(const struct write *w, const json_t *object, struct refusal *r)
{
    const char *version = str_or_empty(json_key(object, "apiVersion")),
               *kind = str_or_empty(json_key(object, "kind"));
    if (w->from_outside && w->kind->flags & KIND_CUSTOM)
        return check_custom_type(w, object, version, kind, r);
    const char *wanted = kind_api_version(w->kind);
    if ((!*version || str_eq(version, wanted)) && (!*kind || str_eq(kind, w->kind->kind)))
        return 0;
    if (w->from_outside && w->verb != API_PATCH)
        return refuse_type(w, *version ? version : wanted, *kind ? kind : w->kind->kind, r);
    CLEANUP_FREE char *why = xasprintf("no kind \"%s\" is registered for version \"%s\"", kind,
                                       version);
    return refuse_shape(w, why, r);
}

int admission_take(struct admission *a, const json_t *object, struct refusal *r)
{
    if (check_type(a->w, object, r) < 0)
        return -1;
    CLEANUP_JSON json_t *before = a->before ? admission_view(a) : NULL;
    CLEANUP_FREE char *why = NULL;
    CLEANUP_JSON json_t *own = rules_read(a->api->schemas, a->w->kind, before, object, a->w->strict,
                                          a->w->ret_unknown, &why);
    if (!own)
        return refuse_shape(a->w, why, r);
    json_object_set_new(own, "apiVersion", json_string(kind_api_version(a->w->kind)));
    json_object_set_new(own, "kind", json_string(a->w->kind->kind));
    json_decref(a->after);
    a->after = event_stored(a->w->kind, own);
    return 0;
}

/* Sets the managedFields of the wanted object, computed in the view of the writer. */
static void set_managed(struct admission *a)
{
    if (a->applied)
        return;
    char now[CLOCK_TEXT_MAX];
    api_now(a->api, now);
    struct managed_writer writer = {
        .manager = a->w->manager,
        .api_version = kind_api_version(a->w->kind),
        .subresource = a->w->subresource,
        .time = now,
        .root = rules_merge(a->api->schemas, a->w->kind),
    };
    if (a->kind == a->w->kind) {
        managed_update(a->before, a->after, &writer);
        return;
    }
    CLEANUP_JSON json_t *before = a->before ? event_view(a->w->kind, a->before) : NULL;
    CLEANUP_JSON json_t *after = event_view(a->w->kind, a->after);
    managed_update(before, after, &writer);
}

static void answer(const struct admission *a, json_t *object, json_t **ret)
{
    if (ret)
        *ret = event_view(a->w->kind, object);
}

struct store_write admission_store_write(const struct admission *a)
{
    return (struct store_write){ .kind = a->kind,
                                 .ns = a->w->ns,
                                 .name = a->name,
                                 .user = a->w->user,
                                 .verb = a->w->verb,
                                 .subresource = a->w->subresource };
}

void admission_publish(const struct admission *a, json_t *after_steal)
{
    struct store_write s = admission_store_write(a);
    api_publish(a->api, &s, after_steal);
}

/* The last step of a write: commits it, unless it is a dry run, and answers with the object. */
static int admit_finish(struct admission *a, json_t *after, json_t **ret, struct refusal *r)
{
    if (a->w->from_outside && text_size(a->after) > OBJECT_MAX)
        return refuse(r, 500, "etcdserver: request is too large");
    if (!a->w->dry_run)
        admission_publish(a, json_incref(after));
    answer(a, a->after, ret);
    return 0;
}

/* ---- create */

int admission_check_name(const struct write *w, const char *name, struct refusal *r)
{
    if (!*name)
        return refuse(
            r, 400,
            "the name of the object (%s based on URL) was undeterminable: name must be provided",
            w->name);
    if (str_eq(name, w->name))
        return 0;
    return refuse(r, 400, "the name of the object (%s) does not match the name on the URL (%s)",
                  name, w->name);
}

/* Settles the name: that of the request if it has one, otherwise the object's own or one from
 * generateName. */
static int settle_name(struct admission *a, struct refusal *r)
{
    json_t *metadata = metadata_of(a->after);
    const char *base = str_or_empty(json_key(metadata, "generateName"));
    const char *name = str_or_empty(json_key(metadata, "name"));
    if (*a->w->name && admission_check_name(a->w, name, r) < 0)
        return -1;
    if (!*name && *base) {
        CLEANUP_FREE char *made = store_generate_name(&a->api->store, a->kind, a->w->ns, base);
        json_object_set_new(metadata, "name", json_string(made));
    } else if (!*name) {
        refuse_cause(r, "FieldValueRequired", "metadata.name",
                     "Required value: name or generateName is required");
        return refuse_finish_invalid(r, a->w->kind, "");
    }
    a->name = json_key(metadata, "name");
    a->said = *name ? a->name : base;
    return 0;
}

/* The namespace of the object is that of the request. */
static int settle_namespace(struct admission *a, struct refusal *r)
{
    json_t *metadata = metadata_of(a->after);
    const char *ns = str_or_empty(json_key(metadata, "namespace"));
    if (!a->kind->namespaced) {
        json_object_del(metadata, "namespace");
        return 0;
    }
    if (*ns && !str_eq(ns, a->w->ns))
        return refuse(r, 400,
                      "the namespace of the provided object does not match the namespace sent on "
                      "the request");
    json_object_set_new(metadata, "namespace", json_string(a->w->ns));
    return 0;
}

static void admit_fill_in(struct admission *a)
{
    json_t *metadata = metadata_of(a->after);
    char key[STORE_KEY_MAX], uid[STORE_UID_MAX], now[CLOCK_TEXT_MAX];
    store_key(a->w->ns, a->name, key);
    store_new_uid(&a->api->store, a->kind, key, uid);
    api_now(a->api, now);
    json_object_set_new(metadata, "uid", json_string(uid));
    json_object_set_new(metadata, "creationTimestamp", json_string(now));
    if (a->kind->flags & KIND_GENERATION)
        json_object_set_new(metadata, "generation", json_integer(1));
}

/* Whether the name fits a key; the rules of the kind check its form. */
static int admit_check_name(const struct admission *a, struct refusal *r)
{
    char key[STORE_KEY_MAX];
    if (store_key(a->w->ns, a->name, key))
        return 0;
    refuse_cause(r, "FieldValueInvalid", "metadata.name",
                 "Invalid value: \"%.64s…\": must be no more than 253 characters", a->name);
    return refuse_finish_invalid(r, a->w->kind, a->name);
}

int admission_create(struct admission *a, json_t **ret, struct refusal *r)
{
    json_t *metadata = metadata_of(a->after);
    if (!a->applied && *str_or_empty(json_key(metadata, "resourceVersion")))
        return refuse(r, 500, "resourceVersion should not be set on objects to be created");
    if (settle_namespace(a, r) < 0 || settle_name(a, r) < 0 || admit_check_name(a, r) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(server_fields); i++)
        json_object_del(metadata, server_fields[i]);
    if (references_admit(a->api, a->kind, a->w->ns, a->said, a->after, r) < 0)
        return -1;
    admit_fill_in(a);
    set_managed(a); /* before the rules: no manager owns what they write */
    rules_prepare_create(a->api->schemas, a->kind, a->after);
    if (rules_validate(a->api->schemas, a->w->kind, a->w->subresource, NULL, a->after, r) < 0)
        return -1;
    if (store_get(&a->api->store, a->kind, a->w->ns, a->name))
        return refuse_exists(r, a->w->kind, a->name);
    return admit_finish(a, a->after, ret, r);
}

/* ---- update */

/* A deletion cannot be undone, and a deleted object gets no new finalizers. */
static void check_deletion(const struct admission *a, struct refusal *r)
{
    const char *asked = json_str(a->after, "metadata.deletionTimestamp");
    const char *is = json_str(a->before, "metadata.deletionTimestamp");
    if (asked && !str_eq(asked, is))
        refuse_cause(r, "FieldValueInvalid", "metadata.deletionTimestamp",
                     "Invalid value: \"%s\": field is immutable", asked);
    JSON_EACH_AT (i, finalizer, json_object_get(metadata_of(a->after), "finalizers")) {
        const char *name = str_or_empty(json_string_value(finalizer));
        if (is && !object_has_finalizer(a->before, name))
            refuse_cause(r, "FieldValueForbidden", "metadata.finalizers",
                         "Forbidden: no new finalizers can be added if the object is being "
                         "deleted, found new finalizers "
                         "[]string{\"%s\"}",
                         name);
    }
}

/* Fields that a client must not change. */
static int check_identity(const struct admission *a, struct refusal *r)
{
    const char *uid = json_str(a->after, "metadata.uid");
    const json_t *grace = json_at(a->after, "metadata.deletionGracePeriodSeconds");
    bool other_grace = grace && !json_equal(grace, json_at(a->before,
                                                           "metadata.deletionGracePeriodSeconds"));
    /* The server reports this twice: for every object, and again by the rules of each kind. */
    for (int i = 0; i < 2; i++) {
        if (uid && *uid && !str_eq(uid, object_uid(a->before)))
            refuse_cause(r, "FieldValueInvalid", "metadata.uid",
                         "Invalid value: \"%s\": field is immutable", uid);
        check_deletion(a, r);
        if (other_grace)
            refuse_cause(r, "FieldValueInvalid", "metadata.deletionGracePeriodSeconds",
                         "Invalid value: %" JSON_INTEGER_FORMAT ": field is immutable",
                         json_integer_value(grace));
    }
    return refuse_finish_invalid(r, a->w->kind, a->name);
}

static void restore_server_fields(struct admission *a)
{
    json_t *after = metadata_of(a->after);
    const json_t *before = metadata_of(a->before);
    for (size_t i = 0; i < ARRAY_LEN(server_fields); i++) {
        json_t *was = json_object_get(before, server_fields[i]);
        if (was)
            json_object_set(after, server_fields[i], was);
        else
            json_object_del(after, server_fields[i]);
    }
}

/* Whether an update removes the last finalizer of a deleted object. A running grace period holds
 * it, too. */
static bool is_released(const struct admission *a)
{
    return object_is_deleting(a->before) &&
           json_int(a->before, "metadata.deletionGracePeriodSeconds", 1) == 0 &&
           json_array_size(json_object_get(metadata_of(a->after), "finalizers")) == 0;
}

/* Applies the rules of the kind to an update. A binding is the server's own write and skips them.
 */
static int follow_rules(struct admission *a, struct refusal *r)
{
    if (str_eq(a->w->subresource, "binding"))
        return 0;
    set_managed(a); /* before the rules: no manager owns what they write */
    rules_prepare_update(a->api->schemas, a->kind, a->w->subresource, a->before, a->after);
    if (a->kind->flags & KIND_GENERATION && rules_generation_changes(a->kind, a->before, a->after))
        json_object_set_new(metadata_of(a->after), "generation",
                            json_integer(object_generation(a->before) + 1));
    return rules_validate(a->api->schemas, a->w->kind, a->w->subresource, a->before, a->after, r);
}

int admission_update(struct admission *a, json_t **ret, struct refusal *r)
{
    if (settle_namespace(a, r) < 0 || settle_name(a, r) < 0 || check_identity(a, r) < 0)
        return -1;
    restore_server_fields(a);
    if (follow_rules(a, r) < 0)
        return -1;
    if (managed_is_same(a->before, a->after)) {
        answer(a, a->before, ret);
        return 0;
    }
    return admit_finish(a, is_released(a) ? NULL : a->after, ret, r);
}
