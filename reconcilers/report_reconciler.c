/* Reconciles one report: writes the verdict to the GpuNode and the conditions of the Node. */
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/gpu_node.h"
#include "reconcilers/decide/health_report.h"
#include "reconcilers/decide/records.h"
#include "reconcilers/decide/retry.h"
#include "reconcilers/decide/upgrade_steps.h"
#include "reconcilers/decide/waiting_for.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/reconcilers.h"

enum {
    /* A state that lasts less is not reported: a quick upgrade passes through many. */
    STATE_LASTS_MS = 3000,
    STATE_PATIENCE_MS = 10000, /* but if states change for this long, the current one is reported */
    /* The more nodes change together, the longer the control plane takes for each step, which is
     * no news: a step of a claim then must last so much longer for each of them, up to a limit,
     * unless something is wrong. */
    STEP_LASTS_EACH_MS = 300,
    STEP_LASTS_MAX_MS = 30000,
    /* And the claim so long before the condition GpuReady follows, which the taint precedes. */
    CLAIM_LASTS_EACH_MS = 600,
    CLAIM_LASTS_MAX_MS = 60000,
    /* A working node must wait this long for its turn before that is reported. */
    TURN_LASTS_MS = 30000,
};

/* Whether the node takes a step of a claim as it should. Waiting may need a user; resets and
 * reboots are rare. */
static bool takes_step(const struct node_slot *slot)
{
    static const bool steps[NODE_STATE_COUNT] = { [NODE_DRAINING] = true,
                                                  [NODE_UNLOADING] = true,
                                                  [NODE_INSTALLING] = true,
                                                  [NODE_VALIDATING] = true };
    const struct node_summary *s = &slot->summary;
    return slot->node->claim && steps[s->state] && !s->trouble && !s->refused && !s->failed;
}

static int64_t with_many_ms(const struct cluster *c, int64_t each_ms, int64_t max_ms)
{
    int64_t ms = STATE_LASTS_MS + (int64_t) c->tally.moving * each_ms;
    return ms < max_ms ? ms : max_ms;
}

/* How long the node's state must last before it is reported; `ret_patience_ms`: if states change
 * for this long, the current one is. */
static int64_t lasts_ms(const struct cluster *c, const struct node_slot *slot,
                        int64_t *ret_patience_ms)
{
    int64_t many_ms = takes_step(slot) ? with_many_ms(c, STEP_LASTS_EACH_MS, STEP_LASTS_MAX_MS)
                                       : STATE_LASTS_MS;
    *ret_patience_ms = 2 * many_ms > STATE_PATIENCE_MS ? 2 * many_ms : STATE_PATIENCE_MS;
    return many_ms;
}

/* How much longer the node's state must last before it is reported. */
static int64_t has_to_last_ms(const struct cluster *c, struct node_slot *slot, int64_t now_ms)
{
    int64_t patience_ms, last_ms = lasts_ms(c, slot, &patience_ms);
    int64_t left_ms = slot->entered_ms ? slot->entered_ms + last_ms - now_ms : 0;
    if (slot->summary.state == NODE_UNMANAGED || left_ms < 0)
        left_ms = 0;
    if (left_ms && !slot->untold_ms)
        slot->untold_ms = now_ms;
    if (!left_ms || now_ms - slot->untold_ms >= patience_ms)
        left_ms = slot->untold_ms = 0;
    return left_ms;
}

/* Whether the status must show another fault, or another state of it. */
static bool is_other_health(const struct health_status *before, const struct health_status *after)
{
    return !health_status_same(before, after) || (after && before->state != after->state);
}

/* How much longer a fully reported node must wait for its turn before that is reported too. A wait
 * that needs a user's action is reported at once, and so is another fault of its GPUs. It also
 * replaces at once a report that is no longer true: that the policy asks for what failed. */
static int64_t has_to_wait_ms(struct node_slot *slot, const struct gpu_node_input *in,
                              int64_t now_ms)
{
    bool ready_is_said = in->report && !in->report->rolled_back &&
                         str_eq(in->report->state, node_state_name(NODE_READY)) &&
                         slot->node->gpu_ready.status == CONDITION_TRUE;
    bool other_health = in->report && is_other_health(in->report->concluded, in->health);
    if (!waiting_for_turn(in)) {
        slot->turn_ms = 0;
        return 0;
    }
    if (!slot->turn_ms)
        slot->turn_ms = now_ms;
    int64_t left_ms = slot->turn_ms + TURN_LASTS_MS - now_ms;
    bool may_wait = ready_is_said && !waiting_without_image(in) && !other_health;
    return may_wait && left_ms > 0 ? left_ms : 0;
}

static const char *report_reconciler_version_of(const struct cluster *c,
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
    const char *version = report_reconciler_version_of(c, slot->summary.of[TIER_STACK].carried);
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
        *drain = drain_of_claim(&c->rollout.drain, &c->health, &claim);
        in->drain = drain;
        in->jobs_may_go = drain_jobs_may_go(drain, claim.claimed_s, cluster_now_s(c), &left);
    }
    in->closed_s = claimed ? drain_closed_s(&claim) : 0;
    in->now_s = cluster_now_s(c);
    if (claimed && takes_step(slot) && !clock_is_ahead(claim.claimed_s, in->now_s))
        in->still_ready_ms = (claim.claimed_s - in->now_s) * 1000 +
                             with_many_ms(c, CLAIM_LASTS_EACH_MS, CLAIM_LASTS_MAX_MS);
}

