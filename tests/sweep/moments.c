#include "tests/sweep/moments.h"

#include "base/str.h"
#include "tests/sweep/checks.h"

enum {
    /* Counts alone are written every ten seconds while nodes are on their way, a state that lasts
     * is told of after three; a step of many claims, and the condition, up to a minute
     * later. */
    QUIET_MS = 15 * 1000,
    CLAIMS_FEW = 15,
    QUIET_MANY_MS = 75 * 1000,
    /* What failed is tried again within a minute, whatever the server asked for. */
    RECOVERY_MS = RUN_QUIET_MS,
    SILENT_MS = 200 * 1000, /* a stream that brings nothing is given up by then */
    LOOK_MS = 500,
    RENEW_DEADLINE_MS = 10 * 1000,
};

void moments_commit(struct invariants *v, const struct api_commit *c)
{
    if (check_is_kind(c->kind, "leases") || check_is_kind(c->kind, "events"))
        return;
    v->moments.changed_ms = v->run->sim.now_ms;
    v->moments.used = false;
}

/* Whether faults strike, or struck so lately that a client still waits for what was lost. */
static bool faults_go_on(struct invariants *v)
{
    const struct run *r = v->run;
    uint64_t before = v->moments.fault_count;
    v->moments.fault_count = r->faults.mark_count;
    bool strikes = before != r->faults.mark_count || wire_is_troubled(r->wire) ||
                   wire_counts(r->wire)->lost_until_ms > r->sim.now_ms;
    for (size_t i = 0; i < r->faults.count; i++) {
        const struct fault *f = &r->faults.rows[i];
        int64_t fired_until_ms = f->effect == FAULT_SILENCE && f->fired ? f->fired_ms + SILENT_MS
                                                                        : 0;
        strikes |= f->until_ms > r->sim.now_ms || fired_until_ms > r->sim.now_ms;
    }
    return strikes;
}

/* Whether an Ostler leads that has been told everything. In a life without leases there is one
 * Ostler, and no faults. */
static bool is_led(const struct invariants *v, int64_t now_ms)
{
    const struct client_note *leader = NULL;
    if (v->run->plan->alone)
        return true;
    for (size_t i = 0; i < v->client_count; i++)
        if (v->clients[i].renewed_ms >= 0 &&
            (!leader || v->clients[i].renewed_ms > leader->renewed_ms))
            leader = &v->clients[i];
    if (!leader || now_ms >= leader->renewed_ms + RENEW_DEADLINE_MS)
        return false;
    CLEANUP_FREE char *doubt = sight_doubt(v->sight, leader->number, now_ms);
    return !doubt;
}

static bool all_run(const struct run *r)
{
    for (size_t i = 0; i < r->replicas; i++)
        if (!process_is_running(r->ostlers[i]))
            return false;
    return true;
}

static void look(struct invariants *v)
{
    struct moments *m = &v->moments;
    int64_t now_ms = v->run->sim.now_ms;
    if (now_ms - m->looked_ms < LOOK_MS)
        return;
    m->looked_ms = now_ms;
    bool faults = faults_go_on(v);
    if (faults || !all_run(v->run))
        m->troubled_ms = now_ms + RECOVERY_MS - QUIET_MS;
    else if (!is_led(v, now_ms) && m->troubled_ms < now_ms)
        m->troubled_ms = now_ms;
}

/* Whether so many nodes are claimed that their steps are told of late. */
static bool are_many_claimed(const struct run *r)
{
    const struct kind *nodes = kind_named("nodes");
    size_t claims = 0, count = api_count(r->api, nodes);
    for (size_t i = 0; i < count && claims <= CLAIMS_FEW; i++)
        claims += reading_is_closed(api_at(r->api, nodes, i));
    return claims > CLAIMS_FEW;
}

bool moments_pass(struct invariants *v, int64_t until_ms)
{
    struct moments *m = &v->moments;
    look(v);
    int64_t since_ms = m->changed_ms > m->troubled_ms ? m->changed_ms : m->troubled_ms;
    if (m->used || until_ms - since_ms <= QUIET_MS || !is_led(v, until_ms) ||
        (until_ms - since_ms <= QUIET_MANY_MS && are_many_claimed(v->run)))
        return false;
    m->used = true;
    return true;
}
