/* Of which GPUs NVML speaks, and what of them it knows: `status.inventory.health` in one number per
 * GPU. That nothing is wrong counts only where it is known of this GPU. */
#ifndef OSTLER_RECONCILERS_MODEL_GPU_HEARD_H
#define OSTLER_RECONCILERS_MODEL_GPU_HEARD_H

#include <jansson.h>
#include <stdint.h>

/* What is known of a GPU, whatever it is. */
enum {
    HEARD_ANSWERS = 1 << 0,       /* it is neither lost nor hangs */
    HEARD_RECOVERY = 1 << 1,      /* its recovery action */
    HEARD_NEEDS_NOTHING = 1 << 2, /* that action is None */
    HEARD_FABRIC = 1 << 3,
    HEARD_REMAP = 1 << 4,   /* whether a row remap failed */
    HEARD_SRAM = 1 << 5,    /* whether its on-chip memory has too many errors */
    HEARD_SILENT = 1 << 6,  /* it is lost or hangs */
    HEARD_PENDING = 1 << 7, /* whether a row remap waits for a reset */
    HEARD_ECC = 1 << 8,     /* its uncorrectable memory errors */
    HEARD_FACTS = 9
};

/* More GPUs than an agent lists. */
enum { HEARD_GPUS_MAX = 16 };

/* Zeros: NVML speaks of no GPU. A list longer than an agent's counts as absent. */
struct gpu_heard {
    uint32_t gpus[HEARD_GPUS_MAX]; /* the facts; above them, part of the address's hash */
};

void gpu_heard_read(const json_t *health, struct gpu_heard *ret);
/* What is known of a GPU; 0: NVML does not list it. */
unsigned gpu_heard_of(const struct gpu_heard *h, const char *address);
/* The number of GPUs that NVML lists. */
unsigned gpu_heard_count(const struct gpu_heard *h);

#endif
