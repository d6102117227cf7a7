/* metadata.managedFields (FieldsV1), updated by every write, and server-side apply. Pure. */
#ifndef OSTLER_SIM_API_MANAGED_H
#define OSTLER_SIM_API_MANAGED_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/managers.h"
#include "sim/api/refusal.h"

/* Sets the managedFields of `after` for an update or a patch (`before` NULL: a create): the writer
 * takes over all changed fields. Unchanged entries keep their time. `after` must not be shared. */
void managed_update(const json_t *before, json_t *after, const struct managed_writer *w);

/* Whether two objects differ at most in the times of managedFields; such a write is not committed.
 * Call it after the server has filled in and reset its fields. */
bool managed_is_same(const json_t *before, const json_t *after);

/* Server-side apply of `intent` to `live` (NULL: creates the object). Removes fields that this
 * manager applied before and leaves out now, unless others own them, too. The result has
 * managedFields, shares unchanged parts, and keeps nulls of the intent. New reference. NULL and a
 * refusal: 409 with one cause for each conflict, 400 or 500 if the intent cannot be merged. */
json_t *managed_apply(const json_t *live, const json_t *intent, const struct managed_writer *w,
                      bool force, struct refusal *r);

#endif
