#include "sim/api/rules.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/merge_type.h"
#include "sim/api/custom_rules.h"
#include "sim/api/draft.h"
#include "sim/api/event_view.h"
#include "sim/api/prepare.h"
#include "sim/api/typed.h"
#include "sim/api/validate.h"

enum { WHY_MAX = 8 << 20, WORDS_MAX = 64 };

/* The special rules of a kind. */
static const struct rules {
    const char *kind;
    void (*prepare_new)(json_t *object);
    void (*prepare)(const json_t *before, json_t *object);
    void (*validate)(const json_t *before, const json_t *after, struct refusal *r);
} rules[] = {
    { "Node", prepare_new_node, NULL, validate_node },
    { "Namespace", prepare_new_namespace, prepare_namespace, NULL },
    { "Pod", prepare_new_pod, prepare_pod, validate_pod },
    { "ConfigMap", NULL, NULL, validate_config_map },
    { "Service", prepare_new_service, prepare_service, validate_service },
    { "ControllerRevision", NULL, NULL, validate_controller_revision },
    { "DaemonSet", prepare_new_daemon_set, prepare_daemon_set, validate_daemon_set },
    { "Deployment", NULL, NULL, validate_deployment },
    { "ReplicaSet", NULL, NULL, validate_replica_set },
    { "Job", prepare_new_job, NULL, validate_job },
    { "Lease", NULL, NULL, validate_lease },
    { "RuntimeClass", NULL, NULL, validate_runtime_class },
    { "PodDisruptionBudget", NULL, NULL, validate_pod_disruption_budget },
    { "PriorityClass", NULL, NULL, validate_priority_class },
    { "Event", NULL, NULL, validate_core_event },
};
static const struct rules none = { .kind = "" };

static const struct rules *rules_of(const struct kind *k)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (str_eq(rules[i].kind, k->kind))
            return &rules[i];
    return &none;
}

/* ---- reading */

/* "strict decoding error: unknown field "spec.a", unknown field "spec.b"". Owned by the caller. */
static char *unknown_fields(const json_t *paths)
{
    CLEANUP_BUF struct buf b = BUF_INIT(WHY_MAX);
    buf_str(&b, "strict decoding error: ");
    JSON_EACH_AT (i, path, paths) {
        /* Those that have no room are left out. */
        if (b.len + json_string_length(path) + WORDS_MAX > WHY_MAX)
            break;
        buf_printf(&b, "%sunknown field \"%s\"", i ? ", " : "", json_string_value(path));
    }
    return buf_take(&b);
}

static json_t *read_as(struct custom_schemas *schemas, const struct kind *k, const json_t *before,
                       const json_t *object, struct typed_problems *problems)
{
    const struct type *type = type_of_kind(k);
    return type ? typed_read(type, before, object, problems)
                : custom_read(schemas, k, before, object, problems);
}

json_t *rules_read(struct custom_schemas *schemas, const struct kind *k, const json_t *before,
                   const json_t *object, bool strict, json_t **ret_unknown, char **ret_why)
{
    struct typed_problems problems = { 0 };
    CLEANUP_JSON json_t *read = read_as(schemas, k, before, object, &problems);
    *ret_why = NULL;
    if (ret_unknown)
        *ret_unknown = json_incref(problems.unknown);
    if (read && strict && problems.unknown)
        *ret_why = unknown_fields(problems.unknown);
    else if (!read)
        *ret_why = TAKE(problems.wrong_type);
    typed_problems_clear(&problems);
    return *ret_why ? NULL : draft_own_top(read);
}

/* ---- preparing */

/* Restores the value at a path ("spec", "metadata.labels"). */
static void restore(const json_t *before, json_t *object, const char *path)
{
    json_t *was = json_at(before, path);
    if (was) {
        json_set_at(object, path, json_incref(was));
        return;
    }
    const char *dot = strchr(path, '.');
    if (!dot)
        json_object_del(object, path);
    else
        json_object_del(json_object_get(object, "metadata"), dot + 1);
}

