#include "reconcilers/dry_run.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/cluster_policy.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/revision.h"
#include "reconcilers/decide/records.h"
#include "reconcilers/decide/retry.h"
#include "reconcilers/dry_run_repairs.h"
#include "reconcilers/targets_sources.h"

/* Work that fits in the few seconds that a user waits: 5,000 nodes one at a time. */
enum { LOOKS = 64 << 20 };

json_t *dry_run_object(const json_t *server, const json_t *wanted)
{
    json_t *object = server ? json_deep_copy(server) : json_deep_copy(wanted);
    if (wanted && server) {
        json_t *annotations = json_at(wanted, "metadata.annotations");
        json_object_del(object, "spec");
        json_object_set_new(object, "spec", json_deep_copy(json_object_get(wanted, "spec")));
        if (annotations && !json_at(object, "metadata.annotations"))
            json_set_at(object, "metadata.annotations", json_object());
        json_merge(json_at(object, "metadata.annotations"), annotations);
    }
    if (!*object_uid(object))
        json_set_at(object, "metadata.uid", json_string("planned"));
    /* A plan assumes that the policy stays. */
    json_object_del(json_object_get(object, "metadata"), "deletionTimestamp");
    /* A new generation, because the spec is new. */
    json_set_at(object, "metadata.generation", json_integer(object_generation(object) + 1));
    json_set_at(object, "metadata.finalizers", json_pack("[s]", POLICY_FINALIZER));
    return object;
}

/* ---- passes whose writes are not sent */

static void ignore_policy(void *arg, bool soon)
{
    (void) arg, (void) soon;
}

static void look_at_nodes(struct cluster *c, const struct manifests *manifests)
{
    struct reconcilers r = { .cluster = c, .manifests = manifests, .policy = ignore_policy };
    for (size_t i = 0; i < c->slots.len; i++) {
        CLEANUP_ACTIONS struct actions dropped = { 0 };
        node_reconcile(&r, c->by_name[i]->name, &dropped);
    }
}

/* Adds what the policy's pass would write first: the record of each wanted revision. */
static void add_record(struct cluster *c, const json_t *inputs, const char *hash)
{
    const char *tier = json_str_or_empty(inputs, "tier");
    if (cluster_record_of(c, tier, hash))
        return;
    CLEANUP_JSON json_t *record = render_revision(
        &(struct render_context){ .operand_namespace = c->o.operand_namespace,
                                  .policy_uid = c->policy.uid,
                                  .inputs = inputs,
                                  .hash = hash });
    json_set_at(record, "metadata.uid", json_string(hash));
    table_list_item(&c->tables[RESOURCE_REVISION], record);
}

/* Gathered first, because a new record may cause new targets. */
static void add_records(struct cluster *c)
{
    CLEANUP_JSON json_t *wishes = json_object();
    const struct target *t;
    for (size_t at = 0; (t = targets_next(cluster_targets(c), &at));)
        for (enum tier tier = 0; tier < TIERS; tier++)
            if (*t->runs.hash[tier])
                json_object_set(wishes, t->runs.hash[tier], t->inputs[tier]);
    JSON_EACH_MEMBER (hash, inputs, wishes)
        add_record(c, inputs, hash);
}

/* ---- revisions that have failed */

/* The failure of a pool in the record's annotation, "<time> <node> <reason>"; NULL: none. New
 * reference. */
static json_t *failure_of(const struct child *record, const char *tier, const char *pool)
{
    CLEANUP_FREE char *key = xasprintf(ANNOTATION_FAILED "%s", pool);
    if (!record_has_failed(record, pool))
        return NULL;
    CLEANUP_FREE char *text = xstrdup(json_key(record->annotations, key));
    char *rest = text;
    const char *at = strsep(&rest, " "), *node = strsep(&rest, " ");
    CLEANUP_ARENA struct arena a = { 0 };
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "revision", record->revision,
                     "retry", retry_value(record->annotations, record->revision, &a), "tier", tier,
                     "version", str_or_empty(revision_version(record->inputs, tier)), "pool", pool,
                     "at", at, "node", json_text(str_or_empty(node)), "reason",
                     json_text(str_or_empty(rest)));
}

