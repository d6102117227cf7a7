#include "reconcilers/plan/rollout_message.h"

#include "base/clock.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"

/* The last second that RFC 3339 can say. */
#define YEAR_9999_S INT64_C(253402300799)

/* "1 node is", "3 nodes are" */
static const char *nodes_are(struct arena *a, size_t n)
{
    return n == 1 ? "1 node is" : arena_printf(a, "%zu nodes are", n);
}

/* "1 node waits", "3 nodes wait" */
static const char *nodes_wait(struct arena *a, size_t n)
{
    return n == 1 ? "1 node waits" : arena_printf(a, "%zu nodes wait", n);
}

static const char *nodes_waiting(const struct rollout_story *s, enum rollout_hold hold, struct arena *a)
{
    return nodes_wait(a, s->refusals[hold].nodes);
}

const char *rollout_time_text(struct arena *a, int64_t at_s)
{
    char text[CLOCK_TEXT_MAX];
    clock_rfc3339((at_s < YEAR_9999_S ? at_s : YEAR_9999_S) * 1000000, text);
    return arena_strdup(a, text);
}

static const char *pool_name(const struct rollout_story *s, const struct work *w)
{
    return s->view->in->pool_names[w->node->pool];
}

static const char *say_none(const struct rollout_story *s, struct arena *a)
{
    return arena_printf(a, "%s under way; no other has to go", nodes_are(a, s->view->of[WORK_ACTIVE] + s->view->of[WORK_WAITING]));
}

static const char *say_done(const struct rollout_story *s, struct arena *a)
{
    (void) s;
    return arena_strdup(a, "every node runs what the policy wants");
}

static const char *say_paused(const struct rollout_story *s, struct arena *a)
{
    return arena_printf(a, "%s since spec.rollout.paused is true; what is under way is finished", nodes_waiting(s, ROLLOUT_HOLD_PAUSED, a));
}

static const char *say_approval(const struct rollout_story *s, struct arena *a)
{
    return arena_printf(a, "%s for a person: %s; annotate the policy with " POLICY_APPROVED "=%s to begin",
                        nodes_waiting(s, ROLLOUT_HOLD_APPROVAL, a),
                        s->view->in->approved ? "the plan that was approved is another one" : "spec.rollout.approval is Manual",
                        s->plan_hash);
}

static const char *say_window(const struct rollout_story *s, struct arena *a)
{
    const struct refusal *r = &s->refusals[ROLLOUT_HOLD_WINDOW];
    return r->until_s == INT64_MAX
               ? arena_printf(a, "%s, and none of spec.rollout.windows opens within five years; correct schedule and timeZone",
                              nodes_wait(a, r->nodes))
               : arena_printf(a, "%s for a window; the next one opens at %s", nodes_wait(a, r->nodes), rollout_time_text(a, r->until_s + s->view->in->set_s));
}

/* Nobody is left who waits for it: they have what is known to be good, or came through. */
static const char *say_gone_back(const struct rollout_story *s, struct arena *a)
{
    const struct rollout_revision *r = rollout_first_failed(s->view->in);
    return arena_printf(a, "revision %s failed in pool %s: no other node gets it; change the policy, or annotate it with " POLICY_RETRY "=%s to try again",
                        r->hash, s->view->in->pool_names[r->pool], r->hash);
}

static const char *say_failed(const struct rollout_story *s, struct arena *a)
{
    const struct refusal *r = &s->refusals[ROLLOUT_HOLD_FAILED];
    if (!r->nodes)
        return say_gone_back(s, a);
    const struct progress *p = r->first->progress;
    return arena_printf(a,
                        "%s: revision %s failed in pool %s%s%s; change the policy, or annotate it with " POLICY_RETRY "=%s to try again",
                        nodes_wait(a, r->nodes), p->record.hash, pool_name(s, r->first), p->first_failed ? ", first on node " : "",
                        p->first_failed ? p->first_failed->name : "", p->record.hash);
}

static const char *say_images(const struct rollout_story *s, struct arena *a)
{
    const struct refusal *r = &s->refusals[ROLLOUT_HOLD_IMAGES];
    const struct rollout_node *n = r->first->node;
    const char *wait = nodes_wait(a, r->nodes);
    if (n->images.state == IMAGES_UNKNOWN && s->view->in->pull_refused)
        return arena_printf(a, "%s for images; the pod that pulls them to %s, which works on as it is, is refused: %s", wait, n->name,
                            s->view->in->pull_refused);
    if (n->images.state != IMAGES_MISSING)
        return arena_printf(a, "%s for images of the new revision to be pulled, first %s, which works on as it is until then", wait, n->name);
    return arena_printf(a, "%s for images; %s works on as it is and cannot get %s: %s", wait, n->name, n->images.image ? n->images.image : "them",
                        n->images.words);
}

