/* The part of an agent's inventory that is about the health of GPUs: `status.inventory.health` and
 * `faults` of a GpuNode. Any client with the permission may have written it: a value that no agent
 * writes counts as absent, and a row without an address or a number is left out. */
#ifndef OSTLER_RECONCILERS_MODEL_NODE_HEALTH_H
#define OSTLER_RECONCILERS_MODEL_NODE_HEALTH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "reconcilers/model/xid.h"

/* More than an agent writes, as the CRD allows; longest PCI address with its NUL; longest serial
 * number and UUID with their NUL. */
enum { HEALTH_GPUS_MAX = 16, HEALTH_FAULTS_MAX = 32, HEALTH_ADDRESS_MAX = 17 };
enum { SERIAL_MAX = 32, UUID_MAX = 48 };

enum gpu_fabric { FABRIC_UNKNOWN, FABRIC_HEALTHY, FABRIC_LIMITED, FABRIC_UNHEALTHY };

/* What NVML reports of one GPU. */
struct gpu_health {
    char address[HEALTH_ADDRESS_MAX];
    char serial[SERIAL_MAX]; /* "": not known */
    char uuid[UUID_MAX];     /* the same */
    uint8_t recovery;        /* enum gpu_recovery */
    uint8_t fabric;          /* enum gpu_fabric */
    bool remap_pending, remap_failed, sram_exceeded, lost, hangs;
    uint32_t double_bit_errors;
};

/* A fault of the kernel log. */
struct gpu_fault {
    char address[HEALTH_ADDRESS_MAX];
    uint16_t xid;
    bool nvswitch, fatal;
    uint8_t recovery;         /* enum gpu_recovery; for Xid 154 */
    uint32_t count;           /* in its boot; at least 1 */
    uint32_t first_s, last_s; /* epoch seconds; 0: not known */
    uint64_t boot;            /* str_hash_id() of its boot id; 0: not known */
};

/* One allocation, which free() frees. */
struct node_health {
    struct gpu_fault *faults; /* the newest last */
    struct gpu_health *gpus;  /* only those of which something is wrong, or that have a fault */
    uint8_t faults_len, gpus_len;
};

/* NULL: nothing is wrong, or nothing is known. A list longer than an agent's counts as absent.
 * Owned by the caller; as small as its contents. */
struct node_health *node_health_read(const json_t *inventory);
/* Whether both are equal; NULL: nothing is wrong. */
bool node_health_same(const struct node_health *a, const struct node_health *b);

#endif
