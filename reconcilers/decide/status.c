#include "reconcilers/decide/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/records.h"
#include "reconcilers/decide/rollout_message.h"
#include "reconcilers/decide/rollout_plan_json.h"

enum {
    STATUS_MAX = 32 * 1024, /* bytes of JSON, for any cluster */
    CAUSES_MAX = 10,        /* limits of the CRD */
    TARGETS_MAX = 8,
    MESSAGE_MAX = 512,
};

/* NULL for NULL. */
static json_t *shortened(const char *s, size_t max)
{
    CLEANUP_FREE char *text = s ? str_shortened(s, max) : NULL;
    return text ? json_text(text) : NULL;
}

json_t *status_nodes_json(const struct tally *t)
{
    size_t managed = tally_managed(t), outdated = tally_outdated(t);
    json_t *states = json_array();
    for (int i = 0; i < NODE_STATE_COUNT; i++)
        if (t->states[i] && i != NODE_UNMANAGED)
            json_array_append_new(states, json_pack("{s:s, s:o}", "state",
                                                    node_state_name((enum node_state) i), "count",
                                                    json_integer(t->states[i])));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total", json_integer(t->total), "gpu",
                     json_integer(t->gpu), "managed", json_integer(managed), "ready",
                     json_integer(t->states[NODE_READY]), "upToDate",
                     json_integer(managed - outdated), "outdated", json_integer(outdated), "states",
                     states);
}

static bool is_known_good(const struct cluster_view *v, const struct revision_tally *r)
{
    const struct child *record = cluster_find_record(v, r->tier, r->hash);
    return record && record_time_s(record, ANNOTATION_COMPLETED, v->policy->pools[r->pool].name);
}

/* The revisions of a pool: its targets. `ret_version` is the driver version that new nodes get; if
 * there are several, always the same one. */
static json_t *targets_json(const struct cluster_view *v, size_t pool, const char **ret_version)
{
    json_t *targets = json_array();
    MAP_EACH (e, &v->tally->revisions) {
        const struct revision_tally *r = e->value;
        if (r->pool != pool || !r->wanted)
            continue;
        const char *version = revision_version(cluster_inputs(v, r->tier, r->hash), r->tier);
        if (str_eq(r->tier, "driver") &&
            (!*ret_version || strcmp(str_or_empty(version), *ret_version) > 0))
            *ret_version = version;
        json_array_append_new(targets,
                              json_pack("{s:o, s:s, s:o, s:b}", "revision",
                                        json_textf("%s-%s", r->tier, r->hash), "version",
                                        str_or_empty(version), "nodes", json_integer(r->carrying),
                                        "knownGood", is_known_good(v, r)));
    }
    return targets;
}

static int by_revision(const void *a, const void *b)
{
    return strcmp(json_str(*(json_t *const *) a, "revision"),
                  json_str(*(json_t *const *) b, "revision"));
}

/* The first ones in a fixed order, so that the same facts give the same text. */
static json_t *status_sorted_now(json_t *list_steal)
{
    size_t n = json_array_size(list_steal);
    json_t *out = json_array();
    CLEANUP_FREE json_t **entries = xcalloc(n, sizeof *entries);
    JSON_EACH_AT (i, entry, list_steal)
        entries[i] = entry;
    qsort(entries, n, sizeof *entries, by_revision);
    for (size_t i = 0; i < n && i < TARGETS_MAX; i++)
        json_array_append(out, entries[i]);
    json_decref(list_steal);
    return out;
}

/* The version of the driver whose rollout was last completed in the pool and that has not failed
 * there; of those of the same second always the same one. NULL: none. */
static const char *known_good_driver(const struct cluster_view *v, const char *pool)
{
    const char *best = NULL;
    int64_t best_s = 0;
    for (size_t i = 0; i < v->child_count; i++) {
        const struct child *c = v->children[i];
        if (!cluster_is_record(c, "driver") || record_has_failed(c, pool))
            continue;
        int64_t at_s = record_time_s(c, ANNOTATION_COMPLETED, pool);
        const char *version = str_or_empty(revision_version(c->inputs, "driver"));
        bool later = at_s > best_s || (at_s == best_s && best && strcmp(version, best) > 0);
        if (at_s && *version && later) {
            best = version;
            best_s = at_s;
        }
    }
    return best;
}

json_t *status_pool_counts_json(const struct tally *t, size_t pool)
{
    size_t nodes = t->pools[pool].nodes, outdated = t->pools[pool].outdated;
    return json_pack("{s:o, s:o, s:o, s:o}", "nodes", json_integer(nodes), "ready",
                     json_integer(t->pools[pool].states[NODE_READY]), "upToDate",
                     json_integer(nodes - outdated), "outdated", json_integer(outdated));
}

