/* A simulated rollout as people read it. */
#ifndef OSTLER_SIMULATION_PRINT_H
#define OSTLER_SIMULATION_PRINT_H

#include <jansson.h>

#include "controller/options.h"
#include "reconcilers/cluster.h"

/* What was assumed, as a list of sentences: `plan` is as plan_ahead_json() gives it, in `c` every node was looked at. New
 * reference. */
json_t *simulation_assumptions(const struct options *o, const struct cluster *c, const json_t *plan);
/* Prints, on standard output, what simulation_run() gave, with its assumptions. */
void simulation_print(const json_t *told);

#endif
