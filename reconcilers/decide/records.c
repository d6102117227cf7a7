#include "reconcilers/decide/records.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/revision.h"
#include "reconcilers/decide/retry.h"

/* Longest text of a newer version's annotation, including the NUL. */
enum { NEWER_TEXT_MAX = 512 };
/* Instead of a time: a wave that is not over. */
#define WAVE_RUNNING "Running"

static char *key_of(const char *annotation, const char *pool)
{
    return xasprintf("%s%s", annotation, pool);
}

/* The record's time for a pool, or NULL. Borrowed. */
static const char *records_time_of(const struct child *record, const char *annotation,
                                   const char *pool)
{
    CLEANUP_FREE char *key = key_of(annotation, pool);
    return child_time(record, key);
}

/* The record's text for a pool, or NULL. Borrowed. */
static const char *records_text_of(const struct child *record, const char *annotation,
                                   const char *pool)
{
    CLEANUP_FREE char *key = key_of(annotation, pool);
    return json_key(record->annotations, key);
}

bool record_has_run(const struct child *record, const char *pool)
{
    return records_time_of(record, ANNOTATION_COMPLETED, pool) ||
           records_time_of(record, ANNOTATION_RAN, pool);
}

int64_t record_time_s(const struct child *record, const char *annotation, const char *pool)
{
    const char *text = records_time_of(record, annotation, pool);
    return text ? clock_parse_rfc3339(text) / 1000000 : 0;
}

int64_t record_canary_s(const struct child *record, const char *pool)
{
    const char *text = records_text_of(record, ANNOTATION_CANARY, pool);
    int64_t passed_ms;
    return text && str_parse_duration(text, &passed_ms)
               ? -(passed_ms / 1000)
               : record_time_s(record, ANNOTATION_CANARY, pool);
}

int64_t record_wave_s(const struct child *record, const char *pool)
{
    bool runs = str_eq(records_text_of(record, ANNOTATION_WAVE, pool), WAVE_RUNNING);
    return runs ? ROLLOUT_WAVE_RUNNING : record_time_s(record, ANNOTATION_WAVE, pool);
}

const char *record_failure(const struct child *record, const char *pool)
{
    CLEANUP_FREE char *key = key_of(ANNOTATION_FAILED, pool);
    return child_failure(record, key);
}

bool record_has_failed(const struct child *record, const char *pool)
{
    return record_failure(record, pool) != NULL;
}

/* Whether a key begins with one of these; the last one is NULL. */
static bool has_one_of(const char *key, const char *const *prefixes)
{
    while (*prefixes && !str_has_prefix(key, *prefixes))
        prefixes++;
    return *prefixes;
}

/* Whether `b` has all that `a` has under some prefixes. */
static bool says_all_of(const struct child *b, const struct child *a)
{
    static const char *const prefixes[] = { ANNOTATION_FAILED, ANNOTATION_CANARY,
                                            ANNOTATION_COMPLETED, NULL };
    JSON_EACH_MEMBER (key, value, a ? a->annotations : NULL)
        if (has_one_of(key, prefixes) &&
            !json_equal(value, json_object_get(b ? b->annotations : NULL, key)))
            return false;
    return true;
}

bool record_standing_same(const struct child *a, const struct child *b)
{
    return says_all_of(a, b) && says_all_of(b, a);
}

int record_order(const struct child *a, const struct child *b, const char *pool)
{
    static const char *const annotations[] = { ANNOTATION_COMPLETED, ANNOTATION_RAN };
    for (size_t i = 0; i < ARRAY_LEN(annotations); i++) {
        int order = strcmp(str_or_empty(records_time_of(b, annotations[i], pool)),
                           str_or_empty(records_time_of(a, annotations[i], pool)));
        if (order)
            return order;
    }
    /* Within the same second, what the pool wants came last. */
    bool a_wanted = records_time_of(a, ANNOTATION_TARGET, pool),
         b_wanted = records_time_of(b, ANNOTATION_TARGET, pool);
    return a_wanted != b_wanted ? (int) b_wanted - (int) a_wanted
                                : strcmp(a->head.key, b->head.key);
}

/* Whether a child is the record of a revision of that tier and kind of host. */
static bool is_alike(const struct child *c, const json_t *inputs)
{
    return cluster_is_record(c, json_str_or_empty(inputs, "tier")) &&
           revision_same_host(c->inputs, inputs);
}

/* Number of revisions of the same tier and kind of host that the pool prefers to keep. */
static size_t superseded_by(const struct cluster_view *v, const struct child *record,
                            const char *pool)
{
    size_t count = 0;
    for (size_t i = 0; i < v->child_count; i++) {
        const struct child *other = v->children[i];
        count += other != record && is_alike(other, record->inputs) &&
                 record_order(other, record, pool) < 0;
    }
    return count;
}

