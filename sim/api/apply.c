/* Server-side apply: merges the intent into the live object, removes what its manager no longer
 * names, and finds conflicts. */
#include "sim/api/managed.h"

#include "base/json.h"
#include "sim/api/conflict.h"
#include "sim/api/draft.h"
#include "sim/api/field_set.h"
#include "sim/api/last_applied.h"
#include "sim/api/merge.h"

/* One apply in progress. */
struct apply {
    const struct merge_root *root;
    const json_t *live; /* NULL: the object is new */
    const json_t *intent;
    const struct managed_writer *writer;
    struct managers managers;
    json_t *last;   /* what this manager owned before; owned */
    json_t *own;    /* what it owns now; owned */
    json_t *result; /* owned */
};

/* ---- fields that are no longer named */

/* All fields that have an owner now. New reference. */
static json_t *owned_by_all(const struct apply *a)
{
    json_t *all = json_incref(a->own);
    const struct manager *own = managers_find(&a->managers, a->writer, "Apply");
    for (size_t i = 0; i < a->managers.len; i++) {
        if (&a->managers.items[i] == own)
            continue;
        json_t *more = field_set_union(all, a->managers.items[i].fields);
        json_decref(all);
        all = more;
    }
    return all;
}

/* `object` without a set, or an empty object. */
static json_t *without(const struct apply *a, const json_t *object, const json_t *set)
{
    json_t *left = field_tree_remove(&a->root->type, object, set);
    return left ? left : json_object();
}

/* The fields of an object with their parents. */
static json_t *named_fields(const struct apply *a, const json_t *object)
{
    CLEANUP_JSON json_t *set = field_tree_set(&a->root->type, object);
    return field_tree_named(&a->root->type, set);
}

/* Removes what this manager named before and does not name now, unless another manager owns it or a
 * part of it. */
static void prune(struct apply *a)
{
    CLEANUP_JSON json_t *dropped = field_set_difference(a->last, a->own);
    if (!dropped)
        return;
    const struct merge_type *t = &a->root->type;
    CLEANUP_JSON json_t *owned = owned_by_all(a);
    CLEANUP_JSON json_t *all = named_fields(a, a->result);
    CLEANUP_JSON json_t *last_named = field_tree_named(t, a->last);
    CLEANUP_JSON json_t *metadata = json_pack("{s:{}}", "f:metadata"); /* itself is never removed */
    CLEANUP_JSON json_t *last = field_set_difference(last_named, metadata);
    CLEANUP_JSON json_t *kept = field_tree_named(t, owned);
    CLEANUP_JSON json_t *bare = without(a, a->result, last);
    CLEANUP_JSON json_t *bare_fields = named_fields(a, bare);
    CLEANUP_JSON json_t *wanted = field_set_union(bare_fields, kept);
    CLEANUP_JSON json_t *unwanted = field_set_difference(all, wanted);
    CLEANUP_JSON json_t *pruned = without(a, a->result, unwanted);
    /* Removing a parent also removes unowned parts of it; restore those that this manager never
     * owned. */
    CLEANUP_JSON json_t *pruned_fields = named_fields(a, pruned);
    CLEANUP_JSON json_t *gone = field_set_difference(all, pruned_fields);
    CLEANUP_JSON json_t *gone_own = field_set_intersection(gone, last);
    json_t *result = without(a, a->result, gone_own);
    json_decref(a->result);
    a->result = result;
}

/* ---- the parts of an apply */

/* Reads the owners of the live object. An object without managedFields belongs to
 * "before-first-apply". */
static void read_live(struct apply *a)
{
    managers_read(&a->managers, tracking_entries(a->live));
    if (!a->live || a->managers.len > 0)
        return;
    struct managed_writer before = *a->writer;
    before.manager = "before-first-apply";
    CLEANUP_DIFF struct field_diff all;
    tracking_diff(&before, NULL, a->live, &all);
    tracking_note(&a->managers, &all, &before);
}

/* The intent's fields, less those that this write does not set. */
static void read_intent(struct apply *a)
{
    const struct manager *own = managers_find(&a->managers, a->writer, "Apply");
    struct field_diff fields = { .set = field_tree_set(&a->root->type, a->intent) };
    field_diff_leave_out(&fields, tracking_resets(a->root, a->writer->subresource));
    a->last = own ? json_incref(own->fields) : NULL;
    a->own = fields.set;
}

/* 0, or -1 and 409. Other managers lose what this apply changes or removes. */
static int take_over(struct apply *a, bool force, struct refusal *r)
{
    struct manager *own = managers_get(&a->managers, a->writer, "Apply");
    CLEANUP_DIFF struct field_diff change;
    tracking_diff(a->writer, a->live, a->result, &change);
    CLEANUP_JSON json_t *allowed = last_applied_fields(a->root, a->live, a->writer->manager);
    if (!force && conflict_check(&a->managers, own, change.set, allowed, r) < 0)
        return -1;
    managers_yield(&a->managers, &change, own);
    /* An unchanged entry keeps its JSON. */
    manager_own(own,
                json_equal(own->fields, a->own) ? json_incref(own->fields) : json_incref(a->own));
    own->api_version = a->writer->api_version;
    return 0;
}

/* The result, with its managedFields and annotation. */
static json_t *apply_finish(struct apply *a)
{
    json_t *object = draft_own_top(a->result);
    if (!json_equal(a->live, a->result))
        manager_touch(managers_get(&a->managers, a->writer, "Apply"), a->writer->time);
    last_applied_sync(object, a->intent, a->writer->manager);
    tracking_write(object, &a->managers);
    if (!json_equal(object, a->live))
        return object;
    json_decref(object);
    return json_incref((json_t *) a->live);
}

static json_t *apply(struct apply *a, bool force, struct refusal *r)
{
    read_live(a);
    read_intent(a);
    a->result = merge_objects(&a->root->type, a->live, a->intent);
    prune(a);
    if (take_over(a, force, r) < 0)
        return NULL;
    return apply_finish(a);
}

json_t *managed_apply(const json_t *live, const json_t *intent, const struct managed_writer *w,
                      bool force, struct refusal *r)
{
    struct apply a = { .root = w->root, .live = live, .intent = intent, .writer = w };
    const json_t *entries = tracking_entries(intent);
    if (entries && !json_is_null(entries)) {
        refuse(r, 400, "metadata.managedFields must be nil");
        return NULL;
    }
    if (merge_check(a.root, intent, r) < 0)
        return NULL;
    json_t *result = apply(&a, force, r);
    managers_clear(&a.managers);
    json_decref(a.last);
    json_decref(a.own);
    json_decref(a.result);
    return result;
}
