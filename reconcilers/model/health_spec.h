/* The policy's spec.health in the types that decisions use. health.xids stays JSON (xid.h). */
#ifndef OSTLER_RECONCILERS_MODEL_HEALTH_SPEC_H
#define OSTLER_RECONCILERS_MODEL_HEALTH_SPEC_H

#include "reconcilers/model/rollout_spec.h"

/* What Ostler does about a fault; each mode does what the ones before it do. */
enum health_mode {
    HEALTH_MODE_OBSERVE, /* reports it */
    HEALTH_MODE_CLOSE,   /* keeps new pods off the node */
    HEALTH_MODE_REPAIR,  /* resets the GPUs or reboots the node when the jobs have ended */
};

/* How a repair may reboot a node. */
enum health_reboot {
    HEALTH_REBOOT_NONE,     /* not at all */
    HEALTH_REBOOT_POD,      /* a pod asks the host's init */
    HEALTH_REBOOT_SENTINEL, /* it writes the file that kured watches */
};

/* Stops closing nodes when many become unhealthy at a time. */
struct brake_spec {
    int64_t window_s;               /* in which newly unhealthy nodes are counted */
    struct rollout_count max_nodes; /* of them, of all GPU nodes */
    int64_t floor;                  /* the least of that number */
    int64_t cooldown_s;             /* without a newly unhealthy node, until it is released */
};

struct health_spec {
    enum health_mode mode;
    int64_t wait_for_jobs_s; /* of a repair, from its claim; -1: until they end */
    enum health_reboot reboot;
    struct brake_spec brake;
    int64_t resets, reboots; /* most attempts within `attempts_per_s` */
    int64_t attempts_per_s;
    bool repairs; /* the administrator allows them: without that also none that a user asks for */
};

/* Decodes a valid effective spec (struct policy.spec). `repairs`: struct policy_limits.repairs. */
void health_spec_decode(const json_t *spec, bool repairs, struct health_spec *ret);

#endif
