/* A cluster as it is at one moment, read once: each resource that plans rest on is listed page by page, nothing is watched and
 * nothing written. */
#ifndef OSTLER_SNAPSHOT_H
#define OSTLER_SNAPSHOT_H

#include "options.h"
#include "reconcilers/cluster.h"

struct snapshot;

/* NULL with an error that says what could not be read and what to do about it. `o` is borrowed for as long. */
struct snapshot *snapshot_read(const struct options *o, struct err *e);
/* Filled with all that was read; the policy is the server's. Owned by the snapshot. */
struct cluster *snapshot_cluster(struct snapshot *s);
/* Whether PodDisruptionBudgets could be read: it is not held against who may not. */
bool snapshot_has_budgets(const struct snapshot *s);
/* Everything that was kept, as it came, without what nobody reads. Borrowed. */
const json_t *snapshot_objects(const struct snapshot *s);
/* Lists ConfigMaps too, for a policy that takes the device plugin's configuration from one. */
int snapshot_read_configs(struct snapshot *s, struct err *e);
void snapshot_free(struct snapshot *s);

#endif
