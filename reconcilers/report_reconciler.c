/* Reconciles one report: writes the verdict to the GpuNode and the conditions of the Node. */
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/decide/gpu_node.h"
#include "reconcilers/decide/waiting_for.h"
#include "reconcilers/reconcilers.h"
#include "reconcilers/report_input.h"

enum {
    /* A state that lasts less is not reported: a quick upgrade passes through many. */
    STATE_LASTS_MS = 3000,
    STATE_PATIENCE_MS = 10000, /* but if states change for this long, the current one is reported */
    /* The more nodes change together, the longer the control plane takes for each step, which is
     * no news: a step of a claim then must last so much longer for each of them, up to a limit,
     * unless something is wrong. */
    STEP_LASTS_EACH_MS = 600,
    STEP_LASTS_MAX_MS = 60000,
    /* And the claim so long before the condition GpuReady follows, which the taint precedes. */
    CLAIM_LASTS_EACH_MS = 1200,
    CLAIM_LASTS_MAX_MS = 120000,
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
    bool ready_is_said = in->report && !in->report->falls_back &&
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

static bool is_being_changed(const struct cluster *c, const struct node_slot *slot)
{
    struct claim claim;
    const char *text = intern_text(c->strings, slot->node->claim);
    return text && claim_parse(text, &claim, NULL) && claim_is_changing(&claim);
}

/* How much longer the condition GpuReady may say what was before the node's claim. */
static int64_t still_ready_ms(const struct cluster *c, const struct node_slot *slot, int64_t now_s)
{
    struct claim claim;
    const char *text = intern_text(c->strings, slot->node->claim);
    if (!takes_step(slot) || !text || !claim_parse(text, &claim, NULL) ||
        clock_is_ahead(claim.claimed_s, now_s))
        return 0;
    return (claim.claimed_s - now_s) * 1000 +
           with_many_ms(c, CLAIM_LASTS_EACH_MS, CLAIM_LASTS_MAX_MS);
}

/* When the same facts about the health of its GPUs come to mean something else, the report is due
 * again: no event marks it. */
static void requeue_for_health(const struct cluster *c, const struct node_slot *slot,
                               const struct gpu_node_input *in, const struct health_input *facts,
                               struct actions *actions)
{
    if (in->health && in->health->state == HEALTH_IS_CONFIRMING)
        actions_requeue(actions,
                        (in->health->since_s + HEALTH_CONFIRMING_S + 1 - facts->now_s) * 1000);
    int64_t due_s = facts->now_s ? health_due_s(facts) : 0;
    if (due_s && !is_being_changed(c, slot))
        actions_requeue(actions, (due_s - facts->now_s) * 1000);
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
    CLEANUP_ARENA struct arena a = { 0 };
    struct health_input facts;
    struct gpu_node_input in = report_input(c, name, slot, mode, now, &a, &facts);
    if (s)
        requeue_for_health(c, slot, &in, &facts, actions);
    wait_ms = s ? has_to_wait_ms(slot, &in, now_ms) : 0;
    if (wait_ms) {
        actions_requeue(actions, wait_ms);
        return;
    }
    if (s)
        in.still_ready_ms = still_ready_ms(c, slot, in.now_s);
    bool condition = gpu_node_plan(&in, &a, actions);
    if (s)
        remember(slot, &in, condition, now_ms, actions);
}
