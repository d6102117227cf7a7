/* `ostler-node copy`: copies this static program for containers of other images. */
#ifndef OSTLER_NODE_OPERAND_SELF_H
#define OSTLER_NODE_OPERAND_SELF_H

#include "base/err.h"

/* Writes it to the path `to`, executable for all. */
int self_copy(const char *to, struct err *e);

#endif
