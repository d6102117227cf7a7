#include "reconcilers/decide/rollout_message.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"

/* The last second that RFC 3339 can express. */
#define YEAR_9999_S INT64_C(253402300799)

enum { MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400 };

/* "1 node is", "3 nodes are" */
static const char *nodes_are(struct arena *a, size_t n)
{
    return n == 1 ? "1 node is" : arena_printf(a, "%zu nodes are", n);
}

/* "1 GPU", "8 GPUs" */
static const char *gpus(struct arena *a, size_t n)
{
    return arena_printf(a, "%zu GPU%s", n, n == 1 ? "" : "s");
}

/* "gpu-1 waits", "3 nodes wait": a single node is named. */
static const char *who_waits(const struct refusal *r, struct arena *a)
{
    return r->nodes == 1 ? arena_printf(a, "%s waits", r->first->node->name)
                         : arena_printf(a, "%zu nodes wait", r->nodes);
}

/* "gpu-1 is", "3 nodes are" */
static const char *who_is(const struct refusal *r, struct arena *a)
{
    return r->nodes == 1 ? arena_printf(a, "%s is", r->first->node->name)
                         : arena_printf(a, "%zu nodes are", r->nodes);
}

/* ", first gpu-1" if there are others */
static const char *first_of(const struct refusal *r, struct arena *a)
{
    return r->nodes == 1 ? "" : arena_printf(a, ", first %s", r->first->node->name);
}

static const char *called(const struct rollout_revision *r, struct arena *a)
{
    return r->name ? r->name : arena_printf(a, "revision %s", r->hash);
}

/* A revision of any pool: its name is the same everywhere. */
static const char *name_of(const struct rollout_input *in, const char *tier, const char *hash,
                           struct arena *a)
{
    for (size_t i = 0; i < in->revision_count; i++)
        if (str_eq(in->revisions[i].hash, hash))
            return called(&in->revisions[i], a);
    return arena_printf(a, "%s revision %s", tier, hash);
}

const char *rollout_time_text(struct arena *a, int64_t at_s)
{
    char text[CLOCK_TEXT_MAX];
    clock_rfc3339((at_s < YEAR_9999_S ? at_s : YEAR_9999_S) * 1000000, text);
    return arena_strdup(a, text);
}

void rollout_span_text(int64_t s, char out[static ROLLOUT_SPAN_MAX])
{
    if (s >= DAY_S)
        snprintf(out, ROLLOUT_SPAN_MAX, "%lldd %lldh", (long long) (s / DAY_S),
                 (long long) (s % DAY_S / HOUR_S));
    else if (s >= HOUR_S)
        snprintf(out, ROLLOUT_SPAN_MAX, "%lldh %lldm", (long long) (s / HOUR_S),
                 (long long) (s % HOUR_S / MINUTE_S));
    else if (s >= MINUTE_S)
        snprintf(out, ROLLOUT_SPAN_MAX, "%lldm", (long long) ((s + MINUTE_S - 1) / MINUTE_S));
    else
        snprintf(out, ROLLOUT_SPAN_MAX, "%llds", (long long) s);
}

/* The remaining nodes were granted, by this decision or earlier. */
static const char *describe_none(const struct rollout_story *s)
{
    size_t left = s->view->in->node_count - s->view->of[WORK_DONE] - s->view->of[WORK_SKIPPED];
    return arena_printf(s->a, "%s under way; no other node needs an upgrade",
                        nodes_are(s->a, left));
}

static const char *describe_paused(const struct rollout_story *s, const struct refusal *r)
{
    return arena_printf(s->a, "%s because spec.rollout.paused is true; upgrades under way finish",
                        r->nodes ? who_waits(r, s->a) : "no node begins,");
}

static const char *describe_approval(const struct rollout_story *s, const struct refusal *r)
{
    return arena_printf(
        s->a, "%s for approval: %s; annotate the policy with " POLICY_APPROVED "=%s to begin",
        who_waits(r, s->a),
        s->view->in->approved ? "another plan was approved" : "spec.rollout.approval is Manual",
        s->plan_hash);
}

