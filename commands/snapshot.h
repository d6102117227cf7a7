/* A cluster at one moment: lists each resource that plans need once, page by page, without
 * watches and writes. */
#ifndef OSTLER_SNAPSHOT_H
#define OSTLER_SNAPSHOT_H

#include "controller/options.h"
#include "reconcilers/cluster.h"

struct snapshot;

/* Opens the cluster and reads only its policy. NULL with an error that says what could not be
 * read and what to do. `o` is borrowed while the snapshot is open. */
struct snapshot *snapshot_open(const struct options *o, struct err *e);
/* Reads everything that a plan for this policy (the server's or another) needs. */
int snapshot_read(struct snapshot *s, const json_t *policy, struct err *e);
/* The cluster filled from the snapshot, including the policy. Owned by the snapshot. */
struct cluster *snapshot_cluster(struct snapshot *s);
/* Whether PodDisruptionBudgets were readable; missing permission for them is no error. */
bool snapshot_has_budgets(const struct snapshot *s);
/* PodDisruptionBudgets and, for a simulation, all objects for it: as received, without
 * irrelevant members, by snapshot_key(). Borrowed. */
const json_t *snapshot_objects(const struct snapshot *s);
/* "Kind/namespace/name" or "Kind/name". Owned by the caller. */
char *snapshot_key(const char *kind, const char *key);
/* Frees it with its cluster and closes its connections; NULL has no effect. */
void snapshot_free(struct snapshot *s);

#endif
