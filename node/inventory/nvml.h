/* What NVML says of cards, as `ostler-node cards` has left it in a file: the agent itself asks no library and opens no device. It
 * is the word of another process about a driver's library, so nothing in it is trusted beyond its form, and it only adds to cards
 * that the kernel knows.
 *
 *     BOOT LAYOUT                   what it was asked of; another one now, and nothing in it counts
 *     card UUID MEMORY              in MiB
 *     mig UUID PROFILE MIG-UUID     a MIG device of that card
 *     end */
#ifndef OSTLER_NODE_INVENTORY_NVML_H
#define OSTLER_NODE_INVENTORY_NVML_H

#include "node/inventory/pci.h"
#include "node/inventory/text.h"

#define NVML_FILE "run/nvidia/ostler/cards"

enum { NVML_TEXT_MAX = 64 * 1024, NVML_UUID_MAX = 63, NVML_PROFILE_MAX = 31 };

/* A line of it. */
struct nvml_line {
    struct part uuid;     /* of the card */
    int64_t memory_mib;   /* 0: the line is about a MIG device: */
    struct part profile;  /* "1g.10gb" */
    struct part mig_uuid;
};

/* Adds memory and MIG devices to the GPUs that it names, when it is of this start of the machine, and of the driver and the
 * instances that are there now. */
void nvml_look(const struct view *v, const char *boot_id, struct pci_devices *gpus);
/* The driver, its cards and their MIG instances, as procfs has them, in a number; 0: there is no driver. */
uint64_t nvml_layout(const struct view *v);
/* Whether all of it is there. */
bool nvml_is_whole(struct part text);
/* The next line that is one; false at the end. */
bool nvml_next(struct part *text, struct nvml_line *ret);

#endif
