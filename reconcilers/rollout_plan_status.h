/* The plan and the pace in the policy's status. A new plan is made for a new plan hash or policy
 * generation, when no node is under way, and when the plan's end time has passed. Steps of nodes
 * cause no new plan. The state of an earlier process is read from the status, so that a restart
 * changes nothing. */
#ifndef OSTLER_RECONCILERS_ROLLOUT_PLAN_STATUS_H
#define OSTLER_RECONCILERS_ROLLOUT_PLAN_STATUS_H

#include "reconcilers/decide/rollout_plan_json.h"
#include "reconcilers/decide/rollout_simulate.h"
#include "reconcilers/rollout_gathering.h"

/* Zero-initialised: nothing is known. */
struct rollout_plan_status {
    bool begun;         /* the status was read */
    json_t *plan;       /* in the format of status.rollout.plan; NULL: none. Owned */
    int64_t generation; /* of the policy that it was made for */
    int64_t made_s;
    bool late; /* its end time has passed, and it has no other */
    struct rollout_pace pace[TIERS];
    char pace_of[REVISION_HASH_MAX]; /* the plan whose nodes were measured; "": an earlier one */
    json_t *under_way; /* [since, tier] of nodes whose start was seen, by name. Owned */
};

/* The plan of a rollout. NULL if every node runs its target. `looks` as in rollout_simulate();
 * `blocking` NULL: not known. New reference. */
json_t *rollout_plan(const struct cluster *c, const struct rollout_gathering *g,
                     const struct rollout_pace pace[static TIERS], size_t looks,
                     const struct rollout_plan_limits *limits,
                     const struct blocking_budgets *blocking);

/* Takes a decision of the rollout's pass. Returns whether the status must change. `ret_again_s`:
 * seconds until the next check, 0: not needed. */
bool rollout_plan_status_take(struct rollout_plan_status *k, const struct cluster *c,
                              const struct rollout_gathering *g, const struct rollout_decision *d,
                              int64_t *ret_again_s);
/* Resets it, as if the status had not been read. */
void rollout_plan_status_clear(struct rollout_plan_status *k);

#endif
