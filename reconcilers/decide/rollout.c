#include "reconcilers/decide/rollout.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "reconcilers/decide/rollout_ahead.h"
#include "reconcilers/decide/rollout_budget.h"
#include "reconcilers/decide/rollout_gate.h"
#include "reconcilers/decide/rollout_message.h"
#include "reconcilers/decide/rollout_return.h"
#include "reconcilers/decide/rollout_view.h"

/* In rollout order. */
enum rank {
    RANK_RESTORES, /* out of service until it has its known good revision */
    RANK_REPAIRS,
    RANK_RETREATS,
    RANK_WAITING,
    /* Failed with another target than its current one, or a user asked for a retry: it is out of
     * service already. */
    RANK_CHANGED,
    RANK_PENDING,
    RANK_RETRY,
    RANK_LAST, /* Ostler runs on it */
    RANK_IDLE, /* its GPUs work until they are reset */
};

/* A node that needs a decision of the rollout. */
struct candidate {
    const struct work *work;
    enum rank rank;
    bool ready;             /* it may start: it is up, and no job blocks it */
    bool lacks;             /* it serves, and may not have the images of its target */
    bool idle;              /* it starts when there is a place, or when its images are pulled */
    enum rollout_hold gate; /* what delays it regardless of other nodes */
    int64_t until_s;        /* when that ends by itself; INT64_MAX: not known */
};

struct deciding {
    const struct rollout_input *in;
    struct arena *arena;
    struct rollout_view view;
    struct budget budget;
    struct ahead ahead;
    struct gates gates;
    const struct work *starves; /* the first idle node that lacks only room; NULL: none */
    const char *domain;         /* that may be changed; NULL: any */
    bool domains_mixed;         /* several are being changed already */
    struct candidate *candidates;
    size_t candidate_count;
    struct refusal refusals[ROLLOUT_HOLD_COUNT];
    struct rollout_decision *ret;
};

/* ---- order */

static enum rank rank_of(const struct work *w)
{
    if (w->restores)
        return RANK_RESTORES;
    if (w->repairs)
        return w->node->repair == REPAIR_IDLE && !w->node->claim ? RANK_IDLE : RANK_REPAIRS;
    if (w->retreats)
        return RANK_RETREATS;
    if (w->state == WORK_WAITING)
        return RANK_WAITING;
    if (w->state == WORK_FAILED)
        return w->stale || gate_is_forgiven(w) ? RANK_CHANGED : RANK_RETRY;
    return w->node->runs_ostler ? RANK_LAST : RANK_PENDING;
}

/* Since when a node waits for what its rank is about; 0: that does not count. */
static int64_t waits_since_s(enum rank rank, const struct rollout_node *n)
{
    return rank == RANK_REPAIRS ? n->repair_since_s : rank == RANK_RETRY ? n->claim->since_s : 0;
}

/* Among nodes to repair, and among failed nodes to retry, the one that has waited longest goes
 * first. Otherwise nodes that never come up could take every turn. A node with unhealthy GPUs,
 * which gets no new jobs and so is idle, must not be the one that proves a revision. */
static int rollout_compare(const void *x, const void *y, void *arg)
{
    const struct candidate *a = x, *b = y;
    const struct rollout_node *m = a->work->node, *n = b->work->node;
    const struct rollout_spec *spec = arg;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    int64_t since_s = waits_since_s(a->rank, m), other_s = waits_since_s(b->rank, n);
    if (since_s != other_s)
        return since_s < other_s ? -1 : 1;
    if (m->up != n->up)
        return m->up ? 1 : -1;
    if (m->unhealthy != n->unhealthy)
        return m->unhealthy ? 1 : -1;
    if (spec->order == ROLLOUT_IDLE_FIRST && m->busy != n->busy)
        return m->busy < n->busy ? -1 : 1;
    return strverscmp(m->name, n->name);
}

