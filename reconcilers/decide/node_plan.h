/* Reconciles one node: decides its state and the write that it needs, if any. Everything is
 * computed from current observations. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_PLAN_H
#define OSTLER_RECONCILERS_DECIDE_NODE_PLAN_H

#include "reconcilers/decide/node_types.h"

/* One pass over a node: computes its verdict and adds the requests that it needs. Texts of the
 * verdict are static, from the arena, or borrowed from the input. */
void node_plan(const struct node_input *in, struct arena *a, struct node_verdict *v,
               struct actions *actions);

#endif
