#include "reconcilers/plan/records.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/revision.h"

/* The time that the record gives for a pool, or NULL. Borrowed. */
static const char *time_of(const struct child *record, const char *annotation, const char *pool)
{
    CLEANUP_FREE char *key = xasprintf("%s%s", annotation, pool);
    return child_time(record, key);
}

bool record_has_run(const struct child *record, const char *pool)
{
    return time_of(record, ANNOTATION_COMPLETED, pool) || time_of(record, ANNOTATION_RAN, pool);
}

int record_order(const struct child *a, const struct child *b, const char *pool)
{
    static const char *const annotations[] = { ANNOTATION_COMPLETED, ANNOTATION_RAN };
    for (size_t i = 0; i < ARRAY_LEN(annotations); i++) {
        int order = strcmp(str_or_empty(time_of(b, annotations[i], pool)), str_or_empty(time_of(a, annotations[i], pool)));
        if (order)
            return order;
    }
    return strcmp(a->head.key, b->head.key);
}

/* Whether the pool rather holds on to another revision of the same tier and kind of host. */
static bool is_superseded(const struct cluster_view *v, const struct child *record, const char *pool)
{
    const char *tier = json_str(record->inputs, "tier");
    for (size_t i = 0; i < v->child_count; i++) {
        const struct child *other = v->children[i];
        if (other == record || other->resource != RESOURCE_REVISION || !child_is_ours(other))
            continue;
        if (record_order(other, record, pool) < 0 && str_eq(json_str(other->inputs, "tier"), tier) &&
            revision_same_host(other->inputs, record->inputs))
            return true;
    }
    return false;
}

bool record_is_held(const struct cluster_view *v, const struct child *record)
{
    for (size_t i = 0; i < v->policy->pools_len; i++) {
        const char *pool = v->policy->pools[i].name;
        if (record_has_run(record, pool) && !is_superseded(v, record, pool))
            return true;
    }
    return false;
}

/* Whether every node of the pool that wants the revision and is up runs it, and at least one does. */
static bool is_complete(const struct revision_tally *r)
{
    return r->done && r->done == r->wanted - r->wanted_lost;
}

/* Says that something is so now, where it has not been so since the pool wants the revision: one that was left and came back runs,
 * and completes, anew. */
static void mark_reached(json_t *wanted, const char *annotation, const char *pool, const char *since, const char *now)
{
    CLEANUP_FREE char *key = xasprintf("%s%s", annotation, pool);
    const char *last = json_key(wanted, key);
    if (!last || strcmp(last, since) < 0)
        json_object_set_new(wanted, key, json_string(now));
}

/* What one pool has to say. */
static void annotate_pool(const struct cluster_view *v, const struct revision_tally *r, const struct child *record, json_t *wanted)
{
    const char *pool = v->policy->pools[r->pool].name;
    CLEANUP_FREE char *target = xasprintf(ANNOTATION_TARGET "%s", pool);
    const char *since = record ? child_time(record, target) : NULL;
    if (!since)
        since = v->now;
    json_object_set_new(wanted, target, json_string(since));
    if (r->done)
        mark_reached(wanted, ANNOTATION_RAN, pool, since, v->now);
    if (is_complete(r))
        mark_reached(wanted, ANNOTATION_COMPLETED, pool, since, v->now);
}

/* Whether the pool that the annotation names wants another revision for the same kind of host now. */
static bool is_displaced(const struct cluster_view *v, const struct child *record, const char *annotation)
{
    const char *tier = json_str_or_empty(record->inputs, "tier");
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&v->tally->revisions, &cursor))) {
        const struct revision_tally *r = e->value;
        if (!r->wanted || !str_eq(r->tier, tier) || str_eq(r->hash, record->revision) ||
            !str_eq(v->policy->pools[r->pool].name, annotation + strlen(ANNOTATION_TARGET)))
            continue;
        if (revision_same_host(cluster_inputs(v, r->tier, r->hash), record->inputs))
            return true;
    }
    return false;
}

/* Whether an annotation of the record stays true. */
static bool is_kept(const struct cluster_view *v, const struct child *record, const char *key)
{
    if (!child_time(record, key))
        return false;
    if (str_has_prefix(key, ANNOTATION_RAN) || str_has_prefix(key, ANNOTATION_COMPLETED))
        return true;
    return str_has_prefix(key, ANNOTATION_TARGET) && (!v->settled || !is_displaced(v, record, key));
}

json_t *record_annotations(const struct cluster_view *v, const char *tier, const char *hash, const struct child *record)
{
    json_t *wanted = json_object();
    const char *key;
    json_t *value;
    json_object_foreach (record ? record->annotations : NULL, key, value)
        if (is_kept(v, record, key))
            json_object_set(wanted, key, value);
    /* Until every node has been looked at under this policy the sums still number the pools of the one before. */
    if (!v->settled)
        return wanted;
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&v->tally->revisions, &cursor))) {
        const struct revision_tally *r = e->value;
        if (str_eq(r->tier, tier) && str_eq(r->hash, hash) && r->wanted)
            annotate_pool(v, r, record, wanted);
    }
    return wanted;
}
