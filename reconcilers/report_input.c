#include "reconcilers/report_input.h"

#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/health_report.h"
#include "reconcilers/decide/node_conditions.h"
#include "reconcilers/decide/records.h"
#include "reconcilers/decide/retry.h"
#include "reconcilers/decide/upgrade_steps.h"
#include "reconcilers/decide/waiting_for.h"
#include "reconcilers/cluster_health.h"

static const char *report_input_version_of(const struct cluster *c,
                                           const struct revision_tally *revision)
{
    const struct child *record = revision ? cluster_record_of(c, revision->tier, revision->hash)
                                          : NULL;
    return record ? revision_version(record->inputs, revision->tier) : NULL;
}

/* The toolkit's version; for a host's own toolkit, from the agent's report. */
static const char *toolkit_version_of(const struct cluster *c, const struct node_slot *slot,
                                      struct arena *a)
{
    const char *version = report_input_version_of(c, slot->summary.of[TIER_STACK].carried);
    const struct node_inventory *i = cluster_inventory(c, slot);
    return str_eq(version, REVISION_HOST_TOOLKIT) && i && *i->toolkit_version
               ? arena_printf(a, REVISION_HOST_TOOLKIT " (%s)", i->toolkit_version)
               : version;
}

/* The name of a node's pool; NULL: not known. */
static const char *pool_of(const struct cluster *c, const struct node_summary *s)
{
    return c->policy_valid && s->pool < c->policy.pools_len ? c->policy.pools[s->pool].name : NULL;
}

/* Since when the policy wants the node's target. */
static const char *wanted_since(const struct cluster *c, const struct node_summary *s)
{
    const struct revision_tally *to = waiting_turn_target(s);
    const struct child *record = to ? cluster_record_of(c, to->tier, to->hash) : NULL;
    const char *pool = pool_of(c, s);
    CLEANUP_FREE char *key = xasprintf(ANNOTATION_TARGET "%s", str_or_empty(pool));
    return record && pool ? child_time(record, key) : NULL;
}

/* How to retry the node's target if it failed in the pool. */
static const char *retry_of(const struct cluster *c, const struct node_summary *s, struct arena *a)
{
    const char *pool = pool_of(c, s);
    for (enum tier t = 0; t < TIERS && pool; t++) {
        const struct revision_tally *target = s->of[t].target;
        const struct child *record = target ? cluster_record_of(c, target->tier, target->hash)
                                            : NULL;
        if (record && record_has_failed(record, pool))
            return retry_value(record->annotations, record->revision, a);
    }
    return NULL;
}

/* What the policy asks for instead of the node's target, and that failed in the node's pool. */
static void take_failed(const struct cluster *c, const struct node_summary *s, struct arena *a,
                        struct gpu_node_input *in)
{
    const char *pool = s->falling_back ? pool_of(c, s) : NULL;
    for (enum tier t = 0; t < TIERS && pool; t++) {
        const char *tier = tiers[t].name, *hash = s->policy_target.hash[t];
        const struct revision_tally *carried = s->of[t].carried;
        const struct child *record = *hash ? cluster_record_of(c, tier, hash) : NULL;
        const char *failure = record ? record_failure(record, pool) : NULL;
        if (!failure)
            continue;
        const struct child *runs = carried ? cluster_record_of(c, tier, carried->hash) : NULL;
        in->failed = revision_name(a, record->inputs, tier, hash, false);
        in->runs = carried
                       ? revision_name(a, runs ? runs->inputs : NULL, tier, carried->hash, false)
                       : "what the host has";
        in->failure = failure;
        in->failed_retry = retry_value(record->annotations, record->revision, a);
        return;
    }
}

/* What the report needs of a node's claim. While the kubelet offers no GPUs because the driver is
 * removed, the count before the claim stands. */
