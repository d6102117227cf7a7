/* Finds a program that hangs in the kernel: it ignores signals, and further copies would hang as
 * well. */
#ifndef OSTLER_NODE_OPERAND_HUNG_H
#define OSTLER_NODE_OPERAND_HUNG_H

#include "node/inventory/root.h"

/* The pid of a process of this pod with that name in uninterruptible sleep, even of an earlier
 * container; 0: none. `pod` is the pod's uid. */
int hung_find(const struct root *root, const char *name, const char *pod);

#endif
