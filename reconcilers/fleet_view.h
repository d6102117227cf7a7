/* What the fleet page shows, as JSON texts made from the records that the reconcilers keep: no
 * request to the API server, and nothing is made before it is asked for. Names and messages are
 * data: what would mislead a reader is escaped visibly, as in logs. */
#ifndef OSTLER_RECONCILERS_FLEET_VIEW_H
#define OSTLER_RECONCILERS_FLEET_VIEW_H

#include "base/buf.h"
#include "reconcilers/cluster.h"

/* Longest answer of fleet_node(), in bytes. */
enum { FLEET_NODE_MAX = 16 * 1024 };

/* Where the texts come from. All borrowed. */
struct fleet_source {
    const struct cluster *cluster;
    const char *version, *holder; /* of this Ostler; who holds the lease */
};

/* Each function appends one JSON value to `out`, whose limit must not be reached: the size depends
 * on the cluster alone. */

/* The whole fleet, with columns for the nodes. `id` names this snapshot. */
void fleet_snapshot(const struct fleet_source *s, const char *id, struct buf *out);
/* The row of one node: an array with the columns' values, texts in place of indices. False: the
 * page does not show a node of that name; then it appends nothing. */
bool fleet_row(const struct fleet_source *s, const char *name, struct buf *out);
/* The policy; null: there is none. */
void fleet_policy(const struct fleet_source *s, struct buf *out);
/* One node in full, in at most FLEET_NODE_MAX bytes. False: as above. */
bool fleet_node(const struct fleet_source *s, const char *name, struct buf *out);

#endif
