/* Objects of a list or watch that cannot be read: whose they are, how many came, and one line in the log. */
#ifndef OSTLER_RUNTIME_UNREADABLE_H
#define OSTLER_RUNTIME_UNREADABLE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/resource.h"
#include "kube/split.h"
#include "runtime/table.h"

/* Those of one resource. All but what is counted is set by whoever owns it. */
struct unreadable {
    enum resource_id resource;
    struct table *table;           /* borrowed */
    const struct split_view *bare; /* what is read of an object of which nothing is known yet; NULL: nothing. Borrowed */
    uint64_t count;
    char *last; /* key of the last one; owned */
};

/* Takes an item of a list that cannot be read, or the beginning of one: the table keeps what it has of it. It is counted, and
 * logged unless the last one had the same key. */
void unreadable_item(struct unreadable *u, const char *text, size_t len, const struct err *why);
/* The same of the frame of a watch, as far as it can be read; new reference. `ret_keeps`: it changes nothing in the table. NULL,
 * with the error: nobody knows what it is about, so the watch has failed, and the list that follows keeps what it must. */
json_t *unreadable_frame(struct unreadable *u, const char *text, size_t len, const struct err *why, bool *ret_keeps,
                         struct err *e);
/* Frees what it owns. */
void unreadable_clear(struct unreadable *u);

#endif
