#include "reconcilers/plan/rollout.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "reconcilers/plan/rollout_ahead.h"
#include "reconcilers/plan/rollout_budget.h"
#include "reconcilers/plan/rollout_hash.h"
#include "reconcilers/plan/rollout_message.h"
#include "reconcilers/plan/rollout_view.h"

/* Longest time between two attempts; the first is two minutes, and each after that twice as long. */
enum { BACKOFF_MAX_S = 3600, BACKOFF_DOUBLINGS = 5, MINUTE_S = 60 };

/* In the order in which they go. */
enum rank {
    RANK_RESTORES, /* out of service until it has what is known good again */
    RANK_RETREATS,
    RANK_WAITING,
    /* Failed with another target than it has now, or a person asked for another try: it is out of service already. */
    RANK_CHANGED,
    RANK_PENDING,
    RANK_RETRY,
    RANK_LAST,     /* runs Ostler */
};

/* A node for which something is to be done that the rollout decides. */
struct candidate {
    const struct work *work;
    enum rank rank;
    bool ready;             /* it may begin: it is up, and no job is in the way */
    bool lacks;             /* it serves, and is not known to have the images of its target */
    bool idle;              /* it begins when there is a place for it, or when it has its images */
    enum rollout_hold gate; /* what keeps it back whatever the others do */
    int64_t until_s;        /* when that ends by itself; INT64_MAX: not that we know */
};

struct deciding {
    const struct rollout_input *in;
    struct arena *arena;
    struct rollout_view view;
    struct budget budget;
    struct ahead ahead;
    enum rollout_hold closed;  /* paused, not approved, or no window: nothing begins */
    int64_t closed_until_s;
    const char *domain;        /* that may be changed; NULL: any */
    bool domains_mixed;        /* several are being changed already */
    struct candidate *candidates;
    size_t candidate_count;
    struct refusal refusals[ROLLOUT_HOLD_COUNT];
    struct rollout_decision *ret;
};

/* ---- what keeps one node back, whatever the others do */

static enum rollout_hold closed_of(const struct deciding *d, int64_t *ret_until_s)
{
    const struct rollout_spec *spec = d->in->spec;
    int64_t change_s;
    *ret_until_s = INT64_MAX;
    if (spec->paused)
        return ROLLOUT_HOLD_PAUSED;
    if (spec->manual && !str_eq(d->in->approved, d->ret->plan_hash))
        return ROLLOUT_HOLD_APPROVAL;
    if (windows_open(spec->windows, spec->window_count, d->in->now_s + d->in->set_s, &change_s))
        return ROLLOUT_HOLD_NONE;
    *ret_until_s = change_s == INT64_MAX ? INT64_MAX : change_s - d->in->set_s;
    return ROLLOUT_HOLD_WINDOW;
}

/* Whether jobs keep the node from beginning. Only from a driver's change, and only as long as the policy says, counted from the
 * claim. */
static bool jobs_in_the_way(const struct work *w, const struct rollout_input *in)
{
    int64_t wait = in->spec->drain.wait_for_jobs_s;
    const struct claim *c = w->node->claim;
    if (!w->moves_driver || !w->node->jobs || wait == 0)
        return false;
    return wait < 0 || !c || !claim_closes(c) || !time_passed(c->claimed_s, wait, in->now_s);
}

static int64_t jobs_until(const struct work *w, const struct rollout_input *in)
{
    int64_t wait = in->spec->drain.wait_for_jobs_s;
    return wait < 0 ? INT64_MAX : time_after(w->node->claim->claimed_s, wait);
}

int64_t rollout_backoff_s(unsigned attempt)
{
    int64_t backoff = MINUTE_S << (attempt < BACKOFF_DOUBLINGS ? attempt : BACKOFF_DOUBLINGS);
    return attempt > BACKOFF_DOUBLINGS ? BACKOFF_MAX_S : backoff;
}

/* A person asked for another try since it failed. */
static bool is_forgiven(const struct work *w)
{
    return w->node->claim->since_s <= w->progress->record.forgiven_s;
}

/* When a failed node is due; 0: now. One for which a person asked is, as is one whose failure lies further ahead than any clock
 * is wrong. */
