/* What a loaded driver says of its cards in procfs: name, UUID, number of the device node, and how many MIG instances each is
 * divided into. */
#ifndef OSTLER_NODE_INVENTORY_GPU_H
#define OSTLER_NODE_INVENTORY_GPU_H

#include "node/inventory/pci.h"
#include "node/inventory/text.h"

enum { CARD_PRODUCT_MAX = 63, CARD_UUID_MAX = 63 };

/* Adds that to the GPUs; those that only the driver knows are added as gone. */
void gpu_read(const struct view *v, struct pci_devices *gpus);
/* Reads one card's text; product, uuid and minor of *ret are set where it says them. */
void gpu_parse(struct arena *a, struct part text, struct pci_device *ret);

#endif
