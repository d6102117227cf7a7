#include "reconcilers/model/xid.h"

#include <stddef.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

enum { XID_NVLINK5_FIRST = 144, XID_NVLINK5_LAST = 149 };

static const struct xid_row rows[] = {
#define XID(number, level, branch, name, advice, why)                                              \
    { number, HEALTH_##level, branch, name, advice, why },
#include "reconcilers/model/xids.inc"
#undef XID
};

static const char *const level_names[HEALTH_LEVELS] = {
    [HEALTH_NONE] = "None",
    [HEALTH_EVENT] = "Event",
    [HEALTH_RESET_WHEN_IDLE] = "ResetWhenIdle",
    [HEALTH_CLOSE] = "Close",
    [HEALTH_REBOOT] = "Reboot",
    [HEALTH_HUMAN] = "Human",
};

static const enum health_level levels_of_recoveries[RECOVERIES] = {
    /* What the driver does not know asks for nothing. */
    [RECOVERY_UNKNOWN] = HEALTH_NONE,
    [RECOVERY_NONE] = HEALTH_NONE,
    [RECOVERY_RESET] = HEALTH_CLOSE,
    [RECOVERY_REBOOT] = HEALTH_REBOOT,
    /* Programs that use peer-to-peer access must end, and no new ones begin. The driver is asked
     * again when the GPU is empty. */
    [RECOVERY_DRAIN_PEERS] = HEALTH_CLOSE,
    /* The driver lets the programs end first: the GPU works until then. To close the node would
     * cost the other GPUs' capacity and save no job. */
    [RECOVERY_DRAIN_AND_RESET] = HEALTH_RESET_WHEN_IDLE,
    /* The NVLink domain has other nodes: a repair of this one recovers nothing. */
    [RECOVERY_RECOVER_DOMAIN] = HEALTH_HUMAN,
};

const struct xid_row *xid_find(unsigned xid)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].xid == xid)
            return &rows[i];
    return NULL;
}

enum health_level recovery_level(enum gpu_recovery recovery)
{
    return levels_of_recoveries[recovery];
}

/* The level of a row in the log alone. NVLink 5 reports link events that it has dealt with under
 * the numbers of faults. */
static enum health_level logged_level(const struct xid_row *row, const struct xid_case *c)
{
    bool handled = row->xid >= XID_NVLINK5_FIRST && row->xid <= XID_NVLINK5_LAST && !c->fatal;
    return handled && row->level > HEALTH_EVENT ? HEALTH_EVENT : (enum health_level) row->level;
}

/* Whether the driver's recovery action decides instead of the log. Not if the driver reports none
 * for this fault, or if it is too old to, or of unknown age: then "None" says nothing about it. Nor
 * for a fault that asks for a reboot or a person: a GPU that is off the bus cannot report, and no
 * action of the driver connects a cable. Nor for one that asks for nothing: the action has another
 * reason, and counts by itself. */
static bool action_decides(const struct xid_row *row, enum health_level logged, unsigned branch)
{
    return row->branch && branch >= row->branch && logged > HEALTH_NONE && logged < HEALTH_REBOOT;
}

bool xid_action_decides(unsigned xid, unsigned branch)
{
    const struct xid_row *row = xid_find(xid);
    return row && action_decides(row, (enum health_level) row->level, branch);
}

enum health_level xid_level(const struct xid_case *c)
{
    const struct xid_row *row = xid_find(c->xid);
    if (c->said)
        return *c->said;
    if (!row)
        return HEALTH_EVENT;
    if (row->xid == XID_RECOVERY_CHANGED && c->recovery != RECOVERY_UNKNOWN)
        return recovery_level(c->recovery);
    enum health_level logged = logged_level(row, c);
    if (c->recovery == RECOVERY_UNKNOWN || !action_decides(row, logged, c->branch))
        return logged;
    /* A fault that needs no repair did happen. */
    return c->recovery == RECOVERY_NONE ? HEALTH_EVENT : recovery_level(c->recovery);
}

bool xid_said(const json_t *xids, unsigned xid, enum health_level *ret)
{
    char key[sizeof "4294967295"];
    snprintf(key, sizeof key, "%u", xid);
    return health_level_parse(json_key(xids, key), ret);
}

const char *health_level_name(enum health_level level)
{
    return level_names[level];
}

bool health_level_parse(const char *name, enum health_level *ret)
{
    for (int i = 0; i < HEALTH_LEVELS; i++)
        if (str_eq(level_names[i], name)) {
            *ret = (enum health_level) i;
            return true;
        }
    return false;
}