static const char *say_canary(const struct rollout_story *s, struct arena *a)
{
    const struct refusal *r = &s->refusals[ROLLOUT_HOLD_CANARY];
    const struct progress *p = r->first->progress;
    return arena_printf(a, "%s for the canary of revision %s in pool %s: %zu of %lld nodes run it well", nodes_wait(a, r->nodes),
                        p->record.hash, pool_name(s, r->first), p->settled, (long long) s->view->in->spec->canary_nodes);
}

static const char *say_soak(const struct rollout_story *s, struct arena *a)
{
    const struct refusal *r = &s->refusals[ROLLOUT_HOLD_SOAK];
    const char *hash = r->first->progress->record.hash;
    return r->until_s == INT64_MAX
               ? arena_printf(a, "%s until the present wave of revision %s is over", nodes_wait(a, r->nodes), hash)
               : arena_printf(a, "%s until revision %s has worked long enough, at %s", nodes_wait(a, r->nodes), hash, rollout_time_text(a, r->until_s));
}

static const char *say_parallel(const struct rollout_story *s, struct arena *a)
{
    const struct budget_line *slots = &s->budget->slots;
    return arena_printf(a, "%s: %s being changed, and maxParallel allows %zu", nodes_waiting(s, ROLLOUT_HOLD_PARALLEL, a),
                        nodes_are(a, slots->used), slots->max);
}

static const char *say_unavailable(const struct rollout_story *s, struct arena *a)
{
    const struct budget *b = s->budget;
    return arena_printf(a, "%s: %s out of service (%zu because of upgrades, %zu down, %zu cordoned), and maxUnavailable allows %zu",
                        nodes_waiting(s, ROLLOUT_HOLD_UNAVAILABLE, a), nodes_are(a, b->nodes.used), b->claimed, b->down, b->cordoned,
                        b->nodes.max);
}

static const char *say_gpus(const struct rollout_story *s, struct arena *a)
{
    const struct refusal *r = &s->refusals[ROLLOUT_HOLD_GPUS];
    const struct budget *b = s->budget;
    return arena_printf(a, "%s, first %s with %u GPUs: %zu GPUs are out of service (nodes: %zu because of upgrades, %zu down, %zu cordoned), "
                        "and maxUnavailableGpus allows %zu", nodes_wait(a, r->nodes), r->first->node->name, r->first->node->gpus,
                        b->gpus.used, b->claimed, b->down, b->cordoned, b->gpus.max);
}

static const char *say_domain(const struct rollout_story *s, struct arena *a)
{
    return arena_printf(a, "%s while nodes with another value of %s, \"%s\", are changed", nodes_waiting(s, ROLLOUT_HOLD_DOMAIN, a),
                        s->view->in->spec->topology_key, s->domain);
}

static const char *say_backoff(const struct rollout_story *s, struct arena *a)
{
    const struct refusal *r = &s->refusals[ROLLOUT_HOLD_BACKOFF];
    return arena_printf(a, "%s to be tried again, first %s (%s) at %s", nodes_wait(a, r->nodes), r->first->node->name,
                        r->first->node->claim->reason, rollout_time_text(a, r->until_s));
}

static const char *say_jobs(const struct rollout_story *s, struct arena *a)
{
    const struct refusal *r = &s->refusals[ROLLOUT_HOLD_JOBS];
    const char *until = r->until_s == INT64_MAX ? "" : arena_printf(a, ", at most until %s", rollout_time_text(a, r->until_s));
    return arena_printf(a, "%s for jobs to end, first %s with %u%s", nodes_wait(a, r->nodes), r->first->node->name, r->first->node->jobs,
                        until);
}

static const char *say_down(const struct rollout_story *s, struct arena *a)
{
    const struct refusal *r = &s->refusals[ROLLOUT_HOLD_DOWN];
    return arena_printf(a, "%s down, first %s; what is left to do there begins when it is Ready", nodes_are(a, r->nodes), r->first->node->name);
}

