/* PodDisruptionBudgets: when one lets go what it refused, who was refused asks again at once. They are watched only since an
 * eviction was refused: who drains nothing asks for nothing. */
#ifndef OSTLER_RECONCILERS_CLUSTER_BUDGETS_H
#define OSTLER_RECONCILERS_CLUSTER_BUDGETS_H

#include "reconcilers/cluster.h"

/* How the table of budgets is filled. */
struct table_ops cluster_budget_ops(struct cluster *c);
/* An eviction on the node was refused, in these words: from here on budgets are watched. Without the right to, it is tried again
 * from time to time. */
void cluster_refused(struct cluster *c, struct node_slot *slot, char *words_steal);
/* Nothing is refused there any more. */
void cluster_refusal_over(struct cluster *c, struct node_slot *slot);
/* When the pods of the node may be asked to leave again, in milliseconds; 0: at once. */
int64_t cluster_ask_in_ms(const struct cluster *c, const struct node_slot *slot);
/* Whether decisions rest on the resource, so that they wait for its list. Budgets only say when another question is
 * worth while. */
bool cluster_rests_on(enum resource_id id);

#endif