/* Whether a repair has no use: the node's own pass ends its claim. */
static bool is_over(const struct work *w)
{
    const struct rollout_node *n = w->node;
    return w->repairs && ((w->state == WORK_FAILED && !rollout_is_to_repair(n)) ||
                          (w->state == WORK_WAITING && n->repair == REPAIR_NOTHING));
}

/* Nodes under way are left to their own pass, as are a claim that waits for an outdated target, a
 * node that must become empty, and a repair that is over. */
static bool is_candidate(const struct work *w)
{
    if (!w->progress || is_over(w))
        return false;
    return w->state == WORK_PENDING || w->state == WORK_SKIPPED || w->state == WORK_FAILED ||
           (w->state == WORK_WAITING && !w->stale);
}

static void rollout_collect(struct deciding *d)
{
    size_t count = d->in->node_count - d->view.of[WORK_DONE] - d->view.of[WORK_ACTIVE];
    d->candidates = arena_alloc(d->arena, count * sizeof *d->candidates);
    for (size_t i = 0; i < d->in->node_count; i++) {
        const struct work *w = &d->view.works[i];
        if (!is_candidate(w))
            continue;
        struct candidate *c = &d->candidates[d->candidate_count++];
        *c = (struct candidate){ .work = w,
                                 .rank = rank_of(w),
                                 .ready = w->node->up && !gate_has_jobs(w, d->in) };
        c->lacks = ahead_images(w) != IMAGES_READY;
        c->gate = gate_of(&d->gates, w, c->ready, &c->until_s);
    }
    qsort_r(d->candidates, d->candidate_count, sizeof *d->candidates, rollout_compare,
            (void *) d->in->spec);
}

/* A node that cannot pull its images, or is too large for the remaining budgets, may never start,
 * so it delays no other. */
static bool is_idle(const struct deciding *d, const struct candidate *c)
{
    return !c->work->repairs && c->ready && c->gate == ROLLOUT_HOLD_NONE &&
           ahead_images(c->work) != IMAGES_MISSING &&
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
        if (!work_keeps_place(w))
            continue;
        if (d->domain && !str_eq(d->domain, w->node->domain))
            d->domains_mixed = true;
        if (!d->domain || strverscmp(w->node->domain, d->domain) < 0)
            d->domain = w->node->domain;
    }
}

/* The order in which domains are chosen. The node that runs Ostler comes after others that could
 * start, and pulled images come before images being pulled. Nodes that cannot pull come last,
 * because that may never end. */
static const struct turn {
    enum rank last;
    bool ready;
    enum images_state images;
} turns[] = {
    { RANK_RESTORES, true, IMAGES_READY }, { RANK_REPAIRS, true, IMAGES_READY },
    { RANK_RETRY, true, IMAGES_READY },    { RANK_LAST, true, IMAGES_READY },
    { RANK_LAST, true, IMAGES_PULLING },   { RANK_LAST, false, IMAGES_READY },
    { RANK_LAST, false, IMAGES_PULLING },  { RANK_LAST, true, IMAGES_MISSING },
    { RANK_LAST, false, IMAGES_MISSING },  { RANK_IDLE, true, IMAGES_READY },
};

/* The first domain, by name, with a node of this turn that nothing else delays. Budgets count too:
 * a domain in which no node fits must not delay the domain that uses the budget. */
