/* Whether a GPU that answered on the PCI bus at the last scan has fallen off it since. The kernel
 * sends no event for that. */
#ifndef OSTLER_NODE_INVENTORY_BUS_WATCH_H
#define OSTLER_NODE_INVENTORY_BUS_WATCH_H

#include "node/inventory/pci.h"
#include "node/inventory/root.h"

/* Plain data, because it crosses a process boundary. Zero-initialized: no GPU. */
struct bus_watch {
    size_t len;
    char gpus[PCI_DEVICES_MAX][PCI_ADDRESS_MAX]; /* addresses of GPUs that answered */
};

/* Notes which of the GPUs answer. */
void bus_watch_take(struct bus_watch *w, const struct pci_devices *gpus);
/* Whether one of them is off the bus now. It reads a few bytes of each, never of a suspended one,
 * which a read would wake. */
bool bus_watch_lost(const struct bus_watch *w, const struct root *root);

#endif
