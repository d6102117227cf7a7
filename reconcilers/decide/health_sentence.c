#include "reconcilers/decide/health_sentence.h"

#include <string.h>

#include "base/clock.h"
#include "base/str.h"

enum { US = 1000000 };
/* Most Xids that the sentence for the vendor names. */
enum { XIDS_NAMED = 6 };

const char *health_word(const struct health_verdict *v, struct arena *a)
{
    bool numbered = v->reason == REASON_XID || v->reason == REASON_SXID;
    return numbered ? arena_printf(a, "%s%u", reason_text(v->reason), v->log->xid)
                    : reason_text(v->reason);
}

/* ---- who */

static const char *serial_of(const struct health_verdict *v)
{
    return v->gpu && *v->gpu->serial ? v->gpu->serial : NULL;
}

static const char *who(const struct health_verdict *v, const char *serial, struct arena *a)
{
    const char *device = v->reason == REASON_SXID ? "NVSwitch" : "GPU";
    if (!*str_or_empty(v->address))
        return "A GPU";
    return serial ? arena_printf(a, "%s %s (serial number %s)", device, v->address, serial)
                  : arena_printf(a, "%s %s", device, v->address);
}

/* ---- what happened */

static const char *at_text(uint32_t at_s, struct arena *a)
{
    char text[CLOCK_TEXT_MAX];
    clock_rfc3339((int64_t) at_s * US, text);
    return at_s ? arena_strdup(a, text) : "an unknown time";
}

static const char *times_text(const struct gpu_fault *f, struct arena *a)
{
    return f->count == 1 ? arena_printf(a, "once, at %s", at_text(f->last_s, a))
                         : arena_printf(a, "%u times, first at %s, last at %s", f->count,
                                        at_text(f->first_s, a), at_text(f->last_s, a));
}

/* "Xid 79 (GPU has fallen off the bus)" */
static const char *fault_name(const struct gpu_fault *f, struct arena *a)
{
    const struct xid_row *row = f->nvswitch ? NULL : xid_find(f->xid);
    if (row)
        return arena_printf(a, "Xid %u (%s)", f->xid, row->name);
    return arena_printf(a, "%s %u%s", f->nvswitch ? "SXid" : "Xid", f->xid,
                        f->nvswitch ? "" : " (not in NVIDIA's catalogue)");
}

/* The fault in the log of this boot that came last for the GPU of another fact. */
static const struct gpu_fault *last_of_gpu(const struct health_input *in,
                                           const struct health_verdict *v)
{
    for (size_t i = in->facts ? in->facts->faults_len : 0; i-- > 0;) {
        const struct gpu_fault *f = &in->facts->faults[i];
        if (str_eq(f->address, v->address) && health_of_fault(in, f).level)
            return f;
    }
    return NULL;
}

static const char *lost_text(const struct health_input *in, const struct health_verdict *v,
                             struct arena *a)
{
    unsigned lost = v->hard && in->inventory->lost ? in->inventory->lost : 1;
    return lost > 1
               ? arena_printf(a, "it and %u other%s of the node's GPUs have fallen off the bus",
                              lost - 1, lost == 2 ? "" : "s")
               : "it has fallen off the bus";
}

static const char *double_bit_text(const struct health_input *in, const struct health_verdict *v,
                                   struct arena *a)
{
    (void) in;
    unsigned n = v->gpu->double_bit_errors;
    return arena_printf(a, "%u uncorrectable memory error%s (ECC) since its driver was loaded", n,
                        n == 1 ? "" : "s");
}

/* What a reason says about the GPU. */
static const struct {
    enum reason reason;
    const char *text;
    const char *(*of)(const struct health_input *in, const struct health_verdict *v,
                      struct arena *a); /* instead of the text */
} facts[] = {
    { REASON_GPU_LOST, NULL, lost_text },
    { REASON_PROOF_FAILED,
      "pods of several owners failed on the node at once, and a CUDA program that Ostler ran there "
      "failed too",
      NULL },
    { REASON_ROW_REMAP_FAILED, "a row of its memory could not be replaced by a spare one", NULL },
    { REASON_SRAM_ERRORS,
      "uncorrectable errors of its on-chip memory exceed NVIDIA's threshold for a replacement",
      NULL },
    { REASON_GPU_HANGS, "NVML did not answer about it in time", NULL },
    { REASON_FABRIC_UNHEALTHY, "its NVLink fabric is unhealthy", NULL },
    { REASON_RECOVERY_RESET, "the driver says that it must be reset", NULL },
    { REASON_RECOVERY_REBOOT, "the driver says that the node must be rebooted", NULL },
    { REASON_RECOVERY_DRAIN_PEERS,
      "the driver says that all programs with peer-to-peer access to it must end", NULL },
    { REASON_RECOVERY_DRAIN_AND_RESET,
      "the driver says that it must be reset when its programs have ended", NULL },
    { REASON_RECOVERY_RECOVER_DOMAIN,
      "the driver says that its NVLink (IMEX) domain must be recovered", NULL },
    { REASON_DOUBLE_BIT_ERRORS, NULL, double_bit_text },
    { REASON_ROW_REMAP_PENDING, "the next reset replaces a row of its memory by a spare one",
      NULL },
};

