/* Termination signals through a descriptor, so that an event loop handles them in its turn. */
#ifndef OSTLER_BASE_SIGNALS_H
#define OSTLER_BASE_SIGNALS_H

#include "base/err.h"

/* Returns a descriptor that delivers SIGTERM, SIGINT and `also` (0: no other) as struct
 * signalfd_siginfo. These signals no longer end the process. The descriptor never blocks; the
 * caller closes it. Below 0 with an error on failure. */
int signals_open(int also, struct err *e);

#endif
