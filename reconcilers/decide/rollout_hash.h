/* The hash of a plan, by which a person approves it. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_HASH_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_HASH_H

#include "reconcilers/decide/rollout.h"

/* Over all that the policy says for the nodes of each pool, done or not: what is left to do would be another plan after each
 * node. Nor is it another one when a node is left alone, fails or goes back: who approved the plan for all has approved it for
 * those that stay in it. */
void rollout_plan_hash(const struct rollout_input *in, char ret[static REVISION_HASH_MAX]);

#endif
