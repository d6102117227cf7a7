#include "node/gpus/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "node/inventory/nvml.h"

static size_t index_of(const struct hung *hung, const char *address)
{
    size_t i = 0;
    while (i < hung->len && !str_eq(hung->items[i], address))
        i++;
    return i;
}

void order_gpus(struct view *v, const struct hung *hung, struct buf *ret)
{
    CLEANUP_FOLDER struct folder cards = { 0 };
    const char *names[PCI_DEVICES_MAX], *name;
    size_t len = 0;
    view_folder(v, PCI_DRIVER_GPUS, PCI_DEVICES_MAX, &cards);
    while (len < PCI_DEVICES_MAX && (name = folder_next(&cards)))
        if (pci_is_address(name) && strlen(name) <= CARD_ADDRESS_MAX)
            names[len++] = arena_strdup(&v->arena, name);
    qsort(names, len, sizeof names[0], str_compare);
    for (int last = 0; last <= 1; last++)
        for (size_t i = 0; i < len; i++)
            if ((index_of(hung, names[i]) < hung->len) == last)
                buf_printf(ret, "%s ", names[i]);
}

static void forget(struct hung *hung, const char *address)
{
    size_t i = index_of(hung, address);
    if (i == hung->len)
        return;
    for (hung->len--; i < hung->len; i++)
        memcpy(hung->items[i], hung->items[i + 1], sizeof hung->items[i]);
}

void order_take(struct hung *hung, struct part said, char ret_last[static CARD_ADDRESS_MAX + 1])
{
    struct nvml_line line;
    *ret_last = '\0';
    while (nvml_next(&said, &line)) {
        if (line.kind == NVML_ASKS)
            snprintf(ret_last, CARD_ADDRESS_MAX + 1, "%.*s", (int) line.address.len,
                     line.address.at);
        if (line.kind != NVML_HEALTH || !part_is(line.address, ret_last))
            continue;
        forget(hung, ret_last);
        *ret_last = '\0';
    }
}

void order_add(struct hung *hung, const char *address)
{
    if (index_of(hung, address) == hung->len && hung->len < PCI_DEVICES_MAX)
        snprintf(hung->items[hung->len++], sizeof hung->items[0], "%s", address);
}
