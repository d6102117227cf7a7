/* What an update and an apply have in common in keeping managedFields; for managed.c and apply.c.
 */
#ifndef OSTLER_SIM_API_TRACKING_H
#define OSTLER_SIM_API_TRACKING_H

#include <jansson.h>

#include "sim/api/field_diff.h"
#include "sim/api/managed.h"
#include "sim/api/managers.h"
#include "sim/api/merge_type.h"

/* The object's managedFields, or NULL. Borrowed. */
const json_t *tracking_entries(const json_t *object);
/* Fields that nobody comes to own by a write of this kind, since the write does not set them.
 * NULL-terminated. */
const char *const *tracking_resets(const struct merge_root *root, const char *subresource);
/* After a change that is no apply: what it set is the writer's, and what it set or removed nobody
 * else's. */
void tracking_note(struct managers *m, const struct field_diff *change,
                   const struct managed_writer *w);
/* Writes the entries into the object, whose metadata must not be shared. */
void tracking_write(json_t *object, struct managers *m);

#endif
