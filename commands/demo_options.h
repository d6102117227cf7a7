/* The command line of `ostler demo`. */
#ifndef OSTLER_DEMO_OPTIONS_H
#define OSTLER_DEMO_OPTIONS_H

#include <stdbool.h>

#include "base/err.h"

/* Strings are borrowed from argv, or static. */
struct demo_options {
    const char *scenario;     /* a file; NULL: the one that is built in */
    const char *speed;        /* as `ostler-sim --speed` takes it */
    const char *fleet_listen; /* of the page; NULL: not given */
    bool log;                 /* prints Ostler's log instead of the live view */
    bool help;
};

/* Parses the words behind `demo`; an error says which argument is wrong and what to do. */
int demo_options_parse(int argc, char **argv, struct demo_options *ret, struct err *e);
void demo_options_help(void);

#endif
