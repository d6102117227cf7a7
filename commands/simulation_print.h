/* Prints a simulated rollout as text. */
#ifndef OSTLER_SIMULATION_PRINT_H
#define OSTLER_SIMULATION_PRINT_H

#include <jansson.h>

#include "controller/options.h"
#include "reconcilers/cluster.h"

/* The assumptions, as a list of sentences. `plan` is the result of plan_ahead_json(); `c` has
 * had a pass over every node. New reference. */
json_t *simulation_assumptions(const struct options *o, const struct cluster *c,
                               const json_t *plan);
/* Prints the result of simulation_run() with its assumptions on stdout. */
void simulation_print(const json_t *told);

#endif