static int64_t backoff_until(const struct work *w, int64_t now_s)
{
    const struct claim *c = w->node->claim;
    int64_t backoff = rollout_backoff_s(c->attempt), until = time_after(c->since_s, backoff);
    if (w->state != WORK_FAILED || w->stale || is_forgiven(w) || until <= now_s || c->since_s > time_after(now_s, backoff))
        return 0;
    return until;
}

static enum rollout_hold node_gate(const struct deciding *d, const struct candidate *c, int64_t *ret_until_s)
{
    const struct rollout_node *n = c->work->node;
    if (n->cordoned || n->held || n->gave_up)
        return ROLLOUT_HOLD_SKIPPED;
    if (!n->claim)
        return ROLLOUT_HOLD_NONE;
    if (!n->up)
        return ROLLOUT_HOLD_DOWN;
    if (c->ready || !claim_closes(n->claim))
        return ROLLOUT_HOLD_NONE;
    *ret_until_s = jobs_until(c->work, d->in);
    return ROLLOUT_HOLD_JOBS;
}

static enum rollout_hold revision_gate(const struct deciding *d, const struct candidate *c, int64_t *ret_until_s)
{
    const struct work *w = c->work;
    const struct progress *p = w->progress;
    if (p->record.failed)
        return ROLLOUT_HOLD_FAILED;
    int64_t due_s = w->node->claim ? backoff_until(w, d->in->now_s) : 0;
    if (due_s) {
        *ret_until_s = due_s;
        return ROLLOUT_HOLD_BACKOFF;
    }
    if (!p->wave_closed)
        return ROLLOUT_HOLD_NONE;
    *ret_until_s = p->begun ? INT64_MAX : time_after(p->record.wave_s, d->in->spec->soak_s);
    return ROLLOUT_HOLD_SOAK;
}

/* The canary's places are for nodes that begin. One that waits for its jobs has none, so that it does not hold up a node that
 * could begin; but no more are closed than there are places, and none for which there is an idle node. A node that is down
 * proves nothing. */
static enum rollout_hold canary_gate(const struct deciding *d, const struct candidate *c, int64_t *ret_until_s)
{
    const struct progress *p = c->work->progress;
    if (progress_canary_over(p, d->in))
        return ROLLOUT_HOLD_NONE;
    size_t wanted = (size_t) d->in->spec->canary_nodes, taken = p->begun + p->running + (c->ready ? p->kept : p->waiting);
    if (taken < wanted && c->work->node->up) {
        if (c->ready || taken + p->idle < wanted)
            return ROLLOUT_HOLD_NONE;
        return p->idle_waits == ROLLOUT_HOLD_NONE ? ROLLOUT_HOLD_CANARY : p->idle_waits;
    }
    if (!p->record.canary_s)
        return ROLLOUT_HOLD_CANARY;
    *ret_until_s = time_after(p->record.canary_s, d->in->spec->canary_soak_s);
    return ROLLOUT_HOLD_SOAK;
}

/* A node that failed is closed, and nobody works on it: bringing back what is known good waits for no window, nor
 * for a person. */
static enum rollout_hold gate_of(const struct deciding *d, const struct candidate *c, int64_t *ret_until_s)
{
    *ret_until_s = INT64_MAX;
    enum rollout_hold hold = node_gate(d, c, ret_until_s);
    if (hold != ROLLOUT_HOLD_NONE || c->work->restores)
        return hold;
    if (d->closed != ROLLOUT_HOLD_NONE) {
        *ret_until_s = d->closed_until_s;
        return d->closed;
    }
    hold = revision_gate(d, c, ret_until_s);
    return hold == ROLLOUT_HOLD_NONE ? canary_gate(d, c, ret_until_s) : hold;
}

/* ---- who goes when */

static enum rank rank_of(const struct work *w)
{
    if (w->restores)
        return RANK_RESTORES;
    if (w->retreats)
        return RANK_RETREATS;
    if (w->state == WORK_WAITING)
        return RANK_WAITING;
    if (w->state == WORK_FAILED)
        return w->stale || is_forgiven(w) ? RANK_CHANGED : RANK_RETRY;
    return w->node->runs_ostler ? RANK_LAST : RANK_PENDING;
}

/* Of failed nodes that are tried again the one goes first that waits longest: otherwise those that never come up could take every
 * turn. */
