/* PodDisruptionBudgets that let no pod go at the moment: whom an eviction would be refused for. */
#ifndef OSTLER_RECONCILERS_DECIDE_BLOCKING_BUDGETS_H
#define OSTLER_RECONCILERS_DECIDE_BLOCKING_BUDGETS_H

#include "reconcilers/model/pod.h"

struct blocking_budget;

/* Zero-initialised = none refuses anything. */
struct blocking_budgets {
    struct blocking_budget *budgets;
    size_t count;
};

/* The budgets among these objects, the values of a map, which are borrowed for as long. */
void blocking_budgets_make(const json_t *objects, struct blocking_budgets *ret);
/* The budget that would refuse the pod's eviction, "namespace/name"; NULL: none would. Borrowed. */
const char *blocking_budget_of(const struct blocking_budgets *r, const struct intern *strings, const struct pod *p);
/* Frees what it owns, not the objects; none refuses anything afterwards. */
void blocking_budgets_clear(struct blocking_budgets *r);

#endif