bool record_is_held(const struct cluster_view *v, const struct child *record)
{
    bool held = false;
    for (size_t i = 0; i < v->policy->pools_len && !held; i++) {
        const char *pool = v->policy->pools[i].name;
        held = record_has_run(record, pool) && superseded_by(v, record, pool) == 0;
    }
    return held;
}

bool record_was_held(const struct cluster_view *v, const struct child *record)
{
    bool held = false;
    for (size_t i = 0; i < v->policy->pools_len && !held; i++) {
        const char *pool = v->policy->pools[i].name;
        held = records_time_of(record, ANNOTATION_COMPLETED, pool) &&
               superseded_by(v, record, pool) == 1;
    }
    return held;
}

static int64_t seconds_of(const char *time)
{
    return clock_parse_rfc3339(time) / 1000000;
}

/* NULL for 0. */
static json_t *time_json(int64_t s)
{
    char text[CLOCK_TEXT_MAX];
    clock_rfc3339(s * 1000000, text);
    return s ? json_string(text) : NULL;
}

/* The current time for an event, but later than the times in other revisions' records. False: such
 * a record has a time in the future, before `at_s`, which must be corrected first. */
static bool comes_now(const struct cluster_view *v, const struct child *record, const char *key,
                      int64_t at_s, int64_t *ret_s)
{
    int64_t now_s = seconds_of(v->now);
    *ret_s = now_s;
    for (size_t i = 0; record && i < v->child_count; i++) {
        const struct child *other = v->children[i];
        const char *time = other != record && is_alike(other, record->inputs)
                               ? child_time(other, key)
                               : NULL;
        int64_t other_s = time ? seconds_of(time) : 0;
        bool to_come = clock_is_ahead(other_s, now_s);
        if (to_come && other_s < at_s)
            return false;
        if (!to_come && other_s >= *ret_s)
            *ret_s = other_s + 1;
    }
    return true;
}

/* Records that something is true now, unless it has been since the pool wants the revision: a
 * revision that comes back runs and completes again. A target time later than that comes from
 * another leader's clock, which is ahead. It is corrected, because otherwise the event would repeat
 * in each pass until then. */
static void mark_reached(const struct cluster_view *v, const struct child *record,
                         const char *annotation, const char *pool, json_t *wanted)
{
    CLEANUP_FREE char *key = key_of(annotation, pool), *target = key_of(ANNOTATION_TARGET, pool);
    CLEANUP_FREE char *since = xstrdup(json_key(wanted, target));
    const char *last = json_key(wanted, key);
    int64_t s;
    if ((last && strcmp(last, since) >= 0) || !comes_now(v, record, key, INT64_MAX, &s))
        return;
    json_object_set_new(wanted, key, time_json(s));
    if (strcmp(json_key(wanted, key), since) < 0)
        json_object_set_new(wanted, target, time_json(s));
}

/* A time in the future came from a wrong clock or another client. It counts as now, because nothing
 * could come after it. This also holds if this clock was right and was set back by mistake. The
 * order of revisions must survive, because a pool rolls back to the last one. So each pass corrects
 * only the first of several such times, and puts it after all times that are not in the future. A
 * new reference. */
static json_t *past(const struct cluster_view *v, const struct child *record, const char *key)
{
    const char *time = child_time(record, key);
    int64_t at_s = seconds_of(time), s;
    bool right = !clock_is_ahead(at_s, seconds_of(v->now)) || !comes_now(v, record, key, at_s, &s);
    return right ? json_string(time) : time_json(s);
}

/* Ends an annotation. Leaving it out of the apply removes it, unless another client owns it too. So
 * it first becomes empty, and is left out then. */
static void records_forget(json_t *wanted, const struct child *record, const char *key)
{
    if (record && *str_or_empty(json_key(record->annotations, key)))
        json_object_set_new(wanted, key, json_string(""));
    else
        json_object_del(wanted, key);
}

static void records_set_text(json_t *wanted, const struct child *record, const char *annotation,
                             const char *pool, json_t *value_steal)
{
    CLEANUP_FREE char *key = key_of(annotation, pool);
    if (value_steal)
        json_object_set_new(wanted, key, value_steal);
    else
        records_forget(wanted, record, key);
}

/* Whether a node of any pool has run the revision. */
static bool has_run_anywhere(const struct child *record)
{
    JSON_EACH_MEMBER (key, value, record->annotations)
        if ((str_has_prefix(key, ANNOTATION_RAN) || str_has_prefix(key, ANNOTATION_COMPLETED)) &&
            child_time(record, key))
            return true;
    return false;
}