static const char *describe_window(const struct rollout_story *s, const struct refusal *r)
{
    return r->until_s == INT64_MAX
               ? arena_printf(s->a,
                              "%s, and none of spec.rollout.windows opens within five years; "
                              "correct schedule and timeZone",
                              who_waits(r, s->a))
               : arena_printf(s->a, "%s for a window; the next one opens at %s", who_waits(r, s->a),
                              rollout_time_text(s->a, r->until_s + s->view->in->set_s));
}

/* "driver 580.178.04 failed in pool default, on gpu-1 with CrashLoopBackOff" */
static const char *failure_text(const struct rollout_story *s, const struct rollout_revision *r,
                                const struct progress *p)
{
    const char *space = r->failure ? strchr(r->failure, ' ') : NULL, *where = "";
    if (space)
        where = arena_printf(s->a, ", on %.*s with %s", (int) (space - r->failure), r->failure,
                             space + 1);
    else if (p && p->first_failed)
        where = arena_printf(s->a, ", on %s with %s", p->first_failed->name, p->failed_with);
    return arena_printf(s->a, "%s failed in pool %s%s", called(r, s->a),
                        s->view->in->pool_names[r->pool], where);
}

/* What to add when the failure comes first: nodes under way, and nodes that wait for another
 * reason. */
static const char *besides_failure(const struct rollout_story *s)
{
    size_t active = s->view->of[WORK_ACTIVE];
    const char *text = active ? arena_printf(s->a, "; %s under way", nodes_are(s->a, active)) : "";
    for (int h = ROLLOUT_HOLD_FAILED + 1; h < ROLLOUT_HOLD_SKIPPED; h++)
        if (s->refusals[h].nodes)
            return arena_printf(s->a, "%s; %s", text,
                                rollout_hold_message(s, (enum rollout_hold) h));
    return text;
}

static const char *describe_failed(const struct rollout_story *s, const struct refusal *r)
{
    const struct progress *p = r->nodes ? r->first->progress : NULL;
    /* If no node waits for it, the nodes have a known good revision, are getting it, or
     * succeeded. */
    const struct rollout_revision *failed = p ? &p->record : rollout_first_failed(s->view->in);
    return arena_printf(
        s->a, "%s%s; change the policy, or retry the revision: " POLICY_RETRY_COMMAND "%s",
        failure_text(s, failed, p),
        p ? arena_printf(s->a, ", and %s", who_waits(r, s->a))
          : ": no other node of this pool gets it",
        failed->retry ? failed->retry : failed->hash, p ? "" : besides_failure(s));
}

void rollout_failure_of(const struct rollout_story *s, struct rollout_failure *ret)
{
    const struct rollout_revision *r = rollout_first_failed(s->view->in);
    *ret = (struct rollout_failure){ 0 };
    if (!r)
        return;
    const char *space = r->failure ? strchr(r->failure, ' ') : NULL;
    ret->message = failure_text(s, r, NULL);
    ret->node = space ? arena_printf(s->a, "%.*s", (int) (space - r->failure), r->failure) : NULL;
    ret->retry = r->retry ? r->retry : r->hash;
}

static const char *describe_images(const struct rollout_story *s, const struct refusal *r)
{
    const struct rollout_node *n = r->first->node;
    const char *wait = who_waits(r, s->a);
    if (n->images.state == IMAGES_UNKNOWN && s->view->in->pull_refused)
        return arena_printf(s->a,
                            "%s for images; %s stays in service, and the API server refuses the "
                            "pod that pulls them: %s",
                            wait, n->name, s->view->in->pull_refused);
    if (n->images.state != IMAGES_MISSING)
        return arena_printf(s->a,
                            "%s for images of the new revision%s, and stay%s in service until then",
                            wait, first_of(r, s->a), r->nodes == 1 ? "s" : "");
    return arena_printf(s->a, "%s for images; %s stays in service and cannot get %s: %s", wait,
                        n->name, n->images.image ? n->images.image : "them", n->images.words);
}

/* The first node of the revision under way; NULL: none. */
static const struct rollout_node *first_under_way(const struct rollout_story *s,
                                                  const struct progress *p)
{
    for (size_t i = 0; i < s->view->in->node_count; i++)
        if (s->view->works[i].progress == p && s->view->works[i].state == WORK_ACTIVE)
            return s->view->works[i].node;
    return NULL;
}

