/* What Ostler would do under a policy that is not on the API server yet: runs all passes and sends
 * nothing. */
#ifndef OSTLER_RECONCILERS_DRY_RUN_H
#define OSTLER_RECONCILERS_DRY_RUN_H

#include "reconcilers/decide/rollout_plan_json.h"
#include "reconcilers/reconcilers.h"

struct dry_run {
    json_t *plan;    /* as from rollout_plan_json(); NULL: no node must be upgraded */
    json_t *failed;  /* wanted revisions that failed, as in docs/upgrades.md: no node gets them */
    json_t *first;   /* names of nodes without a stack of Ostler's that get one at once */
    json_t *repairs; /* of GPUs, those under way too: repair_plan_json() of each node */
    json_t *not_served; /* GPU nodes that Ostler does not serve, and why: "name: sentence" */
    size_t no_gpu; /* nodes that show no GPU, and whose agent has not said that there is none */
};

/* The object that results from applying `wanted` to `server`, the current object (NULL: none). New
 * reference. */
json_t *dry_run_object(const json_t *server, const json_t *wanted);
/* `c` has its lists and has taken `policy` after them. Returns -1 if the policy is invalid. */
int dry_run(struct cluster *c, const json_t *policy, const struct blocking_budgets *blocking,
            struct dry_run *ret, struct err *e);
/* As `ostler plan -o json` prints it. New reference. */
json_t *dry_run_json(const struct dry_run *p);
/* Frees what it owns and makes it empty. */
void dry_run_clear(struct dry_run *p);

#endif