/* Sets the status of a new object: what its type always has, and defaults. */
static void reset_status(struct custom_schemas *schemas, const struct kind *k, json_t *object)
{
    struct typed_problems problems = { 0 };
    const struct type *type = type_of_kind(k);
    const struct type *status_type = type ? field_type(type_field(type, "status")) : NULL;
    CLEANUP_JSON json_t *bare = json_object();
    CLEANUP_JSON json_t *read = type ? typed_read(status_type, NULL, bare, &problems)
                                     : custom_read(schemas, k, NULL, bare, &problems);
    typed_problems_clear(&problems);
    json_t *status = type ? read : json_object_get(read, "status");
    if (status)
        json_object_set(object, "status", status);
    else
        json_object_del(object, "status");
}

void rules_prepare_create(struct custom_schemas *schemas, const struct kind *k, json_t *object)
{
    /* A new node may bring its status: a kubelet that registers itself does. */
    if (k->subresources & SUB_STATUS && !str_eq(k->kind, "Node"))
        reset_status(schemas, k, object);
    const struct rules *own = rules_of(k);
    if (own->prepare_new)
        own->prepare_new(object);
}

const struct merge_root *rules_merge(struct custom_schemas *schemas, const struct kind *k)
{
    const struct merge_root *root = merge_root_of(k);
    return root ? root : custom_merge(schemas, k);
}

void rules_prepare_update(struct custom_schemas *schemas, const struct kind *k,
                          const char *subresource, const json_t *before, json_t *object)
{
    const struct merge_root *root = rules_merge(schemas, k);
    bool of_status = str_eq(subresource, "status");
    const char *const *reset = of_status ? root->status_reset : root->reset;
    size_t len = of_status ? ARRAY_LEN(root->status_reset) : ARRAY_LEN(root->reset);
    CLEANUP_JSON json_t *managed = json_incref(json_at(object, "metadata.managedFields"));
    for (size_t i = 0; i < len && reset[i]; i++)
        restore(before, object, reset[i]);
    /* managedFields change even if a write of the status resets all metadata. */
    if (of_status && managed && json_is_object(json_object_get(object, "metadata"))) {
        json_object_set_new(object, "metadata", json_copy(json_object_get(object, "metadata")));
        json_set_at(object, "metadata.managedFields", json_incref(managed));
    }
    const struct rules *own = rules_of(k);
    if (!of_status && own->prepare)
        own->prepare(before, object);
}

/* ---- generation */

/* Whether anything but metadata (and the status, if it is a subresource) differs. */
static bool content_changes(const struct kind *k, const json_t *before, const json_t *after)
{
    const json_t *const objects[] = { before, after };
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        JSON_EACH_MEMBER (key, value, objects[i]) {
            if (str_eq(key, "metadata") || (str_eq(key, "status") && k->subresources & SUB_STATUS))
                continue;
            if (!json_equal(value, json_object_get(objects[1 - i], key)))
                return true;
        }
    }
    return false;
}

bool rules_generation_changes(const struct kind *k, const json_t *before, const json_t *after)
{
    if (k->flags & KIND_CUSTOM)
        return content_changes(k, before, after);
    if (str_eq(k->kind, "PriorityClass"))
        return false;
    /* The binding of a pod does not count. */
    if (str_eq(k->kind, "Pod") &&
        !str_eq(json_str(before, "spec.nodeName"), json_str(after, "spec.nodeName")))
        return false;
    const json_t *spec_was = json_object_get(before, "spec"),
                 *spec_is = json_object_get(after, "spec");
    if (spec_was != spec_is && !json_equal(spec_was, spec_is))
        return true;
    const json_t *was = json_at(before, "metadata.annotations"),
                 *is = json_at(after, "metadata.annotations");
    return str_eq(k->kind, "Deployment") && was != is && !json_equal(was, is);
}

/* ---- validation */

int rules_validate(struct custom_schemas *schemas, const struct kind *k, const char *subresource,
                   const json_t *before, const json_t *after, struct refusal *r)
{
    validate_metadata(k, before, after, r);
    if (k->flags & KIND_CUSTOM) {
        custom_validate(schemas, k, subresource, before, after, r);
    } else if (str_eq(k->group, "events.k8s.io")) {
        validate_event(before, after, r);
    } else if (str_eq(subresource, "status")) {
        validate_status(before, after, r);
    } else if (!str_eq(subresource, "binding") && rules_of(k)->validate) {
        rules_of(k)->validate(before, after, r);
    }
    /* Both forms of events are refused in the name of the older one. */
    return refuse_finish_invalid(r, event_stored_kind(k),
                                 str_or_empty(json_str(after, "metadata.name")));
}
