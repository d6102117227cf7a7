/* Checks a scenario's world against each other and against Kubernetes: names, kinds, manifests, and
 * required keys of actions. */
#ifndef OSTLER_SIM_SCENARIO_CHECK_H
#define OSTLER_SIM_SCENARIO_CHECK_H

#include "base/err.h"
#include "sim/actors/world_spec.h"

/* `root` is the scenario's document. Errors start with the place, like those of fields.h. */
int scenario_check(const struct spec_world *w, const json_t *root, struct err *e);

#endif
