/* The least number of times that each sweep must try each invariant. A check that was tried less
 * often has shown nothing, so that fails the sweep. */
#ifndef OSTLER_TESTS_SWEEP_LEAST_H
#define OSTLER_TESTS_SWEEP_LEAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "tests/sweep/counts.h"

/* Sweeps that live the same life with the same rights try each invariant about as often in each
 * life. id, life */
#define LEAST_LIVES(X)                                                                             \
    X(LONG, "life.yaml")                                                                           \
    X(LONG_RIGHTS, "life.yaml, with a right missing")                                              \
    X(DST, "dst.yaml")                                                                             \
    X(ACTO, "acto.yaml")                                                                           \
    X(AGENTS, "agents.yaml")                                                                       \
    X(AGENTS_RIGHTS, "agents.yaml, with a right missing")                                          \
    X(AGENTS_ACTO, "agents-acto.yaml")                                                             \
    X(UPGRADE, "upgrade.yaml")                                                                     \
    X(UPGRADE_RIGHTS, "upgrade.yaml, with a right missing")                                        \
    X(STEPS, "steps/life.yaml")                                                                    \
    X(AGENT_STEPS, "steps/agents-life.yaml")                                                       \
    X(CASE_FILES, "tests/rollouts")                                                                \
    X(JOBS, "steps/job.yaml")                                                                      \
    X(PARKED, "steps/parked.yaml")                                                                 \
    X(HEALTH, "health.yaml")                                                                       \
    X(HEALTH_CLOSE, "health-close.yaml")                                                           \
    X(HEALTH_REPAIR, "health-repair.yaml")                                                         \
    X(HEALTH_LIFE, "health-life.yaml")                                                             \
    X(SHORT, "short.yaml")

enum least_life {
#define X(id, ...) LEAST_##id,
    LEAST_LIVES(X)
#undef X
        LEAST_LIFE_COUNT
};

/* In a hundred lives. 0: never, for the reason that least_reason() has. */
unsigned least_tries(enum least_life life, enum invariant_id id);
/* Why an invariant is not tried in a life, as "no node is upgraded"; NULL: it is. Static text. */
const char *least_reason(enum least_life life, enum invariant_id id);
/* The life of a sweep; false: the sweep has no row. */
bool least_life_of(const char *sweep, enum least_life *ret);
/* How often a sweep that has lived so many lives must have tried an invariant. `whole`: it has
 * lived all cases of its bounded size, or more: then at least once, unless there is a reason. */
uint64_t least_of(enum least_life life, enum invariant_id id, uint64_t lives, bool whole);
/* Appends a line for each invariant that was tried less often than that; returns how many there
 * are. */
size_t least_judge(const char *sweep, const struct counts *c, bool whole, struct buf *out);

#endif