static int compare(const void *x, const void *y, void *arg)
{
    const struct candidate *a = x, *b = y;
    const struct rollout_node *m = a->work->node, *n = b->work->node;
    const struct rollout_spec *spec = arg;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->rank == RANK_RETRY && m->claim->since_s != n->claim->since_s)
        return m->claim->since_s < n->claim->since_s ? -1 : 1;
    if (m->up != n->up)
        return m->up ? 1 : -1;
    if (spec->order == ROLLOUT_IDLE_FIRST && m->busy != n->busy)
        return m->busy < n->busy ? -1 : 1;
    return strverscmp(m->name, n->name);
}

/* What is under way is the node's own pass's, also a claim that waits for what the policy no longer wants, and a node that is to
 * have nothing any more. */
static bool is_candidate(const struct work *w)
{
    if (!w->progress)
        return false;
    return w->state == WORK_PENDING || w->state == WORK_SKIPPED || w->state == WORK_FAILED ||
           (w->state == WORK_WAITING && !w->stale);
}

static void collect(struct deciding *d)
{
    size_t count = d->in->node_count - d->view.of[WORK_DONE] - d->view.of[WORK_ACTIVE];
    d->candidates = arena_alloc(d->arena, count * sizeof *d->candidates);
    for (size_t i = 0; i < d->in->node_count; i++) {
        const struct work *w = &d->view.works[i];
        if (!is_candidate(w))
            continue;
        struct candidate *c = &d->candidates[d->candidate_count++];
        *c = (struct candidate){ .work = w, .rank = rank_of(w), .ready = w->node->up && !jobs_in_the_way(w, d->in) };
        c->lacks = ahead_images(w) != IMAGES_READY;
        c->gate = gate_of(d, c, &c->until_s);
    }
    qsort_r(d->candidates, d->candidate_count, sizeof *d->candidates, compare, (void *) d->in->spec);
}

/* One that cannot get its images, or is too large for what is left of the budgets, may never begin: it keeps nobody waiting. */
static bool is_idle(const struct deciding *d, const struct candidate *c)
{
    return c->ready && c->gate == ROLLOUT_HOLD_NONE && ahead_images(c->work) != IMAGES_MISSING &&
           budget_refuses(&d->budget, c->work, false) == ROLLOUT_HOLD_NONE;
}

static void look_ahead(struct deciding *d)
{
    ahead_make(d->in, &d->budget, &d->ahead);
    for (size_t i = 0; i < d->candidate_count; i++) {
        struct candidate *c = &d->candidates[i];
        if (c->gate != ROLLOUT_HOLD_SKIPPED)
            ahead_count(c->work, c->ready);
        c->idle = is_idle(d, c);
        c->work->progress->idle += c->idle;
    }
}

/* ---- topology: one domain at a time */

static void find_active_domain(struct deciding *d)
{
    for (size_t i = 0; i < d->in->node_count; i++) {
        const struct work *w = &d->view.works[i];
        if (w->state != WORK_ACTIVE || !w->node->up)
            continue;
        if (d->domain && !str_eq(d->domain, w->node->domain))
            d->domains_mixed = true;
        if (!d->domain || strverscmp(w->node->domain, d->domain) < 0)
            d->domain = w->node->domain;
    }
}

/* In which order domains are looked for: who has its images comes before who pulls them, and last comes who cannot get them,
 * since that may never end. */
static const struct turn {
    enum rank last;
    bool ready;
    enum images_state images;
} turns[] = {
    { RANK_RESTORES, true, IMAGES_READY }, { RANK_LAST, true, IMAGES_READY },    { RANK_LAST, true, IMAGES_PULLING },
    { RANK_LAST, false, IMAGES_READY },    { RANK_LAST, false, IMAGES_PULLING }, { RANK_LAST, true, IMAGES_MISSING },
    { RANK_LAST, false, IMAGES_MISSING },
};

/* The first domain by name with a node that nothing else keeps back, of those that go first. Budgets count here too: a domain
 * where nobody fits must not keep the one waiting that holds the budget. */
static void find_next_domain(struct deciding *d, const struct turn *t)
{
    for (size_t i = 0; i < d->candidate_count; i++) {
        const struct candidate *c = &d->candidates[i];
        if (c->rank > t->last || c->ready != t->ready || ahead_images(c->work) != t->images || c->gate != ROLLOUT_HOLD_NONE ||
            budget_refuses(&d->budget, c->work, t->ready) != ROLLOUT_HOLD_NONE)
            continue;
        if (!d->domain || strverscmp(c->work->node->domain, d->domain) < 0)
            d->domain = c->work->node->domain;
    }
}