/* Whether a revision of the tier, for the same kind of host, was ever completed in the pool. */
static bool any_completed(const struct cluster_view *v, const json_t *inputs, const char *pool)
{
    for (size_t i = 0; i < v->child_count; i++)
        if (is_alike(v->children[i], inputs) &&
            records_time_of(v->children[i], ANNOTATION_COMPLETED, pool))
            return true;
    return false;
}

/* Whether more nodes of the pool ran another revision for the same kind of host. On a tie one wins,
 * and preferably not the one that the pool wants. */
static bool is_outrun(const struct cluster_view *v, const struct revision_tally *r,
                      const json_t *inputs)
{
    MAP_EACH (e, &v->tally->revisions) {
        const struct revision_tally *other = e->value;
        bool more = other->ran > r->ran ||
                    (other->ran == r->ran && !other->wanted && strcmp(other->hash, r->hash) < 0);
        if (other->pool == r->pool && more && str_eq(other->tier, r->tier) &&
            revision_same_host(cluster_inputs(v, other->tier, other->hash), inputs))
            return true;
    }
    return false;
}

/* Whether the revision has run well, and is not only what claims began from, which may have failed
 * or never been up. The policy may have changed before a record said so. */
static bool has_run(const struct revision_tally *r, const struct child *record)
{
    return r->well || has_run_anywhere(record);
}

/* A pool in which nothing was ever completed is new in the policy, or never finished. It rolls back
 * to what most of its nodes ran before it wanted something else. What it wants is known good
 * already if all of them ran it. */
static bool is_what_ran(const struct cluster_view *v, const struct revision_tally *r,
                        const struct child *record)
{
    if (!r->ran || !has_run(r, record) ||
        any_completed(v, record->inputs, v->policy->pools[r->pool].name))
        return false;
    return r->wanted ? r->stayed && r->stayed == r->wanted - r->wanted_lost
                     : !is_outrun(v, r, record->inputs);
}

/* The annotations of one pool. */
static void annotate_pool(const struct cluster_view *v, const struct revision_tally *r,
                          const struct child *record, json_t *wanted)
{
    const char *pool = v->policy->pools[r->pool].name;
    CLEANUP_FREE char *target = key_of(ANNOTATION_TARGET, pool);
    json_object_set_new(wanted, target,
                        record && child_time(record, target) ? past(v, record, target)
                                                             : json_string(v->now));
    if (r->done)
        mark_reached(v, record, ANNOTATION_RAN, pool, wanted);
    /* Every node of the pool that wants it and is up runs it. */
    if (r->done && r->done == r->wanted - r->wanted_lost)
        mark_reached(v, record, ANNOTATION_COMPLETED, pool, wanted);
}

/* Whether the pool in the annotation's name now wants another revision for the same kind of
 * host. */
static bool is_displaced(const struct cluster_view *v, const struct child *record,
                         const char *annotation)
{
    const char *tier = json_str_or_empty(record->inputs, "tier");
    MAP_EACH (e, &v->tally->revisions) {
        const struct revision_tally *r = e->value;
        if (!r->wanted || !str_eq(r->tier, tier) || str_eq(r->hash, record->revision) ||
            !str_eq(v->policy->pools[r->pool].name, annotation + strlen(ANNOTATION_TARGET)))
            continue;
        if (revision_same_host(cluster_inputs(v, r->tier, r->hash), record->inputs))
            return true;
    }
    return false;
}

static bool is_kept_failure(const struct cluster_view *v, const struct child *record,
                            const char *key)
{
    return child_failure(record, key) &&
           (!v->settled || !targets_displace(v->targets, record->inputs, record->revision,
                                             key + strlen(ANNOTATION_FAILED)));
}

/* Whether a newer version of Ostler wrote the annotation. One that is longer than any of this
 * version is another client's. */
static bool is_of_newer(const struct child *record, const char *key)
{
    static const char *const known[] = { ANNOTATION_INTENT,    ANNOTATION_TARGET,  ANNOTATION_RAN,
                                         ANNOTATION_COMPLETED, ANNOTATION_CANARY,  ANNOTATION_WAVE,
                                         ANNOTATION_FAILED,    ANNOTATION_RETRIED, NULL };
    const char *text = json_key(record->annotations, key);
    return text && strlen(text) < NEWER_TEXT_MAX && str_has_prefix(key, MARK_PREFIX) &&
           !has_one_of(key, known);
}

