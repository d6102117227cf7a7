/* Unreadable objects in a list or watch: identifies, counts and logs them. */
#ifndef OSTLER_RUNTIME_UNREADABLE_H
#define OSTLER_RUNTIME_UNREADABLE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/resource.h"
#include "kube/split.h"
#include "runtime/table.h"

/* Those of one resource. The owner sets all members except the counters. */
struct unreadable {
    enum resource_id resource;
    struct table *table;           /* borrowed */
    const struct split_view *bare; /* What to read of an unknown object; NULL: nothing. Borrowed. */
    uint64_t count;
    char *last; /* key of the last one; owned */
};

/* Takes an unreadable list item, or its beginning: the table keeps its record. Counts it, and
 * logs it unless the last one had the same key. */
void unreadable_item(struct unreadable *u, const char *text, size_t len, const struct err *why);
/* The same for a frame of a watch, as far as it is readable; new reference. `ret_keeps`: the
 * table stays unchanged. NULL with the error: the object is unknown, so the watch has failed,
 * and the next list keeps the records that it must. */
json_t *unreadable_frame(struct unreadable *u, const char *text, size_t len, const struct err *why,
                         bool *ret_keeps, struct err *e);
/* Frees its memory. */
void unreadable_clear(struct unreadable *u);

#endif
