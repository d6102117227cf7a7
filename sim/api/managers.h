/* The entries of metadata.managedFields: who owns which fields. */
#ifndef OSTLER_SIM_API_MANAGERS_H
#define OSTLER_SIM_API_MANAGERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/api/field_diff.h"

struct managed_writer;

/* One entry. The texts are borrowed from the object that it was read from, or from the writer. */
struct manager {
    const char *name;
    const char *operation; /* "Apply" or "Update" */
    const char *api_version;
    const char *subresource; /* "" or "status" */
    const char *time;        /* "" when it has none */
    json_t *fields;          /* owned set; NULL: the entry goes */
    /* owned; what was read, as long as nothing of it has changed; else NULL */
    json_t *entry;
};

/* Zero-initialised = none. */
struct managers {
    struct manager *items;
    size_t len;
};

/* Reads an array of managedFields, which must outlive the result. False, and nothing read, where
 * one of its entries is none. */
bool managers_read(struct managers *m, const json_t *managed_fields);
/* Frees the entries; there are none afterwards. */
void managers_clear(struct managers *m);
#define CLEANUP_MANAGERS CLEANUP(managers_clear)

/* The entry of a writer; NULL when there is none. `operation` is "Apply" or "Update". */
struct manager *managers_find(const struct managers *m, const struct managed_writer *w,
                              const char *operation);
/* The same, added without fields when there is none. */
struct manager *managers_get(struct managers *m, const struct managed_writer *w,
                             const char *operation);
/* Sets what an entry owns. Steals `fields`, NULL for nothing. */
void manager_own(struct manager *m, json_t *fields_steal);
/* Sets when it was written. */
void manager_touch(struct manager *m, const char *time);
/* Takes from everybody but `but` (NULL: from all) what a change sets or removes. */
void managers_yield(struct managers *m, const struct field_diff *change, const struct manager *but);
/* Puts the oldest Update entries together until there are no more than the API server keeps. */
void managers_cap(struct managers *m);
/* The managedFields in the order of the API server, without entries that own nothing; NULL when
 * there are none. New reference. */
json_t *managers_write(struct managers *m);

#endif
