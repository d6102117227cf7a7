/* `ostler-node host-driver`: checks for a host driver immediately before a driver container starts,
 * in addition to the agent's scan. */
#ifndef OSTLER_NODE_OPERAND_HOST_CHECK_H
#define OSTLER_NODE_OPERAND_HOST_CHECK_H

#include "base/err.h"
#include "node/inventory/root.h"

/* 0: the host has no driver of its own. -1: it has one, and the message starts with HostDriver; or
 * it is not known whether one is loaded. Program directories that cannot be read are printed on
 * standard error and ignored. */
int host_check(const struct root *root, struct err *e);

#endif
