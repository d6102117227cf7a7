/* The life of a cluster as the sweeps live it: what a scenario file says, cut into phases. Read once, shared by all runs. */
#ifndef OSTLER_TESTS_SWEEP_LIFE_H
#define OSTLER_TESTS_SWEEP_LIFE_H

#include <jansson.h>

#include "base/err.h"
#include "sim/scenario/scenario.h"

struct manifests;

/* Things of the hour n belong to phase n. */
enum { LIFE_PHASE_MS = 3600 * 1000 };

struct life {
    struct scenario *scenario;
    struct manifests *manifests;
    json_t *crds;
    size_t phases;
};

int life_load(struct life *life, const char *file, struct err *e);
void life_clear(struct life *life);

#endif
