#include "reconcilers/decide/rollout_simulate.h"

#include <string.h>

#include "base/str.h"
#include "reconcilers/decide/rollout_grants.h"
#include "reconcilers/decide/rollout_view.h"

enum {
    UNKNOWN_PACE_S = 0, /* stands for an unknown pace: what depends on it does not start earlier */
    QUIET_LOOKS = 64,   /* after this many decisions in a row without effect, stop */
};

struct player {
    const struct rollout_input *given;
    const struct rollout_pace *pace;
    struct arena *arena;
    struct rollout_simulation *ret;
    struct rollout_spec spec;
    struct rollout_input in;            /* the simulated moment */
    struct rollout_node *nodes;         /* of `in`; these and all below in the input's order */
    struct rollout_revision *revisions; /* of `in` */
    struct claim *claims;
    int64_t *ends_s; /* when the node's step ends; INT64_MAX: it is not under way */
    enum tier *tiers;
    bool *waits;  /* it was tainted for its jobs, which never end here, and has not started */
    bool guessed; /* the current time depends on an unknown pace */
    /* It has since the last wave started: a node that starts now starts later than that wave. */
    bool later;
    int64_t released_s; /* when the last node was released */
    size_t looks;       /* left */
    int quiet;
};

/* ---- the fleet */

static void copy_fleet(struct player *p)
{
    const struct rollout_input *in = p->given;
    size_t n = in->node_count;
    p->spec = *in->spec;
    p->spec.paused = p->spec.manual = false;
    p->nodes = arena_alloc(p->arena, n * sizeof *p->nodes);
    p->claims = arena_alloc(p->arena, n * sizeof *p->claims);
    p->ends_s = arena_alloc(p->arena, n * sizeof *p->ends_s);
    p->tiers = arena_alloc(p->arena, n * sizeof *p->tiers);
    p->waits = arena_alloc(p->arena, n * sizeof *p->waits);
    /* Each node can ask for at most one unrecorded revision of each tier. */
    p->revisions = arena_alloc(p->arena, (in->revision_count + TIERS * n) * sizeof *p->revisions);
    for (size_t i = 0; i < n; i++) {
        p->nodes[i] = in->nodes[i];
        /* pulls are among the steps that succeed */
        p->nodes[i].images = (struct images){ .state = IMAGES_READY };
        p->nodes[i].repair = REPAIR_NOTHING;
    }
    for (size_t i = 0; i < in->revision_count; i++)
        p->revisions[i] = in->revisions[i];
    p->in = *in;
    p->in.spec = &p->spec;
    p->in.nodes = p->nodes;
    p->in.revisions = p->revisions;
}

static bool is_guess(const struct player *p, size_t i)
{
    return p->pace[p->tiers[i]].nodes == 0;
}

static int64_t pace_of(const struct player *p, size_t i)
{
    return is_guess(p, i) ? UNKNOWN_PACE_S : p->pace[p->tiers[i]].node_s;
}

static void add_move(struct player *p, size_t i, size_t wave)
{
    p->ret->moves[p->ret->move_count++] = (struct planned_move){ .node = &p->given->nodes[i],
                                                                 .wave = wave,
                                                                 .tier = p->tiers[i] };
}

/* Nodes under way need the rest of the pace. */
static void take_up(struct player *p)
{
    struct rollout_view view;
    rollout_view_make(&p->in, p->arena, &view);
    for (size_t i = 0; i < p->in.node_count; i++) {
        const struct work *w = &view.works[i];
        p->ends_s[i] = INT64_MAX;
        p->tiers[i] = w->tier;
        if (!work_keeps_place(w))
            continue;
        int64_t end_s = time_after(w->node->claim->claimed_s, pace_of(p, i));
        p->ends_s[i] = end_s > p->in.now_s ? end_s : p->in.now_s;
        add_move(p, i, 0);
    }
    p->ret->under_way = p->ret->move_count;
}

/* ---- steps */

static struct rollout_revision *rollout_simulate_revision_of(struct player *p, const char *hash,
                                                             size_t pool)
{
    size_t i = 0;
    while (i < p->in.revision_count &&
           (p->revisions[i].pool != pool || !str_eq(p->revisions[i].hash, hash)))
        i++;
    if (i == p->in.revision_count)
        p->revisions[p->in.revision_count++] = (struct rollout_revision){ .hash = hash,
                                                                          .pool = pool };
    return &p->revisions[i];
}

static void take_notes(struct player *p, const struct rollout_decision *d)
{
    for (size_t i = 0; i < d->note_count; i++) {
        const struct rollout_note *n = &d->notes[i];
        struct rollout_revision *r = rollout_simulate_revision_of(p, n->hash, n->pool);
        r->canary_s = n->canary_s;
        r->wave_s = n->wave_s;
        r->failed |= n->failed != NULL;
    }
}

static bool is_canary(struct player *p, size_t i)
{
    const struct rollout_node *n = &p->nodes[i];
    const struct rollout_revision *r = rollout_simulate_revision_of(p, n->target.hash[p->tiers[i]],
                                                                    n->pool);
    return !progress_canary_over(&(struct progress){ .record = *r }, &p->in);
}

/* Nodes that start at the same time are a wave, unless the times are equal only because the last
 * wave's duration is not known. */
