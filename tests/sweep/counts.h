/* How much was tried: what a line that reports zero findings shows beside it. */
#ifndef OSTLER_TESTS_SWEEP_COUNTS_H
#define OSTLER_TESTS_SWEEP_COUNTS_H

#include <stddef.h>
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
    X(steps, "steps of claimed nodes")                                                             \
    X(virtual_s, "virtual seconds")                                                                \
    X(quiet_s, "of them of quiet")                                                                 \
    X(log_lines, "lines of the log read")                                                          \
    X(operations, "changes of the policy")                                                         \
    X(refusals, "of them refused")                                                                 \
    X(interleavings, "writes of others between reading and writing")                               \
    X(others, "writes of others just after")                                                       \
    X(compared, "foreign keys compared")                                                           \
    X(expected, "expectations")

enum { COUNTED_FIELDS = 512, COUNTED_PHASES = 8 };

/* A bit for each field of the policy. */
struct field_set {
    uint64_t bits[COUNTED_FIELDS / 64];
};

/* Only numbers, so that they can be added up and sent as they are. */
struct counts {
#define X(name, text) uint64_t name;
    COUNTS(X)
#undef X
    uint64_t tried[INVARIANT_COUNT];
    uint64_t fields; /* that the policy has; 0: they were not looked at */
    struct field_set changed_in[COUNTED_PHASES], accepted, refused;
};

/* Puts a field into a set. */
void field_set_add(struct field_set *set, size_t field);

void counts_add(struct counts *sum, const struct counts *c);
/* "12 runs, 3456 writes accepted, …", without what is 0. Owned. */
char *counts_text(const struct counts *c);

#endif