/* What is known of a node. */
static void take_slot(const struct cluster *c, const struct node_slot *slot, int64_t now_ms,
                      struct arena *a, struct gpu_node_input *in)
{
    const struct node_view view = { slot->node, c->strings };
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
    in->version[TIER_DRIVER] = report_reconciler_version_of(c,
                                                            slot->summary.of[TIER_DRIVER].carried);
    in->version[TIER_STACK] = slot->summary.removal ? NULL : toolkit_version_of(c, slot, a);
    in->target_version = report_reconciler_version_of(c, waiting_turn_target(&slot->summary));
    in->wanted_since = wanted_since(c, &slot->summary);
    in->retry = retry_of(c, &slot->summary, a);
    take_failed(c, &slot->summary, a, in);
    take_claim(c, slot, a, in);
}

static bool is_being_changed(const struct cluster *c, const struct node_slot *slot)
{
    struct claim claim;
    const char *text = intern_text(c->strings, slot->node->claim);
    return text && claim_parse(text, &claim, NULL) && claim_is_changing(&claim);
}

static bool is_being_repaired(const struct cluster *c, const struct node_slot *slot)
{
    struct claim claim;
    const char *text = intern_text(c->strings, slot->node->claim);
    return text && claim_parse(text, &claim, NULL) && claim_kinds[claim.kind].repairs;
}

/* What Ostler may do, and has done, about the node's faults. */
static void take_handling(const struct cluster *c, const struct node_slot *slot,
                          struct gpu_node_input *in)
{
    const struct node_view view = { slot->node, c->strings };
    const struct node_inventory *said = cluster_inventory(c, slot);
    in->handling = (struct health_handling){
        .spec = in->managing ? &c->health : NULL,
        .left_alone = node_ignores_faults(&view),
        .repairing = is_being_repaired(c, slot),
        .node = slot->name,
        .now_s = in->now_s,
    };
    fault_record_of(&view, &in->handling.record);
    in->reported = said && said->boot && said->boot == slot->node->boot;
}

/* What is wrong with the node's GPUs. When the same facts come to mean something else, the report
 * is due again: no event marks it. */
static void take_health(const struct cluster *c, const struct node_slot *slot, struct arena *a,
                        struct gpu_node_input *in, struct actions *actions)
{
    struct health_input facts;
    if (!cluster_health(c, slot, &facts))
        return;
    in->health = health_report(&facts, &in->handling, a);
    if (in->health && in->health->state == HEALTH_IS_CONFIRMING)
        actions_requeue(actions,
                        (in->health->since_s + HEALTH_CONFIRMING_S + 1 - facts.now_s) * 1000);
    int64_t due_s = health_due_s(&facts);
    if (due_s && !is_being_changed(c, slot))
        actions_requeue(actions, (due_s - facts.now_s) * 1000);
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

/* Remembers what was written last, for what must not be written too often: of a step, pod after pod
 * that it waits for. */
static void remember(struct node_slot *slot, const struct gpu_node_input *in, bool condition,
                     int64_t now_ms, const struct actions *actions)
{
    bool report = false;
    if (condition)
        slot->told_ms = now_ms;
    for (size_t i = 0; i < actions->len; i++)
        report |= actions->items[i].verb == VERB_STATUS;
    if (report && in->health)
        slot->health_told_ms = now_ms;
    if (report && takes_step(slot))
        slot->entered_ms = now_ms;
}

void report_reconcile(void *arg, const char *name, struct actions *actions)
{
    struct reconcilers *r = arg;
    const struct cluster *c = r->cluster;
    struct node_slot *slot = map_get(&c->slots, name);
    const struct node_summary *s = slot && slot->node ? &slot->summary : NULL;
    int64_t again_ms;
    enum operating_mode mode = cluster_mode(c, &again_ms);
    /* A node that was not reconciled yet, or must not be, is reported later. */
    if (mode == MODE_HOLD || (s && !s->counted))
        return;
    int64_t now_ms = clock_mono_ms(c->o.clock), wait_ms = s ? has_to_last_ms(c, slot, now_ms) : 0;
    if (wait_ms) {
        actions_requeue(actions, wait_ms);
        return;
    }
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(cluster_wall_us(c), now);
    struct gpu_node_input in = {
        .name = name,
        .report = (const struct gpu_node *) table_get(&c->tables[RESOURCE_GPU_NODE], name),
        .told_ms = GPU_NODE_SENTENCE_MS,
        .health_told_ms = GPU_NODE_SENTENCE_MS,
        .reports_exist = informer_state(c->informers[RESOURCE_GPU_NODE]).present,
        .known = known_by_crd(c),
        .managing = mode == MODE_MANAGE,
        .strings = c->strings,
        .drain = c->policy_valid ? &c->rollout.drain : NULL,
        .generation = object_generation(c->object),
        .now = now,
    };
    CLEANUP_ARENA struct arena a = { 0 };
    if (s) {
        take_slot(c, slot, now_ms, &a, &in);
        take_handling(c, slot, &in);
        take_health(c, slot, &a, &in, actions);
    }
    wait_ms = s ? has_to_wait_ms(slot, &in, now_ms) : 0;
    if (wait_ms) {
        actions_requeue(actions, wait_ms);
        return;
    }
    bool condition = gpu_node_plan(&in, &a, actions);
    if (s)
        remember(slot, &in, condition, now_ms, actions);
}
