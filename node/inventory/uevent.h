/* Parses a kernel uevent of a PCI device: the uevent file in sysfs, or the body of a message. */
#ifndef OSTLER_NODE_INVENTORY_UEVENT_H
#define OSTLER_NODE_INVENTORY_UEVENT_H

#include <stdint.h>

#include "node/inventory/text.h"

/* Parts of the parsed text; missing values are zero. */
struct uevent {
    uint32_t vendor, device; /* PCI_ID */
    uint32_t class;          /* PCI_CLASS: base class, subclass, interface, as in 0x030200 */
    struct part driver;      /* the bound driver; length 0: none */
    struct part address;     /* PCI_SLOT_NAME */
};

/* False if it is not about a PCI device: the id or class is missing or not hexadecimal. Lines end
 * with a newline or NUL. */
bool uevent_parse(struct part text, struct uevent *ret);

#endif
