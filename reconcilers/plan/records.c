#include "reconcilers/plan/records.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/revision.h"

/* Whether another revision of the same tier and kind of host completed later in the pool. Times are RFC 3339 in UTC: text compares as
 * time. */
static bool is_superseded(const struct cluster_view *v, const struct child *record, const char *annotation, const char *completed)
{
    const char *tier = json_str(record->inputs, "tier");
    for (size_t i = 0; i < v->child_count; i++) {
        const struct child *other = v->children[i];
        if (other == record || other->resource != RESOURCE_REVISION || !child_is_ours(other))
            continue;
        const char *later = json_key(other->annotations, annotation);
        if (later && strcmp(later, completed) > 0 && str_eq(json_str(other->inputs, "tier"), tier) &&
            revision_same_host(other->inputs, record->inputs))
            return true;
    }
    return false;
}

bool record_is_known_good(const struct cluster_view *v, const struct child *record)
{
    for (size_t i = 0; i < v->policy->pools_len; i++) {
        CLEANUP_FREE char *key = xasprintf(ANNOTATION_COMPLETED "%s", v->policy->pools[i].name);
        const char *completed = json_key(record->annotations, key);
        if (completed && !is_superseded(v, record, key, completed))
            return true;
    }
    return false;
}

/* Whether every node of the pool that wants the revision and is up runs it, and at least one does. */
static bool is_complete(const struct revision_tally *r)
{
    return r->done && r->done == r->wanted - r->wanted_lost;
}

/* What one pool has to say. The time of completion is that of the last one: a revision that was left and came back completes anew. */
static void annotate_pool(const struct cluster_view *v, const struct revision_tally *r, const struct child *record, json_t *wanted)
{
    const char *pool = v->policy->pools[r->pool].name;
    CLEANUP_FREE char *target = xasprintf(ANNOTATION_TARGET "%s", pool);
    CLEANUP_FREE char *completed = xasprintf(ANNOTATION_COMPLETED "%s", pool);
    const char *since = record ? json_key(record->annotations, target) : NULL;
    const char *last = json_key(wanted, completed);
    if (!since)
        since = v->now;
    json_object_set_new(wanted, target, json_string(since));
    if (is_complete(r) && (!last || strcmp(last, since) < 0))
        json_object_set_new(wanted, completed, json_string(v->now));
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
    if (str_has_prefix(key, ANNOTATION_COMPLETED))
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