static const char *fact_text(const struct health_input *in, const struct health_verdict *v,
                             struct arena *a)
{
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        if (facts[i].reason == v->reason)
            return facts[i].of ? facts[i].of(in, v, a) : facts[i].text;
    return arena_printf(a, "%s came %s", fault_name(v->log, a), times_text(v->log, a));
}

/* What NVIDIA says of a fault of the log; the log's last fault for another fact. */
static const char *also_text(const struct health_input *in, const struct health_verdict *v,
                             struct arena *a)
{
    const struct xid_row *row = v->reason == REASON_XID ? xid_find(v->log->xid) : NULL;
    const struct gpu_fault *f = v->log ? NULL : last_of_gpu(in, v);
    if (row)
        return arena_printf(a, "; NVIDIA's advice: %s", row->advice);
    return f ? arena_printf(a, "; the kernel log has %s", fault_name(f, a)) : "";
}

/* The first sentence of a message. */
static const char *fact_sentence(const struct health_input *in, const struct health_verdict *v,
                                 struct arena *a)
{
    return arena_printf(a, "%s: %s%s.", who(v, serial_of(v), a), fact_text(in, v, a),
                        also_text(in, v, a));
}

/* The same where the last sentence has the serial number and the Xids, and needs the room. */
static const char *short_fact_sentence(const struct health_input *in,
                                       const struct health_verdict *v, struct arena *a)
{
    return arena_printf(a, "%s: %s.", who(v, NULL, a), fact_text(in, v, a));
}

/* ---- what to do */

static const char *const todos[HEALTH_LEVELS] = {
    [HEALTH_NONE] = "",
    [HEALTH_EVENT] = "Nothing has to be done at once; if it comes again and again, have the GPU "
                     "checked.",
    [HEALTH_RESET_WHEN_IDLE] = "It works until its next reset, which repairs it: when the node's "
                               "jobs have ended, reset it or reboot the node.",
    [HEALTH_CLOSE] = "Give the node no new jobs, and when its jobs have ended, reset the GPU or "
                     "reboot the node.",
    [HEALTH_REBOOT] = "Drain the node and power it off and on; if that does not help, the GPU or "
                      "its slot is broken.",
    [HEALTH_HUMAN] = "Ostler cannot repair it: drain the node, and have its vendor check or "
                     "replace the GPU.",
};

/* Reasons for which the level's sentence says the wrong thing. */
static const struct {
    enum reason reason;
    const char *todo;
} own_todos[] = {
    { REASON_SXID,
      "See `dmesg` of the node and the log of Fabric Manager; if it comes again, reboot "
      "the node." },
    { REASON_PROOF_FAILED,
      "Ostler runs the program again; if it keeps failing, reset the GPUs or reboot the node." },
    { REASON_RECOVERY_REBOOT, "Drain the node and reboot it." },
    { REASON_RECOVERY_DRAIN_PEERS, "End the jobs of the node; if the reason stays, reset its GPUs "
                                   "or reboot it." },
    { REASON_RECOVERY_RECOVER_DOMAIN, "Other nodes belong to that domain: restart IMEX on all of "
                                      "them." },
};

/* What a person does on a node that gets no new pods already. */
static const char closed_todo[] = "When the node's jobs have ended, reset the GPU or reboot the "
                                  "node.";

/* NULL: that of the level. */
static const char *own_todo_of(enum reason reason)
{
    for (size_t i = 0; i < ARRAY_LEN(own_todos); i++)
        if (own_todos[i].reason == reason)
            return own_todos[i].todo;
    return NULL;
}

static const char *todo_of(enum reason reason, enum health_level level, bool closed)
{
    const char *own = own_todo_of(reason);
    if (own)
        return own;
    return closed && level <= HEALTH_CLOSE ? closed_todo : todos[level];
}

/* How a fault of the log ends about which the driver says nothing: no source tells of a reset. */
static const char *end_of(const struct health_input *in, const struct health_verdict *v)
{
    bool told = v->gpu && v->gpu->recovery;
    const struct xid_row *row = v->reason == REASON_XID ? xid_find(v->log->xid) : NULL;
    if (!row || v->level != HEALTH_CLOSE || (told && row->branch))
        return "";
    return in->driver_s
               ? " After a reset, delete the node's driver pod: until then or a reboot, the "
                 "fault stays listed."
               : " After a reset, the fault stays listed until the node reboots.";
}

