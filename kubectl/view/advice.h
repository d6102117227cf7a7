/* What to do first for a reason, from the table of reasons. docs/operations.md and docs/upgrades.md
 * say more of each. Pure. */
#ifndef OSTLER_KUBECTL_VIEW_ADVICE_H
#define OSTLER_KUBECTL_VIEW_ADVICE_H

#include <stdbool.h>

#include "reconcilers/model/reason.h"

/* For a node in a state, for a reason; it may name the node. Owned by the caller. */
char *advice_of_node(const char *node, const char *state, enum reason reason);
/* For what keeps a rollout; NULL: there is nothing to do. `plan` is the hash of its plan. Owned by the caller. */
char *advice_of_rollout(enum reason reason, const char *plan);
/* Whether a node in this state for so long is in need of somebody; -1 seconds: it is not known how long. */
bool advice_is_stuck(const char *state, enum reason reason, long long seconds);

#endif
