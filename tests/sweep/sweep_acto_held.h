/* What does not go back with the policy alone.
 *
 * A node that waits for the first toolkit of its pool has no stack. While the policy wants no
 * toolkit of Ostler's there, the node has no turn to wait for, and gets a stack at once. When the
 * policy wants Ostler's toolkit again, only the rollout may exchange that stack, and
 * spec.rollout.paused holds the rollout. An administrator who cannot wait lets the nodes go for a
 * moment.
 *
 * The objects of exporter and NVML reader come with the first stack of the cluster. They stay
 * without any stack, until the policy has none: the exporter's remember its known good version. */
#ifndef OSTLER_TESTS_SWEEP_SWEEP_ACTO_HELD_H
#define OSTLER_TESTS_SWEEP_SWEEP_ACTO_HELD_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/api.h"

/* What a change may leave behind, as it was before. */
struct acto_before {
    json_t *without_stack; /* names of nodes */
    size_t followers;      /* how many of their DaemonSets were there */
};

void acto_before_read(const struct api *api, struct acto_before *ret);
void acto_before_clear(struct acto_before *b);
/* A spec like `base` under which what stayed behind goes. NULL: nothing stayed behind. New
 * reference. */
json_t *acto_spec_between(const struct api *api, const struct acto_before *before,
                          const json_t *base);

#endif
