/* The processes of `ostler demo`: this program under another name. They end with the process that
 * started them. */
#ifndef OSTLER_DEMO_CHILD_H
#define OSTLER_DEMO_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct demo_child {
    const char *const *words; /* its command line with its name, ended by NULL */
    int in;                   /* becomes its standard input; -1: nothing to read */
    int out, err;             /* become its outputs; -1: as here */
};

/* Starts it with the usual signals; below 0 with an error. The descriptors stay the caller's. */
pid_t demo_child_start(const struct demo_child *c, struct err *e);

#endif
