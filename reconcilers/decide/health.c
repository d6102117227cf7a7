#include "reconcilers/decide/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/decide/nvml_fact.h"
#include "reconcilers/model/gpu_heard.h"

/* ---- what does not count */

/* Whether a claim changes the stack only. A repair, and a later attempt, may load the same driver
 * again. */
static bool leaves_driver(const struct claim *c)
{
    const char *to = c->to.hash[TIER_DRIVER];
    return !claim_kinds[c->kind].repairs && *to && str_eq(to, c->from.hash[TIER_DRIVER]) &&
           c->attempt <= 1;
}

/* A window that is over is followed by another one. A process that starts within a change does not
 * know when that began: then the whole claim counts. */
void health_quiet_take(struct health_quiet *q, const struct claim *claim, int64_t now_s)
{
    if (!claim || !claim_is_changing(claim) || leaves_driver(claim))
        return;
    bool begins = claim->phase == CLAIM_UNLOADING && now_s > q->until_s;
    if (begins || q->from_s < claim->claimed_s)
        q->from_s = (uint32_t) (claim->phase == CLAIM_UNLOADING ? claim->since_s
                                                                : claim->claimed_s);
    q->until_s = (uint32_t) (now_s + HEALTH_QUIET_S);
}

static bool is_quiet(const struct health_quiet *q, int64_t first_s, int64_t last_s)
{
    return q->until_s && first_s >= q->from_s && last_s <= q->until_s;
}

/* Whether the inventory, and with it what NVML reports, is of the node's boot. */
static bool is_of_this_boot(const struct health_input *in)
{
    return in->inventory && in->boot && in->inventory->boot == in->boot;
}

static bool is_logged_now(const struct health_input *in, const struct gpu_fault *f)
{
    return in->boot && f->boot == in->boot && !is_quiet(&in->quiet, f->first_s, f->last_s);
}

/* Whether a line is older than the present driver, or noise of the change that brought it. */
static bool is_before_driver(const struct health_input *in, const struct gpu_fault *f)
{
    return in->driver_s && f->last_s && f->last_s <= (int64_t) in->driver_s + HEALTH_QUIET_S;
}

/* Whether Ostler changes the driver now, or has changed it just now: what is silent need not be
 * broken. */
static bool is_silent_by_change(const struct health_input *in)
{
    return is_quiet(&in->quiet, in->now_s, in->now_s);
}

/* ---- the facts of one GPU */

static const struct gpu_health *gpu_at(const struct health_input *in, const char *address)
{
    for (size_t i = 0; in->facts && is_of_this_boot(in) && i < in->facts->gpus_len; i++)
        if (str_eq(in->facts->gpus[i].address, address))
            return &in->facts->gpus[i];
    return NULL;
}

/* Whether a line of the log has the recovery action of a GPU. */
static bool is_action_line(const struct gpu_fault *f)
{
    return f->xid == XID_RECOVERY_CHANGED && !f->nvswitch;
}

/* The log's newest line about the recovery action of a GPU, from the present driver; NULL: none. */
static const struct gpu_fault *action_line_of(const struct health_input *in, const char *address)
{
    for (size_t i = in->facts->faults_len; i-- > 0;) {
        const struct gpu_fault *f = &in->facts->faults[i];
        if (is_action_line(f) && str_eq(f->address, address) && is_logged_now(in, f) &&
            !is_before_driver(in, f))
            return f;
    }
    return NULL;
}

/* What the log says must happen to the GPU of a fault. That nothing must happen says nothing about
 * a later fault. */
static enum gpu_recovery logged_recovery(const struct gpu_fault *line,
                                         const struct gpu_fault *fault)
{
    bool earlier = line && line->recovery == RECOVERY_NONE && line->last_s < fault->last_s;
    return line && !earlier ? line->recovery : RECOVERY_UNKNOWN;
}

/* Whether NVML may not have been asked since a line. */
static bool is_newer_than_nvml(const struct health_input *in, const struct gpu_fault *line)
{
    return line->last_s + (int64_t) HEALTH_NVML_S > in->now_s;
}