static json_t *pools_json(const struct cluster_view *v)
{
    json_t *pools = json_array();
    for (size_t i = 0; i < v->policy->pools_len; i++) {
        const char *version = NULL;
        json_t *targets = status_sorted_now(targets_json(v, i, &version));
        const char *name = v->policy->pools[i].name;
        json_t *pool = json_pack("{s:s, s:s*}", "name", name, "knownGoodDriver",
                                 known_good_driver(v, name));
        json_object_update_new(pool, status_pool_counts_json(v->tally, i));
        json_object_set_new(pool, "driverVersion", json_string(str_or_empty(version)));
        json_object_set_new(pool, "targets", targets);
        json_array_append_new(pools, pool);
    }
    return pools;
}

/* Pods of an operand that run an older template of their own revision. They are replaced when their
 * node is next changed. */
static size_t behind(const struct cluster_view *v, enum operand c)
{
    size_t n = 0;
    for (size_t i = 0; i < v->child_count; i++) {
        const struct child *d = v->children[i];
        if (d->desired > d->updated && cluster_is_daemonset_of(d, c))
            n += (size_t) (d->desired - d->updated);
    }
    return n;
}

static const struct cause *status_cause_of(const struct tally *t, enum operand c)
{
    const struct cause *best = NULL;
    MAP_EACH (e, &t->causes) {
        const struct cause *cause = e->value;
        if (cause->component == c && (!best || cause_comes_first(cause, best)))
            best = cause;
    }
    return best;
}

static json_t *operands_json(const struct cluster_view *v)
{
    json_t *operands = json_array();
    unsigned counted = operands_of_class(OPERAND_CLASS_TIER) |
                       operands_of_class(OPERAND_CLASS_FOLLOWER);
    for (const struct operand_row *row = operand_rows; row->section; row++) {
        enum operand c = row->id;
        if (!(counted >> c & 1))
            continue;
        const struct cause *cause = status_cause_of(v->tally, c);
        const char *message = cause ? cause_example(cause)->message : NULL;
        json_array_append_new(operands,
                              json_pack("{s:s, s:o, s:o, s:o, s:o*}", "name", operand_name(c),
                                        "desired", json_integer(v->tally->operands[c].wanted),
                                        "ready", json_integer(v->tally->operands[c].up), "outdated",
                                        json_integer(behind(v, c)), "message",
                                        shortened(message, MESSAGE_MAX)));
    }
    return operands;
}

static int by_weight(const void *a, const void *b)
{
    const struct cause *x = *(const struct cause *const *) a, *y = *(const struct cause *const *) b;
    return cause_comes_first(x, y) ? -1 : 1;
}

static json_t *cause_json(const struct cause *c)
{
    const struct node_summary *s = cause_example(c);
    const char *operand = operand_name(c->component);
    return json_pack("{s:s, s:o, s:s, s:o*, s:o*, s:o*}", "reason", c->word, "nodes",
                     json_integer(c->nodes), "node", s->name, "operand",
                     *operand ? json_string(operand) : NULL, "pod", shortened(s->pod, 253),
                     "message", shortened(s->message, MESSAGE_MAX));
}

static json_t *causes_json(const struct tally *t)
{
    json_t *out = json_array();
    CLEANUP_FREE const struct cause **causes = xcalloc(t->causes.len, sizeof *causes);
    size_t n = 0;
    MAP_EACH (e, &t->causes)
        causes[n++] = e->value;
    qsort(causes, n, sizeof *causes, by_weight);
    for (size_t i = 0; i < n && i < CAUSES_MAX; i++)
        json_array_append_new(out, cause_json(causes[i]));
    return out;
}

static json_t *problems_json(const struct policy_problems *problems)
{
    json_t *out = json_array();
    for (size_t i = 0; problems && i < problems->len; i++)
        json_array_append_new(
            out, json_pack("{s:o, s:o}", "field",
                           shortened(problems->items[i].field, STATUS_SUMMARY_MAX), "message",
                           shortened(problems->items[i].message, MESSAGE_MAX)));
    return out;
}

/* While a pod of a node under way does not come up, a pace says nothing of the end. NULL: no plan.
 * New reference. */
static json_t *plan_json(const struct cluster_view *v)
{
    json_t *plan = json_copy((json_t *) v->plan);
    if (tally_trouble(v->tally))
        json_object_del(plan, "ends");
    return plan;
}

json_t *status_rollout_counts_json(const struct rollout_report *r)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "pending", json_integer(r->pending),
                     "active", json_integer(r->active), "waiting", json_integer(r->waiting),
                     "failed", json_integer(r->failed), "skipped", json_integer(r->skipped), "done",
                     json_integer(r->done));
}

