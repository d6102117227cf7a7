#include "node/inventory/bus_watch.h"

#include <string.h>

void bus_watch_take(struct bus_watch *w, const struct pci_devices *gpus)
{
    w->len = 0;
    for (size_t i = 0; i < gpus->len; i++) {
        const struct pci_device *gpu = &gpus->items[i];
        if (gpu->bus == BUS_ANSWERS && strlen(gpu->address) < PCI_ADDRESS_MAX)
            strcpy(w->gpus[w->len++], gpu->address);
    }
}

bool bus_watch_lost(const struct bus_watch *w, const struct root *root)
{
    for (size_t i = 0; i < w->len; i++)
        if (pci_bus_state(root, w->gpus[i], NULL) == BUS_SILENT)
            return true;
    return false;
}
