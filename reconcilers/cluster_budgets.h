/* PodDisruptionBudgets: when a budget that refused an eviction allows one again, Ostler retries at
 * once. Ostler watches budgets only after an eviction was refused, so clusters without drains make
 * no requests. */
#ifndef OSTLER_RECONCILERS_CLUSTER_BUDGETS_H
#define OSTLER_RECONCILERS_CLUSTER_BUDGETS_H

#include "reconcilers/cluster.h"

/* Table operations for budgets. */
struct table_ops cluster_budget_ops(struct cluster *c);
/* Records that an eviction on the node was refused, with this message, and starts the watch of
 * budgets. Without the permission it is retried from time to time. */
void cluster_refused(struct cluster *c, struct node_slot *slot, char *words_steal);
/* Clears the refusal of a node. */
void cluster_refusal_over(struct cluster *c, struct node_slot *slot);
/* Milliseconds until the pods of the node may be evicted again; 0: at once. */
int64_t cluster_ask_in_ms(const struct cluster *c, const struct node_slot *slot);

#endif
