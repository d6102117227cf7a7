/* The command line of the sweeps' program. */
#ifndef OSTLER_TESTS_SWEEP_OPTIONS_H
#define OSTLER_TESTS_SWEEP_OPTIONS_H

#include "base/err.h"
#include "tests/sweep/sweep.h"

struct options {
    const struct sweep *sweep;
    size_t count; /* cases; 0: the bounded size */
    bool full;
    size_t only;  /* this case; SIZE_MAX: all */
    size_t first; /* of sweeps over seeds */
    size_t processes;
    size_t plant;
    size_t shorten_s;
    bool verbose;
    bool reference;   /* the life without faults, told at length, and nothing else */
    bool help;        /* nothing else is read then */
    const char *life; /* NULL: that of the sweep */
};

/* Reads the command line; on error the message says what is wrong and what may be there. */
int options_parse(int argc, char **argv, struct options *ret, struct err *e);
void options_help(void);

#endif
