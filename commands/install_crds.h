/* `ostler install-crds`: brings CustomResourceDefinitions of a folder into a cluster, and never replaces a newer one by an older
 * one. */
#ifndef OSTLER_INSTALL_CRDS_H
#define OSTLER_INSTALL_CRDS_H

#include "controller/options.h"

/* Applies what is in --from and waits until the API server serves it. Returns the exit code. */
int install_crds(const struct options *o);

#endif
