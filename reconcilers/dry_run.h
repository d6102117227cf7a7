/* What Ostler would do under a policy that is not on the server, or not yet: the passes over the policy and all nodes are made as
 * ever, and nothing that they want to send is sent. */
#ifndef OSTLER_RECONCILERS_DRY_RUN_H
#define OSTLER_RECONCILERS_DRY_RUN_H

#include "reconcilers/decide/rollout_plan_json.h"
#include "reconcilers/reconcilers.h"

struct dry_run {
    json_t *plan;       /* as rollout_plan_json() has it; NULL: no node has to be upgraded */
    json_t *failed;     /* revisions that the policy wants and that have failed, as docs/upgrades.md has them: nobody gets them */
    json_t *first;      /* names of nodes that have no stack of Ostler's yet and get one at once */
    json_t *not_served; /* names of nodes with a GPU that Ostler does not serve, with the reason, as "name: sentence" */
};

/* The object as the server would have it, were `wanted` applied: `server` is what it has now; NULL: there is none.
 * New reference. */
json_t *dry_run_object(const json_t *server, const json_t *wanted);
/* `c` is filled and its lists have come; it has taken `policy` afterwards, and what follows on it. -1 where the policy is not
 * valid. */
int dry_run(struct cluster *c, const json_t *policy, const struct blocking_budgets *blocking, struct dry_run *ret, struct err *e);
/* As `ostler plan -o json` prints it. New reference. */
json_t *dry_run_json(const struct dry_run *p);
/* Frees what it owns; it is empty afterwards. */
void dry_run_clear(struct dry_run *p);

#endif
