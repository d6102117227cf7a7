#include "reconcilers/decide/rollout_grants.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/action.h"
#include "reconcilers/decide/marks.h"

static const enum reason reasons[] = {
    [GRANT_CLAIM_WAITING] = REASON_CLAIMED_WAITING,
    [GRANT_CLAIM] = REASON_CLAIMED,
    [GRANT_DRAIN] = REASON_DRAIN_STARTED,
    [GRANT_RETRY] = REASON_RETRIED,
};

/* Whether a claim continues with its target; another target, or a repair, starts a new claim. */
static bool goes_on(const struct rollout_grant *g)
{
    const struct claim *c = g->node->claim;
    return c && claim_is_for(c, g->to) && claim_kinds[c->kind].repairs == g->repairs;
}

/* The first phase of a claim with a slot: GPU pods leave only for another driver or a repair, and
 * only if there can be any. */
static enum claim_phase first_phase(const struct rollout_grant *g)
{
    const struct rollout_node *n = g->node;
    bool drains = g->repairs || (assignment_drains(n->now, g->to) && *n->now.hash[TIER_DRIVER]);
    return drains && *n->now.hash[TIER_STACK] ? CLAIM_DRAINING : CLAIM_UNLOADING;
}

static enum claim_kind kind_of(const struct rollout_grant *g, bool back)
{
    if (g->repairs)
        return CLAIM_REPAIR;
    return back || g->restores ? CLAIM_ROLLBACK : CLAIM_UPGRADE;
}

/* Whether its times start again: it is retried, or its jobs have ended by themselves. Until then no
 * pod was evicted, so a pod that came in between is not a returned pod. If the wait for jobs timed
 * out, the times stay, so that the jobs must go. */
static bool begins_anew(const struct rollout_grant *g)
{
    const struct rollout_node *n = g->node;
    return n->claim->phase == CLAIM_FAILED || (g->kind == GRANT_DRAIN && !n->jobs);
}

struct claim grant_claim(const struct rollout_grant *g, const struct claimant *by, bool back)
{
    const struct rollout_node *n = g->node;
    struct claim c = { .claimed_s = by->now_s, .attempt = 1, .gpus = n->gpus };
    if (goes_on(g)) {
        c = *n->claim;
    } else {
        if (n->claim)
            claim_keep(&c, n->claim);
        c.kind = kind_of(g, back);
        claim_begin_from(&c, n->now);
    }
    c.attempt += goes_on(g) && n->claim->phase == CLAIM_FAILED;
    if (g->repairs && n->repair == REPAIR_ASKED) {
        c.asked = true;
        c.attempt = 1;
    }
    if (goes_on(g) && begins_anew(g))
        c.claimed_s = by->now_s;
    snprintf(c.policy, sizeof c.policy, "%s", by->policy);
    c.generation = by->generation;
    assignment_copy(&c.to, g->to);
    c.phase = g->kind == GRANT_CLAIM_WAITING ? CLAIM_WAITING : first_phase(g);
    c.boot = 0;
    c.sentinel = false;
    *c.called_off = '\0';
    c.since_s = by->now_s;
    *c.reason = '\0';
    return c;
}

/* A failed node rolls back if its claim is a new one for that. */
static enum reason rollout_grants_reason_of(const struct rollout_grant *g, const struct claim *c)
{
    bool back = g->kind == GRANT_RETRY && c->kind == CLAIM_ROLLBACK && !goes_on(g);
    return back ? REASON_ROLLED_BACK : reasons[g->kind];
}

/* `claim`: NULL: none. */
static void write_claim(const struct node_view *view, const struct claim *claim, const char *taint,
                        enum verb verb, enum reason reason, const char *message,
                        struct actions *actions)
{
    const char *name = view->node->head.key;
    CLEANUP_JSON json_t *patch = marks_claim_patch(view, claim, taint);
    CLEANUP_FREE char *target = xasprintf("node/%s", name);
    action_add(actions, request_json_patch(RESOURCE_NODE, NULL, name, patch), verb, target, reason,
               "%s", str_or_empty(message));
}

void grant_plan(const struct rollout_grant *g, const struct node_view *view,
                const struct claimant *by, bool back, struct actions *actions)
{
    struct claim c = grant_claim(g, by, back);
    write_claim(view, &c, by->taint, VERB_CLAIM, rollout_grants_reason_of(g, &c), g->message,
                actions);
}

void return_plan(const struct rollout_return *r, const struct node_view *view, const char *taint,
                 struct actions *actions)
{
    write_claim(view, NULL, taint, VERB_MARK, REASON_RETURNED_TO_SERVICE, r->message, actions);
}
