#include "reconcilers/decide/closing.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/closing_evidence.h"
#include "reconcilers/decide/closing_known.h"
#include "reconcilers/decide/closing_repair.h"

/* How long evidence must stand after a fault has come back while a GPU was validated: doubled each
 * time. */
enum { RELAPSE_WAIT_S = 600, RELAPSE_WAIT_MAX_S = 7200 };

/* One decision. */
struct closer {
    const struct closing_input *in;
    struct arena *a;
    struct closing *out;
    struct closing_known known;
};

/* ---- what is known now */

static void take_known(struct closer *c)
{
    closing_know(c->in, c->a, &c->known);
    c->out->level = c->known.level;
    c->out->word = c->known.word;
    c->out->address = c->known.address;
    c->out->left = c->known.left;
}

static bool asks(const struct closer *c)
{
    return c->known.level >= HEALTH_CLOSE && !c->known.left;
}

/* Whether the record is about the fault that is known now. */
static bool is_of_fault(const struct closer *c)
{
    return closing_is_of_gpu(c->in, &c->known) && str_eq(c->in->record.reason, c->known.word);
}

/* Whether the fault that is known now takes the record's place: it asks for more, or the record's
 * fault has ended, or it is the same one after a boot. So a GPU that comes and goes beside a bad
 * one writes nothing. */
static bool is_replaced(const struct closer *c)
{
    const struct fault_record *r = &c->in->record;
    enum health_level own = closing_own_level(c->in);
    bool same = str_eq(r->reason, c->known.word) && str_eq(r->address, c->known.address),
         ended = own < HEALTH_CLOSE && closing_has_ended(c->in);
    return same || ended || c->known.level > (own > HEALTH_CLOSE ? own : HEALTH_CLOSE);
}

const char *closing_fault_text(struct arena *a, const char *word, const char *address)
{
    return *address ? arena_printf(a, "%s of GPU %s", word, address) : arena_strdup(a, word);
}

/* The fault that is known now, and that of the record. */
static const char *fault_now(const struct closer *c)
{
    return closing_fault_text(c->a, c->out->word, c->out->address);
}

static const char *fault_then(const struct closer *c)
{
    return closing_fault_text(c->a, c->in->record.reason, c->in->record.address);
}

/* ---- steps */

static void say(struct closer *c, enum reason reason, const char *message)
{
    c->out->reason = reason;
    c->out->message = message;
}

static void put_name(struct fault_record *r, const char *word, const char *address, uint64_t boot)
{
    snprintf(r->reason, sizeof r->reason, "%s", word);
    snprintf(r->address, sizeof r->address, "%s", address);
    r->boot = boot;
}

/* Writes a record of the fault that is known now. One that a user left alone is kept beside it. */
static void record(struct closer *c, enum fault_state state, bool tainted)
{
    const struct fault_record *was = &c->in->record;
    struct fault_record *r = &c->out->record;
    if (was->state == FAULT_IGNORED)
        r->left = fault_record_name(was);
    if (!closing_is_of_boot(c->in, &c->known, r->left.boot))
        r->left = (struct fault_name){ 0 };
    r->state = state;
    put_name(r, c->known.word, c->known.address, c->in->boot);
    r->level = state == FAULT_IGNORED ? c->known.level : HEALTH_NONE;
    r->since_s = c->in->now_s;
    r->tainted = tainted;
}

/* The attempts that count still, or may: one from the future shows that a clock was wrong. */
static struct fault_record without_fault(const struct closer *c)
{
    struct fault_record over = { .state = FAULT_OVER };
    for (size_t i = 0; i < c->in->record.tries_len; i++)
        if (c->in->record.tries[i].at_s > c->in->now_s - c->in->spec->attempts_per_s)
            over.tries[over.tries_len++] = c->in->record.tries[i];
    return over;
}

/* Keeps only the repairs of the last days, and what a user left alone in this boot. */
static void forget(struct closer *c, enum reason reason, const char *message)
{
    const struct fault_name *left = &c->in->record.left;
    struct fault_record *r = &c->out->record;
    *r = without_fault(c);
    if (*left->reason && closing_is_of_boot(c->in, &c->known, left->boot)) {
        r->state = FAULT_IGNORED;
        put_name(r, left->reason, left->address, left->boot);
        r->level = left->level;
        r->since_s = left->left_s ? left->left_s : c->in->now_s;
    }
    say(c, reason, message);
}

