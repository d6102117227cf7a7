/* `kubectl gpu bundle`: what somebody who helps needs to know of a cluster, in one file, without secrets. */
#ifndef OSTLER_KUBECTL_BUNDLE_H
#define OSTLER_KUBECTL_BUNDLE_H

#include "kubectl/ask.h"

/* Writes it, and says where, what is in it and what could not be had. */
int bundle_write(struct ask *a, const struct gpu_options *o, struct err *e);

#endif
