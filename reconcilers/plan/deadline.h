/* Whether a node has had its time for something. */
#ifndef OSTLER_RECONCILERS_PLAN_DEADLINE_H
#define OSTLER_RECONCILERS_PLAN_DEADLINE_H

#include "kube/plan.h"
#include "reconcilers/plan/node_plan.h"

/* Whether that began at least so long ago, in seconds. The time before the node was last up does not count, and on one that is down none does: it has had
 * none. Nor does time in which nobody watched, nor what is so recent that nothing was heard of it yet: what became of the node then is not known. So a
 * clock that jumps ahead makes no node fail either. While it is not over, asks to be called again when it may be. */
bool deadline_is_over(const struct node_input *in, int64_t since_s, int64_t timeout_s, struct plan *plan);

#endif
