/* A transport that lets reads through and nothing else: for who must not change a cluster, nor stay with it. */
#ifndef OSTLER_CLIENT_READ_ONLY_H
#define OSTLER_CLIENT_READ_ONLY_H

#include "kube/transport.h"

/* Lists and GETs go to `to`, which is borrowed; watches and writes are swallowed: nothing is sent, and no answer ever comes. */
struct transport read_only(const struct transport *to);

#endif
