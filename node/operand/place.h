/* Writes whole files and sysfs values of operands below a root directory. No link leads out of the
 * root. */
#ifndef OSTLER_NODE_OPERAND_PLACE_H
#define OSTLER_NODE_OPERAND_PLACE_H

#include "base/err.h"
#include "node/inventory/root.h"

/* Writes a file atomically, readable for all; creates its directory if only that is missing. */
int place_put(const struct root *root, const char *path, const char *text, struct err *e);
/* Removes a file; it need not exist. */
int place_remove(const struct root *root, const char *path, struct err *e);
/* Writes into an existing file with one call, as sysfs requires. Returns 0 or an errno. */
int place_write(const struct root *root, const char *path, const char *text);

#endif
