/* Which fields a change sets and which it removes, as sets of FieldsV1. It skips subtrees that both
 * objects share. */
#ifndef OSTLER_SIM_API_FIELD_DIFF_H
#define OSTLER_SIM_API_FIELD_DIFF_H

#include <jansson.h>

#include "sim/api/merge_type.h"

/* Both sets are owned, and not shared. */
struct field_diff {
    json_t *set;  /* new or with another value */
    json_t *gone; /* no longer there */
};

/* From `before` (NULL: there was no object) to `after`. */
void field_diff(const struct merge_root *root, const json_t *before, const json_t *after,
                struct field_diff *ret);
/* Removes these paths ("spec", "metadata.labels") and all below them from both sets;
 * NULL-terminated. */
void field_diff_leave_out(struct field_diff *d, const char *const *paths);
/* Frees both sets. */
void field_diff_clear(struct field_diff *d);
#define CLEANUP_DIFF CLEANUP(field_diff_clear)

#endif
