/* Prints a plan as text. */
#ifndef OSTLER_PLAN_PRINT_H
#define OSTLER_PLAN_PRINT_H

#include <jansson.h>

/* Prints the result of dry_run_json() on stdout. */
void plan_print(const json_t *plan);

#endif
