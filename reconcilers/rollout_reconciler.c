/* Reconciles the rollout over all nodes: calls rollout_decide(). */
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/cluster_shown.h"
#include "reconcilers/notices.h"
#include "reconcilers/decide/rollout_grants.h"
#include "reconcilers/decide/rollout_message.h"
#include "reconcilers/decide/waiting_for.h"
#include "reconcilers/reconcilers.h"
#include "reconcilers/rollout_gathering.h"
#include "reconcilers/rollout_images.h"
#include "reconcilers/rollout_unclear.h"
#include "reconcilers/toolkit_pass.h"

static void plan_grants(const struct cluster *c, const struct rollout_gathering *g,
                        const struct rollout_decision *d, struct actions *actions)
{
    struct claimant by = { .policy = c->policy.uid,
                           .taint = g->in.spec->drain.taint_key,
                           .generation = object_generation(c->object),
                           .now_s = g->in.now_s };
    actions->keep_going = true;
    if (d->grant_count)
        rollout_unclear_look(c, actions);
    for (size_t i = 0; i < d->grant_count; i++) {
        const struct node_slot *slot = g->slots[d->grants[i].node - g->in.nodes];
        struct node_view view = cluster_view(c, slot->node);
        grant_plan(&d->grants[i], &view, &by, slot->summary.falling_back, actions);
        /* An idle node's upgrade causes an Event only at its end. */
        if (d->grants[i].kind != GRANT_CLAIM || d->grants[i].node->busy)
            notice_write(slot, actions);
    }
}

static void plan_returns(const struct cluster *c, const struct rollout_gathering *g,
                         const struct rollout_decision *d, struct actions *actions)
{
    for (size_t i = 0; i < d->return_count; i++) {
        const struct node_slot *slot = g->slots[d->returns[i].node - g->in.nodes];
        return_plan(&d->returns[i], &(struct node_view){ slot->node, c->strings, c->reads },
                    g->in.spec->drain.taint_key, actions);
        notice_write(slot, actions);
    }
}

/* Stores why nodes with another target are not taken next, and which images they cannot pull.
 * Enqueues their reports if that changed. */
static void take_holds(const struct cluster *c, const struct rollout_gathering *g,
                       const struct rollout_decision *d, bool known, struct actions *actions)
{
    for (size_t i = 0; i < g->in.node_count; i++) {
        struct node_slot *slot = g->slots[i];
        notice_images(slot, &g->in.nodes[i].images, known, actions);
        enum rollout_hold hold = waiting_turn(d->refused[i]);
        if (slot->hold == hold)
            continue;
        if (known && hold == ROLLOUT_HOLD_SKIPPED)
            notice_skipped(slot, rollout_skip_text(&g->in.nodes[i]), actions);
        slot->hold = hold;
        cluster_enqueue_report(c, slot->name);
    }
}

/* A pull pod that cannot be rendered is reported by the next pass like a refusal by the API
 * server. */
static void plan_pulls(struct reconcilers *r, const struct rollout_decision *d,
                       struct actions *actions)
{
    CLEANUP_FREE char *why = NULL;
    for (size_t i = 0; i < d->pull_count; i++) {
        CLEANUP_ERR struct err e = { 0 };
        if (rollout_pull(r->cluster, r->manifests, d->pulls[i], actions, &e) < 0 && !why)
            why = xstrdup(err_msg(&e));
    }
    if (str_eq(why, r->pull_failed))
        return;
    free(r->pull_failed);
    r->pull_failed = TAKE(why);
    actions_requeue(actions, 1);
}

/* A refusal under one policy says nothing about the next. */
static void rollout_reconciler_forget(struct reconcilers *r)
{
    free(TAKE(r->pull_failed));
    free(TAKE(r->pull_refused));
    if (!r->rollout.known)
        return;
    rollout_report_clear(&r->rollout);
    r->rollout_early = false;
    rollout_plan_status_clear(&r->plans);
    r->policy(r->arg, false);
}

/* Whether Ostler takes nodes out of service for this policy. */
static bool rolls_out(const struct cluster *c)
{
    int64_t again_ms;
    return cluster_mode(c, &again_ms) == MODE_MANAGE &&
           object_has_finalizer(c->object, POLICY_FINALIZER);
}

static void look(const struct reconcilers *r, struct arena *a, struct rollout_gathering *ret_g,
                 struct rollout_decision *ret_d)
{
    rollout_gather(r->cluster, a, ret_g);
    ret_g->in.pull_refused = r->pull_failed ? r->pull_failed : r->pull_refused;
    rollout_decide(&ret_g->in, a, ret_d);
}

bool rollout_review(const struct reconcilers *r, struct rollout_report *ret)
{
    const struct cluster *c = r->cluster;
    if (!c->rollout_outdated || c->pending || !r->rollout.known || r->rollout_epoch != c->epoch ||
        !rolls_out(c))
        return false;
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_gathering g;
    struct rollout_decision d;
    look(r, &a, &g, &d);
    rollout_report_take(ret, &d, g.in.pool_names);
    return true;
}

void rollout_reconcile(void *arg, const char *key, struct actions *actions)
{
    (void) key;
    struct reconcilers *r = arg;
    struct cluster *c = r->cluster;
    int64_t plan_again_s;
    actions->epoch = c->epoch;
    if (!rolls_out(c)) {
        rollout_reconciler_forget(r);
        return;
    }
    /* Until every node has been reconciled under this policy, their targets are not known. */
    if (c->pending)
        return;
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_gathering g;
    struct rollout_decision d;
    c->rollout_outdated = false;
    look(r, &a, &g, &d);
    take_holds(c, &g, &d, r->rollout.known, actions);
    bool planned = rollout_plan_status_take(&r->plans, c, &g, &d, &plan_again_s),
         first = r->rollout_epoch != c->epoch;
    r->rollout_epoch = c->epoch;
    c->rolled = &r->rollout;
    r->rollout_early = g.early;
    if (rollout_report_take(&r->rollout, &d, g.in.pool_names) || planned || first) {
        r->policy(r->arg, first || d.note_count > 0);
        cluster_shown_policy(c); /* its counts */
    }
    toolkit_pass(c, &g, &a, actions);
    /* Notes for the records are written first. */
    if (!d.note_count) {
        plan_grants(c, &g, &d, actions);
        plan_returns(c, &g, &d, actions);
        plan_pulls(r, &d, actions);
    }
    if (plan_again_s)
        actions_requeue(actions, plan_again_s * 1000);
    if (d.again_s)
        actions_requeue(actions, d.again_s > g.in.now_s ? (d.again_s - g.in.now_s) * 1000 : 1000);
}

void rollout_outcome(void *arg, const char *key, const struct executor_result *result)
{
    (void) key;
    struct reconcilers *r = arg;
    rollout_unclear_take(r->cluster, result->actions);
    bool pull = result->failed && result->failed->request.resource == RESOURCE_TASK;
    if (result->error != ERR_NONE && (!pull || result->error == ERR_CONFLICT))
        return;
    xstrset(&r->pull_refused, result->error == ERR_NONE ? NULL : result->message);
}
