/* A plan as people read it. */
#ifndef OSTLER_PLAN_PRINT_H
#define OSTLER_PLAN_PRINT_H

#include <jansson.h>

/* Prints, on standard output, what dry_run_json() gave. */
void plan_print(const json_t *plan);

#endif
