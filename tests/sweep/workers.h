/* Cases in several processes: each worker takes every n-th; what it finds comes back through a
 * pipe. A worker that dies is a finding of the case that it was at, and another one goes on after
 * it. */
#ifndef OSTLER_TESTS_SWEEP_WORKERS_H
#define OSTLER_TESTS_SWEEP_WORKERS_H

#include "tests/sweep/sweep.h"

struct workers_job {
    const struct sweep *sweep;
    const struct sweep_env *env;
    const size_t *cases; /* which */
    size_t count;
    size_t processes;
    unsigned limit_s; /* processor time that one case may take */
    /* A case is over: its findings (0: none) and their text. */
    void (*done)(void *arg, size_t index, const struct counts *counts, size_t findings,
                 const char *text);
    /* Appends what more there is to tell of a case that has findings, when those are told already;
     * NULL: nothing. */
    sweep_tell_fn *tell;
    /* It has been told. */
    void (*more)(void *arg, const char *text);
    void *arg;
};

/* Most processes at a time. */
enum { WORKERS_MAX = 16 };

/* From here on SIGINT, SIGTERM and SIGHUP, where they are not ignored, end workers_run() early. A
 * second one ends the program. */
void workers_heed_signals(void);
/* Returns when all cases are over, or after such a signal: what is under way is given up then. */
void workers_run(const struct workers_job *job);
/* The signal that has ended it; 0: none. */
int workers_ended_by(void);

#endif