/* What the driver says must happen to the GPU of a fault: to NVML, or in the log if NVML does not
 * say it or may not know it yet. */
static enum gpu_recovery recovery_of(const struct health_input *in, const struct gpu_fault *fault)
{
    const struct gpu_health *gpu = gpu_at(in, fault->address);
    const struct gpu_fault *line = action_line_of(in, fault->address);
    enum gpu_recovery said = gpu ? gpu->recovery : RECOVERY_UNKNOWN,
                      logged = logged_recovery(line, fault);
    if (said == RECOVERY_UNKNOWN)
        return logged;
    bool newer = line && is_newer_than_nvml(in, line);
    return newer && recovery_level(logged) > recovery_level(said) ? logged : said;
}

unsigned health_branch(const struct health_input *in)
{
    bool known = is_of_this_boot(in) && in->inventory->module_loaded;
    return known ? (unsigned) strtoul(in->inventory->module_version, NULL, 10) : 0;
}

/* ---- the log */

/* An SXid that has the number of an Xid is something else, and the policy means the Xid. */
static enum health_level nvswitch_level(const struct gpu_fault *f, const enum health_level *said)
{
    return said && !xid_find(f->xid) ? *said : HEALTH_EVENT;
}

static enum health_level level_of(const struct health_input *in, const struct gpu_fault *f,
                                  enum gpu_recovery recovery)
{
    enum health_level level;
    const enum health_level *said = xid_said(in->xids, f->xid, &level) ? &level : NULL;
    if (f->nvswitch)
        return nvswitch_level(f, said);
    return xid_level(&(struct xid_case){ .xid = f->xid,
                                         .fatal = f->fatal,
                                         .recovery = recovery,
                                         .branch = health_branch(in),
                                         .said = said });
}

/* ---- what NVML's silence leaves as it is */

bool health_nvml_speaks(const struct health_input *in)
{
    return is_of_this_boot(in) && in->inventory->health_listed;
}

/* Whether the GPU of the status was taken out of the machine: NVML lists each GPU that the bus has,
 * and that one not. */
static bool is_taken_out(const struct health_input *in)
{
    const struct node_inventory *i = in->inventory;
    unsigned there = i->gpus > i->passed_on ? (unsigned) (i->gpus - i->passed_on) : 0;
    return there && !i->lost && gpu_heard_count(&i->heard) >= there &&
           !gpu_heard_of(&i->heard, in->concluded->address);
}

/* The recovery action is what NVML says about a fault of the log. */
bool health_is_heard(const struct health_input *in)
{
    if (!in->concluded || !is_of_this_boot(in))
        return false;
    const struct nvml_fact *fact = nvml_fact_of(in->concluded->reason);
    unsigned heard = gpu_heard_of(&in->inventory->heard, in->concluded->address);
    return (heard & (fact ? fact->known : HEARD_RECOVERY)) || is_taken_out(in);
}

/* Whether NVML no longer says what it said: about the last boot, or earlier in this one. */
static bool nvml_fell_silent(const struct health_input *in)
{
    return !health_is_heard(in) && (in->nvml_told || !is_of_this_boot(in));
}

static bool is_shown(const struct health_input *in, const struct gpu_fault *f)
{
    char word[HEALTH_WORD_MAX];
    snprintf(word, sizeof word, "%s%u", reason_text(REASON_XID), f->xid);
    return in->concluded && !f->nvswitch && str_eq(in->concluded->reason, word) &&
           str_eq(in->concluded->address, f->address);
}

/* Whether the status shows a fault with the level that NVML's word gave it, and nothing has been
 * said since. */
static bool stands_as_shown(const struct health_input *in, const struct gpu_fault *f)
{
    const struct xid_row *row = xid_find(f->xid);
    enum health_level level;
    return nvml_fell_silent(in) && is_shown(in, f) && row && row->branch &&
           !xid_said(in->xids, f->xid, &level) && recovery_of(in, f) == RECOVERY_UNKNOWN;
}

/* ---- what counts of the log */

