/* The plan that the policy's status shows, and the pace of nodes. A plan is made when there is another one, and again when no
 * node is under way or the time of its end has passed: not with each node's step. What an earlier process has told is taken over
 * from the status, so that a restart changes nothing. */
#ifndef OSTLER_RECONCILERS_ROLLOUT_PLAN_STATUS_H
#define OSTLER_RECONCILERS_ROLLOUT_PLAN_STATUS_H

#include "reconcilers/decide/rollout_simulate.h"
#include "reconcilers/rollout_gathering.h"

/* Zero-initialised = nothing is known yet. */
struct rollout_plan_status {
    bool begun;                             /* the status was read */
    json_t *plan;                           /* as status.rollout.plan has it; NULL: none. Owned */
    int64_t generation;                     /* of the policy that it was made for */
    int64_t made_s;
    bool late;                              /* the time of its end has passed, and it names no other one */
    struct rollout_pace pace[TIERS];
    char pace_of[REVISION_HASH_MAX];        /* the plan whose nodes made it; "": an earlier one */
    json_t *under_way;                      /* [since, tier] of nodes whose way was seen to begin, by name. Owned */
};

/* Takes note of what the rollout's pass has decided. Returns whether there is news for the status; `ret_again_s` is in how many
 * seconds to look again, 0: no need. */
bool rollout_plan_status_take(struct rollout_plan_status *k, const struct cluster *c, const struct rollout_gathering *g,
                      const struct rollout_decision *d, int64_t *ret_again_s);
/* Forgets everything, as if nothing had been read yet. */
void rollout_plan_status_clear(struct rollout_plan_status *k);

#endif
