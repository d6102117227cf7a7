/* A cluster as it is at one moment, read once: each resource that plans rest on is listed page by page, nothing is watched and
 * nothing written. */
#ifndef OSTLER_SNAPSHOT_H
#define OSTLER_SNAPSHOT_H

#include "controller/options.h"
#include "reconcilers/cluster.h"

struct snapshot;

/* The cluster, of which nothing is read but its policy. NULL with an error that says what could not be read and what to do about
 * it. `o` is borrowed for as long. */
struct snapshot *snapshot_open(const struct options *o, struct err *e);
/* Reads all that a plan under this policy, the server's or another, rests on. */
int snapshot_read(struct snapshot *s, const json_t *policy, struct err *e);
/* Filled with all that was read; has taken the policy. Owned by the snapshot. */
struct cluster *snapshot_cluster(struct snapshot *s);
/* Whether PodDisruptionBudgets could be read: it is not held against who may not. */
bool snapshot_has_budgets(const struct snapshot *s);
/* PodDisruptionBudgets, and for a simulation every object that it is made of: as they came, without what nobody reads, by
 * snapshot_key(). Borrowed. */
const json_t *snapshot_objects(const struct snapshot *s);
/* "Kind/namespace/name" or "Kind/name". Owned by the caller. */
char *snapshot_key(const char *kind, const char *key);
/* Frees it with its cluster and ends its connections; NULL is none. */
void snapshot_free(struct snapshot *s);

#endif