static const char *blame_of(const struct health_input *in, const struct health_verdict *v)
{
    return health_blames_driver(in) && v->level >= HEALTH_CLOSE
               ? " Ostler suspects the driver: other nodes of the pool have such faults since they "
                 "got it, and none with the earlier one."
               : "";
}

static const char *bounded(const char *text, struct arena *a)
{
    CLEANUP_FREE char *cut = str_shortened(text, HEALTH_MESSAGE_MAX);
    return arena_strdup(a, cut);
}

const char *health_sentence(const struct health_input *in, const struct health_verdict *v,
                            struct arena *a)
{
    if (v->level == HEALTH_NONE)
        return "";
    return bounded(arena_printf(a, "%s %s%s%s", fact_sentence(in, v, a),
                                todo_of(v->reason, v->level, false), end_of(in, v),
                                blame_of(in, v)),
                   a);
}

/* ---- with what Ostler does */

#define VENDOR "Drain the node, and have its vendor check or replace the GPU"

static bool is_closed(const struct health_ending *ending)
{
    return ending->state == HEALTH_IS_CLOSED || ending->state == HEALTH_IS_WITHHELD;
}

/* Whether the GPU itself has to be looked at: what a person repairs may be elsewhere. */
static bool needs_vendor(const struct health_ending *ending, enum reason reason,
                         enum health_level level)
{
    return ending->state == HEALTH_IS_HUMAN && !(level == HEALTH_HUMAN && own_todo_of(reason));
}

/* "Xids 48, 64" of a GPU in this boot, the newest last; NULL: none. */
static const char *xids_of(const struct health_input *in, const char *address, struct arena *a)
{
    const char *list = NULL;
    unsigned n = 0;
    for (size_t i = in->facts ? in->facts->faults_len : 0; i-- > 0 && n < XIDS_NAMED;) {
        const struct gpu_fault *f = &in->facts->faults[i];
        if (f->nvswitch || f->boot != in->boot || !str_eq(f->address, address))
            continue;
        list = list ? arena_printf(a, "%u, %s", f->xid, list) : arena_printf(a, "%u", f->xid);
        n++;
    }
    return list ? arena_printf(a, "Xid%s %s", n == 1 ? "" : "s", list) : NULL;
}

static const char *remap_text(const struct gpu_health *g)
{
    return g->remap_failed ? "row remap failed" : g->remap_pending ? "row remap pending" : NULL;
}

/* What a support ticket needs to know of the GPU. */
static const char *vendor_text(const struct health_input *in, const struct health_verdict *v,
                               struct arena *a)
{
    const struct gpu_health *g = v->gpu;
    const char *serial = serial_of(v);
    const char *parts[] = {
        serial ? arena_printf(a, "serial number %s", serial) : NULL,
        g && *g->uuid ? arena_printf(a, "UUID %s", g->uuid) : NULL,
        xids_of(in, v->address, a),
        g ? remap_text(g) : NULL,
    };
    const char *text = "";
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (parts[i])
            text = arena_printf(a, "%s%s%s", text, *text ? ", " : ": ", parts[i]);
    return arena_printf(a, VENDOR "%s.", text);
}

const char *health_message(const struct health_input *in, const struct health_verdict *v,
                           const struct health_ending *ending, struct arena *a)
{
    if (needs_vendor(ending, v->reason, v->level))
        return bounded(arena_printf(a, "%s%s %s", short_fact_sentence(in, v, a), ending->does,
                                    vendor_text(in, v, a)),
                       a);
    const char *fact = fact_sentence(in, v, a);
    if (!ending->person)
        return bounded(arena_printf(a, "%s%s%s", fact, ending->does, blame_of(in, v)), a);
    return bounded(arena_printf(a, "%s%s %s%s%s", fact, ending->does,
                                todo_of(v->reason, v->level, is_closed(ending)), end_of(in, v),
                                blame_of(in, v)),
                   a);
}

const char *health_message_kept(const struct health_status *kept,
                                const struct health_ending *ending, struct arena *a)
{
    const char *todo = "", *point = strstr(kept->message, ". ");
    size_t len = point ? (size_t) (point - kept->message) : strlen(kept->message);
    len -= len && kept->message[len - 1] == '.';
    if (needs_vendor(ending, reason_parse(kept->reason), kept->level))
        todo = VENDOR ".";
    else if (ending->person)
        todo = todo_of(reason_parse(kept->reason), kept->level, is_closed(ending));
    return bounded(arena_printf(a, "%.*s.%s%s%s", (int) len, kept->message, ending->does,
                                *todo ? " " : "", todo),
                   a);
}