/* Says that other nodes start only after the canary has soaked. */
static const char *then_soaks(const struct rollout_story *s, const struct progress *p)
{
    char span[ROLLOUT_SPAN_MAX];
    int64_t left_s = progress_canary_left_s(p, s->view->in);
    rollout_span_text(left_s, span);
    if (p->record.canary_s < 0)
        return arena_printf(s->a, "; it is not healthy, and must be healthy for %s more", span);
    return left_s > 0 ? arena_printf(s->a, "; when it is up, it must work for %s", span) : "";
}

static const char *describe_canary(const struct rollout_story *s, const struct refusal *r)
{
    const struct progress *p = r->first->progress;
    const struct rollout_node *canary = first_under_way(s, p);
    int64_t nodes = s->view->in->spec->canary_nodes;
    return arena_printf(s->a, "%s for the canary of %s in pool %s%s%s%s%s", who_waits(r, s->a),
                        called(&p->record, s->a), s->view->in->pool_names[r->first->node->pool],
                        canary ? ", " : "", canary ? canary->name : "",
                        nodes == 1 ? ""
                                   : arena_printf(s->a, ": %zu of %lld nodes are healthy",
                                                  p->settled, (long long) nodes),
                        then_soaks(s, p));
}

static const char *describe_soak(const struct rollout_story *s, const struct refusal *r)
{
    const char *name = called(&r->first->progress->record, s->a);
    return r->until_s == INT64_MAX
               ? arena_printf(s->a, "%s until the present wave of %s is over", who_waits(r, s->a),
                              name)
               : arena_printf(s->a, "%s until the soak of %s ends, at %s", who_waits(r, s->a), name,
                              rollout_time_text(s->a, r->until_s));
}

static const char *describe_parallel(const struct rollout_story *s, const struct refusal *r)
{
    const struct budget_line *slots = &s->budget->slots;
    return arena_printf(s->a, "%s: %s being changed, and maxParallel allows %zu",
                        who_waits(r, s->a), nodes_are(s->a, slots->used), slots->max);
}

static size_t repairs_under_way(const struct rollout_view *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->in->node_count; i++) {
        const struct work *w = &v->works[i];
        n += w->repairs && !w->node->leaving &&
             (w->state == WORK_WAITING || w->state == WORK_ACTIVE);
    }
    return n;
}

/* "1 because of upgrades, 0 down, 0 cordoned, 2 with unhealthy GPUs": why nodes are out of
 * service. */
static const char *what_is_out(const struct rollout_story *s)
{
    const struct budget *b = s->budget;
    struct arena *a = s->a;
    size_t repairs = repairs_under_way(s->view);
    const char *leaving = b->leaving ? arena_printf(a, ", %zu being deleted", b->leaving) : "";
    const char *unhealthy = b->unhealthy
                                ? arena_printf(a, ", %zu with unhealthy GPUs", b->unhealthy)
                                : "";
    return arena_printf(a, "%zu because of upgrades%s, %zu down, %zu cordoned%s%s",
                        b->claimed - repairs,
                        repairs ? arena_printf(a, ", %zu because of repairs", repairs) : "",
                        b->down, b->cordoned, unhealthy, leaving);
}

static const char *describe_unavailable(const struct rollout_story *s, const struct refusal *r)
{
    const struct budget *b = s->budget;
    return arena_printf(s->a, "%s: %s out of service (%s), and maxUnavailable allows %zu",
                        who_waits(r, s->a), nodes_are(s->a, b->nodes.used), what_is_out(s),
                        b->nodes.max);
}

static const char *describe_gpus(const struct rollout_story *s, const struct refusal *r)
{
    const struct budget *b = s->budget;
    return arena_printf(
        s->a, "%s%s with %s: %s out of service (nodes: %s), and maxUnavailableGpus allows %zu",
        who_waits(r, s->a), first_of(r, s->a), gpus(s->a, r->first->node->gpus),
        arena_printf(s->a, "%s %s", gpus(s->a, b->gpus.used), b->gpus.used == 1 ? "is" : "are"),
        what_is_out(s), b->gpus.max);
}

static const char *describe_domain(const struct rollout_story *s, const struct refusal *r)
{
    const char *key = s->view->in->spec->topology_key, *wait = who_waits(r, s->a);
    if (s->domains_mixed)
        return arena_printf(s->a, "%s until nodes with only one value of %s are being changed",
                            wait, key);
    return *s->domain
               ? arena_printf(s->a, "%s: the nodes with %s=%s go first", wait, key, s->domain)
               : arena_printf(s->a, "%s: the nodes without the label %s go first", wait, key);
}

