/* The part of JSONPath that printer columns are written in. */
#ifndef OSTLER_SIM_API_PICK_H
#define OSTLER_SIM_API_PICK_H

#include <jansson.h>

/* The first value at a path such as `.status.nodes`, `.spec.pools[0]['a.b']` or
 * `.status.conditions[?(@.type=="Ready")].status`; NULL where there is none, or where the path is
 * of another form. Borrowed. */
const json_t *pick(const json_t *root, const char *path);

#endif
