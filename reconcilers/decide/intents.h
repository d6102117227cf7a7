/* Cache of the intent hashes of children: rendering a child costs a hundred times as much as
 * comparing its hash. It caches a pure function: everything that a rendered object depends on is in
 * its key, or clears the cache (another policy). */
#ifndef OSTLER_RECONCILERS_DECIDE_INTENTS_H
#define OSTLER_RECONCILERS_DECIDE_INTENTS_H

#include <jansson.h>

/* Zero-initialised: empty. */
struct intents {
    json_t *by_key; /* NULL: none */
};

/* The intent hash for this key; NULL: not rendered yet. Borrowed until the cache changes. */
const char *intents_get(const struct intents *m, const char *key);
/* Stores a hash; copies both texts. */
void intents_put(struct intents *m, const char *key, const char *intent);
/* Clears the cache. */
void intents_clear(struct intents *m);

#endif
