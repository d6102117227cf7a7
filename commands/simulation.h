/* `ostler plan --simulate`: runs a whole rollout with Ostler's engine in a simulated copy of the
 * cluster. */
#ifndef OSTLER_SIMULATION_H
#define OSTLER_SIMULATION_H

#include "controller/options.h"
#include "reconcilers/cluster.h"

/* How long a driver installs. Without an option, at most half of what the policy allows. */
int64_t simulation_driver_takes_ms(const struct options *o, const struct rollout_spec *spec);
/* The result, as `ostler plan --simulate -o json` prints it; docs/upgrades.md describes its
 * members. `c` has had a pass over every node, `objects` are as read, `policy` is as stored by
 * the server. NULL with an error. New reference. */
json_t *simulation_run(const struct options *o, const struct cluster *c, const json_t *objects,
                       const json_t *policy, struct err *e);

#endif
