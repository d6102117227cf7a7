#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/autoscaler.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "tests/sweep/checks.h"

/* Keys under this domain are those of people, wherever they are. */
#define FOREIGN_DOMAIN "example.com/"

/* Members of an object that a write may touch. */
static bool is_named(const char *const *names, const char *key)
{
    for (; *names; names++)
        if (strcmp(*names, key) == 0)
            return true;
    return false;
}

/* The first member that differs and is not in `but`; NULL: none. */
static const char *differs(const json_t *a, const json_t *b, const char *const *but)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) a, key, value)
        if (!is_named(but, key) && !json_equal(value, json_object_get(b, key)))
            return key;
    json_object_foreach ((json_t *) b, key, value)
        if (!is_named(but, key) && !json_object_get(a, key))
            return key;
    return NULL;
}

/* So late news may be, with the delays of sweep_dst.c. */
enum { UNHEARD_MS = 10 * 1000 };

/* ---- nodes */

static json_t *marks_of(const json_t *node)
{
    const char *text = object_annotation(node, ANNOTATION_MARKS);
    return text ? json_parse(text, strlen(text), NULL) : NULL;
}

/* What the two states of a node say of whose a key is. */
struct claims {
    json_t *before, *after;
};

/* A key is ours if we had said so, or if we say so now and the object did not have it. */
static bool is_ours(const struct claims *c, const char *list, const char *name, bool was_there)
{
    return json_has_text(json_object_get(c->before, list), name) ||
           (!was_there && json_has_text(json_object_get(c->after, list), name));
}

/* Whether Ostler may write this key of a list, besides its own, where it had this value before
 * (NULL: none). */
typedef bool may_write_fn(const struct claims *claims, const char *list, const char *key,
                          const char *was);

static bool may_write_label(const struct claims *claims, const char *list, const char *key,
                            const char *was)
{
    return is_ours(claims, list, key, was != NULL);
}

/* Those that keep autoscalers off, unless another client has set a value of its own. */
static bool may_write_annotation(const struct claims *claims, const char *list, const char *key,
                                 const char *was)
{
    bool keeps = str_eq(key, ANNOTATION_KEEPS_KARPENTER) ||
                 str_eq(key, ANNOTATION_KEEPS_CLUSTER_AUTOSCALER);
    return keeps && is_ours(claims, list, key, was != NULL) && (!was || str_eq(was, KEEPS_VALUE));
}

/* The texts of a list of metadata, "labels" or "annotations". */
static void check_texts(struct invariants *v, const struct api_commit *c,
                        const struct claims *claims, const char *list, may_write_fn *may_write)
{
    const json_t *before = json_object_get(json_object_get(c->before, "metadata"), list);
    const json_t *after = json_object_get(json_object_get(c->after, "metadata"), list);
    const char *key;
    json_t *value;
    CLEANUP_JSON json_t *all = json_object();
    json_object_update(all, (json_t *) before);
    json_object_update(all, (json_t *) after);
    json_object_foreach (all, key, value) {
        const char *was = json_key(before, key);
        if (!str_eq(was, json_key(after, key)) && !str_has_prefix(key, MARK_PREFIX) &&
            !may_write(claims, list, key, was))
            check_failed(v, INVARIANT_S7_FRAME_NODE, "%s of %s: %s", list, object_name(c->after),
                         key);
    }
}

static json_t *taints_by_name(const json_t *node)
{
    json_t *out = json_object(), *t;
    size_t i;
    json_array_foreach (json_at(node, "spec.taints"), i, t) {
        CLEANUP_FREE char *name = xasprintf("%s:%s", json_str_or_empty(t, "key"),
                                            json_str_or_empty(t, "effect"));
        json_object_set(out, name, t);
    }
    return out;
}

