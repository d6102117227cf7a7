/* A transport that sends only reads: for commands that must neither change a cluster nor watch
 * it. */
#ifndef OSTLER_CLIENT_READ_ONLY_H
#define OSTLER_CLIENT_READ_ONLY_H

#include "kube/transport.h"

/* Sends lists and GETs to `to`, which is borrowed. Drops watches and writes: they get no
 * response, ever. */
struct transport read_only(const struct transport *to);

#endif