static const char *describe_backoff(const struct rollout_story *s, const struct refusal *r)
{
    return arena_printf(s->a, "%s for a retry%s (%s) at %s", who_waits(r, s->a), first_of(r, s->a),
                        r->first->node->claim->reason, rollout_time_text(s->a, r->until_s));
}

/* "2 pods", "1 pod and 1 process": what keeps a node from being drained. */
static const char *users_text(const struct rollout_node *n, struct arena *a)
{
    unsigned pods = n->jobs - n->processes;
    const char *processes = arena_printf(a, "%u process%s", n->processes,
                                         n->processes == 1 ? "" : "es");
    if (!pods && n->processes)
        return processes;
    return arena_printf(a, "%u pod%s%s%s", pods, pods == 1 ? "" : "s", n->processes ? " and " : "",
                        n->processes ? processes : "");
}

static const char *describe_jobs(const struct rollout_story *s, const struct refusal *r)
{
    const char *until = r->until_s == INT64_MAX ? ""
                                                : arena_printf(s->a, ", at most until %s",
                                                               rollout_time_text(s->a, r->until_s));
    const char *pods = users_text(r->first->node, s->a);
    return r->nodes == 1 ? arena_printf(s->a, "%s for %s to end%s", who_waits(r, s->a), pods, until)
                         : arena_printf(s->a, "%s for jobs to end%s with %s%s", who_waits(r, s->a),
                                        first_of(r, s->a), pods, until);
}

static const char *describe_down(const struct rollout_story *s, const struct refusal *r)
{
    return arena_printf(s->a, "%s down%s; work on a node continues when it is Ready",
                        who_is(r, s->a), first_of(r, s->a));
}

const char *rollout_skip_text(const struct rollout_node *n)
{
    if (n->cordoned)
        return "a user cordoned it";
    return n->held ? "a user holds it with the label " LABEL_HOLD
                   : "a user cancelled its upgrade to this target";
}

static const char *describe_skipped(const struct rollout_story *s, const struct refusal *r)
{
    return arena_printf(s->a, "%s skipped%s: %s", who_is(r, s->a), first_of(r, s->a),
                        rollout_skip_text(r->first->node));
}

static const enum reason reasons[ROLLOUT_HOLD_COUNT] = {
#define X(id, reason) [ROLLOUT_HOLD_##id] = REASON_##reason,
    ROLLOUT_HOLDS(X)
#undef X
};

typedef const char *describe_fn(const struct rollout_story *s, const struct refusal *r);

static describe_fn *const sentences[ROLLOUT_HOLD_COUNT] = {
    [ROLLOUT_HOLD_PAUSED] = describe_paused,
    [ROLLOUT_HOLD_APPROVAL] = describe_approval,
    [ROLLOUT_HOLD_WINDOW] = describe_window,
    [ROLLOUT_HOLD_FAILED] = describe_failed,
    [ROLLOUT_HOLD_IMAGES] = describe_images,
    [ROLLOUT_HOLD_CANARY] = describe_canary,
    [ROLLOUT_HOLD_SOAK] = describe_soak,
    [ROLLOUT_HOLD_PARALLEL] = describe_parallel,
    [ROLLOUT_HOLD_UNAVAILABLE] = describe_unavailable,
    [ROLLOUT_HOLD_GPUS] = describe_gpus,
    [ROLLOUT_HOLD_DOMAIN] = describe_domain,
    [ROLLOUT_HOLD_BACKOFF] = describe_backoff,
    [ROLLOUT_HOLD_JOBS] = describe_jobs,
    [ROLLOUT_HOLD_DOWN] = describe_down,
    [ROLLOUT_HOLD_SKIPPED] = describe_skipped,
};

enum reason rollout_hold_reason(enum rollout_hold h)
{
    return reasons[h];
}

const char *rollout_hold_message(const struct rollout_story *s, enum rollout_hold hold)
{
    if (hold == ROLLOUT_HOLD_NONE)
        return describe_none(s);
    return hold == ROLLOUT_HOLD_DONE ? "every node runs what the policy wants"
                                     : sentences[hold](s, &s->refusals[hold]);
}

/* ---- grants */