static void say_closed(struct closer *c)
{
    if (c->in->withheld)
        say(c, REASON_GPU_WITHHELD,
            arena_printf(c->a,
                         "%s: the device plugin gives this GPU to no pod, so the node stays open "
                         "with its other GPUs",
                         fault_now(c)));
    else
        say(c, REASON_CLOSED,
            arena_printf(c->a, "%s: Ostler keeps new pods off the node, and evicts none",
                         fault_now(c)));
}

static void close_node(struct closer *c)
{
    record(c, FAULT_CLOSED, !c->in->withheld);
    say_closed(c);
}

static void end_fault(struct closer *c)
{
    forget(c, REASON_FAULT_ENDED, arena_printf(c->a, "%s has ended", fault_then(c)));
}

static void open_node(struct closer *c)
{
    const char *why = c->in->record.state == FAULT_PROVING && c->in->validates
                          ? "a CUDA program ran on a GPU of the node, and "
                          : "";
    if (c->in->record.tainted)
        forget(c, REASON_OPENED,
               arena_printf(c->a, "%s%s has ended: the node is open for new pods", why,
                            fault_then(c)));
    else
        end_fault(c);
}

static bool is_confirmed(struct closer *c)
{
    int64_t since_s = c->in->unhealthy_since_s ? c->in->unhealthy_since_s : c->in->now_s,
            due_s = since_s + CLOSING_CONFIRM_S;
    if (!c->known.log_alone || c->known.hard || c->in->now_s >= due_s)
        return true;
    c->out->again_s = due_s;
    return false;
}

/* Whether a node without the taint may get it now. If the brake says no, that is recorded. */
static bool may_taint(struct closer *c)
{
    if (c->in->held || !is_confirmed(c))
        return false;
    if (!c->in->braked || c->known.hard)
        return true;
    record(c, FAULT_BRAKED, false);
    say(c, REASON_LEFT_OPEN,
        arena_printf(c->a,
                     "%s: so many nodes became unhealthy at a time that Ostler does not close this "
                     "one",
                     fault_now(c)));
    return false;
}

/* A fault of a node without the taint that has no record of it. */
static void meet(struct closer *c)
{
    if (may_taint(c))
        close_node(c);
}

/* ---- the states of the record */

static void when_over(struct closer *c)
{
    struct fault_record over = without_fault(c);
    if (asks(c))
        meet(c);
    else if (over.tries_len < c->in->record.tries_len)
        forget(c, REASON_FAULT_ENDED,
               "earlier repairs of the node are older than spec.health.attempts.per");
}

/* A validation that failed closes a node until one passes. */
static bool is_of_proof(const struct fault_record *r)
{
    return r->state == FAULT_CLOSED && str_eq(r->reason, reason_text(REASON_PROOF_FAILED));
}

/* The record follows the worst fault. While NVML is silent, what it said of the GPUs is not known
 * well enough to move the taint. */
static void follow_fault(struct closer *c)
{
    const struct fault_record *r = &c->in->record;
    bool anew = !is_of_fault(c) && is_replaced(c),
         moves = !c->known.kept && r->tainted == c->in->withheld,
         taints = !r->tainted && !c->in->withheld && (anew || moves);
    if (taints && !may_taint(c))
        return;
    if (anew) {
        close_node(c);
    } else if (moves) {
        c->out->record.tainted = !c->in->withheld;
        say_closed(c);
    }
}

/* Whether evidence stands for long enough. */
static bool has_settled(struct closer *c)
{
    const struct fault_record *r = &c->in->record;
    int64_t wait_s = RELAPSE_WAIT_S;
    if (!r->relapses || clock_is_ahead(r->since_s, c->in->now_s))
        return true;
    for (unsigned i = 1; i < r->relapses && wait_s < RELAPSE_WAIT_MAX_S; i++)
        wait_s *= 2;
    int64_t due_s = r->since_s + (wait_s < RELAPSE_WAIT_MAX_S ? wait_s : RELAPSE_WAIT_MAX_S);
    if (c->in->now_s >= due_s)
        return true;
    c->out->again_s = due_s;
    return false;
}

