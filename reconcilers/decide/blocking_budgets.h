/* PodDisruptionBudgets that allow no disruption now, and the pods whose eviction they would
 * refuse. */
#ifndef OSTLER_RECONCILERS_DECIDE_BLOCKING_BUDGETS_H
#define OSTLER_RECONCILERS_DECIDE_BLOCKING_BUDGETS_H

#include "reconcilers/model/pod.h"

struct blocking_budget;

/* Zero-initialised: none refuses an eviction. */
struct blocking_budgets {
    struct blocking_budget *budgets;
    size_t count;
};

/* Finds these budgets among `objects`, the values of a map, which are borrowed. */
void blocking_budgets_make(const json_t *objects, struct blocking_budgets *ret);
/* The budget that would refuse the pod's eviction, "namespace/name"; NULL: none. Borrowed. */
const char *blocking_budget_of(const struct blocking_budgets *r, const struct intern *strings,
                               const struct pod *p);
/* Frees what it owns, not the objects, and makes it empty. */
void blocking_budgets_clear(struct blocking_budgets *r);

#endif
