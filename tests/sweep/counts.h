/* How much was tried: what a line that reports zero findings shows beside it. */
#ifndef OSTLER_TESTS_SWEEP_COUNTS_H
#define OSTLER_TESTS_SWEEP_COUNTS_H

#include <stdint.h>

#include "tests/sweep/invariants.h"

/* name, what is shown */
#define COUNTS(X)                                                                                  \
    X(runs, "runs")                                                                                \
    X(writes, "writes accepted")                                                                   \
    X(requests, "requests")                                                                        \
    X(events, "deliveries of events")                                                              \
    X(fired, "faults fired")                                                                       \
    X(starts, "starts")                                                                            \
    X(kills, "kills")                                                                              \
    X(losses, "leases lost")                                                                       \
    X(nodes, "nodes marked")                                                                       \
    X(virtual_s, "virtual seconds")

/* Only numbers, so that they can be added up and sent as they are. */
struct counts {
#define X(name, text) uint64_t name;
    COUNTS(X)
#undef X
    uint64_t tried[INVARIANT_COUNT];
};

void counts_add(struct counts *sum, const struct counts *c);
/* "12 runs, 3456 writes accepted, …", without what is 0. Owned. */
char *counts_text(const struct counts *c);

#endif
