/* Checks a scenario's rows against each other and against Kubernetes: names, kinds, manifests, and
 * required keys of actions. */
#ifndef OSTLER_SIM_SCENARIO_CHECK_H
#define OSTLER_SIM_SCENARIO_CHECK_H

#include "sim/scenario/scenario.h"

/* `root` is the scenario's document. Errors start with the place, like those of fields.h. */
int scenario_check(const struct scenario *s, const json_t *root, struct err *e);

#endif
