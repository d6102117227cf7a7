#include "node/agent/pace.h"

#include <string.h>

#include "base/str.h"

/* Number of doublings of PACE_RETRY_MS that reach PACE_RETRY_MAX_MS. */
enum { DOUBLINGS_MAX = 9 };

/* A number below `range` that differs between nodes and between scans. */
static int64_t spread(const struct pace *p, int64_t range)
{
    uint64_t parts[] = { p->name_hash, p->looks };
    return (int64_t) (str_hash(parts, sizeof parts) % (uint64_t) range);
}

void pace_init(struct pace *p, const char *node, int64_t now_ms)
{
    *p = (struct pace){ .name_hash = str_hash(node, strlen(node)), .patient = true };
    p->next_ms = now_ms + spread(p, PACE_START_MS);
}

/* Whether to report at once that users have released a GPU. Ostler may be waiting for exactly that,
 * and the agent only learns so from the response. */
static bool may_report_leavers(const struct pace *p, const struct inventory_hash *seen,
                               int64_t now_ms)
{
    return seen->users < p->hash.users &&
           p->leavers_ms <= now_ms + (PACE_LEAVERS - 1) * PACE_HOLDERS_MS;
}

/* When a change of holders, or of counts of faults, may be reported. */
static int64_t allowed_ms(const struct pace *p)
{
    return p->wrote_ms + (p->closed ? PACE_CLOSED_MS : PACE_HOLDERS_MS);
}

enum turn_end pace_verdict(const struct pace *p, const struct inventory_hash *seen, int64_t now_ms)
{
    if (!p->said || p->quiet_looks + 1 >= PACE_ASK_LOOKS)
        return TURN_SAID;
    if (seen->all == p->hash.all)
        return TURN_QUIET;
    if (seen->lasting != p->hash.lasting || now_ms >= allowed_ms(p) ||
        may_report_leavers(p, seen, now_ms))
        return TURN_SAID;
    return TURN_LATER;
}

static int64_t retry_ms(const struct pace *p, int64_t retry_after_ms)
{
    unsigned doublings = p->failures - 1;
    int64_t ms = doublings < DOUBLINGS_MAX ? (int64_t) PACE_RETRY_MS << doublings
                                           : PACE_RETRY_MAX_MS;
    if (ms > PACE_RETRY_MAX_MS)
        ms = PACE_RETRY_MAX_MS;
    if (ms < retry_after_ms)
        ms = retry_after_ms < PACE_RETRY_MAX_MS ? retry_after_ms : PACE_RETRY_MAX_MS;
    return ms + spread(p, ms / 2);
}

static int64_t next_ms(const struct pace *p, const struct scan_outcome *o, int64_t now_ms)
{
    if (o->end == TURN_FAILED)
        return now_ms + retry_ms(p, o->retry_after_ms);
    if (o->gone)
        return now_ms + PACE_AGAIN_MS;
    if (o->end == TURN_LATER)
        return allowed_ms(p);
    if (p->closed)
        return now_ms + PACE_CLOSED_MS;
    return now_ms + PACE_LOOK_MS - PACE_LOOK_MS / 10 + spread(p, PACE_LOOK_MS / 5);
}

/* The end of the budget after a write that reports only holders. */
static int64_t leavers_ms(const struct pace *p, int64_t now_ms)
{
    int64_t until_ms = (p->leavers_ms > now_ms ? p->leavers_ms : now_ms) + PACE_HOLDERS_MS;
    int64_t most_ms = now_ms + PACE_LEAVERS * PACE_HOLDERS_MS;
    return until_ms < most_ms ? until_ms : most_ms;
}

void pace_take(struct pace *p, const struct scan_outcome *o, int64_t now_ms)
{
    p->looks++;
    p->looked_ms = now_ms;
    p->failures = o->end == TURN_FAILED ? p->failures + 1 : 0;
    if (o->wrote && p->said && o->hash.lasting == p->hash.lasting &&
        o->hash.counts == p->hash.counts)
        p->leavers_ms = leavers_ms(p, now_ms);
    p->quiet_looks = o->end == TURN_SAID ? 0 : p->quiet_looks + (o->end == TURN_QUIET);
    if (o->end == TURN_SAID) {
        p->closed = o->closed;
        /* While GPUs seem to be gone, the next scan must report again to count on. */
        p->said = !o->gone;
        p->hash = o->hash;
    }
    if (o->wrote)
        p->wrote_ms = now_ms;
    p->patient = o->end == TURN_FAILED || o->gone;
    p->next_ms = next_ms(p, o, now_ms);
}

void pace_news(struct pace *p, int64_t now_ms)
{
    int64_t soon = now_ms + PACE_SETTLE_MS, allowed = p->looked_ms + PACE_GAP_MS;
    if (p->patient)
        return;
    if (soon < allowed)
        soon = allowed;
    if (soon < p->next_ms)
        p->next_ms = soon;
}
