/* The first action to take for a reason, from the table of reasons. docs/reasons.md and
 * docs/upgrades.md say more. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_ADVICE_H
#define OSTLER_RECONCILERS_VIEW_ADVICE_H

#include <stdbool.h>

#include "reconcilers/model/reason.h"

/* The reason of a word; a numbered fault, such as Xid79, counts as one of its kind. */
enum reason advice_reason(const char *word);
/* For a node's state and reason; it may name the node. Owned by the caller. */
char *advice_of_node(const char *node, const char *state, enum reason reason);
/* For a rollout's blocking condition; NULL: no action needed. `plan` is the plan's hash. Owned
 * by the caller. */
char *advice_of_rollout(enum reason reason, const char *plan);
/* Whether a node in this state for so long needs an admin; -1 seconds: unknown. An Unhealthy node
 * does where health_needs_person() says so. */
bool advice_is_stuck(const char *state, enum reason reason, long long seconds);

#endif
