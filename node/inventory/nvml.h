/* Reads what NVML reports of GPUs, from a file that `ostler-node cards` writes: the agent itself
 * loads no library and opens no device. Its contents come from a driver's library, so only their
 * form is trusted, and they only add to GPUs that the kernel lists.
 *
 *     BOOT LAYOUT                   the described state; the file counts in no other
 *     card UUID MEMORY              in MiB
 *     mig UUID PROFILE MIG-UUID     a MIG device of that GPU
 *     health ADDRESS KEY=VALUE …    its health, by PCI address; the table in
 *                                   card_health.c has keys and values
 *     end
 *
 * Lines of one kind come in the order of the GPUs. In the output of ostler-nvml, which has no first
 * line, "asks ADDRESS" comes before what is about that GPU, and its health last.
 *
 * `ostler-node cards` sets the time of the file each minute. The health in an older file does not
 * count: `ostler-node cards` no longer asks. */
#ifndef OSTLER_NODE_INVENTORY_NVML_H
#define OSTLER_NODE_INVENTORY_NVML_H

#include "node/inventory/card_health.h"
#include "node/inventory/pci.h"
#include "node/inventory/text.h"

#define NVML_FILE "run/nvidia/ostler/cards"

enum { NVML_TEXT_MAX = 64 * 1024, NVML_UUID_MAX = 63, NVML_PROFILE_MAX = 31 };
/* Health in a file that is older than this many seconds does not count. */
enum { NVML_FRESH_S = 180 };

enum nvml_kind { NVML_CARD, NVML_MIG, NVML_ASKS, NVML_HEALTH };

/* One line. */
struct nvml_line {
    enum nvml_kind kind;
    struct part text;    /* all of it */
    struct part uuid;    /* of the GPU; for NVML_CARD and NVML_MIG */
    int64_t memory_mib;  /* for NVML_CARD */
    struct part profile; /* "1g.10gb"; for NVML_MIG */
    struct part mig_uuid;
    struct part address; /* for NVML_ASKS and NVML_HEALTH */
    struct part facts;   /* "KEY=VALUE …", unchecked; for NVML_HEALTH */
};

/* Adds memory and MIG devices to the GPUs, and reads their health, if the file is of this boot and
 * of the current driver and instances. */
void nvml_look(struct view *v, const char *boot_id, struct pci_devices *gpus,
               struct card_healths *ret);
/* A hash of the driver, its GPUs and their MIG instances in procfs; 0: there is no driver. */
uint64_t nvml_layout(struct view *v);
/* Whether the text is complete. */
bool nvml_is_whole(struct part text);
/* The next valid line; false at the end. */
bool nvml_next(struct part *text, struct nvml_line *ret);

#endif
