/* The annotation of client-side apply, which server-side apply by kubectl takes over: earlier
 * fields of kubectl are no conflict, and the annotation stays up to date. */
#ifndef OSTLER_SIM_API_LAST_APPLIED_H
#define OSTLER_SIM_API_LAST_APPLIED_H

#include <jansson.h>

#include "sim/api/merge_type.h"

/* The fields that the live object's annotation names and that still have its values; NULL if there
 * are none or the manager is not kubectl. Owned by the caller. */
json_t *last_applied_fields(const struct merge_root *root, const json_t *live, const char *manager);
/* Writes the intent into the annotation if the object has it and the manager is kubectl. The object
 * must not be shared. */
void last_applied_sync(json_t *object, const json_t *intent, const char *manager);

#endif
