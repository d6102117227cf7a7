/* Records the Events of cluster components, for `kubectl describe` and `kubectl get events`.
 * Repeated Events are counted. An Event is deleted an hour after its last write, whoever wrote it.
 * Only for this directory. */
#ifndef OSTLER_SIM_ACTORS_EVENTS_H
#define OSTLER_SIM_ACTORS_EVENTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/mem.h"
#include "sim/actors/actor.h"

/* Does nothing if Events are turned off. `component` ("kubelet") and `reason` are static texts.
 * What commits show is recorded automatically: pods that controllers create and delete, bindings,
 * nodes that become ready or not, finished jobs. */
void events_record(const struct actors *a, const char *component, const json_t *object,
                   bool warning, const char *reason, const char *fmt, ...) PRINTF(6, 7);

/* A controller creates a pod, or tells why it cannot and returns -1. */
int events_create_pod(struct actors *a, const char *user, const char *component,
                      const json_t *owner, const json_t *pod);

#endif
