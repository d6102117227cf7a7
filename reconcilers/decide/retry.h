/* The annotation on the policy by which a person asks for another try of a revision that failed. Its value is the revision's
 * hash, or that with a number, "twfs0h0r29.2": each value is answered once, so that one which stays there, as in Git, asks for
 * nothing more. Records keep what was answered for a pool as "<time> <value>"; a time alone stands for the hash. */
#ifndef OSTLER_RECONCILERS_DECIDE_RETRY_H
#define OSTLER_RECONCILERS_DECIDE_RETRY_H

#include "base/arena.h"
#include "reconcilers/decide/cluster_view.h"

/* Whether a value of the annotation asks for the revision. NULL asks for none. */
bool retry_asks(const char *value, const char *hash);
/* Whether this value, or any where it is NULL, was answered for some pool, as the annotations of its record say; NULL: there is
 * no record. */
bool retry_was_answered(const json_t *annotations, const char *hash, const char *value);
/* The value that has the revision tried again now: one that was not answered yet. From the arena. */
const char *retry_value(const json_t *annotations, const char *hash, struct arena *a);
/* When a wish was last answered for the pool, in seconds of the epoch; 0: none was. */
int64_t retry_answered_s(const struct child *record, const char *pool);
/* What is wrong with what the policy's annotation says, and what it takes. From the arena; NULL: nothing is wrong, or there
 * is none. */
const char *retry_problem(const struct cluster_view *v, struct arena *a);

#endif