static const char *noun_of(const struct work *w)
{
    return claim_kinds[w->repairs ? CLAIM_REPAIR : CLAIM_UPGRADE].noun;
}

static const char *jobs_message(const struct work *w, const struct rollout_input *in,
                                struct arena *a)
{
    const struct rollout_node *n = w->node;
    int64_t wait = w->repairs ? in->health->wait_for_jobs_s : in->spec->drain.wait_for_jobs_s;
    if (!n->up)
        return arena_printf(a, "the node is down and tainted; its %s starts when it is Ready",
                            noun_of(w));
    return arena_printf(
        a, "the node takes no new GPU pods; Ostler waits for %s that it does not evict, %s",
        users_text(n, a),
        wait < 0 ? "without a time limit"
                 : arena_printf(a, "at most until %s",
                                rollout_time_text(a, time_after(in->now_s, wait))));
}

/* What the node changes from and to. */
static const char *way_message(const struct work *w, const struct rollout_input *in,
                               struct arena *a)
{
    const struct rollout_node *n = w->node;
    const struct tier_row *tier = &tiers[w->tier];
    return arena_printf(
        a, "%s in place of %s%s", name_of(in, tier->name, n->target.hash[w->tier], a),
        name_of(in, tier->name, n->now.hash[w->tier], a), tier->drains ? "" : "; GPU pods stay");
}

/* Why a node is repaired, and whether it gets its target, too. */
static const char *repair_message(const struct work *w, bool target, const struct rollout_input *in,
                                  struct arena *a)
{
    static const char *const why[] = {
        [REPAIR_NOTHING] = "the node's GPUs have a fault",
        [REPAIR_IDLE] = "the node is idle, and its GPUs need a reset",
        [REPAIR_FAULT] = "the node's GPUs have a fault",
        [REPAIR_ASKED] = "a user asks for a repair of the node's GPUs",
    };
    return target ? arena_printf(a, "%s; Ostler also installs %s", why[w->node->repair],
                                 way_message(w, in, a))
                  : why[w->node->repair];
}

static const char *drain_message(const struct work *w)
{
    if (!w->node->jobs)
        return "no job runs on the node: Ostler evicts its GPU pods";
    return w->repairs ? "health.drainAfter is over: Ostler evicts the GPU pods of the node"
                      : "drain.waitForJobs is over: Ostler evicts the GPU pods of the node";
}

static const char *retry_message(const struct work *w, bool target, const struct rollout_input *in,
                                 struct arena *a)
{
    const struct claim *c = w->node->claim;
    if (w->restores)
        return "Ostler rolls the node back to the last known good revisions";
    if (w->repairs && !claim_kinds[c->kind].repairs)
        return repair_message(w, false, in, a);
    if (w->stale && target)
        return "the policy asks for other revisions: Ostler retries the failed node with them";
    return arena_printf(a, "attempt %u after %s", c->attempt + 1, c->reason);
}

const char *rollout_grant_message(const struct work *w, enum rollout_grant_kind kind, bool target,
                                  const struct rollout_input *in, struct arena *a)
{
    switch (kind) {
    case GRANT_CLAIM_WAITING:
        return jobs_message(w, in, a);
    case GRANT_CLAIM:
        return w->repairs ? repair_message(w, target, in, a) : way_message(w, in, a);
    case GRANT_DRAIN:
        return drain_message(w);
    case GRANT_RETRY:
        return retry_message(w, target, in, a);
    }
    return "";
}

const char *rollout_return_message(enum rollout_hold hold, const char *other, struct arena *a)
{
    static const char *const why[ROLLOUT_HOLD_COUNT] = {
        [ROLLOUT_HOLD_PAUSED] = "spec.rollout.paused is true",
        [ROLLOUT_HOLD_APPROVAL] = "the plan is not approved",
        [ROLLOUT_HOLD_WINDOW] = "no window of spec.rollout.windows is open",
        [ROLLOUT_HOLD_FAILED] = "its target revision failed on other nodes",
        [ROLLOUT_HOLD_CANARY] =
            "another node is the canary and must first work for spec.rollout.canary.soak",
        [ROLLOUT_HOLD_SOAK] = "the new revision must first soak on other nodes",
    };
    return arena_printf(a, "the node was not changed and returns to service: %s",
                        other ? other : why[hold]);
}
