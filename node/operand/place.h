/* What operands write on a machine: whole files in a folder of its root, and values of sysfs. No link leads out of the root. */
#ifndef OSTLER_NODE_OPERAND_PLACE_H
#define OSTLER_NODE_OPERAND_PLACE_H

#include "base/err.h"
#include "node/inventory/root.h"

/* Puts a file that all may read, whole or not at all; its folder is made where only that is missing. */
int place_put(const struct root *root, const char *path, const char *text, struct err *e);
/* Takes a file away; it need not be there. */
int place_remove(const struct root *root, const char *path, struct err *e);
/* Writes into a file that is there, in one go, as sysfs wants it. 0, or an errno. */
int place_write(const struct root *root, const char *path, const char *text);

#endif
