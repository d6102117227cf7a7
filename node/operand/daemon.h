/* A daemon that is run for what it does at its end. */
#ifndef OSTLER_NODE_OPERAND_DAEMON_H
#define OSTLER_NODE_OPERAND_DAEMON_H

#include <stdint.h>

#include "base/err.h"

struct daemon {
    const char *ready; /* part of what it says when it has begun */
    int64_t ready_ms;  /* so long it may take to say that */
    int64_t settle_ms; /* so long it is left alone then: it may listen only after its word */
    int64_t end_ms;    /* so long it may take to end when it has been told to stop */
};

/* Starts it, tells it to stop (SIGTERM) when it is ready, and waits for its end; it is killed where it takes too long. What it
 * says goes on to standard error. 0 when it ended well after it had been told to. */
int daemon_pass(char *const argv[], const struct daemon *d, struct err *e);

#endif
