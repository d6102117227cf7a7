/* `ostler install-crds`: installs the CustomResourceDefinitions of a directory, and never
 * replaces a newer version with an older one. */
#ifndef OSTLER_INSTALL_CRDS_H
#define OSTLER_INSTALL_CRDS_H

#include "controller/options.h"

/* Applies the files in --from and waits until the API server serves them. Returns the exit code. */
int install_crds(const struct options *o);

#endif
