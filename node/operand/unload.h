/* `ostler-node unload`: unloads kernel modules that are in the way of a driver. */
#ifndef OSTLER_NODE_OPERAND_UNLOAD_H
#define OSTLER_NODE_OPERAND_UNLOAD_H

#include "base/err.h"
#include "node/inventory/root.h"

/* Unloads a module: 0 or an errno. */
typedef int unload_module_fn(const char *name);
/* The kernel's delete_module(2). */
unload_module_fn unload_module;

/* Executes the plan (node/operand/unload_plan.h) and prints each action on standard error. -1: a
 * module is in use (DriverInUse), the kernel's own driver holds a GPU (NouveauLoaded), or the
 * machine cannot be inspected. */
int unload_run(const struct root *root, const char *revision, unload_module_fn *unload,
               struct err *e);

#endif
