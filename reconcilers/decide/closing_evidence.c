#include "reconcilers/decide/closing_evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/decide/nvml_fact.h"
#include "reconcilers/model/gpu_heard.h"

/* Whether Ostler has reset the GPUs or rebooted the node since it was closed, and that has not
 * failed. If the agent has been silent since a boot, nothing has shown the node since. */
static bool was_tried(const struct closing_input *in)
{
    return !in->failed && in->reported &&
           fault_record_tried(&in->record, in->record.since_s) != REPAIR_KINDS;
}

static bool has_newer_driver(const struct closing_input *in)
{
    return (int64_t) in->health->driver_s > in->record.since_s;
}

/* The number of the record's fault; 0: it is no Xid. */
static unsigned xid_of(const struct fault_record *r)
{
    const char *prefix = reason_text(REASON_XID);
    int64_t xid = 0;
    bool is_xid = str_has_prefix(r->reason, prefix) &&
                  str_parse_int(r->reason + strlen(prefix), 0, UINT16_MAX, &xid);
    return is_xid ? (unsigned) xid : 0;
}

/* Whether the policy says now that the fault asks for less. */
static bool is_milder_by_policy(const struct closing_input *in)
{
    unsigned xid = xid_of(&in->record);
    enum health_level level;
    return xid && xid_said(in->health->xids, xid, &level) && level < HEALTH_CLOSE;
}

/* ---- what NVML says */

/* For an Xid: that nothing needs to be done, by a driver that reports its action for this Xid. */
static unsigned needed_for_xid(const struct health_input *h, unsigned xid)
{
    enum health_level level;
    bool told = xid_action_decides(xid, health_branch(h)) && !xid_said(h->xids, xid, &level);
    return told ? HEARD_NEEDS_NOTHING : 0;
}

/* 0: nothing that NVML says ends this fault. */
static unsigned needed(const struct closing_input *in)
{
    unsigned xid = xid_of(&in->record);
    const struct nvml_fact *fact = nvml_fact_of(in->record.reason);
    if (xid)
        return needed_for_xid(in->health, xid);
    return fact ? fact->well : 0;
}

static bool is_well_by_nvml(const struct closing_input *in)
{
    const struct node_inventory *i = in->health->inventory;
    bool now = i && in->health->boot && i->boot == in->health->boot;
    return now && (gpu_heard_of(&i->heard, in->record.address) & needed(in)) != 0;
}

/* ---- a boot */

/* How long NVML's first report of a boot is waited for, after the agent's. */
enum { NVML_WAIT_S = 600 };

static bool has_booted(const struct closing_input *in)
{
    return node_has_booted(in->boot, in->record.boot) && in->reported;
}

/* What NVML said before the boot is not over because NVML has not spoken yet. */
static int64_t nvml_due_s(const struct closing_input *in)
{
    const struct node_inventory *i = in->health ? in->health->inventory : NULL;
    bool waits = i && i->boot == in->boot && !health_nvml_speaks(in->health) && i->said_s &&
                 nvml_fact_of(in->record.reason);
    return waits ? (int64_t) i->said_s + NVML_WAIT_S : 0;
}

int64_t closing_evidence_due_s(const struct closing_input *in)
{
    int64_t due_s = has_booted(in) ? nvml_due_s(in) : 0;
    return due_s > in->now_s && !clock_is_ahead(due_s - NVML_WAIT_S, in->now_s) ? due_s : 0;
}

bool closing_has_ended(const struct closing_input *in)
{
    if ((has_booted(in) && !closing_evidence_due_s(in)) || was_tried(in))
        return true;
    return in->health && (is_well_by_nvml(in) || has_newer_driver(in) || is_milder_by_policy(in));
}