static void take_claim(const struct cluster *c, const struct node_slot *slot, struct arena *a,
                       struct gpu_node_input *in)
{
    struct claim claim;
    int64_t left;
    const char *text = intern_text(c->strings, slot->node->claim);
    bool claimed = text && claim_parse(text, &claim, NULL);
    in->gpus = slot->node->gpus ? slot->node->gpus : claimed ? (int64_t) claim.gpus : 0;
    if (claimed && c->policy_valid) {
        struct drain_spec *drain = arena_alloc(a, sizeof *drain);
        *drain = drain_of_claim(&c->rollout.drain, &c->health, &claim, slot->summary.repair_first);
        in->drain = drain;
        in->jobs_may_go = drain_jobs_may_go(drain, claim.claimed_s, cluster_now_s(c), &left);
    }
    in->closed_s = claimed ? drain_closed_s(&claim) : 0;
    in->handling.repairing = claimed && claim_kinds[claim.kind].repairs;
    in->now_s = cluster_now_s(c);
}

/* What is known of a node. */
static void take_slot(const struct cluster *c, const struct node_slot *slot, int64_t now_ms,
                      struct arena *a, struct gpu_node_input *in)
{
    const struct node_view view = cluster_view(c, slot->node);
    in->node = slot->node;
    in->summary = &slot->summary;
    if (slot->told_ms)
        in->told_ms = now_ms - slot->told_ms;
    if (slot->health_told_ms)
        in->health_told_ms = now_ms - slot->health_told_ms;
    in->pods = slot->pods;
    in->holders = cluster_holders(c, slot);
    in->agent = cluster_agent_is_up(slot);
    in->words = slot->words;
    in->stages = &slot->stages;
    in->refused = slot->refused;
    in->hold = slot->hold;
    in->product = node_label(&view, LABEL_GPU_PRODUCT);
    in->version[TIER_DRIVER] = report_input_version_of(c, slot->summary.of[TIER_DRIVER].carried);
    in->version[TIER_STACK] = slot->summary.removal ? NULL : toolkit_version_of(c, slot, a);
    in->target_version = report_input_version_of(c, waiting_turn_target(&slot->summary));
    in->wanted_since = wanted_since(c, &slot->summary);
    in->retry = retry_of(c, &slot->summary, a);
    take_failed(c, &slot->summary, a, in);
    take_claim(c, slot, a, in);
}

/* What Ostler may do, and has done, about the node's faults; take_slot() comes first. */
static void take_handling(const struct cluster *c, const struct node_slot *slot,
                          struct gpu_node_input *in)
{
    const struct node_view view = cluster_view(c, slot->node);
    const struct node_inventory *said = cluster_inventory(c, slot);
    in->handling = (struct health_handling){
        .spec = in->managing ? &c->health : NULL,
        .left_alone = node_ignores_faults(&view),
        .repairing = in->handling.repairing,
        .node = slot->name,
        .now_s = in->now_s,
    };
    fault_record_of(&view, &in->handling.record);
    in->reported = said && said->boot && said->boot == slot->node->boot;
}

/* The status schema of a CRD that is older than this Ostler; NULL: it knows all fields. */
static const json_t *known_by_crd(const struct cluster *c)
{
    const struct prerequisites *around = c->o.prerequisites;
    const struct prerequisite_problem *definition = around ? prerequisites_of(around,
                                                                              PREREQUISITES_REPORTS)
                                                           : NULL;
    return definition ? definition->status : NULL;
}

struct gpu_node_input report_input(const struct cluster *c, const char *name,
                                   const struct node_slot *slot, enum operating_mode mode,
                                   const char *now, struct arena *a, struct health_input *ret_facts)
{
    struct gpu_node_input in = {
        .name = name,
        .report = (const struct gpu_node *) table_get(&c->tables[RESOURCE_GPU_NODE], name),
        .told_ms = GPU_NODE_SENTENCE_MS,
        .health_told_ms = GPU_NODE_SENTENCE_MS,
        .reports_exist = informer_state(c->informers[RESOURCE_GPU_NODE]).present,
        .known = known_by_crd(c),
        .managing = mode == MODE_MANAGE,
        .strings = c->strings,
        .reads = c->reads,
        .drain = c->policy_valid ? &c->rollout.drain : NULL,
        .generation = object_generation(c->object),
        .now = now,
    };
    *ret_facts = (struct health_input){ 0 };
    if (!slot || !slot->node)
        return in;
    take_slot(c, slot, clock_mono_ms(c->o.clock), a, &in);
    take_handling(c, slot, &in);
    if (cluster_health(c, slot, ret_facts))
        in.health = health_report(ret_facts, &in.handling, a);
    return in;
}
