/* The command line of ostler-sim. */
#ifndef OSTLER_SIM_OPTIONS_H
#define OSTLER_SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"

/* Strings are borrowed from argv or static. */
struct sim_options {
    const char *scenario;          /* file; "-": standard input; NULL: an empty cluster */
    const char *kubeconfig;        /* path for the admin's; NULL: ostler-sim.kubeconfig */
    const char *ostler_kubeconfig; /* path for that of Ostler's ServiceAccount; NULL: none */
    const char *listen;
    double speed;        /* virtual seconds per real second */
    int64_t seed;        /* -1: the scenario's */
    int64_t duration_ms; /* virtual; 0: until a signal */
    bool show, tell;
    bool api_only; /* without actors */
    bool help, version;
    enum log_level log_level;
};

/* Parses the command line; an error says which argument is wrong and what to do. */
int sim_options_parse(int argc, char **argv, struct sim_options *ret, struct err *e);
void sim_options_help(void);
/* "ostler-sim VERSION". */
const char *sim_options_version(void);

#endif
