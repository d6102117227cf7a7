/* Being told to end: by a descriptor, so that an event loop hears it in its turn. */
#ifndef OSTLER_BASE_SIGNALS_H
#define OSTLER_BASE_SIGNALS_H

#include "base/err.h"

/* A descriptor from which SIGTERM, SIGINT and `also` (0: no other) are read as struct signalfd_siginfo. From then on they end
 * nothing by themselves. It never blocks; the caller closes it. Below 0 with an error: it cannot be had. */
int signals_open(int also, struct err *e);

#endif
