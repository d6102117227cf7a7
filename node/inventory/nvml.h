/* Reads what NVML reports of GPUs, from a file that `ostler-node cards` writes: the agent itself
 * loads no library and opens no device. Its contents come from a driver's library, so only their
 * form is trusted, and they only add to GPUs that the kernel lists.
 *
 *     BOOT LAYOUT                   the described state; the file counts in no other
 *     card UUID MEMORY              in MiB
 *     mig UUID PROFILE MIG-UUID     a MIG device of that GPU
 *     end */
#ifndef OSTLER_NODE_INVENTORY_NVML_H
#define OSTLER_NODE_INVENTORY_NVML_H

#include "node/inventory/pci.h"
#include "node/inventory/text.h"

#define NVML_FILE "run/nvidia/ostler/cards"

enum { NVML_TEXT_MAX = 64 * 1024, NVML_UUID_MAX = 63, NVML_PROFILE_MAX = 31 };

/* One line of the file. */
struct nvml_line {
    struct part uuid;    /* of the GPU */
    int64_t memory_mib;  /* 0: the line describes a MIG device: */
    struct part profile; /* "1g.10gb" */
    struct part mig_uuid;
};

/* Adds memory and MIG devices to the GPUs, if the file is of this boot and of the current driver
 * and instances. */
void nvml_look(struct view *v, const char *boot_id, struct pci_devices *gpus);
/* A hash of the driver, its GPUs and their MIG instances in procfs; 0: there is no driver. */
uint64_t nvml_layout(struct view *v);
/* Whether the text is complete. */
bool nvml_is_whole(struct part text);
/* The next valid line; false at the end. */
bool nvml_next(struct part *text, struct nvml_line *ret);

#endif
