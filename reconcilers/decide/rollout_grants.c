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

/* Whether a claim goes on with what it was made for: another target is a new beginning. */
static bool goes_on(const struct rollout_node *n)
{
    return n->claim && claim_is_for(n->claim, n->target);
}

/* How a claim begins when it has its slot: GPU pods leave only for another driver, and only where they can be. */
static enum claim_phase first_phase(const struct rollout_node *n)
{
    bool drains = assignment_drains(n->now, n->target);
    return drains && *n->now.hash[TIER_DRIVER] && *n->now.hash[TIER_STACK] ? CLAIM_DRAINING
                                                                           : CLAIM_UNLOADING;
}

/* Whether its times count from now on: it is tried again; or its jobs have ended by themselves. Nobody was asked to leave until
 * then, so who came meanwhile did not come back. Jobs whose time is over have to go: that must stay so. */
static bool begins_anew(const struct rollout_grant *g)
{
    const struct rollout_node *n = g->node;
    return n->claim->phase == CLAIM_FAILED || (g->kind == GRANT_DRAIN && !n->jobs);
}

struct claim grant_claim(const struct rollout_grant *g, const struct claimant *by, bool back)
{
    const struct rollout_node *n = g->node;
    struct claim c = { .claimed_s = by->now_s, .attempt = 1, .gpus = n->gpus };
    if (goes_on(n)) {
        c = *n->claim;
    } else {
        if (n->claim)
            claim_keep(&c, n->claim);
        c.kind = back || g->restores ? CLAIM_ROLLBACK : CLAIM_UPGRADE;
        claim_begin_from(&c, n->now);
    }
    c.attempt += goes_on(n) && n->claim->phase == CLAIM_FAILED;
    if (goes_on(n) && begins_anew(g))
        c.claimed_s = by->now_s;
    snprintf(c.policy, sizeof c.policy, "%s", by->policy);
    c.generation = by->generation;
    assignment_copy(&c.to, n->target);
    c.phase = g->kind == GRANT_CLAIM_WAITING ? CLAIM_WAITING : first_phase(n);
    c.since_s = by->now_s;
    *c.reason = '\0';
    return c;
}

/* A node that failed rolls back, where its claim is a new one for that. */
static enum reason reason_of(const struct rollout_grant *g, const struct claim *c)
{
    bool back = g->kind == GRANT_RETRY && c->kind == CLAIM_ROLLBACK && !goes_on(g->node);
    return back ? REASON_ROLLED_BACK : reasons[g->kind];
}

void grant_plan(const struct rollout_grant *g, const struct node_view *view, const struct claimant *by, bool back,
                struct actions *actions)
{
    struct claim c = grant_claim(g, by, back);
    CLEANUP_JSON json_t *patch = marks_claim_patch(view, &c, by->taint);
    CLEANUP_FREE char *target = xasprintf("node/%s", g->node->name);
    action_add(actions, request_json_patch(RESOURCE_NODE, NULL, g->node->name, patch), VERB_CLAIM,
               target, reason_of(g, &c), "%s", str_or_empty(g->message));
}

void return_plan(const struct rollout_return *r, const struct node_view *view, const char *taint, struct actions *actions)
{
    CLEANUP_JSON json_t *patch = marks_claim_patch(view, NULL, taint);
    CLEANUP_FREE char *target = xasprintf("node/%s", r->node->name);
    action_add(actions, request_json_patch(RESOURCE_NODE, NULL, r->node->name, patch), VERB_MARK,
               target, REASON_RETURNED_TO_SERVICE, "%s", r->message);
}
