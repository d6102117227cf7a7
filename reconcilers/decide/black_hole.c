#include "reconcilers/decide/black_hole.h"

#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/fault_record.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/decide/proof.h"

/* ---- what is remembered */

static struct pod_failure *failure_of(struct black_hole *h, uint64_t pod)
{
    for (size_t i = 0; i < h->failed_len; i++)
        if (h->failed[i].pod == pod)
            return &h->failed[i];
    return NULL;
}

static size_t failures_of_owner(const struct black_hole *h, uint64_t owner)
{
    size_t n = 0;
    for (size_t i = 0; i < h->failed_len; i++)
        n += h->failed[i].owner == owner;
    return n;
}

/* The entry that goes: the oldest one of the owner with the most. */
static struct pod_failure *least_useful(struct black_hole *h)
{
    struct pod_failure *least = &h->failed[0];
    size_t most = failures_of_owner(h, least->owner);
    for (size_t i = 1; i < h->failed_len; i++) {
        struct pod_failure *f = &h->failed[i];
        size_t n = failures_of_owner(h, f->owner);
        if (n < most || (n == most && f->at_s >= least->at_s))
            continue;
        least = f;
        most = n;
    }
    return least;
}

static void forget_run(struct black_hole *h, uint64_t pod)
{
    for (size_t i = 0; i < h->runs_len; i++)
        if (h->runs[i].pod == pod)
            h->runs[i--] = h->runs[--h->runs_len];
}

static bool has_run_long(const struct black_hole_run *r, int64_t now_s)
{
    return now_s - r->since_s > POD_FAILS_FAST_S;
}

/* The last time at which a pod is known to have worked, or a proof passed. */
static int64_t worked_by(const struct black_hole *h, int64_t now_s)
{
    int64_t at_s = h->worked_s;
    for (size_t i = 0; i < h->runs_len; i++) {
        int64_t end_s = h->runs[i].since_s + POD_FAILS_FAST_S;
        if (has_run_long(&h->runs[i], now_s) && end_s > at_s)
            at_s = end_s;
    }
    return at_s;
}

static bool counts(const struct black_hole *h, const struct pod_failure *f, int64_t now_s)
{
    return f->at_s > worked_by(h, now_s) && now_s - f->at_s <= BLACK_HOLE_WINDOW_S;
}

/* Drops what cannot count again. */
static void prune(struct black_hole *h, int64_t now_s)
{
    h->worked_s = worked_by(h, now_s);
    for (size_t i = h->runs_len; i-- > 0;)
        if (has_run_long(&h->runs[i], now_s))
            h->runs[i] = h->runs[--h->runs_len];
    for (size_t i = h->failed_len; i-- > 0;)
        if (!counts(h, &h->failed[i], now_s))
            h->failed[i] = h->failed[--h->failed_len];
}

void black_hole_failed(struct black_hole *h, const struct pod_failure *f, int64_t now_s)
{
    struct pod_failure fresh = *f;
    fresh.at_s = f->at_s && f->at_s < now_s ? f->at_s : now_s;
    forget_run(h, f->pod);
    prune(h, now_s);
    struct pod_failure *known = failure_of(h, f->pod);
    if (!counts(h, &fresh, now_s))
        return;
    if (!known && h->failed_len == BLACK_HOLE_KEPT)
        known = least_useful(h);
    if (!known)
        known = &h->failed[h->failed_len++];
    *known = fresh;
}

void black_hole_began(struct black_hole *h, uint64_t pod, int64_t now_s)
{
    prune(h, now_s);
    if (!h->failed_len || failure_of(h, pod) || h->runs_len == BLACK_HOLE_KEPT)
        return;
    forget_run(h, pod);
    h->runs[h->runs_len++] = (struct black_hole_run){ pod, now_s };
}

void black_hole_ended(struct black_hole *h, uint64_t pod, bool deleted, int64_t now_s)
{
    prune(h, now_s);
    for (size_t i = 0; i < h->runs_len && !deleted; i++)
        if (h->runs[i].pod == pod)
            h->worked_s = now_s;
    forget_run(h, pod);
    prune(h, now_s);
}

/* ---- what it means */

struct count {
    unsigned pods, owners;
};

static struct count count_failures(const struct black_hole *h, int64_t now_s)
{
    struct count c = { 0 };
    for (size_t i = 0; h && i < h->failed_len; i++) {
        bool known = !counts(h, &h->failed[i], now_s);
        c.pods += !known;
        for (size_t k = 0; k < i && !known; k++)
            known = counts(h, &h->failed[k], now_s) && h->failed[k].owner == h->failed[i].owner;
        c.owners += !known;
    }
    return c;
}

bool black_hole_is_proving(const struct black_hole *h, int64_t now_s)
{
    return h && h->proving && (h->proof_failed_s || now_s - h->asked_s <= BLACK_HOLE_PROOF_S);
}

bool black_hole_is_suspected(const struct black_hole *h, int64_t now_s)
{
    struct count c = count_failures(h, now_s);
    return c.pods >= BLACK_HOLE_PODS && c.owners >= BLACK_HOLE_OWNERS &&
           !black_hole_is_proving(h, now_s) &&
           (!h->asked_s || now_s - h->asked_s > BLACK_HOLE_REST_S);
}

const char *black_hole_text(const struct black_hole *h, int64_t now_s, struct arena *a)
{
    struct count c = count_failures(h, now_s);
    return arena_printf(a,
                        "%s%u pods of %u owners that request GPUs failed at once within %d "
                        "minutes, and none worked",
                        h->failed_len == BLACK_HOLE_KEPT ? "at least " : "", c.pods, c.owners,
                        BLACK_HOLE_WINDOW_S / 60);
}

void black_hole_take(struct black_hole *h, enum black_hole_step step, int64_t now_s)
{
    switch (step) {
    case BLACK_HOLE_NOTHING:
        break;
    case BLACK_HOLE_TOLD:
        h->asked_s = now_s;
        break;
    case BLACK_HOLE_ASKED:
        h->asked_s = h->proving ? h->asked_s : now_s;
        h->proving = true;
        break;
    case BLACK_HOLE_PASSED:
        h->proving = false;
        h->proof_failed_s = 0;
        h->worked_s = now_s;
        prune(h, now_s);
        break;
    case BLACK_HOLE_FAILED:
        h->proof_failed_s = h->proof_failed_s ? h->proof_failed_s : now_s;
        break;
    }
}

int64_t black_hole_due_s(const struct black_hole *h, int64_t now_s)
{
    bool awaited = black_hole_is_proving(h, now_s) && !h->proof_failed_s;
    return awaited ? h->asked_s + BLACK_HOLE_PROOF_S + 1 : 0;
}

bool black_hole_is_over(const struct black_hole *h, int64_t now_s)
{
    bool rests = h->asked_s && now_s - h->asked_s <= BLACK_HOLE_REST_S;
    return !count_failures(h, now_s).pods && !black_hole_is_proving(h, now_s) && !rests;
}

/* ---- the failed proof */

int64_t black_hole_proof_failed_s(const struct node_view *view, const struct black_hole *h)
{
    struct fault_record record;
    struct proof proof;
    bool recorded = fault_record_of(view, &record) && record.state == FAULT_CLOSED &&
                    str_eq(record.reason, reason_text(REASON_PROOF_FAILED));
    int64_t since_s = h && h->proof_failed_s ? h->proof_failed_s : recorded ? record.since_s : 0;
    if (since_s && proof_of_node(view, &proof) && proof_is_of(&proof, node_assigned(view)))
        return 0;
    return since_s;
}
