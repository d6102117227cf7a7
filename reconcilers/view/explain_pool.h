/* Which Events of a rollout concern a node: rollout_events.c names the pool in each note. */
#ifndef OSTLER_RECONCILERS_VIEW_EXPLAIN_POOL_H
#define OSTLER_RECONCILERS_VIEW_EXPLAIN_POOL_H

#include <jansson.h>
#include <stdbool.h>

/* The pool of the snapshot's node: its member "pool", else the policy's for the node's labels.
 * NULL: not known. Owned by the caller. */
char *explain_pool(const json_t *snapshot);
/* Whether the note of an Event is about this pool, or about none. Every note is about NULL. */
bool explain_pool_concerns(const char *pool, const char *note);

#endif
