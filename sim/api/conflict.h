/* Conflicts of server-side apply: fields that an apply changes and another manager owns. */
#ifndef OSTLER_SIM_API_CONFLICT_H
#define OSTLER_SIM_API_CONFLICT_H

#include <jansson.h>

#include "sim/api/managers.h"
#include "sim/api/refusal.h"

/* 0, or -1 and 409 with a cause for each field of `changed` that another manager than `own` owns,
 * except those in `allowed`. */
int conflict_check(const struct managers *m, const struct manager *own, const json_t *changed,
                   const json_t *allowed, struct refusal *r);

#endif
