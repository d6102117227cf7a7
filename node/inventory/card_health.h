/* What NVML reports of the health of GPUs, from words of a line ("KEY=VALUE …") to its JSON form,
 * `status.inventory.health` of a GpuNode. The words come from a driver's library: a value that is
 * none of the known ones counts as unknown. */
#ifndef OSTLER_NODE_INVENTORY_CARD_HEALTH_H
#define OSTLER_NODE_INVENTORY_CARD_HEALTH_H

#include <jansson.h>

#include "node/inventory/pci.h"
#include "node/inventory/text.h"
#include "node/inventory/view.h"

/* Limits of the list in the GpuNode, of an address, and of the words of a line. */
enum { CARD_HEALTH_MAX = 16, CARD_ADDRESS_MAX = 16, CARD_WORDS_MAX = 16 };

/* In the order of the table in card_health.c, which has their keys. */
enum card_fact {
    CARD_SERIAL,
    CARD_RECOVERY,
    CARD_REMAP_PENDING,
    CARD_REMAP_FAILED,
    CARD_DOUBLE_BIT_ERRORS,
    CARD_SRAM_EXCEEDED,
    CARD_FABRIC,
    CARD_LOST,
    CARD_HANGS,
    CARD_FACTS
};

/* Strings are from the arena. */
struct card_health {
    const char *address;
    const char *values[CARD_FACTS]; /* NULL: not known */
};

/* Zero-initialized = nothing is known. */
struct card_healths {
    struct card_health *items; /* sorted by address; from the arena */
    size_t len;
};

/* Reads the facts of one line. */
void card_health_read(struct arena *a, struct part facts, struct card_health *ret);
/* Adds those of a GPU, if it is one of `gpus`. The first line about a GPU counts. */
void card_health_add(struct view *v, const struct pci_devices *gpus, struct part address,
                     struct part facts, struct card_healths *ret);
/* Cuts the list to CARD_HEALTH_MAX; leaves out GPUs with nothing wrong first. */
void card_health_cut(struct card_healths *list);
/* New reference; NULL if nothing is known. */
json_t *card_health_json(const struct card_healths *list);
/* Appends "KEY VALUE, …", as a person reads it. */
void card_health_print(const struct card_health *h, struct buf *ret);

#endif
