/* Who has a GPU that is bound to vfio-pci: virtual machines, by the files that they have open. */
#ifndef OSTLER_NODE_OPERAND_VFIO_H
#define OSTLER_NODE_OPERAND_VFIO_H

#include "node/inventory/view.h"

/* Whether a process has the device at `bound`/`address` open, by its group or by itself; also true where that cannot be seen. */
bool vfio_is_in_use(const struct view *v, const char *bound, const char *address);

#endif
