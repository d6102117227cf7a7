/* What a scenario's rows say of each other and of Kubernetes: names, kinds, manifests, and what each action needs. */
#ifndef OSTLER_SIM_SCENARIO_CHECK_H
#define OSTLER_SIM_SCENARIO_CHECK_H

#include "sim/scenario/scenario.h"

/* `root` is the document that the scenario was read from. The error begins with the place, as those of fields.h do. */
int scenario_check(const struct scenario *s, const json_t *root, struct err *e);

#endif
