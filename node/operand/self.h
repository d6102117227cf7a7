/* `ostler-node copy`: this program, for containers of other images. It needs nothing of theirs. */
#ifndef OSTLER_NODE_OPERAND_SELF_H
#define OSTLER_NODE_OPERAND_SELF_H

#include "base/err.h"

/* Puts it where `to` says, so that all may start it. */
int self_copy(const char *to, struct err *e);

#endif
