/* A PCI device in the words of the kernel's uevent: the file of that name in sysfs, or the body of a message. */
#ifndef OSTLER_NODE_INVENTORY_UEVENT_H
#define OSTLER_NODE_INVENTORY_UEVENT_H

#include <stdint.h>

#include "node/inventory/text.h"

/* Parts of the text that was read; of what it does not say, nothing. */
struct uevent {
    uint32_t vendor, device; /* PCI_ID */
    uint32_t class;          /* PCI_CLASS: base class, subclass, interface, as in 0x030200 */
    struct part driver;      /* that is bound; of length 0: none */
    struct part address;     /* PCI_SLOT_NAME */
};

/* False when it is not about a PCI device: id or class are missing or no hexadecimal numbers. Lines end with a newline or NUL. */
bool uevent_parse(struct part text, struct uevent *ret);

#endif
