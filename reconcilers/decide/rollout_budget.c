#include "reconcilers/decide/rollout_budget.h"

/* Whether a claim counts as taking the node out of service. A failure with the current target
 * counts against the failure threshold instead, but for one of a repair. A claim of another policy
 * takes its node out of service too. */
static bool claim_counts(const struct work *w)
{
    const struct rollout_node *n = w->node;
    return n->closed || (n->claim && claim_closes(n->claim) &&
                         (w->state != WORK_FAILED || w->stale || w->repairs));
}

static bool is_out(const struct work *w)
{
    const struct rollout_node *n = w->node;
    if (n->leaving)
        return true;
    if (n->claim && claim_closes(n->claim))
        return claim_counts(w);
    return n->closed || !n->up || n->unhealthy || n->cordoned;
}

/* Whether a repair would only wait on a node that is closed for its fault: the closing has taken
 * the place, and the repair takes none until it begins. Otherwise one job that runs for weeks would
 * keep every other closed node from its repair. */
static bool only_waits(const struct work *w)
{
    return w->repairs && w->node->unhealthy;
}

/* Whether Ostler keeps the node out of service and works on it. A failed node waits for its turn
 * like others. */
static bool rollout_budget_is_ours(const struct work *w)
{
    return (w->state == WORK_WAITING && !only_waits(w)) || w->state == WORK_ACTIVE;
}

static void rollout_budget_count(struct budget *b, const struct work *w)
{
    const struct rollout_node *n = w->node;
    b->slots.used += work_keeps_place(w);
    if (!is_out(w))
        return;
    b->nodes.used++;
    b->gpus.used += n->gpus;
    b->our_nodes += rollout_budget_is_ours(w);
    b->our_gpus += rollout_budget_is_ours(w) ? n->gpus : 0;
    if (n->leaving)
        b->leaving++;
    else if (claim_counts(w))
        b->claimed++;
    else if (!n->up)
        b->down++;
    else if (n->unhealthy)
        b->unhealthy++;
    else
        b->cordoned++;
}

void budget_make(const struct rollout_view *v, struct budget *ret)
{
    const struct rollout_spec *spec = v->in->spec;
    size_t all = v->in->node_count, gpus = 0;
    *ret = (struct budget){ 0 };
    for (size_t i = 0; i < all; i++) {
        rollout_budget_count(ret, &v->works[i]);
        gpus += v->works[i].node->gpus;
    }
    ret->slots.max = rollout_count_of(&spec->max_parallel, all);
    ret->nodes.max = rollout_count_of(&spec->max_unavailable, all);
    ret->gpus.max = rollout_count_of(&spec->max_unavailable_gpus, gpus);
}

static bool rollout_budget_fits(const struct budget_line *line, size_t used, size_t more)
{
    return used <= line->max && more <= line->max - used;
}

/* A node that is already out of service adds nothing to the count. But the nodes that are out
 * because of Ostler stay within the limit even if all nodes that are down come back at once. A node
 * with more GPUs than the limit goes alone; otherwise it would wait for ever. */
enum rollout_hold budget_refuses(const struct budget *b, const struct work *w, bool begins)
{
    bool out = is_out(w);
    size_t nodes = out ? b->our_nodes : b->nodes.used, gpus = out ? b->our_gpus : b->gpus.used;
    if (begins && !rollout_budget_fits(&b->slots, b->slots.used, 1))
        return ROLLOUT_HOLD_PARALLEL;
    if (rollout_budget_is_ours(w) || (!begins && only_waits(w)))
        return ROLLOUT_HOLD_NONE;
    if (!rollout_budget_fits(&b->nodes, nodes, 1))
        return ROLLOUT_HOLD_UNAVAILABLE;
    return gpus == 0 || rollout_budget_fits(&b->gpus, gpus, w->node->gpus) ? ROLLOUT_HOLD_NONE
                                                                           : ROLLOUT_HOLD_GPUS;
}

void budget_take(struct budget *b, const struct work *w, bool begins)
{
    b->slots.used += begins;
    if (rollout_budget_is_ours(w) || (!begins && only_waits(w)))
        return;
    b->our_nodes++;
    b->our_gpus += w->node->gpus;
    if (is_out(w))
        return;
    b->nodes.used++;
    b->gpus.used += w->node->gpus;
    b->claimed++;
}

void budget_give_back(struct budget *b, const struct work *w)
{
    b->our_nodes--;
    b->our_gpus -= w->node->gpus;
    b->nodes.used--;
    b->gpus.used -= w->node->gpus;
    b->claimed--;
}
