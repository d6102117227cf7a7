/* The life of a cluster as the sweeps live it: what a scenario file says, cut into phases. Read
 * once, shared by all runs. */
#ifndef OSTLER_TESTS_SWEEP_LIFE_H
#define OSTLER_TESTS_SWEEP_LIFE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "sim/scenario/scenario.h"

struct access;
struct custom_schemas;
struct manifests;

/* Things of the hour n belong to phase n. */
enum { LIFE_PHASE_MS = 3600 * 1000 };

/* Where things are, and who people are. */
#define OSTLER_NAMESPACE "ostler-system"
#define OPERAND_NAMESPACE "ostler-operands"
#define OSTLER_USER "system:serviceaccount:" OSTLER_NAMESPACE ":ostler"
#define ADMIN "kubernetes-admin"

struct life {
    struct scenario *scenario;
    struct manifests *manifests;
    json_t *crds;
    struct custom_schemas *schemas; /* compiled once for all runs */
    struct access *access;          /* the chart's rights */
    size_t phases;
    bool by_clock;    /* nothing is cut: all happens at its own time, in one phase … */
    int64_t until_ms; /* … that is not over before */
};

int life_load(struct life *life, const char *file, struct err *e);
/* The same, to be lived by the clock. */
int life_load_by_clock(struct life *life, const char *file, struct err *e);
void life_clear(struct life *life);
/* Whether a driver of this version does not work somewhere, at some time. */
bool life_driver_fails(const struct life *life, const char *version);
/* Whether a policy asks for such a driver: that all nodes are served is not asked then. */
bool life_is_broken(const struct life *life, const json_t *policy);
/* The chart's rights, all of them. NULL with an error where the chart cannot be read. */
struct access *life_access(struct err *e);

#endif
