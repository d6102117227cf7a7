/* How many GPUs of a node are bad, and whether the others work. */
#ifndef OSTLER_RECONCILERS_DECIDE_HEALTH_BAD_H
#define OSTLER_RECONCILERS_DECIDE_HEALTH_BAD_H

#include "reconcilers/decide/health.h"

struct health_bad {
    unsigned gpus; /* with a fault that asks for CLOSE or more */
    /* Of `gpus`, those of which the log has an Xid for which the device plugin withholds a GPU. It
     * withholds none for what NVML says alone. */
    unsigned withholdable;
    /* Of the other GPUs, those that the plugin may withhold for an Xid that asks for less. */
    unsigned others;
    /* A fault reaches further than its GPU: the GPU has fallen off the bus, which also breaks the
     * allocation of the others, or it is one of the NVLink fabric, of an NVSwitch, or of no GPU. */
    bool whole_node;
};

struct health_bad health_bad_gpus(const struct health_input *in);

#endif
