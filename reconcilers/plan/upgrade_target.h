/* What one node is to run in the end: not always what the policy says. */
#ifndef OSTLER_RECONCILERS_PLAN_UPGRADE_TARGET_H
#define OSTLER_RECONCILERS_PLAN_UPGRADE_TARGET_H

#include "reconcilers/plan/node_plan.h"

/* What the node is to run in the end: `wish`, which is what the policy says, or what is known good, where that failed, was given
 * up on this node, or is not yet tried out and the node is new. */
const struct target *upgrade_target(const struct node_input *in, const struct target *wish);
/* A target as the annotation ostler.dev/gave-up names it. */
const char *upgrade_pair(struct arena *a, const struct target *t);
/* Whether that annotation's text, which may be NULL, names these two. */
bool upgrade_is_pair(const char *text, const char *driver, const char *stack);
/* Whether a person gave up on this target here. */
bool upgrade_given_up(const struct node_input *in, const struct target *t);
/* Somebody took the claim off the node, and has said so with that. */
bool upgrade_claim_taken(const struct node_input *in);

#endif
