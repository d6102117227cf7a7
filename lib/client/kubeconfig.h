/* Kubeconfig files: merging, the current context, and what of it Ostler can use. */
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

/* Reads the files that are there, in this order, and runs the credential plugin if the user has one. `context` NULL: the current
 * one. ERR_NOT_FOUND when no file is there. */
int kubeconfig_load(char *const *paths, size_t count, const char *context, struct config *ret, struct err *e);
/* A context of merged files, NULL: the current one. The first file that names a cluster, user or context wins with its whole
 * entry. A plugin is made, but not run. */
int kubeconfig_decode(const struct kubeconfig_file *files, size_t count, const char *context, struct config *ret, struct err *e);

#endif
