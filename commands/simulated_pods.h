/* The pods of a snapshot in the simulator. They hold the same devices as the real pods, end or
 * run like them, and are recreated if a controller recreates those. */
#ifndef OSTLER_SIMULATED_PODS_H
#define OSTLER_SIMULATED_PODS_H

#include "commands/simulated_world.h"

/* Adds the pods on nodes that already offer GPUs. */
void simulated_pods_add(const struct simulated_world *w, struct api *api);

#endif