/* What is under way, and what it waits for. */
static json_t *rollout_json(const struct cluster_view *v, const struct condition *rolling_out)
{
    const struct rollout_report *r = v->rollout;
    bool over = r->hold == ROLLOUT_HOLD_DONE && !v->problems;
    CLEANUP_ARENA struct arena a = { 0 };
    bool until = r->until_s && status_rollout_reason(v) == rollout_report_reason(r);
    json_t *rollout = status_rollout_counts_json(r);
    json_object_update_new(
        rollout,
        json_pack("{s:s, s:o, s:s*, s:o*, s:o*}", "reason", reason_text(status_rollout_reason(v)),
                  "message",
                  shortened(over ? str_or_empty(r->message) : rolling_out->message, MESSAGE_MAX),
                  "until", until ? rollout_time_text(&a, r->until_s) : NULL, "plan", plan_json(v),
                  "pace", v->pace ? rollout_pace_json(v->pace) : NULL));
    return rollout;
}

/* "UpToDate", "2/10 MaxParallel", "InvalidSpec" */
static json_t *rollout_summary(const struct cluster_view *v)
{
    const struct rollout_report *r = v->rollout;
    size_t outdated = tally_outdated(v->tally);
    const char *reason = reason_text(status_rollout_reason(v));
    if (r && r->known && r->hold != ROLLOUT_HOLD_DONE)
        return json_textf("%zu/%zu %s", r->done,
                          r->done + r->pending + r->active + r->waiting + r->failed + r->skipped,
                          reason);
    if (v->problems || v->mode == MODE_REMOVE)
        return json_string(reason);
    return outdated ? json_textf("%zu outdated", outdated)
                    : json_string(reason_text(REASON_UP_TO_DATE));
}

static json_t *summary_json(const struct cluster_view *v, const struct condition *conditions)
{
    const struct tally *t = v->tally;
    const char *driver = NULL;
    if (v->policy)
        json_decref(targets_json(v, v->policy->pools_len - 1, &driver));
    return json_pack("{s:o, s:s, s:o, s:o}", "nodes",
                     json_textf("%zu/%zu", t->states[NODE_READY], tally_managed(t)), "driver",
                     str_or_empty(driver), "rollout", rollout_summary(v), "message",
                     shortened(conditions[STATUS_READY].message, STATUS_SUMMARY_MAX));
}

/* What to leave out if a status would be too large, in this order: a member of each entry of a
 * list, or all but some entries. */
static const struct {
    const char *list, *member;
    size_t keep;
} cuts[] = {
    { "rollout.plan.stay", "names", 0 },
    { "rollout.plan.waves", "names", 0 },
    { "rollout.plan.blockers", NULL, 1 },
    { "pools", "targets", 0 },
    { "problems", NULL, 8 },
    { "firstCauses", NULL, 4 },
    { "operands", "message", 0 },
    { "pools", NULL, 8 },
    { "problems", NULL, 2 },
    { "firstCauses", NULL, 1 },
};

static void cut(json_t *list, const char *member, size_t keep)
{
    JSON_EACH (entry, list)
        if (member)
            json_object_del(entry, member);
    while (!member && json_array_size(list) > keep)
        json_array_remove(list, json_array_size(list) - 1);
}

static void fit(json_t *status)
{
    for (size_t i = 0;
         i < ARRAY_LEN(cuts) && json_dumpb(status, NULL, 0, JSON_COMPACT) > STATUS_MAX; i++)
        cut(json_at(status, cuts[i].list), cuts[i].member, cuts[i].keep);
}

json_t *status_json(const struct cluster_view *v,
                    const struct condition conditions[static STATUS_CONDITIONS])
{
    const json_t *before = json_at(v->object, "status.conditions");
    json_t *list = json_array();
    for (size_t i = 0; i < STATUS_CONDITIONS; i++)
        json_array_append_new(
            list, condition_json(&conditions[i], before, object_generation(v->object), v->now));
    bool rolls = v->rollout && v->rollout->known;
    json_t *status = json_pack(
        "{s:I, s:o, s:o, s:o, s:o, s:o, s:o*, s:o, s:o*}", "observedGeneration",
        (json_int_t) object_generation(v->object), "conditions", list, "summary",
        summary_json(v, conditions), "nodes", status_nodes_json(v->tally), "operands",
        operands_json(v), "firstCauses", causes_json(v->tally), "rollout",
        rolls ? rollout_json(v, &conditions[STATUS_ROLLING_OUT]) : NULL, "problems",
        problems_json(v->problem_list), "pools", v->policy ? pools_json(v) : NULL);
    fit(status);
    return status;
}
