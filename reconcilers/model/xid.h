/* NVIDIA's numbered GPU faults (Xid), and what each asks of Ostler. The rows are in xids.inc, from
 * which scripts/describe-health writes the table of docs/health.md. */
#ifndef OSTLER_RECONCILERS_MODEL_XID_H
#define OSTLER_RECONCILERS_MODEL_XID_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/gpu_recovery.h"

/* What a fault asks for, the mildest first. */
enum health_level {
    HEALTH_NONE,            /* nothing: it is counted */
    HEALTH_EVENT,           /* attention: an Event */
    HEALTH_RESET_WHEN_IDLE, /* the next reset repairs it; the GPU works until then */
    HEALTH_CLOSE,           /* no new pods; a reset when the jobs have ended */
    HEALTH_REBOOT,          /* no new pods; a reboot when the jobs have ended */
    HEALTH_HUMAN,           /* no new pods; only a person can repair it */
    HEALTH_LEVELS
};

/* An Xid of NVIDIA's catalogue. */
struct xid_row {
    uint16_t xid;
    uint8_t level; /* enum health_level, if nothing else decides */
    /* First driver branch (such as 565) that reports its recovery action for this fault through Xid
     * 154; 0: none does. */
    uint16_t branch;
    const char *name;   /* "GPU has fallen off the bus" */
    const char *advice; /* NVIDIA's immediate action, by its catalogue: "reset the GPU" */
    const char *why;    /* why Ostler does something else; NULL: it does not */
};

/* The row of a number; NULL: the catalogue does not list it, as with the SXids of an NVSwitch. */
const struct xid_row *xid_find(unsigned xid);

/* One fault, with all that decides about it. */
struct xid_case {
    unsigned xid;
    bool fatal; /* NVLink 5 (144 to 149): the log calls it fatal */
    /* Of its GPU, by NVML; for Xid 154 without that, the one that its line has. */
    enum gpu_recovery recovery;
    unsigned branch;               /* of the loaded driver: 580; 0: not known */
    const enum health_level *said; /* what the policy says about the number; NULL: nothing */
};

/* What the fault asks for. The policy's word comes first: it says what the log counts for, not what
 * the hardware does (recovery_level() and the health that NVML reports). Then the driver's recovery
 * action, if the driver reports it for this fault; then the row. */
enum health_level xid_level(const struct xid_case *c);
/* What a policy says about a number, by its spec.health.xids; false: nothing. NULL is allowed. */
bool xid_said(const json_t *xids, unsigned xid, enum health_level *ret);
/* Whether a driver of this branch says by its recovery action what the fault needs, "None" too. */
bool xid_action_decides(unsigned xid, unsigned branch);
/* What a recovery action asks for by itself, without a fault. */
enum health_level recovery_level(enum gpu_recovery recovery);
/* "Close", …. Static text. */
const char *health_level_name(enum health_level level);
/* False: no level has this name. */
bool health_level_parse(const char *name, enum health_level *ret);

#endif
