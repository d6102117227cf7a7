/* The plan of a rollout as an object: what `ostler plan` prints, and in small what the policy's status says of the plan. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_PLAN_JSON_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_PLAN_JSON_H

#include "reconcilers/decide/drain.h"
#include "reconcilers/decide/blocking_budgets.h"
#include "reconcilers/decide/rollout_simulate.h"

/* How much is told by name; what is left out is counted. */
struct rollout_plan_limits {
    size_t waves, names, blockers, pods; /* waves; nodes of one entry; what is in the way of nodes; pods of one node */
    bool moves;                          /* each node that goes, with its pods, and what people keep */
};

/* What fits into a status, and what a person reads who asked. */
extern const struct rollout_plan_limits rollout_plan_for_status, rollout_plan_in_full;

struct rollout_plan_input {
    const struct rollout_input *rollout;
    const struct rollout_simulation *simulation;
    const struct rollout_pace *pace;       /* of each tier */
    const struct drain *drains;            /* of each node of the rollout, were it drained now */
    /* Of each node of the rollout: what goes wrong on it while it is under way, or did; NULL: nothing. NULL: for none. */
    const char *const *troubles;
    const struct blocking_budgets *blocking;       /* NULL: PodDisruptionBudgets were not looked at */
    const struct intern *strings;          /* that the pods' ids name */
    const struct rollout_plan_limits *limits;
};

/* The plan as an object; docs/upgrades.md has its members. NULL where every node runs its target. New reference. */
json_t *rollout_plan_json(const struct rollout_plan_input *in);
/* The pace as status.rollout.pace has it, and back; what is none counts as not known. */
json_t *rollout_pace_json(const struct rollout_pace pace[static TIERS]);
void rollout_pace_parse(const json_t *json, struct rollout_pace ret[static TIERS]);

#endif
