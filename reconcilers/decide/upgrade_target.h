/* What one node is to run in the end: not always what the policy says. */
#ifndef OSTLER_RECONCILERS_DECIDE_UPGRADE_TARGET_H
#define OSTLER_RECONCILERS_DECIDE_UPGRADE_TARGET_H

#include "reconcilers/decide/node_plan.h"

/* What the node is to run in the end: `wish`, which is what the policy says, or what is known good, where that failed, was given
 * up on this node, or is not yet tried out and the node is new. */
const struct target *upgrade_target(const struct node_input *in, const struct target *wish);
/* A target as the annotation ostler.dev/gave-up names it. Owned by the caller. */
char *upgrade_target_text(struct assignment_ref target);
/* Whether that annotation's text, which may be NULL, names this target. */
bool upgrade_names(const char *text, struct assignment_ref target);
/* Whether a person gave up on this target here. */
bool upgrade_given_up(const struct node_input *in, const struct target *t);
/* Somebody took the claim off the node, and has said so with that. */
bool upgrade_claim_taken(const struct node_input *in);

#endif