static void begin_proving(struct closer *c)
{
    c->out->record.state = FAULT_PROVING;
    c->out->record.since_s = c->in->now_s;
    c->out->outdates = true;
    say(c, REASON_FAULT_ENDED,
        arena_printf(c->a, "%s has ended: the node opens when a GPU of it is validated",
                     fault_then(c)));
}

static void when_closed(struct closer *c)
{
    const struct fault_record *r = &c->in->record;
    bool proven = is_of_proof(r) && c->in->proven;
    if (!proven && asks(c))
        follow_fault(c);
    else if (!proven && !closing_has_ended(c->in))
        c->out->again_s = closing_evidence_due_s(c->in);
    else if (!proven && !has_settled(c))
        return;
    else if (!proven && r->tainted && c->in->validates)
        begin_proving(c);
    else
        open_node(c);
}

static void relapse(struct closer *c)
{
    struct fault_record *r = &c->out->record;
    r->relapses += r->relapses < UINT8_MAX;
    close_node(c);
}

static void when_proving(struct closer *c)
{
    bool tainted = c->in->record.tainted, needless = !c->in->validates || !tainted;
    if (asks(c) && tainted)
        relapse(c);
    else if (asks(c))
        meet(c);
    else if (needless || (c->in->proven && c->in->reported))
        open_node(c);
    else
        c->out->outdates = c->in->counted;
}

/* A user, or the storm brake, decided about this fault. It is not forgotten while nothing shows
 * that it has ended. Another one, or the same after a boot, is new. */
static void when_left(struct closer *c)
{
    if (closing_is_due(c->in, &c->known))
        meet(c);
    else if (!asks(c) && !c->known.left && closing_has_ended(c->in))
        end_fault(c);
    else if (!asks(c))
        c->out->again_s = closing_evidence_due_s(c->in);
}

static void (*const steps[FAULT_STATES_LEN])(struct closer *c) = {
    [FAULT_OVER] = when_over,    [FAULT_CLOSED] = when_closed, [FAULT_PROVING] = when_proving,
    [FAULT_IGNORED] = when_left, [FAULT_BRAKED] = when_left,
};

/* ---- what users decide */

/* Whether a user removed the taint: Ostler writes it together with the record. */
static bool was_untainted(const struct closer *c)
{
    return fault_state_closes(c->in->record.state) && c->in->record.tainted && !c->in->tainted;
}

/* That user opens the node as it is: with the fault that is known now. */
static void leave_to_user(struct closer *c)
{
    const char *message = arena_printf(
        c->a, "a user removed the taint " TAINT_UNHEALTHY ": Ostler does nothing more about %s",
        asks(c) ? fault_now(c) : fault_then(c));
    if (asks(c))
        record(c, FAULT_IGNORED, false);
    else
        forget(c, REASON_FAULT_IGNORED, message);
    say(c, REASON_FAULT_IGNORED, message);
}

static bool only_reports(const struct closer *c)
{
    return c->in->ignored || c->in->spec->mode == HEALTH_MODE_OBSERVE;
}

static void only_report(struct closer *c)
{
    if (c->in->record.state == FAULT_OVER)
        return;
    c->out->record = without_fault(c);
    say(c, REASON_OPENED,
        c->in->ignored ? "the node's label " LABEL_HEALTH "=" HEALTH_IGNORE
                         " says that Ostler does nothing about faults of its GPUs"
                       : "spec.health.mode is Observe: Ostler only reports faults");
}

/* ---- */

void closing_decide(const struct closing_input *in, struct arena *a, struct closing *ret)
{
    struct closer c = { .in = in, .a = a, .out = ret };
    *ret = (struct closing){ .record = in->record, .word = "", .address = "" };
    take_known(&c);
    if (only_reports(&c) && !in->claimed)
        only_report(&c);
    else if (was_untainted(&c))
        leave_to_user(&c);
    else if (!in->claimed)
        steps[in->record.state](&c);
    ret->taint = fault_state_closes(ret->record.state) && ret->record.tainted;
    ret->proves = (ret->record.state == FAULT_PROVING || is_of_proof(&ret->record)) &&
                  in->validates;
    closing_want_repair(in, asks(&c), ret);
}