/* The level that the status shows; NONE: it shows no fault. */
static enum health_level concluded_level(const struct health_input *in)
{
    return in->concluded ? in->concluded->level : HEALTH_NONE;
}

/* What a fault asks for with a recovery action; NONE if it does not count. */
static enum health_level counted_level(const struct health_input *in, const struct gpu_fault *f,
                                       enum gpu_recovery recovery)
{
    enum health_level level = is_logged_now(in, f) ? level_of(in, f, recovery) : HEALTH_NONE;
    return level <= HEALTH_CLOSE && is_before_driver(in, f) ? HEALTH_NONE : level;
}

/* While the driver is changed, or NVML has fallen silent, the word is gone that a fault needs
 * nothing: it asks for no more than the status shows. */
static enum health_level bounded_level(const struct health_input *in, const struct gpu_fault *f)
{
    enum gpu_recovery recovery = recovery_of(in, f);
    if (is_action_line(f) && recovery == RECOVERY_UNKNOWN)
        recovery = f->recovery;
    enum health_level level = counted_level(in, f, recovery);
    bool bounded = level <= HEALTH_CLOSE && (is_silent_by_change(in) || stands_as_shown(in, f));
    return bounded && level > concluded_level(in) ? concluded_level(in) : level;
}

/* ---- what NVML reports of one GPU */

/* The level of one fact; NONE: it does not hold. */
typedef enum health_level gpu_check_fn(const struct health_input *in, const struct gpu_health *g);

static enum health_level is_lost(const struct health_input *in, const struct gpu_health *g)
{
    return g->lost && !is_silent_by_change(in) ? HEALTH_REBOOT : HEALTH_NONE;
}

static enum health_level remap_failed(const struct health_input *in, const struct gpu_health *g)
{
    (void) in;
    return g->remap_failed ? HEALTH_HUMAN : HEALTH_NONE;
}

static enum health_level sram_exceeded(const struct health_input *in, const struct gpu_health *g)
{
    (void) in;
    return g->sram_exceeded ? HEALTH_HUMAN : HEALTH_NONE;
}

static enum health_level hangs(const struct health_input *in, const struct gpu_health *g)
{
    return g->hangs && !is_silent_by_change(in) ? HEALTH_CLOSE : HEALTH_NONE;
}

static enum health_level fabric_unhealthy(const struct health_input *in, const struct gpu_health *g)
{
    (void) in;
    return g->fabric == FABRIC_UNHEALTHY ? HEALTH_CLOSE : HEALTH_NONE;
}

static enum health_level recovery(const struct health_input *in, const struct gpu_health *g)
{
    (void) in;
    return recovery_level(g->recovery);
}

/* Errors that the driver contained need no repair at once. If it reports recovery actions, it says
 * what they need. */
static enum health_level double_bit_errors(const struct health_input *in,
                                           const struct gpu_health *g)
{
    (void) in;
    if (!g->double_bit_errors)
        return HEALTH_NONE;
    return g->recovery == RECOVERY_UNKNOWN ? HEALTH_RESET_WHEN_IDLE : HEALTH_EVENT;
}

static enum health_level remap_pending(const struct health_input *in, const struct gpu_health *g)
{
    (void) in;
    return g->remap_pending ? HEALTH_RESET_WHEN_IDLE : HEALTH_NONE;
}

static const enum reason recovery_reasons[RECOVERIES] = {
    [RECOVERY_RESET] = REASON_RECOVERY_RESET,
    [RECOVERY_REBOOT] = REASON_RECOVERY_REBOOT,
    [RECOVERY_DRAIN_PEERS] = REASON_RECOVERY_DRAIN_PEERS,
    [RECOVERY_DRAIN_AND_RESET] = REASON_RECOVERY_DRAIN_AND_RESET,
    [RECOVERY_RECOVER_DOMAIN] = REASON_RECOVERY_RECOVER_DOMAIN,
};