struct failures {
    struct cluster *cluster;
    json_t *found; /* by pool and revision, because several kinds of hosts may want one */
};

static void add_failure(struct failures *f, const char *tier, const char *hash, const char *pool)
{
    const struct child *record = *hash ? cluster_record_of(f->cluster, tier, hash) : NULL;
    json_t *failure = record ? failure_of(record, tier, pool) : NULL;
    CLEANUP_FREE char *key = xasprintf("%s/%s", pool, hash);
    if (failure)
        json_object_set_new(f->found, key, failure);
}

static json_t *find_failures(struct cluster *c)
{
    struct failures f = { .cluster = c, .found = json_object() };
    json_t *list = json_array();
    const struct target *t;
    for (size_t at = 0; (t = targets_next(cluster_targets(c), &at));)
        for (enum tier tier = 0; tier < TIERS; tier++)
            add_failure(&f, tiers[tier].name, t->runs.hash[tier], c->policy.pools[t->pool].name);
    JSON_EACH_MEMBER (key, failure, f.found)
        json_array_append(list, failure);
    json_decref(f.found);
    return list;
}

/* ---- nodes outside the plan */

/* A node under way may temporarily have no stack either. */
static bool gets_first_stack(const struct node_slot *slot)
{
    const struct node_summary *s = &slot->summary;
    const struct node_standing *stack = &s->of[TIER_STACK];
    return s->counted && !slot->node->claim && node_state_served(s->state) && !stack->carried &&
           stack->target;
}

static bool shows_nothing(const struct cluster *c, const struct node_slot *slot)
{
    const struct node_inventory *told = cluster_inventory(c, slot);
    return !slot->summary.gpu && !(told && node_inventory_shows_none(told));
}

static void note_others(const struct cluster *c, struct dry_run *ret)
{
    ret->first = json_array();
    ret->not_served = json_array();
    for (size_t i = 0; i < c->slots.len; i++) {
        const struct node_slot *slot = c->by_name[i];
        const struct node_summary *s = &slot->summary;
        if (!slot->node)
            continue;
        if (shows_nothing(c, slot))
            ret->no_gpu++;
        else if (gets_first_stack(slot))
            json_array_append_new(ret->first, json_string(slot->name));
        else if (s->gpu && !node_state_served(s->state))
            json_array_append_new(ret->not_served,
                                  json_textf("%s: %s", slot->name,
                                             s->message ? s->message : node_state_name(s->state)));
    }
}

/* ---- */

int dry_run(struct cluster *c, const json_t *policy, const struct blocking_budgets *blocking,
            struct dry_run *ret, struct err *e)
{
    *ret = (struct dry_run){ 0 };
    cluster_take_policy(c, policy);
    if (!c->policy_valid || c->problem_text)
        return err_set(e, ERR_INVALID, "the policy is not valid: %s",
                       str_or_empty(c->problem_text));
    CLEANUP_MANIFESTS struct manifests *manifests = manifests_new(e);
    if (!manifests)
        return -1;
    look_at_nodes(c, manifests);
    add_records(c);
    look_at_nodes(c, manifests);
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_gathering g;
    struct rollout_pace pace[TIERS];
    rollout_gather(c, &a, &g);
    rollout_pace_parse(json_at(policy, "status.rollout.pace"), pace);
    ret->plan = rollout_plan(c, &g, pace, LOOKS, &rollout_plan_in_full, blocking);
    ret->failed = find_failures(c);
    ret->repairs = dry_run_repairs(c, &g);
    note_others(c, ret);
    return 0;
}

json_t *dry_run_json(const struct dry_run *p)
{
    return json_pack("{s:O, s:O, s:O, s:O, s:O, s:I}", "plan", p->plan ? p->plan : json_null(),
                     "failed", p->failed, "repairs", p->repairs, "first", p->first, "notServed",
                     p->not_served, "noGpu", (json_int_t) p->no_gpu);
}

void dry_run_clear(struct dry_run *p)
{
    json_decref(p->plan);
    json_decref(p->failed);
    json_decref(p->repairs);
    json_decref(p->first);
    json_decref(p->not_served);
}
