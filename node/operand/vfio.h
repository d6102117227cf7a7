/* Finds whether a virtual machine uses a GPU that is bound to vfio-pci, by its open files. */
#ifndef OSTLER_NODE_OPERAND_VFIO_H
#define OSTLER_NODE_OPERAND_VFIO_H

#include "node/inventory/view.h"

/* Whether a process has the device at `bound`/`address` open, through its group or directly; also
 * true if that cannot be seen. */
bool vfio_is_in_use(const struct view *v, const char *bound, const char *address);

#endif