static void rollout_simulate_begin(struct player *p, size_t i)
{
    struct rollout_simulation *f = p->ret;
    struct planned_wave *last = f->wave_count ? &f->waves[f->wave_count - 1] : NULL;
    if (!last || last->begins_s != p->in.now_s || p->later) {
        p->later = false;
        last = &f->waves[f->wave_count++];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is room for every node. */
        *last = (struct planned_wave){ .first = f->move_count,
                                       .begins_s = p->in.now_s,
                                       .timed = !p->guessed };
    }
    last->canary |= is_canary(p, i);
    last->count++;
    add_move(p, i, f->wave_count - 1);
    p->ends_s[i] = time_after(p->in.now_s, pace_of(p, i));
}

static void take_grants(struct player *p, const struct rollout_decision *d)
{
    const struct claimant by = { .policy = "", .now_s = p->in.now_s };
    for (size_t k = 0; k < d->grant_count; k++) {
        size_t i = (size_t) (d->grants[k].node - p->nodes);
        p->claims[i] = grant_claim(&d->grants[k], &by, false);
        p->waits[i] = p->claims[i].phase == CLAIM_WAITING;
        if (!p->waits[i])
            rollout_simulate_begin(p, i);
    }
    for (size_t k = 0; k < d->return_count; k++)
        p->nodes[d->returns[k].node - p->nodes].claim = NULL;
    /* All together, because the grants refer to the nodes before them. */
    for (size_t k = 0; k < d->grant_count; k++) {
        size_t i = (size_t) (d->grants[k].node - p->nodes);
        p->nodes[i].claim = &p->claims[i];
    }
}

static void rollout_simulate_release(struct player *p, size_t i)
{
    struct rollout_node *n = &p->nodes[i];
    p->guessed |= is_guess(p, i);
    p->later |= is_guess(p, i);
    n->now = n->target;
    n->claim = NULL;
    n->settled = true;
    p->ends_s[i] = INT64_MAX;
    p->released_s = p->in.now_s;
}

/* Advances to the next time at which something changes; false: there is none. */
static bool advance(struct player *p, int64_t again_s)
{
    int64_t next_s = INT64_MAX;
    for (size_t i = 0; i < p->in.node_count; i++)
        next_s = p->ends_s[i] < next_s ? p->ends_s[i] : next_s;
    p->quiet = next_s == INT64_MAX ? p->quiet + 1 : 0;
    if (again_s && again_s < next_s)
        next_s = again_s;
    if (next_s == INT64_MAX || p->quiet > QUIET_LOOKS)
        return false;
    if (next_s > p->in.now_s)
        p->in.now_s = next_s;
    for (size_t i = 0; i < p->in.node_count; i++)
        if (p->ends_s[i] <= p->in.now_s)
            rollout_simulate_release(p, i);
    return true;
}

/* ---- result */

/* The end of the moves, and the nodes that never moved. */
static void note_end(struct player *p, const struct rollout_decision *last)
{
    struct rollout_simulation *f = p->ret;
    f->timed = !p->guessed && f->move_count > 0;
    f->ends_s = p->released_s;
    /* A waiting node serves outside windows, and while others soak; nevertheless it waits for its
     * jobs. */
    for (size_t i = 0; i < p->in.node_count; i++)
        if (last->refused[i] != ROLLOUT_HOLD_NONE)
            f->stays[f->stay_count++] = (struct planned_stay){
                &p->given->nodes[i], p->waits[i] && p->nodes[i].up && p->nodes[i].jobs
                                         ? ROLLOUT_HOLD_JOBS
                                         : last->refused[i]
            };
}

/* Makes one decision; false: it was the last. */
static bool play(struct player *p)
{
    CLEANUP_ARENA struct arena once = { 0 };
    struct rollout_decision d;
    rollout_decide(&p->in, &once, &d);
    if (p->looks < p->in.node_count) {
        p->ret->beyond = d.pending + d.waiting + d.failed;
        return false;
    }
    p->looks -= p->in.node_count;
    take_notes(p, &d);
    /* As in the rollout's pass: notes for the records come first. */
    if (!d.note_count)
        take_grants(p, &d);
    if (d.note_count || d.grant_count || d.return_count || advance(p, d.again_s))
        return true;
    note_end(p, &d);
    return false;
}

void rollout_simulate(const struct rollout_input *in, const struct rollout_pace pace[static TIERS],
                      size_t looks, struct arena *a, struct rollout_simulation *ret)
{
    struct player p = { .given = in, .pace = pace, .arena = a, .ret = ret, .looks = looks };
    struct rollout_decision now;
    *ret = (struct rollout_simulation){ 0 };
    rollout_decide(in, a, &now);
    ret->now = now.hold;
    memcpy(ret->hash, now.plan_hash, sizeof ret->hash);
    /* A node moves once, or twice if it is already under way. */
    ret->moves = arena_alloc(a, 2 * in->node_count * sizeof *ret->moves);
    ret->waves = arena_alloc(a, 2 * in->node_count * sizeof *ret->waves);
    ret->stays = arena_alloc(a, in->node_count * sizeof *ret->stays);
    if (!*ret->hash)
        return;
    copy_fleet(&p);
    take_up(&p);
    while (play(&p))
        continue;
}
