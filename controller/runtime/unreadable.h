/* Objects of a list or watch that cannot be read: whose they are, how many came, and one line in the log. */
#ifndef OSTLER_RUNTIME_UNREADABLE_H
#define OSTLER_RUNTIME_UNREADABLE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/resource.h"

/* Zero-initialised = none came. */
struct unreadable {
    uint64_t count;
    char *last; /* key of the last one; owned */
};

/* The type of a frame, and names, uid and version of the object, where the rest cannot be read; NULL: these cannot be read
 * either. New reference. */
json_t *unreadable_identity(const char *text, size_t len);
/* Counts an object, and logs it unless the last one had the same key. `key`: as record_key(); "": nobody knows whose it is. */
void unreadable_note(struct unreadable *u, enum resource_id resource, const char *key, const struct err *why);
/* Frees what it owns. */
void unreadable_clear(struct unreadable *u);

#endif
