/* What the components of a cluster tell of themselves in Events, for people who look: `kubectl describe`, `kubectl get events`.
 * The same word of the same object is counted up; one that is an hour old goes. Only for this folder. */
#ifndef OSTLER_SIM_ACTORS_EVENTS_H
#define OSTLER_SIM_ACTORS_EVENTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/mem.h"
#include "sim/actors/actor.h"

/* Nothing happens where the actors were asked to tell nothing. `component` ("kubelet") and `reason` are static texts. What
 * commits show need not be told: pods that controllers create and delete, bindings, nodes that are ready or not, jobs that are
 * over. */
void events_tell(const struct actors *a, const char *component, const json_t *object, bool warning, const char *reason,
                 const char *fmt, ...) PRINTF(6, 7);

#endif
