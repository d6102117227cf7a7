/* The annotation by which a person asks for another try of a revision that failed: whether it can be understood. */
#ifndef OSTLER_RECONCILERS_PLAN_RETRY_H
#define OSTLER_RECONCILERS_PLAN_RETRY_H

#include "base/arena.h"
#include "reconcilers/plan/cluster_view.h"

/* What is wrong with what the policy's annotation says, and what it takes. From the arena; NULL: nothing is wrong, or there
 * is none. */
const char *retry_problem(const struct cluster_view *v, struct arena *a);

#endif
