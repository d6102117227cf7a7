/* The plan of a rollout as JSON: for `ostler plan`, and a short form for the policy's status. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_PLAN_JSON_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_PLAN_JSON_H

#include "reconcilers/decide/drain.h"
#include "reconcilers/decide/blocking_budgets.h"
#include "reconcilers/decide/rollout_simulate.h"

/* Maximum entries in the JSON; the rest is only counted. */
struct rollout_plan_limits {
    size_t waves, names, blockers, pods; /* waves; nodes of one entry; blockers; pods of one node */
    bool moves; /* list each node that goes with its pods, and nodes that users exclude */
};

/* Limits for the status, and for `ostler plan`. */
extern const struct rollout_plan_limits rollout_plan_for_status, rollout_plan_in_full;

struct rollout_plan_input {
    const struct rollout_input *rollout;
    const struct rollout_simulation *simulation;
    const struct rollout_pace *pace; /* for each tier */
    const struct drain *drains;      /* for each node of the rollout, if drained now */
    /* For each node of the rollout: its problem while under way; NULL: none. NULL: no problems
     * known. */
    const char *const *troubles;
    const struct blocking_budgets *blocking; /* NULL: PodDisruptionBudgets were not read */
    const struct intern *strings;            /* string table of the pods' ids */
    const struct rollout_plan_limits *limits;
};

/* The plan as an object; docs/upgrades.md has its members. NULL if every node runs its target. New
 * reference. */
json_t *rollout_plan_json(const struct rollout_plan_input *in);
/* Writes and reads the pace in status.rollout.pace; invalid values count as not known. */
json_t *rollout_pace_json(const struct rollout_pace pace[static TIERS]);
void rollout_pace_parse(const json_t *json, struct rollout_pace ret[static TIERS]);

#endif
