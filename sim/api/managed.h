/* Who set what: metadata.managedFields (FieldsV1), kept for every write, and server-side apply on
 * top of it. Pure. */
#ifndef OSTLER_SIM_API_MANAGED_H
#define OSTLER_SIM_API_MANAGED_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/merge_type.h"
#include "sim/api/refusal.h"

/* Who writes, and how. */
struct managed_writer {
    const char *manager;           /* fieldManager, or the first part of the User-Agent */
    const char *api_version;       /* of the request */
    const char *subresource;       /* "" or "status" */
    const char *time;              /* RFC 3339 */
    const struct merge_root *root; /* how the kind merges */
};

/* After an update or a patch (before: NULL at a create): sets `after`'s managedFields; fields that
 * changed belong to the writer, also where others had them. `after` must not be shared. Entries
 * stay as they were (time included) where nothing changed. */
void managed_update(const json_t *before, json_t *after, const struct managed_writer *w);

/* Whether two objects are equal but for the times in managedFields: a write that leaves no more
 * than this is none, and is not committed. To be asked when all that the server fills in and resets
 * is done. */
bool managed_is_same(const json_t *before, const json_t *after);

/* Server-side apply of `intent` on `live` (NULL: the object is made). The result, with
 * managedFields, as a new reference; it shares what did not change, and where the intent says null
 * there is null. NULL and a refusal: 409 with one cause for each conflict, 400 or 500 where the
 * intent cannot be merged. Fields that this manager applied before and leaves out now are removed
 * unless others own them too. */
json_t *managed_apply(const json_t *live, const json_t *intent, const struct managed_writer *w,
                      bool force, struct refusal *r);

#endif
