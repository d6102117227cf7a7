/* A simulated rollout as people read it. */
#ifndef OSTLER_SIMULATION_PRINT_H
#define OSTLER_SIMULATION_PRINT_H

#include <jansson.h>

#include "options.h"
#include "reconcilers/model/rollout_spec.h"

/* What was assumed, as a list of sentences: `plan` is as plan_ahead_json() gives it, `spec` what the policy says of rollouts. New
 * reference. */
json_t *simulation_assumptions(const struct options *o, const struct rollout_spec *spec, const json_t *plan);
/* Prints, on standard output, what simulation_run() gave, with its assumptions. */
void simulation_print(const json_t *told);

#endif
