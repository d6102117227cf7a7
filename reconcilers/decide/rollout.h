/* Decides which nodes may be taken out of service next. Only this code counts budgets. One pass
 * reads all nodes of the policy from the API server, including its own last writes. It then grants
 * claims, and lets claimed nodes start to drain. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_H

#include "reconcilers/decide/rollout_types.h"

/* Decides for all nodes at once. Call it again after the grants are written. */
void rollout_decide(const struct rollout_input *in, struct arena *a, struct rollout_decision *ret);

#endif