/* In order of priority among facts of the same level. */
static const struct {
    enum reason reason; /* NONE: that of the recovery action */
    gpu_check_fn *level;
    bool after_log; /* a fault of the log of the same level says more */
} gpu_checks[] = {
    { REASON_GPU_LOST, is_lost, false },
    { REASON_ROW_REMAP_FAILED, remap_failed, false },
    { REASON_SRAM_ERRORS, sram_exceeded, false },
    { REASON_GPU_HANGS, hangs, true },
    { REASON_NONE, recovery, true },
    { REASON_FABRIC_UNHEALTHY, fabric_unhealthy, true },
    { REASON_DOUBLE_BIT_ERRORS, double_bit_errors, true },
    { REASON_ROW_REMAP_PENDING, remap_pending, true },
};

/* ---- the verdict */

/* Its word in the record and the status. */
static void put_word(const struct health_verdict *v, char word[HEALTH_WORD_MAX])
{
    bool numbered = v->reason == REASON_XID || v->reason == REASON_SXID;
    snprintf(word, HEALTH_WORD_MAX, numbered ? "%s%u" : "%s", reason_text(v->reason),
             numbered ? (unsigned) v->log->xid : 0u);
}

/* Whether this verdict is not asked for. */
static bool is_left_out(const struct health_input *in, const struct health_verdict *v)
{
    char word[HEALTH_WORD_MAX];
    if (!in->only && !in->except[0].name && !in->except[1].name)
        return false;
    put_word(v, word);
    const struct health_seen seen = { .word = word,
                                      .address = str_or_empty(v->address),
                                      .level = v->level,
                                      .first_s = v->log ? v->log->first_s : 0 };
    bool out = in->only &&
               !(str_eq(in->only->reason, word) && str_eq(in->only->address, seen.address));
    for (size_t i = 0; i < ARRAY_LEN(in->except); i++)
        out |= health_left_covers(&in->except[i], &seen);
    return out;
}

/* A verdict on the node, or on one GPU. */
struct weighing {
    const struct health_input *in;
    const char *only; /* address of that GPU; NULL: all count */
    struct health_verdict v;
};

/* Keeps the first of the worst. */
static void weigh(struct weighing *w, struct health_verdict other)
{
    bool counts = (!w->only || str_eq(w->only, other.address)) && !is_left_out(w->in, &other);
    if (counts && other.level > w->v.level)
        w->v = other;
}

static bool bus_shows_it(const struct health_input *in)
{
    return is_of_this_boot(in) && in->inventory->lost;
}

static void judge_bus(struct weighing *w)
{
    const struct health_input *in = w->in;
    if (bus_shows_it(in))
        weigh(w, (struct health_verdict){ .level = HEALTH_REBOOT,
                                          .reason = REASON_GPU_LOST,
                                          .address = in->inventory->lost_address,
                                          .gpu = gpu_at(in, in->inventory->lost_address) });
}

/* No pod works there, whatever else is known of the GPUs. */
static void judge_proof(struct weighing *w)
{
    if (w->in->proof_failed_s)
        weigh(w, (struct health_verdict){
                     .level = HEALTH_CLOSE, .reason = REASON_PROOF_FAILED, .address = "" });
}

static void judge_gpus(struct weighing *w, bool after_log)
{
    const struct health_input *in = w->in;
    size_t n = is_of_this_boot(in) ? in->facts->gpus_len : 0;
    for (size_t k = 0; k < ARRAY_LEN(gpu_checks); k++)
        for (size_t i = 0; i < n && gpu_checks[k].after_log == after_log; i++) {
            const struct gpu_health *g = &in->facts->gpus[i];
            enum reason reason = gpu_checks[k].reason;
            weigh(w, (struct health_verdict){ .level = gpu_checks[k].level(in, g),
                                              .reason = reason ? reason
                                                               : recovery_reasons[g->recovery],
                                              .address = g->address,
                                              .gpu = g });
        }
}

/* A line about the recovery action says nothing of its own where NVML reports the action, unless it
 * is newer and worse. */
static bool is_told_by_nvml(const struct health_input *in, const struct gpu_fault *f)
{
    const struct gpu_health *gpu = gpu_at(in, f->address);
    return is_action_line(f) && gpu && gpu->recovery && recovery_of(in, f) == gpu->recovery;
}

