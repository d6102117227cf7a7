/* A program that hangs in the kernel: it hears of no signal, and each that is started beside it hangs as well. */
#ifndef OSTLER_NODE_OPERAND_HUNG_H
#define OSTLER_NODE_OPERAND_HUNG_H

#include "node/inventory/root.h"

/* A process of this pod, of an earlier container of it as well, that is called like that and waits in the kernel for what cannot
 * be interrupted; 0: there is none. `pod` is the pod's uid. */
int hung_find(const struct root *root, const char *name, const char *pod);

#endif
