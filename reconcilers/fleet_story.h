/* A node as `kubectl gpu explain` reads it from the API server, made from the records that Ostler
 * keeps of it. */
#ifndef OSTLER_RECONCILERS_FLEET_STORY_H
#define OSTLER_RECONCILERS_FLEET_STORY_H

#include "base/arena.h"
#include "reconcilers/fleet_view.h"

/* What is kept of the agent's report, in the form of `status.inventory`; NULL: there is none. New
 * reference. */
json_t *fleet_inventory(const struct cluster *c, const struct node_slot *slot, struct arena *a);
/* The snapshot of the node for explain_view(); `status` is that of its GpuNode, `now` RFC 3339. It
 * borrows nothing. New reference. */
json_t *fleet_story(const struct fleet_source *s, const struct node_slot *slot,
                    const json_t *status, const char *now);

#endif
