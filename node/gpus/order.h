/* The order in which NVML is asked about GPUs: those that hung it come last, so that one of them
 * hides no other. */
#ifndef OSTLER_NODE_GPUS_ORDER_H
#define OSTLER_NODE_GPUS_ORDER_H

#include "node/inventory/card_health.h"
#include "node/inventory/pci.h"
#include "node/inventory/text.h"
#include "node/inventory/view.h"

/* Bytes of a list of all GPUs, with its NUL. */
enum { ORDER_MAX = PCI_DEVICES_MAX * (CARD_ADDRESS_MAX + 1) + 1 };

/* GPUs that hung NVML, or whose answer came too late, and of which it has not answered since;
 * initialize with zeros. */
struct hung {
    char items[PCI_DEVICES_MAX][CARD_ADDRESS_MAX + 1];
    size_t len;
};

/* Appends the addresses of the GPUs that the loaded driver has, with a space after each. */
void order_gpus(struct view *v, const struct hung *hung, struct buf *ret);
/* Takes what ostler-nvml printed: forgets GPUs of which it reports the health. `ret_last`: the GPU
 * that it asked about last without reporting its health; "": none. */
void order_take(struct hung *hung, struct part said, char ret_last[static CARD_ADDRESS_MAX + 1]);
/* Adds a GPU that hangs NVML. */
void order_add(struct hung *hung, const char *address);

#endif
