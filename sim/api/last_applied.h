/* The annotation of client-side apply, as server-side apply by kubectl takes it over: what kubectl
 * applied before it did so on the server is no conflict, and the annotation goes on saying what was
 * applied. */
#ifndef OSTLER_SIM_API_LAST_APPLIED_H
#define OSTLER_SIM_API_LAST_APPLIED_H

#include <jansson.h>

#include "sim/api/merge_type.h"

/* The fields that the live object's annotation names and that still are as it says; NULL for none,
 * or for another manager than kubectl. Owned by the caller. */
json_t *last_applied_fields(const struct merge_root *root, const json_t *live, const char *manager);
/* Where the object has the annotation and kubectl is the manager: makes it say the intent. The
 * object must not be shared. */
void last_applied_sync(json_t *object, const json_t *intent, const char *manager);

#endif