static const char *say_skipped(const struct rollout_story *s, struct arena *a)
{
    const struct refusal *r = &s->refusals[ROLLOUT_HOLD_SKIPPED];
    const struct rollout_node *n = r->first->node;
    return arena_printf(a, "%s skipped, first %s, which %s", nodes_are(a, r->nodes), n->name,
                        n->cordoned ? "a person cordoned"
                        : n->held   ? "a person holds with the label " LABEL_HOLD
                                    : "a person gave up for this target");
}

static const char *const reasons[ROLLOUT_HOLD_COUNT] = {
#define X(id, reason) [ROLLOUT_HOLD_##id] = reason,
    ROLLOUT_HOLDS(X)
#undef X
};

typedef const char *say_fn(const struct rollout_story *s, struct arena *a);

static say_fn *const sentences[ROLLOUT_HOLD_COUNT] = {
    [ROLLOUT_HOLD_NONE] = say_none,
    [ROLLOUT_HOLD_DONE] = say_done,
    [ROLLOUT_HOLD_PAUSED] = say_paused,
    [ROLLOUT_HOLD_APPROVAL] = say_approval,
    [ROLLOUT_HOLD_WINDOW] = say_window,
    [ROLLOUT_HOLD_FAILED] = say_failed,
    [ROLLOUT_HOLD_IMAGES] = say_images,
    [ROLLOUT_HOLD_CANARY] = say_canary,
    [ROLLOUT_HOLD_SOAK] = say_soak,
    [ROLLOUT_HOLD_PARALLEL] = say_parallel,
    [ROLLOUT_HOLD_UNAVAILABLE] = say_unavailable,
    [ROLLOUT_HOLD_GPUS] = say_gpus,
    [ROLLOUT_HOLD_DOMAIN] = say_domain,
    [ROLLOUT_HOLD_BACKOFF] = say_backoff,
    [ROLLOUT_HOLD_JOBS] = say_jobs,
    [ROLLOUT_HOLD_DOWN] = say_down,
    [ROLLOUT_HOLD_SKIPPED] = say_skipped,
};

const char *rollout_hold_reason(enum rollout_hold h)
{
    return reasons[h];
}

const char *rollout_hold_message(const struct rollout_story *s, enum rollout_hold hold, struct arena *a)
{
    return sentences[hold](s, a);
}

/* ---- grants */

static const char *jobs_message(const struct work *w, const struct rollout_input *in, struct arena *a)
{
    const struct rollout_node *n = w->node;
    int64_t wait = in->spec->drain.wait_for_jobs_s;
    if (!n->up)
        return arena_strdup(a, "the node is down; it is closed and begins when it is Ready again");
    return arena_printf(a, "the node is closed; %u pod%s that nobody asks to leave %s waited for, %s", n->jobs, n->jobs == 1 ? "" : "s",
                        n->jobs == 1 ? "is" : "are",
                        wait < 0 ? "as long as that takes"
                                 : arena_printf(a, "at most until %s", rollout_time_text(a, time_after(in->now_s, wait))));
}

/* What the node goes from and to. */
static const char *way_message(const struct work *w, struct arena *a)
{
    const struct rollout_node *n = w->node;
    return w->moves_driver ? arena_printf(a, "driver revision %s comes in place of %s", n->target_driver, n->driver)
                           : arena_printf(a, "stack revision %s comes in place of %s; GPU pods stay", n->target_stack, n->stack);
}

static const char *retry_message(const struct work *w, struct arena *a)
{
    const struct claim *c = w->node->claim;
    if (w->restores)
        return arena_strdup(a, "the node goes back to the revisions that are known to be good");
    if (w->stale)
        return arena_strdup(a, "the policy wants other revisions now: the node that failed is tried with these");
    return arena_printf(a, "attempt %u after %s", c->attempt + 1, c->reason);
}

const char *rollout_grant_message(const struct work *w, enum rollout_grant_kind kind, const struct rollout_input *in, struct arena *a)
{
    switch (kind) {
    case GRANT_CLAIM_WAITING:
        return jobs_message(w, in, a);
    case GRANT_CLAIM:
        return way_message(w, a);
    case GRANT_DRAIN:
        return arena_strdup(a, w->node->jobs ? "the time to wait for jobs is over: GPU pods leave" : "no job runs on the node: GPU pods leave");
    case GRANT_RETRY:
        return retry_message(w, a);
    }
    return "";
}
