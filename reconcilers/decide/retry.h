/* The policy annotation by which a user retries a failed revision. Its value is the revision's
 * hash, optionally with a number: "twfs0h0r29.2". Each value works once, so a value that stays, as
 * in Git, causes no further retry. Records keep the handled value for each pool as "<time>
 * <value>"; a time alone stands for the hash. */
#ifndef OSTLER_RECONCILERS_DECIDE_RETRY_H
#define OSTLER_RECONCILERS_DECIDE_RETRY_H

#include "base/arena.h"
#include "reconcilers/decide/cluster_view.h"

/* Whether an annotation value asks for the revision. NULL asks for none. */
bool retry_asks(const char *value, const char *hash);
/* Whether this value, or any value if NULL, was handled for a pool, by the annotations of the
 * revision's record; NULL: no record. */
bool retry_was_answered(const json_t *annotations, const char *hash, const char *value);
/* The value that retries the revision now: one that was not handled yet. From the arena. */
const char *retry_value(const json_t *annotations, const char *hash, struct arena *a);
/* When a retry was last handled for the pool, epoch seconds; 0: never. */
int64_t retry_answered_s(const struct child *record, const char *pool);
/* What is wrong with the policy's annotation, and what to use instead. From the arena; NULL: it is
 * valid or absent. */
const char *retry_problem(const struct cluster_view *v, struct arena *a);

#endif
