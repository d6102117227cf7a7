/* Events have two views: core/v1, as they are stored, and events.k8s.io/v1, in which half of the
 * fields have other names. All other kinds have one view. */
#ifndef OSTLER_SIM_API_EVENT_VIEW_H
#define OSTLER_SIM_API_EVENT_VIEW_H

#include <jansson.h>

#include "sim/api/kind.h"

/* The kind under which objects of this kind are stored. */
const struct kind *event_stored_kind(const struct kind *k);
/* A stored object as this kind shows it. New reference. */
json_t *event_view(const struct kind *k, json_t *stored);
/* The other way round. New reference. */
json_t *event_stored(const struct kind *k, json_t *view);

#endif
