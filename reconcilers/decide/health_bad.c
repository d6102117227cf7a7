#include "reconcilers/decide/health_bad.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { XID_OFF_THE_BUS = 79, XID_NVLINK = 74, XID_KEY_ROTATION = 151 };

/* Facts that concern more than one GPU. */
static const enum reason wide_reasons[] = {
    REASON_GPU_LOST,
    REASON_FABRIC_UNHEALTHY,
    REASON_SXID,
    REASON_RECOVERY_DRAIN_PEERS,
    REASON_RECOVERY_RECOVER_DOMAIN,
};
static const unsigned wide_xids[] = { XID_OFF_THE_BUS, XID_NVLINK, XID_KEY_ROTATION };

static bool is_wide(const struct health_verdict *v)
{
    bool wide = !*str_or_empty(v->address);
    for (size_t i = 0; i < ARRAY_LEN(wide_reasons); i++)
        wide |= v->reason == wide_reasons[i];
    for (size_t i = 0; v->log && i < ARRAY_LEN(wide_xids); i++)
        wide |= v->log->xid == wide_xids[i];
    return wide;
}

/* ---- what the device plugin does */

/* Xids for which NVIDIA's device plugin withholds no GPU, unless it is told otherwise. */
static const unsigned harmless_xids[] = { 13, 31, 43, 45, 68, 109 };

/* Whether the plugin may withhold the GPU of a line of this boot. */
static bool may_withhold(const struct health_input *in, const struct gpu_fault *f)
{
    bool withholds = in->boot && f->boot == in->boot && !f->nvswitch;
    for (size_t i = 0; i < ARRAY_LEN(harmless_xids); i++)
        withholds &= f->xid != harmless_xids[i];
    return withholds;
}

/* Whether it may withhold a GPU, and whether it does: of Xid 154 that is not known. */
static bool is_withheld(const struct health_input *in, const char *address, bool surely)
{
    bool withheld = false;
    for (size_t i = 0; i < in->facts->faults_len; i++) {
        const struct gpu_fault *f = &in->facts->faults[i];
        withheld |= str_eq(f->address, address) && may_withhold(in, f) &&
                    (!surely || f->xid != XID_RECOVERY_CHANGED);
    }
    return withheld;
}

/* ---- one GPU */

static void count_gpu(const struct health_input *in, const char *address, struct health_bad *bad)
{
    struct health_verdict v = health_of_gpu(in, address);
    bool is_bad = v.level >= HEALTH_CLOSE;
    bad->gpus += is_bad;
    bad->withholdable += is_bad && is_withheld(in, address, true);
    bad->others += !is_bad && is_withheld(in, address, false);
    bad->whole_node |= is_bad && is_wide(&v);
}

/* Whether a row of the log is the first fact about its GPU. */
static bool is_first(const struct node_health *all, size_t fault)
{
    bool first = true;
    for (size_t i = 0; i < all->gpus_len; i++)
        first &= !str_eq(all->gpus[i].address, all->faults[fault].address);
    for (size_t i = 0; i < fault; i++)
        first &= !str_eq(all->faults[i].address, all->faults[fault].address);
    return first;
}

struct health_bad health_bad_gpus(const struct health_input *in)
{
    /* What is kept of NVML's word does not say how many GPUs it was about. */
    struct health_bad bad = { .whole_node = (in->inventory && in->inventory->lost) ||
                                            in->proof_failed_s || health_kept(in) };
    for (size_t i = 0; in->facts && i < in->facts->gpus_len; i++)
        count_gpu(in, in->facts->gpus[i].address, &bad);
    for (size_t i = 0; in->facts && i < in->facts->faults_len; i++) {
        struct health_verdict v = health_of_fault(in, &in->facts->faults[i]);
        bad.whole_node |= v.level >= HEALTH_CLOSE && is_wide(&v);
        if (is_first(in->facts, i))
            count_gpu(in, in->facts->faults[i].address, &bad);
    }
    return bad;
}
