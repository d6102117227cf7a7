/* `ostler-node host-driver`: the look before a driver container starts. The agent has looked already; this is the second time, at
 * the last moment. */
#ifndef OSTLER_NODE_OPERAND_HOST_CHECK_H
#define OSTLER_NODE_OPERAND_HOST_CHECK_H

#include "base/err.h"
#include "node/inventory/root.h"

/* 0: the host has no driver of its own. -1: it has, and the message begins with HostDriver; or it cannot be known whether one is
 * loaded. Places for programs that cannot be looked at are said on standard error, and do not count. */
int host_check(const struct root *root, struct err *e);

#endif
