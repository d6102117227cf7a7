/* What children should be like, as remembered: to render one costs a hundred times as much as to compare the hash of what it
 * would be with what is there. A memo of a pure function: everything that a rendered object depends on is in its key, or makes
 * the memo be cleared (another policy). */
#ifndef OSTLER_RECONCILERS_DECIDE_INTENTS_H
#define OSTLER_RECONCILERS_DECIDE_INTENTS_H

#include "base/map.h"

/* Zero-initialised = empty. */
struct intents {
    struct map by_key;
};

/* The intent's hash of the object of this key, or NULL when it was not rendered yet. Borrowed until the memo changes. */
const char *intents_get(const struct intents *m, const char *key);
/* Remembers one; both are copied. */
void intents_put(struct intents *m, const char *key, const char *intent);
/* Forgets all. */
void intents_clear(struct intents *m);

#endif
