/* `ostler-node install-cos-driver`: runs Google's driver installer for Container-Optimized OS,
 * unless a driver is loaded. */
#ifndef OSTLER_NODE_OPERAND_COS_H
#define OSTLER_NODE_OPERAND_COS_H

#include <stdbool.h>

#include "base/err.h"
#include "node/inventory/root.h"

/* Sets `ret_needed` if the installer must run: no nvidia module is loaded, or the files of the
 * loaded one are missing. `to`: the directory of the root that it installs into; `program`: the
 * installer with its arguments. -1: a module of another version than `--version` is loaded. The
 * installer cannot unload it: it would replace the files, and programs in containers would no
 * longer fit the module. */
int cos_needs_installer(const struct root *root, const char *to, char *const program[],
                        bool *ret_needed, struct err *e);
/* Replaces this process with the installer if it must run; else prints that and returns 0. -1: as
 * above, or it cannot be started. */
int cos_install(const struct root *root, const char *to, char *const program[], struct err *e);

#endif
