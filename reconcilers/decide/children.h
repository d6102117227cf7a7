/* Which children there should be, and what differs: missing ones are applied, edited ones are put right, those that nobody needs
 * any more are deleted. */
#ifndef OSTLER_RECONCILERS_DECIDE_CHILDREN_H
#define OSTLER_RECONCILERS_DECIDE_CHILDREN_H

#include "kube/actions.h"
#include "reconcilers/decide/cluster_view.h"

/* Appends the requests. What cannot be rendered is said in `e` (the rest is planned all the same). Returns the number of children
 * of ours that are still there and should not be. */
size_t children_plan(const struct cluster_view *v, struct actions *actions, struct err *e);

#endif
