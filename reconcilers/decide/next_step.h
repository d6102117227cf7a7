/* What happens next on a node, as its report says it (`status.next`): what must end first, when
 * that ends by itself, and what follows. Each member is a function of what decides: the node's
 * verdict, the step of its claim, and why the rollout holds it back. So it changes with these, and
 * costs no write of its own. */
#ifndef OSTLER_RECONCILERS_DECIDE_NEXT_STEP_H
#define OSTLER_RECONCILERS_DECIDE_NEXT_STEP_H

#include "reconcilers/decide/gpu_node_input.h"

/* {reason, until, message}. NULL: nothing is to happen, because the node runs what it should or is
 * not Ostler's; or it is not decided yet. `until` is a time of this node: one that all nodes share,
 * such as the opening of a window, is in status.rollout of the policy, or each of them would be
 * written when it changes. `message` is absent on a node in service that waits for its turn, whose
 * waitingFor has it. New reference. */
json_t *next_step(const struct gpu_node_input *in, struct arena *a);

#endif
