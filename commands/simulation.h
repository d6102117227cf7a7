/* `ostler plan --simulate`: a whole rollout, played by Ostler's own engine in the simulator, in a world that is like a cluster
 * that was read. */
#ifndef OSTLER_SIMULATION_H
#define OSTLER_SIMULATION_H

#include "controller/options.h"
#include "reconcilers/cluster.h"

/* How long a driver installs. Where nobody said that, no longer than half of what the policy lets it take. */
int64_t simulation_driver_takes_ms(const struct options *o, const struct rollout_spec *spec);
/* What happened, as `ostler plan --simulate -o json` prints it; docs/upgrades.md has its members. In `c` every node was looked
 * at; `objects` are as they were read, `policy` is as it would be on the server. NULL with an error. New reference. */
json_t *simulation_run(const struct options *o, const struct cluster *c, const json_t *objects, const json_t *policy,
                       struct err *e);

#endif
