/* PodDisruptionBudgets that let no pod go at the moment: whom an eviction would be refused for. */
#ifndef OSTLER_RECONCILERS_DECIDE_REFUSING_H
#define OSTLER_RECONCILERS_DECIDE_REFUSING_H

#include "reconcilers/model/pod.h"

struct refusing_budget;

/* Zero-initialised = none refuses anything. */
struct refusing {
    struct refusing_budget *budgets;
    size_t count;
};

/* The budgets among these objects, the values of a map, which are borrowed for as long. */
void refusing_make(const json_t *objects, struct refusing *ret);
/* The budget that would refuse the pod's eviction, "namespace/name"; NULL: none would. Borrowed. */
const char *refusing_budget_of(const struct refusing *r, const struct intern *strings, const struct pod *p);
/* Frees what it owns, not the objects; none refuses anything afterwards. */
void refusing_clear(struct refusing *r);

#endif
