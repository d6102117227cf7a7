/* The repairs of a dry run: what a plan says besides its rollout. */
#ifndef OSTLER_RECONCILERS_DRY_RUN_REPAIRS_H
#define OSTLER_RECONCILERS_DRY_RUN_REPAIRS_H

#include "reconcilers/rollout_gathering.h"

/* A list of repair_plan_json(), in the order of names. New reference. */
json_t *dry_run_repairs(const struct cluster *c, const struct rollout_gathering *g);

#endif
