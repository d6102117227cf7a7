/* Quiet moments of a life: nothing has changed for longer than Ostler takes to say what is so,
 * nothing is wrong on the way between Ostler and the API server, and an Ostler leads and has been
 * told everything. Judged by commits, by what the wire has carried and by the plan of faults:
 * Ostler is not asked. */
#ifndef OSTLER_TESTS_SWEEP_MOMENTS_H
#define OSTLER_TESTS_SWEEP_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/api/api.h"

struct invariants;

/* Zero-initialised: nothing has happened yet. */
struct moments {
    int64_t changed_ms; /* when anything but leases and Events was last committed */
    /* when something was last wrong with Ostler, or between it and the server */
    int64_t troubled_ms;
    int64_t looked_ms;    /* when that was last looked at */
    uint64_t fault_count; /* faults that had fired by then */
    bool used;            /* since `changed_ms` there was a quiet moment already */
};

/* Takes note of what any client committed. */
void moments_commit(struct invariants *v, const struct api_commit *c);
/* Nothing happens until that time. Whether a quiet moment lies before it; once for each time of
 * quiet. */
bool moments_pass(struct invariants *v, int64_t until_ms);

#endif
