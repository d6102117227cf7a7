/* `ostler-node unload`: makes room for a driver. */
#ifndef OSTLER_NODE_OPERAND_UNLOAD_H
#define OSTLER_NODE_OPERAND_UNLOAD_H

#include "base/err.h"
#include "node/inventory/root.h"

/* Takes a module out of the kernel: 0, or an errno. */
typedef int unload_module_fn(const char *name);
/* By the kernel itself. */
unload_module_fn unload_module;

/* Carries out the plan (node/operand/unload_plan.h), module by module; what it does it says on standard error. -1: a module is in
 * use (DriverInUse), the kernel's own driver holds a GPU (NouveauLoaded), or the machine cannot be looked at. */
int unload_run(const struct root *root, const char *revision, unload_module_fn *unload, struct err *e);

#endif
