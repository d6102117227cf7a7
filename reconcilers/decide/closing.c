#include "reconcilers/decide/closing.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/health_sentence.h"

/* One decision. */
struct closer {
    const struct closing_input *in;
    struct arena *a;
    struct closing *out;
    bool log_alone; /* only the kernel log shows the fault */
    bool hard;      /* the PCI bus shows one */
    bool kept;      /* NVML is silent about it */
};

/* ---- what is known now */

static void take_verdict(struct closer *c, const struct health_input *health)
{
    const struct health_status *kept = health_kept(health);
    struct health_verdict v = health_judge(health);
    c->hard = v.hard;
    c->kept = kept && kept->level >= v.level;
    if (c->kept) {
        c->out->level = kept->level;
        c->out->word = kept->reason;
        c->out->address = kept->address;
    } else if (v.level) {
        c->log_alone = v.log != NULL;
        c->out->level = v.level;
        c->out->word = health_word(&v, c->a);
        c->out->address = str_or_empty(v.address);
    }
}

static bool asks(const struct closer *c)
{
    return c->out->level >= HEALTH_CLOSE;
}

/* Whether the record is about the fault that is known now. What NVML said before the boot, and has
 * not repeated, is the same fault. */
static bool is_of_fault(const struct closer *c)
{
    const struct fault_record *r = &c->in->record;
    return str_eq(r->reason, c->out->word) && str_eq(r->address, c->out->address) &&
           (c->kept || !c->in->boot || r->boot == c->in->boot);
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

/* ---- what shows that the fault of the record has ended, if none asks to close the node now */

static bool has_booted(const struct closer *c)
{
    return c->in->boot && c->in->record.boot != c->in->boot && c->in->reported;
}

static bool was_tried(const struct closer *c)
{
    bool tried = false;
    for (size_t i = 0; i < c->in->record.tries_len; i++)
        tried |= c->in->record.tries[i].at_s >= c->in->record.since_s;
    return tried;
}

static bool nvml_speaks(const struct health_input *h)
{
    return h && h->inventory && h->boot && h->inventory->boot == h->boot &&
           h->inventory->health_listed;
}

static bool has_newer_driver(const struct closer *c)
{
    return c->in->health && (int64_t) c->in->health->driver_s > c->in->record.since_s;
}

/* Whether the policy says now that the fault asks for less. */
static bool is_milder_by_policy(const struct closer *c)
{
    const char *word = c->in->record.reason, *prefix = reason_text(REASON_XID);
    int64_t xid = 0;
    enum health_level level;
    return c->in->health && str_has_prefix(word, prefix) &&
           str_parse_int(word + strlen(prefix), 0, UINT16_MAX, &xid) &&
           xid_said(c->in->health->xids, (unsigned) xid, &level) && level < HEALTH_CLOSE;
}

static bool has_ended(const struct closer *c)
{
    return has_booted(c) || was_tried(c) || nvml_speaks(c->in->health) || has_newer_driver(c) ||
           is_milder_by_policy(c);
}

/* ---- steps */

static void say(struct closer *c, enum reason reason, const char *message)
{
    c->out->reason = reason;
    c->out->message = message;
}

/* Writes a record of the fault that is known now. */
static void record(struct closer *c, enum fault_state state, bool tainted)
{
    struct fault_record *r = &c->out->record;
    r->state = state;
    snprintf(r->reason, sizeof r->reason, "%s", c->out->word);
    snprintf(r->address, sizeof r->address, "%s", c->out->address);
    r->boot = c->in->boot;
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

/* Keeps only the repairs of the last days. */
static void forget(struct closer *c, enum reason reason, const char *message)
{
    c->out->record = without_fault(c);
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
    if (!c->log_alone || c->hard || c->in->now_s >= due_s)
        return true;
    c->out->again_s = due_s;
    return false;
}

/* A fault without a record. */
static void meet(struct closer *c)
{
    if (c->in->held || !is_confirmed(c))
        return;
    if (!c->in->braked || c->hard) {
        close_node(c);
        return;
    }
    record(c, FAULT_BRAKED, false);
    say(c, REASON_LEFT_OPEN,
        arena_printf(c->a,
                     "%s: so many nodes became unhealthy at a time that Ostler does not close this "
                     "one",
                     fault_now(c)));
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
static void when_closed(struct closer *c)
{
    const struct fault_record *r = &c->in->record;
    if (is_of_proof(r) && c->in->proven) {
        open_node(c);
    } else if (asks(c) && !is_of_fault(c)) {
        close_node(c);
    } else if (asks(c)) {
        if (!c->kept && r->tainted == c->in->withheld) {
            c->out->record.tainted = !c->in->withheld;
            say_closed(c);
        }
    } else if (has_ended(c) && r->tainted && c->in->validates) {
        c->out->record.state = FAULT_PROVING;
        c->out->record.since_s = c->in->now_s;
        c->out->outdates = true;
        say(c, REASON_FAULT_ENDED,
            arena_printf(c->a, "%s has ended: the node opens when a GPU of it is validated",
                         fault_then(c)));
    } else if (has_ended(c)) {
        open_node(c);
    }
}

static void when_proving(struct closer *c)
{
    bool needless = !c->in->validates || !c->in->record.tainted;
    if (asks(c))
        close_node(c);
    else if (needless || (c->in->proven && c->in->reported))
        open_node(c);
    else
        c->out->outdates = c->in->counted;
}

/* A user, or the storm brake, decided about this fault: another one, or another boot, is new. */
static void when_left(struct closer *c)
{
    bool now_hard = c->in->record.state == FAULT_BRAKED && c->hard;
    if (!asks(c))
        end_fault(c);
    else if (now_hard || !is_of_fault(c))
        meet(c);
}

static void (*const steps[FAULT_STATES_LEN])(struct closer *c) = {
    [FAULT_OVER] = when_over,    [FAULT_CLOSED] = when_closed, [FAULT_PROVING] = when_proving,
    [FAULT_IGNORED] = when_left, [FAULT_BRAKED] = when_left,
};

/* ---- what users decide */

static bool is_closed(const struct fault_record *r)
{
    return r->state == FAULT_CLOSED || r->state == FAULT_PROVING;
}

/* Whether a user removed the taint: Ostler writes it together with the record. */
static bool was_untainted(const struct closer *c)
{
    return is_closed(&c->in->record) && c->in->record.tainted && !c->in->tainted;
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
    forget(c, REASON_OPENED,
           c->in->ignored ? "the node's label " LABEL_HEALTH "=" HEALTH_IGNORE
                            " says that Ostler does nothing about faults of its GPUs"
                          : "spec.health.mode is Observe: Ostler only reports faults");
}

/* ---- repairs */

enum repair_kind closing_next_repair(const struct health_spec *spec, const struct fault_record *r,
                                     enum health_level level, int64_t now_s)
{
    int64_t resets = fault_record_tries(r, REPAIR_RESET, spec->attempts_per_s, now_s),
            reboots = fault_record_tries(r, REPAIR_REBOOT, spec->attempts_per_s, now_s);
    if (level <= HEALTH_CLOSE && resets < spec->resets)
        return REPAIR_RESET;
    bool reboots_help = level == HEALTH_CLOSE || level == HEALTH_REBOOT;
    return reboots_help && spec->reboot != HEALTH_REBOOT_NONE && reboots < spec->reboots
               ? REPAIR_REBOOT
               : REPAIR_KINDS;
}

/* What the fault asks for. A closed node of which nothing is known any longer needs a reset:
 * nothing else would show that its fault has ended. */
static enum health_level repair_level(const struct closer *c)
{
    bool silent = c->out->record.state == FAULT_CLOSED && !asks(c);
    return silent ? HEALTH_CLOSE : c->out->level;
}

static bool has_repair(const struct closer *c)
{
    return closing_next_repair(c->in->spec, &c->out->record, repair_level(c), c->in->now_s) !=
           REPAIR_KINDS;
}

static int64_t known_since_s(const struct closer *c)
{
    const struct health_status *said = c->in->health ? c->in->health->concluded : NULL;
    return said && said->since_s ? said->since_s : c->in->now_s;
}

/* A node is claimed once its closing is written: a claim that came before that write would keep it
 * from being made, and a repair that fails would open the node until the next pass. */
static void want_repair(struct closer *c)
{
    const struct fault_record *r = &c->out->record;
    bool repairs = c->in->spec->mode == HEALTH_MODE_REPAIR && !c->in->ignored && has_repair(c);
    bool fault = (r->state == FAULT_CLOSED && c->in->record.state == FAULT_CLOSED) ||
                 (r->state == FAULT_BRAKED && asks(c) && !c->in->braked);
    if (c->in->held || !c->in->spec->repairs || c->in->spec->mode == HEALTH_MODE_OBSERVE)
        return;
    if (c->in->asked) {
        c->out->repair = REPAIR_ASKED;
        c->out->repair_since_s = is_closed(r) ? r->since_s : 0;
    } else if (repairs && fault) {
        c->out->repair = REPAIR_FAULT;
        c->out->repair_since_s = r->since_s;
    } else if (repairs && c->out->level == HEALTH_RESET_WHEN_IDLE) {
        c->out->repair = REPAIR_IDLE;
        c->out->repair_since_s = known_since_s(c);
    }
}

/* ---- */

void closing_decide(const struct closing_input *in, struct arena *a, struct closing *ret)
{
    struct closer c = { .in = in, .a = a, .out = ret };
    *ret = (struct closing){ .record = in->record, .word = "", .address = "" };
    if (in->health)
        take_verdict(&c, in->health);
    if (only_reports(&c) && !in->claimed)
        only_report(&c);
    else if (was_untainted(&c))
        leave_to_user(&c);
    else if (!in->claimed)
        steps[in->record.state](&c);
    ret->taint = is_closed(&ret->record) && ret->record.tainted;
    ret->proves = (ret->record.state == FAULT_PROVING || is_of_proof(&ret->record)) &&
                  in->validates;
    want_repair(&c);
}