static void choose_domain(struct deciding *d)
{
    if (!d->in->spec->topology_key)
        return;
    find_active_domain(d);
    for (size_t i = 0; i < ARRAY_LEN(turns) && !d->domain; i++)
        find_next_domain(d, &turns[i]);
}

static bool domain_refuses(const struct deciding *d, const struct candidate *c)
{
    return d->domain && (d->domains_mixed || !str_eq(d->domain, c->work->node->domain));
}

/* ---- grants */

static void look_again(struct rollout_decision *ret, int64_t at_s)
{
    if (at_s != INT64_MAX && (!ret->again_s || at_s < ret->again_s))
        ret->again_s = at_s;
}

/* Of nodes that wait for their images the one is named that cannot get them. */
static bool tells_more(const struct work *w, const struct work *than)
{
    return w->node->images.state == IMAGES_MISSING && than->node->images.state != IMAGES_MISSING;
}

static void refuse(struct deciding *d, const struct candidate *c, enum rollout_hold hold, int64_t until_s)
{
    struct refusal *r = &d->refusals[hold];
    d->ret->refused[c->work->node - d->in->nodes] = hold;
    if (r->nodes++ == 0)
        *r = (struct refusal){ .nodes = 1, .first = c->work, .until_s = until_s };
    else if (until_s < r->until_s || (hold == ROLLOUT_HOLD_IMAGES && tells_more(c->work, r->first))) {
        r->first = c->work;
        r->until_s = until_s;
    }
    look_again(d->ret, until_s);
}

static enum rollout_hold limits(const struct deciding *d, const struct candidate *c, int64_t *ret_until_s)
{
    *ret_until_s = INT64_MAX;
    enum rollout_hold hold = c->work->restores ? ROLLOUT_HOLD_NONE : canary_gate(d, c, ret_until_s);
    if (hold != ROLLOUT_HOLD_NONE)
        return hold;
    if (domain_refuses(d, c))
        return ROLLOUT_HOLD_DOMAIN;
    hold = budget_refuses(&d->budget, c->work, c->ready);
    if (hold != ROLLOUT_HOLD_NONE)
        return hold;
    if (c->lacks)
        return ahead_hold(&d->ahead, c->work, c->ready);
    bool first = c->ready && c->rank != RANK_LAST;
    return ahead_refuses(&d->ahead, c->work, c->ready, first) ? ROLLOUT_HOLD_IMAGES : ROLLOUT_HOLD_NONE;
}

static enum rollout_grant_kind grant_kind(const struct candidate *c)
{
    if (!c->ready)
        return GRANT_CLAIM_WAITING;
    if (c->work->state == WORK_WAITING)
        return GRANT_DRAIN;
    return c->work->state == WORK_FAILED ? GRANT_RETRY : GRANT_CLAIM;
}

static void grant(struct deciding *d, const struct candidate *c)
{
    struct progress *p = c->work->progress;
    enum rollout_grant_kind kind = grant_kind(c);
    d->ret->grants[d->ret->grant_count++] = (struct rollout_grant){
        .node = c->work->node, .kind = kind, .restores = c->work->restores,
            .message = rollout_grant_message(c->work, kind, d->in, d->arena)
    };
    budget_take(&d->budget, c->work, c->ready);
    ahead_take(&d->ahead, c->work, c->ready);
    p->begun += c->ready;
    p->idle -= c->idle;
    p->waiting += !c->ready;
}

static void hold_back(struct deciding *d, const struct candidate *c, enum rollout_hold hold, int64_t until_s)
{
    int64_t kept_until_s;
    struct progress *p = c->work->progress;
    if (c->idle && p->idle_waits == ROLLOUT_HOLD_NONE)
        p->idle_waits = hold;
    refuse(d, c, hold, until_s);
    if (ahead_hold_back(&d->ahead, c->work, c->ready, hold, &kept_until_s))
        d->ret->pulls[d->ret->pull_count++] = c->work->node;
    look_again(d->ret, kept_until_s);
}

static void consider(struct deciding *d, const struct candidate *c)
{
    int64_t until_s = c->until_s;
    enum rollout_hold hold = c->gate;
    if (hold == ROLLOUT_HOLD_NONE)
        hold = limits(d, c, &until_s);
    if (hold == ROLLOUT_HOLD_NONE)
        grant(d, c);
    else
        hold_back(d, c, hold, until_s);
}

