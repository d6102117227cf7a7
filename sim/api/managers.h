/* The entries of metadata.managedFields, which say who owns which fields. */
#ifndef OSTLER_SIM_API_MANAGERS_H
#define OSTLER_SIM_API_MANAGERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/api/field_diff.h"

/* Who writes, and how. */
struct managed_writer {
    const char *manager;           /* fieldManager, or the first part of the User-Agent */
    const char *api_version;       /* of the request */
    const char *subresource;       /* "" or "status" */
    const char *time;              /* RFC 3339 */
    const struct merge_root *root; /* how the kind merges */
};

/* One entry. The texts are borrowed from the object that it was read from, or from the writer. */
struct manager {
    const char *name;
    const char *operation; /* "Apply" or "Update" */
    const char *api_version;
    const char *subresource; /* "" or "status" */
    const char *time;        /* "" when it has none */
    json_t *fields;          /* owned set; NULL: the entry is dropped */
    json_t *entry;           /* owned; the original JSON while nothing has changed; else NULL */
};

/* Zero-initialised = none. */
struct managers {
    struct manager *items;
    size_t len;
};

/* Reads an array of managedFields, which must outlive the result. False, and nothing read, if an
 * entry is invalid. */
bool managers_read(struct managers *m, const json_t *managed_fields);
/* Frees the entries; there are none afterwards. */
void managers_clear(struct managers *m);
#define CLEANUP_MANAGERS CLEANUP(managers_clear)

/* The entry of a writer; NULL if there is none. `operation` is "Apply" or "Update". */
struct manager *managers_find(const struct managers *m, const struct managed_writer *w,
                              const char *operation);
/* The same; adds an entry without fields if there is none. */
struct manager *managers_get(struct managers *m, const struct managed_writer *w,
                             const char *operation);
/* Sets what an entry owns. Steals `fields`, NULL for nothing. */
void manager_own(struct manager *m, json_t *fields_steal);
/* Sets when it was written. */
void manager_touch(struct manager *m, const char *time);
/* Removes the fields that a change sets or removes from all entries except `but` (NULL: from all).
 */
void managers_yield(struct managers *m, const struct field_diff *change, const struct manager *but);

/* ---- managedFields of an object */

/* The object's managedFields, or NULL. Borrowed. */
const json_t *tracking_entries(const json_t *object);
/* Fields that a write of this kind does not set, so that it owns none of them. NULL-terminated. */
const char *const *tracking_resets(const struct merge_root *root, const char *subresource);
/* From `before` to `after`, without those fields. */
void tracking_diff(const struct managed_writer *w, const json_t *before, const json_t *after,
                   struct field_diff *ret);
/* After a change that is not an apply: the writer owns what it set, and no other writer owns what
 * it set or removed. */
void tracking_note(struct managers *m, const struct field_diff *change,
                   const struct managed_writer *w);
/* Writes the entries into the object, whose metadata must not be shared. */
void tracking_write(json_t *object, struct managers *m);

#endif
