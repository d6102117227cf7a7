#include "reconcilers/decide/rollout_types.h"

const char *rollout_wish(const struct rollout_node *n, enum tier tier)
{
    return n->policy_target.hash[tier] ? n->policy_target.hash[tier] : n->target.hash[tier];
}
