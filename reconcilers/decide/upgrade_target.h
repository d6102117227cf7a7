/* Decides what one node runs in the end, which is not always what the policy asks for. */
#ifndef OSTLER_RECONCILERS_DECIDE_UPGRADE_TARGET_H
#define OSTLER_RECONCILERS_DECIDE_UPGRADE_TARGET_H

#include "reconcilers/decide/node_types.h"

/* The target of the node: `wish`, which is what the policy asks for, or a known good one. The
 * latter if the wish failed, a user gave it up here, or it is untested and the node is new. */
const struct target *upgrade_target(const struct node_input *in,
                                    const struct target *policy_target);
/* A target as text for the annotation ostler.dev/gave-up. From the arena. */
const char *upgrade_target_text(struct arena *a, const struct target *t);
/* Whether the text of that annotation, which may be NULL, names this target. */
bool upgrade_names(const char *text, struct assignment_ref target);
/* Whether a user gave up on this target here. */
bool upgrade_given_up(const struct node_input *in, const struct target *t);
/* Whether a user removed the claim, which means that the user gave up. */
bool upgrade_claim_taken(const struct node_input *in);

#endif
