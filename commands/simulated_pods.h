/* The pods of a cluster that was read, in a world for the simulator: they hold the devices that the others hold, end or run on as
 * those do, and are made again where somebody makes those again. */
#ifndef OSTLER_SIMULATED_PODS_H
#define OSTLER_SIMULATED_PODS_H

#include "commands/simulated_world.h"

/* Adds them, on nodes that have GPUs to give by now. */
void simulated_pods_add(const struct simulated_world *w, struct api *api);

#endif
