/* What is mounted where, as procfs lists it. */
#ifndef OSTLER_NODE_OPERAND_MOUNTS_H
#define OSTLER_NODE_OPERAND_MOUNTS_H

#include "base/buf.h"
#include "node/inventory/text.h"

/* Whether a line of the list (proc/self/mounts) has this place, a path without blanks. */
bool mounts_has(struct part text, const char *place);
/* Adds the folder of each place whose last name begins so, as ":FOLDER". False: there is none. */
bool mounts_add_folders(struct part text, const char *begins, struct buf *ret);

#endif
