/* What a loaded driver reports of its GPUs in procfs: name, UUID, minor of the device node, and
 * number of MIG instances. */
#ifndef OSTLER_NODE_INVENTORY_GPU_H
#define OSTLER_NODE_INVENTORY_GPU_H

#include "node/inventory/pci.h"
#include "node/inventory/text.h"

enum { CARD_PRODUCT_MAX = 63, CARD_UUID_MAX = 63 };

/* Adds these facts to `gpus`; a GPU that only the driver lists is added as gone. */
void gpu_read(const struct view *v, struct pci_devices *gpus);
/* Parses the text of one GPU; sets product, uuid and minor of *ret if the text has them. */
void gpu_parse(struct arena *a, struct part text, struct pci_device *ret);

#endif
