/* Parses the list of mounts in procfs. */
#ifndef OSTLER_NODE_OPERAND_MOUNTS_H
#define OSTLER_NODE_OPERAND_MOUNTS_H

#include "base/buf.h"
#include "node/inventory/text.h"

/* Whether the list (proc/self/mounts) has this mount point, a path without blanks. */
bool mounts_has(struct part text, const char *place);
/* Appends ":DIRECTORY" for the directory of each mount point whose last name starts with `begins`.
 * False: there is none. */
bool mounts_add_folders(struct part text, const char *begins, struct buf *ret);

#endif