static void find_next_domain(struct deciding *d, const struct turn *t)
{
    for (size_t i = 0; i < d->candidate_count; i++) {
        const struct candidate *c = &d->candidates[i];
        if (c->rank > t->last || c->ready != t->ready || ahead_images(c->work) != t->images ||
            c->gate != ROLLOUT_HOLD_NONE ||
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

/* ---- grants */

/* Among nodes that wait for images, name one that cannot pull them. */
static bool explains_more(const struct work *w, const struct work *than)
{
    return w->node->images.state == IMAGES_MISSING && than->node->images.state != IMAGES_MISSING;
}

static void rollout_refuse(struct deciding *d, const struct candidate *c, enum rollout_hold hold,
                           int64_t until_s)
{
    struct refusal *r = &d->refusals[hold];
    d->ret->refused[c->work->node - d->in->nodes] = hold;
    if (r->nodes++ == 0)
        *r = (struct refusal){ .nodes = 1, .first = c->work, .until_s = until_s };
    else if (until_s < r->until_s ||
             (hold == ROLLOUT_HOLD_IMAGES && explains_more(c->work, r->first))) {
        r->first = c->work;
        r->until_s = until_s;
    }
    rollout_look_again(d->ret, until_s);
}

static enum rollout_hold limits(const struct deciding *d, const struct candidate *c,
                                int64_t *ret_until_s)
{
    *ret_until_s = INT64_MAX;
    bool free = c->work->restores || c->work->repairs;
    enum rollout_hold hold = free ? ROLLOUT_HOLD_NONE
                                  : gate_canary(d->in, c->work, c->ready, ret_until_s);
    if (hold != ROLLOUT_HOLD_NONE)
        return hold;
    /* Do not taint a node for its jobs that would return to service at once. */
    int64_t from_s;
    hold = c->ready || c->work->node->claim ? ROLLOUT_HOLD_NONE
                                            : gate_far(&d->gates, c->work, &from_s);
    if (hold != ROLLOUT_HOLD_NONE)
        return hold;
    if (d->domain && (d->domains_mixed || !str_eq(d->domain, c->work->node->domain)))
        return ROLLOUT_HOLD_DOMAIN;
    hold = budget_refuses(&d->budget, c->work, c->ready);
    if (hold != ROLLOUT_HOLD_NONE)
        return hold;
    if (c->lacks)
        return ahead_hold(&d->ahead, c->work, c->ready);
    bool first = c->ready && c->rank < RANK_LAST;
    return ahead_refuses(&d->ahead, c->work, c->ready, first) ? ROLLOUT_HOLD_IMAGES
                                                              : ROLLOUT_HOLD_NONE;
}

static enum rollout_grant_kind grant_kind(const struct candidate *c)
{
    if (!c->ready)
        return GRANT_CLAIM_WAITING;
    if (c->work->state == WORK_WAITING)
        return GRANT_DRAIN;
    return c->work->state == WORK_FAILED ? GRANT_RETRY : GRANT_CLAIM;
}

/* Whether the claim brings what the policy wants. A repair does if the node's upgrade could start
 * now, or goes on as it began; otherwise it brings back what the node ran. */
static bool brings_target(const struct deciding *d, const struct work *w)
{
    const struct rollout_node *n = w->node;
    if (!w->repairs)
        return true;
    if (n->claim)
        return w->progress != &d->view.repairs || !claim_kinds[n->claim->kind].repairs;
    return w->progress != &d->view.repairs && n->images.state == IMAGES_READY &&
           gate_lets_upgrade(&d->gates, w);
}

static struct assignment_ref goal_of(const struct work *w, bool target)
{
    const struct rollout_node *n = w->node;
    if (target)
        return n->target;
    return n->claim ? assignment_ref(&n->claim->to) : n->now;
}

static void grant(struct deciding *d, const struct candidate *c)
{
    bool target = brings_target(d, c->work);
    struct progress *p = target ? c->work->progress : &d->view.repairs;
    enum rollout_grant_kind kind = grant_kind(c);
    d->ret->grants[d->ret->grant_count++] = (struct rollout_grant){
        .node = c->work->node,
        .kind = kind,
        .restores = c->work->restores,
        .repairs = c->work->repairs,
        .to = goal_of(c->work, target),
        .message = rollout_grant_message(c->work, kind, target, d->in, d->arena)
    };
    budget_take(&d->budget, c->work, c->ready);
    ahead_take(&d->ahead, c->work, c->ready);
    p->begun += c->ready;
    p->idle -= c->idle;
    p->waiting += !c->ready;
}

static void hold_back(struct deciding *d, const struct candidate *c, enum rollout_hold hold,
                      int64_t until_s)
{
    int64_t kept_until_s;
    struct progress *p = c->work->progress;
    if (c->idle && p->idle_waits == ROLLOUT_HOLD_NONE)
        p->idle_waits = hold;
    rollout_refuse(d, c, hold, until_s);
    if (ahead_hold_back(&d->ahead, c->work, c->ready, hold, &kept_until_s))
        d->ret->pulls[d->ret->pull_count++] = c->work->node;
    rollout_look_again(d->ret, kept_until_s);
}

static void consider(struct deciding *d, const struct candidate *c)
{
    int64_t until_s = c->until_s;
    enum rollout_hold hold = c->gate;
    if (hold == ROLLOUT_HOLD_NONE)
        hold = limits(d, c, &until_s);
    if (hold == ROLLOUT_HOLD_NONE) {
        grant(d, c);
        return;
    }
    hold_back(d, c, hold, until_s);
    bool lacks_room = hold == ROLLOUT_HOLD_UNAVAILABLE || hold == ROLLOUT_HOLD_GPUS;
    /* The node that runs Ostler comes after waiting nodes. */
    if (lacks_room && c->ready && c->rank == RANK_PENDING && !c->lacks && !d->starves)
        d->starves = c->work;
}

/* Nodes that come after all others, whether these can start or not. */
static int group_of(enum rank rank)
{
    return rank < RANK_LAST ? 0 : rank == RANK_LAST ? 1 : 2;
}

/* Nodes that can start come before nodes that would only be tainted for their jobs, so that they
 * get the room. The node that runs Ostler comes after both, and idle nodes that a reset would serve
 * come last. */
static void give_out(struct deciding *d)
{
    d->ret->grants = arena_alloc(d->arena, d->candidate_count * sizeof *d->ret->grants);
    for (int group = 0; group <= 2; group++)
        for (int ready = 1; ready >= 0; ready--)
            for (size_t i = 0; i < d->candidate_count; i++)
                if (d->candidates[i].ready == ready && group_of(d->candidates[i].rank) == group)
                    consider(d, &d->candidates[i]);
}

/* A node under way with a new target switches when it has the images. A rollback needs no pull. */
static bool is_turning(const struct work *w)
{
    return w->state == WORK_ACTIVE && w->node->retarget_pending && w->node->up &&
           w->node->images.state == IMAGES_UNKNOWN;
}

static void pull_for_turning(struct deciding *d)
{
    for (size_t i = 0; i < d->in->node_count && d->gates.closed == ROLLOUT_HOLD_NONE; i++)
        if (is_turning(&d->view.works[i]))
            d->ret->pulls[d->ret->pull_count++] = d->view.works[i].node;
}

/* ---- the decision */

/* A user who paused the rollout reads that it is paused, whatever else delays the remaining
 * nodes. */
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
    /* While nodes roll back from a failed revision no node waits for it, but it is reported all the
     * same. */
    for (int h = ROLLOUT_HOLD_NONE + 1; h < ROLLOUT_HOLD_SKIPPED; h++)
        if (d->refusals[h].nodes || (h == ROLLOUT_HOLD_FAILED && rollout_first_failed(d->in)))
            return (enum rollout_hold) h;
    if (d->refusals[ROLLOUT_HOLD_SKIPPED].nodes)
        return ROLLOUT_HOLD_SKIPPED;
    return over ? ROLLOUT_HOLD_DONE : ROLLOUT_HOLD_NONE;
}

/* When what is said of the rollout ends by itself, as its message says. Windows follow the wall
 * clock. */
static int64_t hold_until_s(const struct deciding *d, enum rollout_hold hold)
{
    const struct refusal *r = &d->refusals[hold];
    if (!r->nodes || r->until_s == INT64_MAX)
        return 0;
    return hold == ROLLOUT_HOLD_WINDOW ? r->until_s + d->in->set_s : r->until_s;
}

/* Whether a node does not run its target yet. One that is only to be repaired does. */
static bool has_plan(const struct rollout_view *v)
{
    for (size_t i = 0; i < v->in->node_count; i++)
        if (v->works[i].state != WORK_DONE && v->works[i].progress != &v->repairs)
            return true;
    return false;
}

/* Fills the decision, except for nodes that make room. */
static void decide(struct deciding *d)
{
    const struct rollout_input *in = d->in;
    struct rollout_decision *ret = d->ret;
    struct arena *a = d->arena;
    const size_t *of = d->view.of;
    rollout_view_make(in, a, &d->view);
    *ret = (struct rollout_decision){ .pending = of[WORK_PENDING],
                                      .active = of[WORK_ACTIVE],
                                      .waiting = of[WORK_WAITING],
                                      .failed = of[WORK_FAILED],
                                      .skipped = of[WORK_SKIPPED],
                                      .done = of[WORK_DONE] };
    ret->refused = arena_alloc(a, in->node_count * sizeof *ret->refused);
    ret->pulls = arena_alloc(a, in->node_count * sizeof *ret->pulls);
    ret->returns = arena_alloc(a, of[WORK_WAITING] * sizeof *ret->returns);
    if (has_plan(&d->view))
        rollout_plan_hash(in, ret->plan_hash);
    budget_make(&d->view, &d->budget);
    gates_make(in, ret->plan_hash, &d->gates);
    rollout_collect(d);
    look_ahead(d);
    choose_domain(d);
    give_out(d);
    pull_for_turning(d);
    return_those_far_away(&d->view, &d->gates, a, ret);
    rollout_look_again(ret, d->view.next_lost_s);
    rollout_view_note(&d->view, a, ret);
    ret->slots = d->budget.slots;
    ret->out = d->budget.nodes;
    ret->out_gpus = d->budget.gpus;
    ret->hold = hold_of(d);
    ret->until_s = hold_until_s(d, ret->hold);
    const struct rollout_story story = { .view = &d->view,
                                         .budget = &d->budget,
                                         .refusals = d->refusals,
                                         .domain = d->domain,
                                         .domains_mixed = d->domains_mixed,
                                         .plan_hash = ret->plan_hash,
                                         .a = a };
    ret->message = rollout_hold_message(&story, ret->hold);
    rollout_failure_of(&story, &ret->failure);
}

/* The first node in service that the decision lets start; NULL: none. */
static const char *first_claimed(const struct rollout_decision *d)
{
    for (size_t i = 0; i < d->grant_count; i++)
        if (d->grants[i].kind == GRANT_CLAIM)
            return d->grants[i].node->name;
    return NULL;
}

/* Returns waiting nodes to service to make room for an idle node, as few as are enough. A trial
 * decision shows whether that helps. If no node would start then, for example because another
 * domain has its turn, no node returns; otherwise the same nodes would be tainted and returned
 * again and again. */
static void make_room(struct deciding *d)
{
    struct rollout_decision *ret = d->ret;
    struct waiters waiters;
    if (!d->starves || ret->note_count || ret->grant_count || ret->return_count)
        return;
    waiters_make(&d->view, d->arena, &waiters);
    size_t n = waiters_for(&waiters, &d->budget, d->starves);
    if (n == 0)
        return;
    struct rollout_decision then;
    struct rollout_input in = *d->in;
    in.nodes = waiters_return(&waiters, n, &d->view, d->arena);
    decide(&(struct deciding){ .in = &in, .arena = d->arena, .ret = &then });
    const char *idle = first_claimed(&then);
    for (size_t i = 0; i < n && idle; i++)
        return_for(waiters.list[i], idle, d->arena, ret);
}

void rollout_decide(const struct rollout_input *in, struct arena *a, struct rollout_decision *ret)
{
    struct deciding d = { .in = in, .arena = a, .ret = ret };
    decide(&d);
    make_room(&d);
}
