/* The hash of a plan, which a user approves. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_HASH_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_HASH_H

#include "reconcilers/decide/rollout_types.h"

/* Hashes what the policy asks for in each pool, done or not, because the remaining work would be a
 * new plan after each node. Skipped, failed and rolled-back nodes do not change it either: an
 * approval for all nodes also covers the rest. */
void rollout_plan_hash(const struct rollout_input *in, char ret[static REVISION_HASH_MAX]);

#endif