/* Nodes that can begin come before those that would only be closed for their jobs, so that these leave them room; the node that
 * runs Ostler comes after both. */
static void give_out(struct deciding *d)
{
    d->ret->grants = arena_alloc(d->arena, d->candidate_count * sizeof *d->ret->grants);
    for (int last = 0; last <= 1; last++)
        for (int ready = 1; ready >= 0; ready--)
            for (size_t i = 0; i < d->candidate_count; i++)
                if (d->candidates[i].ready == ready && (d->candidates[i].rank == RANK_LAST) == last)
                    consider(d, &d->candidates[i]);
}

/* A node under way that is to run something else by now turns to that when it has the images. Who is to go back to what is
 * known good needs none. */
static bool is_turning(const struct work *w)
{
    return w->state == WORK_ACTIVE && w->node->turns && w->node->up && w->node->images.state == IMAGES_UNKNOWN;
}

static void pull_for_turning(struct deciding *d)
{
    for (size_t i = 0; i < d->in->node_count && d->closed == ROLLOUT_HOLD_NONE; i++)
        if (is_turning(&d->view.works[i]))
            d->ret->pulls[d->ret->pull_count++] = d->view.works[i].node;
}

/* ---- the decision */

/* Whatever else keeps the nodes that are left, a person who paused the rollout reads that it is paused. */
static bool is_paused(const struct deciding *d)
{
    for (int h = ROLLOUT_HOLD_DONE + 1; h < ROLLOUT_HOLD_COUNT; h++)
        if (d->refusals[h].nodes)
            return d->in->spec->paused;
    return false;
}

static enum rollout_hold hold_of(const struct deciding *d)
{
    const struct rollout_decision *r = d->ret;
    bool over = r->done + r->skipped == d->in->node_count;
    if (is_paused(d))
        return ROLLOUT_HOLD_PAUSED;
    /* While nodes go back from what failed nobody waits for it any more, and it is said all the same. */
    for (int h = ROLLOUT_HOLD_NONE + 1; h < ROLLOUT_HOLD_SKIPPED; h++)
        if (d->refusals[h].nodes || (h == ROLLOUT_HOLD_FAILED && rollout_first_failed(d->in)))
            return (enum rollout_hold) h;
    if (d->refusals[ROLLOUT_HOLD_SKIPPED].nodes)
        return ROLLOUT_HOLD_SKIPPED;
    return over ? ROLLOUT_HOLD_DONE : ROLLOUT_HOLD_NONE;
}

static void count(struct deciding *d)
{
    const size_t *of = d->view.of;
    struct rollout_decision *r = d->ret;
    r->pending = of[WORK_PENDING];
    r->active = of[WORK_ACTIVE];
    r->waiting = of[WORK_WAITING];
    r->failed = of[WORK_FAILED];
    r->skipped = of[WORK_SKIPPED];
    r->done = of[WORK_DONE];
}

void rollout_decide(const struct rollout_input *in, struct arena *a, struct rollout_decision *ret)
{
    struct deciding d = { .in = in, .arena = a, .ret = ret };
    *ret = (struct rollout_decision){ .refused = arena_alloc(a, in->node_count * sizeof *ret->refused),
                                      .pulls = arena_alloc(a, in->node_count * sizeof *ret->pulls) };
    rollout_view_make(in, a, &d.view);
    count(&d);
    if (ret->done < in->node_count)
        rollout_plan_hash(in, ret->plan_hash);
    budget_make(&d.view, &d.budget);
    d.closed = closed_of(&d, &d.closed_until_s);
    collect(&d);
    look_ahead(&d);
    choose_domain(&d);
    give_out(&d);
    pull_for_turning(&d);
    look_again(ret, d.view.next_lost_s);
    rollout_view_note(&d.view, a, ret);
    ret->slots = d.budget.slots;
    ret->out = d.budget.nodes;
    ret->out_gpus = d.budget.gpus;
    ret->hold = hold_of(&d);
    const struct rollout_story story = { .view = &d.view, .budget = &d.budget, .refusals = d.refusals, .domain = d.domain,
                                         .plan_hash = ret->plan_hash };
    ret->message = rollout_hold_message(&story, ret->hold, a);
    rollout_failure_of(&story, a, &ret->failure);
}
