/* `ostler-node install-cos-driver`: Google's installer for Container-Optimized OS, and where it must not run. */
#ifndef OSTLER_NODE_OPERAND_COS_H
#define OSTLER_NODE_OPERAND_COS_H

#include <stdbool.h>

#include "base/err.h"
#include "node/inventory/root.h"

/* Whether the installer has to run, into `ret_needed`. `to`: the folder of the root that it installs into; `program`: the
 * installer with its arguments. It runs where no module nvidia is loaded, or where the files of the loaded one are gone. -1:
 * one of another version than that of `--version` is loaded. The installer cannot unload it: it would replace the files beside
 * it, and programs in containers would no longer fit the module. */
int cos_needs_installer(const struct root *root, const char *to, char *const program[], bool *ret_needed, struct err *e);
/* This process becomes the installer where that has to run; else 0, after it has said so. -1: as above, or it cannot be
 * started. */
int cos_install(const struct root *root, const char *to, char *const program[], struct err *e);

#endif
