/* Eviction of pods: a deletion that the PodDisruptionBudgets of the pod must allow. */
#ifndef OSTLER_SIM_API_EVICT_H
#define OSTLER_SIM_API_EVICT_H

#include <jansson.h>

#include "sim/api/refusal.h"

struct api;

/* Carries out a policy/v1 Eviction (NULL: an empty one) of a pod: 404 without the pod, 429 where a
 * budget does not allow it, 500 with more than one budget; else the budget's status is written and
 * the pod deleted with the eviction's deleteOptions (preconditions, grace, dryRun). */
int evict_pod(struct api *api, const char *user, const char *ns, const char *name,
              const json_t *eviction, struct refusal *r);

#endif
