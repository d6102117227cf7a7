/* What operands write: whole files and sysfs values below a root directory, out of which no link
 * leads; a copy of this program; and a container's termination message. */
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
/* `ostler-node copy`: copies this static program to a path, executable for all, for containers of
 * other images. */
int place_self(const char *to, struct err *e);

/* The file that the kubelet mounts into each container: its text is the termination message, which
 * Ostler and users read in the pod's status. */
#define TERMINATION_LOG_FILE "/dev/termination-log"
/* Writes the text if `file` is a regular file; else does nothing. */
void place_last_words(const char *file, const char *text);

#endif