static void check_taints(struct invariants *v, const struct api_commit *c,
                         const struct claims *claims)
{
    CLEANUP_JSON json_t *before = taints_by_name(c->before), *after = taints_by_name(c->after),
                        *all = json_copy(before);
    const char *name;
    json_t *value;
    json_object_update(all, after);
    json_object_foreach (all, name, value) {
        const json_t *was = json_object_get(before, name), *is = json_object_get(after, name);
        bool same = was && is && json_equal((json_t *) was, (json_t *) is);
        if (!same && !str_has_prefix(name, MARK_PREFIX) &&
            !is_ours(claims, "taints", name, was != NULL))
            check_failed(v, INVARIANT_S7_FRAME_NODE, "taint %s of %s", name, object_name(c->after));
    }
}

/* The conditions of a node by their type, without Ostler's. */
static json_t *conditions_by_type(const json_t *node)
{
    json_t *out = json_object(), *condition;
    size_t i;
    json_array_foreach (json_at(node, "status.conditions"), i, condition)
        if (!str_eq(json_str(condition, "type"), NODE_CONDITION) &&
            !str_eq(json_str(condition, "type"), NODE_CONDITION_HEALTH))
            json_object_set(out, json_str_or_empty(condition, "type"), condition);
    return out;
}

static const char *other_condition(const json_t *before, const json_t *after)
{
    static const char *const none[] = { NULL };
    CLEANUP_JSON json_t *was = conditions_by_type(before), *is = conditions_by_type(after);
    return differs(was, is, none) ? "a condition of others" : NULL;
}

void check_frame_node(struct invariants *v, const struct api_commit *c)
{
    static const char *const touched[] = { "metadata", "spec", "status", NULL };
    static const char *const status[] = { "conditions", NULL };
    static const char *const metadata[] = { "labels", "annotations", "resourceVersion",
                                            "managedFields", NULL };
    static const char *const spec[] = { "taints", NULL };
    if (!check_is_kind(c->kind, "nodes"))
        return;
    check_tried(v, INVARIANT_S7_FRAME_NODE);
    if (!c->before || !c->after) {
        check_failed(v, INVARIANT_S7_FRAME_NODE, "node %s is created or deleted",
                     object_name(c->after ? c->after : c->before));
        return;
    }
    const char *other = differs(c->before, c->after, touched);
    other = other ? other
                  : differs(json_object_get(c->before, "metadata"),
                            json_object_get(c->after, "metadata"), metadata);
    other = other ? other
                  : differs(json_object_get(c->before, "spec"), json_object_get(c->after, "spec"),
                            spec);
    other = other ? other
                  : differs(json_object_get(c->before, "status"),
                            json_object_get(c->after, "status"), status);
    other = other ? other : other_condition(c->before, c->after);
    if (other)
        check_failed(v, INVARIANT_S7_FRAME_NODE, "%s of %s", other, object_name(c->after));
    struct claims claims = { marks_of(c->before), marks_of(c->after) };
    check_texts(v, c, &claims, "labels", may_write_label);
    check_taints(v, c, &claims);
    check_texts(v, c, &claims, "annotations", may_write_annotation);
    json_decref(claims.before);
    json_decref(claims.after);
}

/* ---- the policy */

void check_frame_policy(struct invariants *v, const struct api_commit *c)
{
    static const char *const touched[] = { "metadata", "status", NULL };
    static const char *const metadata[] = { "finalizers", "resourceVersion", "managedFields",
                                            "generation", NULL };
    if (!check_is_kind(c->kind, "gpuclusterpolicies") || !c->before || !c->after)
        return;
    check_tried(v, INVARIANT_S7_FRAME_POLICY);
    const char *other = differs(c->before, c->after, touched);
    other = other ? other
                  : differs(json_object_get(c->before, "metadata"),
                            json_object_get(c->after, "metadata"), metadata);
    if (other)
        check_failed(v, INVARIANT_S7_FRAME_POLICY, "%s changes", other);
    size_t i;
    json_t *f;
    json_array_foreach (json_at(c->before, "metadata.finalizers"), i, f)
        if (!object_has_finalizer(c->after, json_string_value(f)) &&
            !str_eq(json_string_value(f), POLICY_FINALIZER))
            check_failed(v, INVARIANT_S7_FRAME_POLICY, "the finalizer %s goes",
                         json_string_value(f));
}

