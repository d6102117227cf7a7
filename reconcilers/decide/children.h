/* Reconciles child objects: creates missing ones, reverts edits, and deletes those that are no
 * longer needed. */
#ifndef OSTLER_RECONCILERS_DECIDE_CHILDREN_H
#define OSTLER_RECONCILERS_DECIDE_CHILDREN_H

#include "kube/actions.h"
#include "reconcilers/decide/cluster_view.h"

/* Appends the requests. A rendering error goes to `e`, and the other children are still planned.
 * Returns the number of Ostler's children that exist and should not. */
size_t children_plan(const struct cluster_view *v, struct actions *actions, struct err *e);

#endif