static enum reason reason_of(const struct gpu_fault *f)
{
    if (f->nvswitch)
        return REASON_SXID;
    enum reason recovers = f->xid == XID_RECOVERY_CHANGED ? recovery_reasons[f->recovery]
                                                          : REASON_NONE;
    return recovers ? recovers : REASON_XID;
}

struct health_verdict health_of_fault(const struct health_input *in, const struct gpu_fault *fault)
{
    enum health_level level = is_told_by_nvml(in, fault) ? HEALTH_NONE : bounded_level(in, fault);
    struct health_verdict v = { .level = level,
                                .reason = reason_of(fault),
                                .address = fault->address,
                                .log = fault,
                                .gpu = gpu_at(in, fault->address) };
    return level == HEALTH_NONE || is_left_out(in, &v) ? (struct health_verdict){ 0 } : v;
}

static bool is_earlier(const struct gpu_fault *a, const struct gpu_fault *b)
{
    if (a->first_s != b->first_s)
        return a->first_s < b->first_s;
    int order = strcmp(a->address, b->address);
    return order ? order < 0 : a->xid < b->xid;
}

/* Of equal faults the first one counts: a later one is no news about the node. */
static void judge_log(struct weighing *w)
{
    const struct health_input *in = w->in;
    struct health_verdict worst = { 0 };
    for (size_t i = 0; i < in->facts->faults_len; i++) {
        struct health_verdict one = health_of_fault(in, &in->facts->faults[i]);
        if (w->only && !str_eq(w->only, one.address))
            continue;
        bool ties = one.level && one.level == worst.level;
        if (one.level > worst.level || (ties && is_earlier(one.log, worst.log)))
            worst = one;
    }
    weigh(w, worst);
}

static struct health_verdict weighed(const struct health_input *in, const char *only)
{
    struct weighing w = { .in = in, .only = only };
    judge_bus(&w);
    judge_proof(&w);
    if (in->facts) {
        judge_gpus(&w, false);
        judge_log(&w);
        judge_gpus(&w, true);
    }
    w.v.hard = bus_shows_it(in) || in->proof_failed_s;
    return w.v;
}

struct health_verdict health_judge(const struct health_input *in)
{
    return weighed(in, NULL);
}

struct health_verdict health_of_gpu(const struct health_input *in, const char *address)
{
    return weighed(in, address);
}

const struct health_status *health_kept(const struct health_input *in)
{
    const struct nvml_fact *fact = in->concluded ? nvml_fact_of(in->concluded->reason) : NULL;
    if (!fact)
        return NULL;
    bool stands = fact->lasting ? !health_is_heard(in) : nvml_fell_silent(in);
    return stands ? in->concluded : NULL;
}

enum health_level health_level_of(const struct health_input *in)
{
    const struct health_status *kept = health_kept(in);
    enum health_level level = health_judge(in).level;
    return kept && kept->level > level ? kept->level : level;
}

bool health_blames_driver(const struct health_input *in)
{
    return in->driver_suspected && health_level_of(in) >= HEALTH_CLOSE && !health_judge(in).hard;
}

enum health_level health_counted_as(const struct health_input *in, const struct gpu_fault *fault)
{
    return counted_level(in, fault, is_action_line(fault) ? fault->recovery : RECOVERY_UNKNOWN);
}

static void take_earlier(int64_t *at_s, int64_t other_s, int64_t now_s)
{
    if (other_s > now_s && (!*at_s || other_s < *at_s))
        *at_s = other_s;
}

int64_t health_due_s(const struct health_input *in)
{
    int64_t at_s = 0;
    if (in->quiet.until_s)
        take_earlier(&at_s, (int64_t) in->quiet.until_s + 1, in->now_s);
    for (size_t i = 0; in->facts && i < in->facts->faults_len; i++)
        if (is_action_line(&in->facts->faults[i]) && gpu_at(in, in->facts->faults[i].address))
            take_earlier(&at_s, in->facts->faults[i].last_s + (int64_t) HEALTH_NVML_S, in->now_s);
    return at_s;
}