/* Whether an annotation of the record stays: it is still true, or only a newer version knows it. */
static bool records_is_kept(const struct cluster_view *v, const struct child *record,
                            const char *key)
{
    /* Facts of the past. */
    static const char *const lasting[] = { ANNOTATION_RAN, ANNOTATION_COMPLETED, ANNOTATION_CANARY,
                                           ANNOTATION_WAVE, NULL };
    if (is_of_newer(record, key))
        return true;
    if (str_has_prefix(key, ANNOTATION_FAILED))
        return is_kept_failure(v, record, key);
    if (str_has_prefix(key, ANNOTATION_WAVE) &&
        str_eq(json_key(record->annotations, key), WAVE_RUNNING))
        return true;
    if (str_has_prefix(key, ANNOTATION_CANARY) &&
        record_canary_s(record, key + strlen(ANNOTATION_CANARY)) < 0)
        return true;
    if (str_has_prefix(key, ANNOTATION_RETRIED))
        return retry_answered_s(record, key + strlen(ANNOTATION_RETRIED)) > 0;
    if (!child_time(record, key))
        return false;
    return has_one_of(key, lasting) || (str_has_prefix(key, ANNOTATION_TARGET) &&
                                        (!v->settled || !is_displaced(v, record, key)));
}

/* The value of an annotation that stays. The rollout's notes use the rollout's own clock, which
 * corrects times in the future. */
static json_t *kept_value(const struct cluster_view *v, const struct child *record, const char *key)
{
    static const char *const dated[] = { ANNOTATION_TARGET, ANNOTATION_RAN, ANNOTATION_COMPLETED,
                                         NULL };
    return has_one_of(key, dated) ? past(v, record, key)
                                  : json_incref(json_object_get(record->annotations, key));
}

/* Adds what the rollout has found. */
static void annotate_note(const struct cluster_view *v, const struct report_note *n,
                          const struct child *record, json_t *wanted)
{
    const char *pool = n->pool;
    records_set_text(wanted, record, ANNOTATION_CANARY, pool,
                     n->canary_s < 0 ? json_textf("%llds", (long long) -n->canary_s)
                                     : time_json(n->canary_s));
    records_set_text(wanted, record, ANNOTATION_WAVE, pool,
                     n->wave_s == ROLLOUT_WAVE_RUNNING ? json_string(WAVE_RUNNING)
                                                       : time_json(n->wave_s));
    if (n->failed)
        records_set_text(wanted, record, ANNOTATION_FAILED, pool,
                         json_textf("%s %s", v->now, n->failed));
}

/* Adds a user's retry of a failed revision: once for each value of the annotation, each time that
 * it is set on the policy. */
static void annotate_retry(const struct cluster_view *v, const char *hash, const char *pool,
                           const struct child *record, json_t *wanted)
{
    CLEANUP_FREE char *failed = key_of(ANNOTATION_FAILED, pool),
                      *retried = key_of(ANNOTATION_RETRIED, pool);
    const char *asked = object_annotation(v->object, POLICY_RETRY);
    if (!json_object_get(wanted, failed))
        return;
    if (!retry_asks(asked, hash)) {
        json_object_del(wanted, retried);
    } else if (!retry_was_answered(record ? record->annotations : NULL, hash, asked)) {
        records_forget(wanted, record, failed);
        json_object_set_new(wanted, retried, json_textf("%s %s", v->now, asked));
    }
}

json_t *record_annotations(const struct cluster_view *v, const char *tier, const char *hash,
                           const struct child *record)
{
    json_t *wanted = json_object();
    JSON_EACH_MEMBER (key, value, record ? record->annotations : NULL)
        if (records_is_kept(v, record, key))
            json_object_set_new(wanted, key, kept_value(v, record, key));
        else if (str_has_prefix(key, ANNOTATION_FAILED))
            records_forget(wanted, record, key);
    /* Until every node has been reconciled under this policy, the sums use the previous policy's
     * pool numbers. */
    if (!v->settled)
        return wanted;
    MAP_EACH (e, &v->tally->revisions) {
        const struct revision_tally *r = e->value;
        if (!str_eq(r->tier, tier) || !str_eq(r->hash, hash))
            continue;
        if (r->wanted)
            annotate_pool(v, r, record, wanted);
        if (record && is_what_ran(v, r, record))
            records_set_text(wanted, record, ANNOTATION_COMPLETED, v->policy->pools[r->pool].name,
                             json_string(v->now));
    }
    for (size_t i = 0; v->rollout && i < v->rollout->note_count; i++)
        if (str_eq(v->rollout->notes[i].hash, hash))
            annotate_note(v, &v->rollout->notes[i], record, wanted);
    for (size_t i = 0; i < v->policy->pools_len; i++)
        annotate_retry(v, hash, v->policy->pools[i].name, record, wanted);
    return wanted;
}
