/* How the values of a custom kind merge, as the schema of its CustomResourceDefinition says. */
#ifndef OSTLER_SIM_API_MERGE_SCHEMA_H
#define OSTLER_SIM_API_MERGE_SCHEMA_H

#include <jansson.h>

#include "sim/api/merge_type.h"

/* From one version of a definition: its schema, and whether it has a status of its own. Shares the
 * texts of `version`, which must stay as it is. Owned by the caller. */
struct merge_root *merge_schema_new(const json_t *version);
/* Frees it. NULL is none. */
void merge_schema_free(struct merge_root *root);

#endif
