/* The command line of ostler-sim. */
#ifndef OSTLER_SIM_OPTIONS_H
#define OSTLER_SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"

/* All strings are borrowed from argv, or static. */
struct sim_options {
    const char *scenario;          /* file; "-": standard input; NULL: an empty cluster */
    const char *kubeconfig;        /* where the administrator's is written; NULL: ostler-sim.kubeconfig */
    const char *ostler_kubeconfig; /* where that of Ostler's ServiceAccount is written; NULL: nowhere */
    const char *listen;
    double speed;                  /* virtual seconds in a real one */
    int64_t seed;                  /* -1: the scenario's */
    int64_t duration_ms;           /* virtual; 0: until a signal */
    bool show;
    bool api_only;                 /* nobody acts on the objects */
    bool help, version;
    enum log_level log_level;
};

/* Reads the command line; on error the message says which argument and what to do. */
int sim_options_parse(int argc, char **argv, struct sim_options *ret, struct err *e);
/* Prints the options. */
void sim_options_help(void);
/* "ostler-sim VERSION". */
const char *sim_options_version(void);

#endif
