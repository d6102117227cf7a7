/* The one change of the policy that does not go back with the policy alone.
 *
 * A node that waits for the first toolkit of its pool has no stack. While the policy wants no
 * toolkit of Ostler's there, the node has no turn to wait for, and gets a stack at once. When the
 * policy wants Ostler's toolkit again, only the rollout may exchange that stack, and
 * spec.rollout.paused holds the rollout. An administrator who cannot wait lets the nodes go for a
 * moment. */
#ifndef OSTLER_TESTS_SWEEP_SWEEP_ACTO_HELD_H
#define OSTLER_TESTS_SWEEP_SWEEP_ACTO_HELD_H

#include <jansson.h>

#include "sim/api/api.h"

/* The names of all nodes that have no stack. New reference. */
json_t *acto_without_stack(const struct api *api);
/* How many of `without` (names) got a stack without Ostler's toolkit and are held with it. */
size_t acto_held(const struct api *api, const json_t *without);
/* A spec like `base` that serves no node. It has no exporter either: the exporter's objects stay
 * while the policy wants them, whether a node has a stack or not. New reference. */
json_t *acto_spec_without_nodes(const json_t *base);

#endif
