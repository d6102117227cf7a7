/* `kubectl gpu bundle`: writes a support bundle, one file without secrets. */
#ifndef OSTLER_KUBECTL_BUNDLE_H
#define OSTLER_KUBECTL_BUNDLE_H

#include "kubectl/ask.h"

/* Writes the bundle and prints its path, its content and what could not be read. */
int bundle_write(struct ask *a, const struct gpu_options *o, struct err *e);

#endif
