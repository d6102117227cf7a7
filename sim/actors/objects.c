#include "sim/actors/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"

char *object_key(const json_t *object)
{
    return xasprintf("%s/%s", object_namespace(object), object_name(object));
}

json_t *object_of_key(const struct actors *a, const struct kind *k, const char *key)
{
    const char *slash = strchr(key, '/');
    if (!slash)
        return api_get(a->api, k, "", key);
    CLEANUP_FREE char *ns = xstrndup(key, (size_t) (slash - key));
    return api_get(a->api, k, ns, slash + 1);
}

void actors_now(const struct actors *a, char out[static CLOCK_TEXT_MAX])
{
    clock_rfc3339(clock_wall_us(&a->sim->clock), out);
}

int64_t actors_ms_of(const struct actors *a, const char *rfc3339)
{
    int64_t us = rfc3339 ? clock_parse_rfc3339(rfc3339) : -1;
    return us < 0 ? -1 : sim_ms_of_wall(a->sim, us);
}

bool pod_is_available(const struct actors *a, const json_t *pod, int64_t min_ready_s,
                      int64_t *ret_at_ms)
{
    if (ret_at_ms)
        *ret_at_ms = -1;
    if (!condition_is_true(pod, "Ready"))
        return false;
    const json_t *ready = condition_of(pod, "Ready");
    int64_t at = actors_ms_of(a, json_str(ready, "lastTransitionTime")) + min_ready_s * 1000;
    if (min_ready_s == 0 || at <= a->sim->now_ms)
        return true;
    if (ret_at_ms)
        *ret_at_ms = at;
    return false;
}

int pod_compare_age(const json_t *a, const json_t *b)
{
    int by_time = strcmp(json_str_or_empty(a, "metadata.creationTimestamp"),
                         json_str_or_empty(b, "metadata.creationTimestamp"));
    return by_time ? by_time : strcmp(object_name(a), object_name(b));
}

json_t *pods_selected(const struct actors *a, const char *ns, const json_t *selector)
{
    const struct kind *k = a->kinds.pod;
    json_t *pods = json_array();
    for (size_t i = api_from(a->api, k, ns); i < api_count(a->api, k); i++) {
        json_t *pod = api_at(a->api, k, i);
        if (!str_eq(object_namespace(pod), ns))
            break;
        if (fit_labels(selector, pod))
            json_array_append(pods, pod);
    }
    return pods;
}

json_t *owner_reference(const struct kind *k, const json_t *owner)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b}", "apiVersion", kind_api_version(k), "kind",
                     k->kind, "name", object_name(owner), "uid", object_uid(owner), "controller", 1,
                     "blockOwnerDeletion", 1);
}

bool is_controlled_by(const json_t *object, const char *uid)
{
    const json_t *controller = object_controller(object);
    return controller && str_eq(json_str(controller, "uid"), uid);
}

/* Writes a list of owners, guarded by the object's uid and version. */
static int set_owners(struct actors *a, const char *user, const struct kind *k,
                      const json_t *object, json_t *owners_steal)
{
    /* The lender of the object may release it during the commit. */
    CLEANUP_JSON json_t *held = json_incref((json_t *) object);
    CLEANUP_JSON json_t *patch = json_pack(
        "{s:{s:s, s:s, s:o}}", "metadata", "uid", object_uid(object), "resourceVersion",
        json_str_or_empty(object, "metadata.resourceVersion"), "ownerReferences", owners_steal);
    return api_merge(a->api, user, k, object_namespace(held), object_name(held), "", patch, NULL);
}

void object_drop_finalizer(struct actors *a, const char *user, const struct kind *k,
                           const json_t *object, const char *finalizer)
{
    CLEANUP_JSON json_t *held = json_incref((json_t *) object);
    json_t *left = json_array();
    JSON_EACH (f, json_at(held, "metadata.finalizers"))
        if (!str_eq(json_string_value(f), finalizer))
            json_array_append(left, f);
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:s, s:o}}", "metadata", "uid", object_uid(held),
                                           "finalizers", left);
    api_merge(a->api, user, k, object_namespace(held), object_name(held), "", patch, NULL);
}

int node_set_spec(struct actors *a, const char *user, const json_t *node, json_t *spec_steal,
                  struct refusal *r)
{
    CLEANUP_FREE char *name = xstrdup(object_name(node));
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion",
                                           json_str_or_empty(node, "metadata.resourceVersion"),
                                           "spec", spec_steal);
    return api_merge(a->api, user, a->kinds.node, "", name, "", patch, r);
}

void pod_delete(struct actors *a, const char *user, const json_t *pod, int grace_s)
{
    CLEANUP_JSON json_t *held = json_incref((json_t *) pod);
    api_delete(a->api, user, a->kinds.pod, object_namespace(held), object_name(held),
               object_uid(held), grace_s, NULL);
}