/* ---- children */

static bool is_own(const json_t *object)
{
    return str_eq(object_label(object, LABEL_MANAGED_BY), MANAGED_BY) ||
           object_label(object, LABEL_POLICY_UID);
}

/* The agent on a node creates the GpuNode if there is none. The GpuNode has no owner until Ostler
 * adds its node. */
static bool is_unowned(const struct api_commit *c)
{
    return str_eq(c->kind->plural, "gpunodes") && c->before &&
           !json_array_size(json_at(c->before, "metadata.ownerReferences"));
}

static void check_foreign_keys(struct invariants *v, const struct api_commit *c, const char *map)
{
    const char *key;
    json_t *value;
    json_object_foreach (json_at(c->before, map), key, value)
        if (strstr(key, FOREIGN_DOMAIN) &&
            !str_eq(json_string_value(value), json_key(json_at(c->after, map), key)))
            check_failed(v, INVARIANT_S7_FRAME_CHILD, "%s %s of %s/%s", map, key, c->kind->plural,
                         object_name(c->before));
}

void check_frame_child(struct invariants *v, const struct api_commit *c)
{
    static const char *const not_children[] = { "nodes",  "pods",   "gpuclusterpolicies",
                                                "events", "leases", NULL };
    if (is_named(not_children, c->kind->plural))
        return;
    check_tried(v, INVARIANT_S7_FRAME_CHILD);
    const json_t *object = c->after ? c->after : c->before;
    bool place = !c->kind->namespaced || str_eq(object_namespace(object), OPERAND_NAMESPACE);
    bool own = is_unowned(c) || (is_own(object) && (!c->before || is_own(c->before)));
    if (!place || !own)
        check_failed(v, INVARIANT_S7_FRAME_CHILD, "%s %s/%s", c->kind->plural,
                     object_namespace(object), object_name(object));
    if (!c->before || !c->after)
        return;
    check_foreign_keys(v, c, "metadata.labels");
    check_foreign_keys(v, c, "metadata.annotations");
}

/* ---- what is being deleted */

/* Whether it has been deleted so lately that Ostler may not have heard of it. */
static bool is_just_deleted(const struct invariants *v, const json_t *object)
{
    const struct sim *sim = &v->run->sim;
    int64_t deleted_us = clock_parse_rfc3339(
        json_str_or_empty(object, "metadata.deletionTimestamp"));
    return sim_wall_us(sim, sim->now_ms) - deleted_us < UNHEARD_MS * INT64_C(1000);
}

void check_deletion(struct invariants *v, const struct api_commit *c)
{
    static const char *const touched[] = { "metadata", NULL };
    static const char *const metadata[] = { "finalizers", "resourceVersion", "managedFields",
                                            NULL };
    if (!c->before || !c->after || !object_is_deleting(c->before))
        return;
    check_tried(v, INVARIANT_S13_DELETION);
    if (check_is_kind(c->kind, "nodes") && is_just_deleted(v, c->before))
        return;
    if (check_is_kind(c->kind, "gpuclusterpolicies") && str_eq(c->subresource, "status"))
        return; /* people read there how far the removal is */
    if (check_is_kind(c->kind, "pods") && str_eq(c->subresource, "status"))
        return; /* the server's own note of an eviction: another client was quicker */
    const char *other = differs(c->before, c->after, touched);
    other = other ? other
                  : differs(json_object_get(c->before, "metadata"),
                            json_object_get(c->after, "metadata"), metadata);
    if (other)
        check_failed(v, INVARIANT_S13_DELETION, "%s of %s %s", other, c->kind->plural,
                     object_name(c->after));
}
