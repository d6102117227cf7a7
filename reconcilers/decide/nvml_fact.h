/* What NVML reports of one GPU that is a fault, by the reason of the fault: what must be known of
 * the GPU before NVML's word counts. Silence about the GPU, or about the fact, says nothing. */
#ifndef OSTLER_RECONCILERS_DECIDE_NVML_FACT_H
#define OSTLER_RECONCILERS_DECIDE_NVML_FACT_H

#include <stdbool.h>

#include "reconcilers/model/reason.h"

/* Bits of model/gpu_heard.h. */
struct nvml_fact {
    enum reason reason;
    unsigned known; /* one of these shows that NVML says whether the fact holds */
    unsigned well;  /* if nothing is reported that closes the node: this shows that it has ended */
    bool lasting;   /* no boot and no driver repairs it */
};

/* The fact of a reason as the status and the record have it; NULL: it is none of NVML's. */
const struct nvml_fact *nvml_fact_of(const char *word);

#endif
