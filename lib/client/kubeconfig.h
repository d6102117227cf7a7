/* Kubeconfig files: merging, the current context, and the settings that Ostler can use. */
#ifndef OSTLER_CLIENT_KUBECONFIG_H
#define OSTLER_CLIENT_KUBECONFIG_H

#include <jansson.h>
#include <stddef.h>

#include "client/config.h"

/* One file, parsed; both borrowed. */
struct kubeconfig_file {
    const char *path;
    const json_t *root;
};

/* Reads the files that exist, in this order, and runs the user's credential plugin if there is
 * one. `context` NULL: the current one. ERR_NOT_FOUND if no file exists. */
int kubeconfig_load(char *const *paths, size_t count, const char *context, struct config *ret,
                    struct err *e);
/* Decodes a context of merged files, NULL: the current one. The first file that names a cluster,
 * user or context provides its whole entry. Creates a plugin without running it. */
int kubeconfig_decode(const struct kubeconfig_file *files, size_t count, const char *context,
                      struct config *ret, struct err *e);

#endif