int object_adopt(struct actors *a, const char *user, const struct kind *k, const json_t *object,
                 json_t *reference_steal)
{
    const json_t *old = json_at(object, "metadata.ownerReferences");
    json_t *owners = old ? json_copy((json_t *) old) : json_array();
    json_array_append_new(owners, reference_steal);
    return set_owners(a, user, k, object, owners);
}

int object_release(struct actors *a, const char *user, const struct kind *k, const json_t *object,
                   const char *uid)
{
    json_t *owners = json_array();
    JSON_EACH (reference, json_at(object, "metadata.ownerReferences"))
        if (!str_eq(json_str(reference, "uid"), uid))
            json_array_append(owners, reference);
    return set_owners(a, user, k, object, owners);
}

/* Whether a condition already has these values. */
static bool says(const json_t *condition, const char *status, const char *reason,
                 const char *message)
{
    return str_eq(json_key(condition, "status"), status) &&
           str_eq(str_or_empty(json_key(condition, "reason")), str_or_empty(reason)) &&
           str_eq(str_or_empty(json_key(condition, "message")), str_or_empty(message));
}

static json_t *new_condition(const char *type, const char *status, const char *reason,
                             const char *message, const char *since)
{
    return json_pack("{s:s, s:s, s:s, s:o*, s:o*}", "type", type, "status", status,
                     "lastTransitionTime", since, "reason", reason ? json_text(reason) : NULL,
                     "message", message ? json_text(message) : NULL);
}

json_t *conditions_with(const json_t *conditions, const char *type, const char *status,
                        const char *reason, const char *message, const char *now)
{
    const json_t *before = condition_find(conditions, type);
    if (before && says(before, status, reason, message))
        return json_incref((json_t *) conditions);
    const char *since = str_eq(json_key(before, "status"), status)
                            ? json_key(before, "lastTransitionTime")
                            : now;
    json_t *condition = new_condition(type, status, reason, message, since ? since : now),
           *out = json_array();
    JSON_EACH (old, conditions)
        json_array_append(out, old == before ? condition : old);
    if (!before)
        json_array_append(out, condition);
    json_decref(condition);
    return out;
}

json_t *pod_of_template(const struct kind *k, const json_t *owner, const json_t *template)
{
    const json_t *labels = json_at(template, "metadata.labels"),
                 *annotations = json_at(template, "metadata.annotations");
    json_t *metadata = json_pack("{s:s, s:s+, s:[o]}", "namespace", object_namespace(owner),
                                 "generateName", object_name(owner), "-", "ownerReferences",
                                 owner_reference(k, owner));
    json_object_set_new(metadata, "labels", labels ? json_copy((json_t *) labels) : json_object());
    if (annotations)
        json_object_set(metadata, "annotations", (json_t *) annotations);
    return json_pack("{s:o, s:O}", "metadata", metadata, "spec", json_object_get(template, "spec"));
}

void template_hash(const json_t *template, int64_t collisions, char out[static 16])
{
    /* Letters that form no words. */
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    CLEANUP_FREE char *text = json_canonical(template);
    uint64_t hash = str_hash(text, strlen(text)) +
                    (uint64_t) collisions * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < 10; i++, hash /= sizeof letters - 1)
        out[i] = letters[hash % (sizeof letters - 1)];
    out[10] = '\0';
}

int64_t scaled_value(const json_t *int_or_percent, int64_t total, bool round_up, int64_t fallback)
{
    if (json_is_integer(int_or_percent))
        return json_integer_value(int_or_percent);
    const char *text = json_string_value(int_or_percent);
    size_t digits = text ? strspn(text, "0123456789") : 0;
    if (digits == 0 || digits > 9 || !str_eq(text + digits, "%"))
        return fallback;
    int64_t hundredths = strtoll(text, NULL, 10) * total;
    return (hundredths + (round_up ? 99 : 0)) / 100;
}

/* Null stands for a member that is not there. */
static bool says_already(const json_t *status, const json_t *wanted)
{
    JSON_EACH_MEMBER (key, value, wanted) {
        const json_t *is = json_object_get(status, key);
        if (json_is_null(value) ? is != NULL : !json_equal(is, value))
            return false;
    }
    return true;
}

int object_set_status(struct actors *a, const char *user, const struct kind *k,
                      const json_t *object, json_t *status_steal)
{
    CLEANUP_JSON json_t *held = json_incref((json_t *) object);
    CLEANUP_JSON json_t *patch = json_pack("{s:o}", "status", status_steal);
    if (says_already(json_object_get(held, "status"), status_steal))
        return 0;
    return api_merge(a->api, user, k, object_namespace(held), object_name(held), "status", patch,
                     NULL);
}
