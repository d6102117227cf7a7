/* Prints a plan as text. */
#ifndef OSTLER_PLAN_PRINT_H
#define OSTLER_PLAN_PRINT_H

#include <jansson.h>

/* Prints the result of dry_run_json() on stdout. */
void plan_print(const json_t *plan);
/* Prints of that what is in no plan: nodes that get their first stack, GPU nodes that Ostler does
 * not serve, and how many show no GPU. */
void plan_print_others(const json_t *whole);

#endif
