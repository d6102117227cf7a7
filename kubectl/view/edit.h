/* What a command that changes something does: the patch, and the sentences about it. Pure. */
#ifndef OSTLER_KUBECTL_VIEW_EDIT_H
#define OSTLER_KUBECTL_VIEW_EDIT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* What is to be done to one object. All owned; deed_clear() when done. */
struct edit {
    json_t *patch; /* a JSON merge patch that names uid and resourceVersion; NULL: there is nothing to do */
    char *said;    /* what was done, or why nothing is to be */
    char *undo;    /* the command that takes it back; NULL: nothing to take back */
    char *warning; /* who will put it back; NULL: nobody is known to */
};

/* Frees what it owns; it is empty afterwards. */
void edit_clear(struct edit *d);

/* spec.rollout.paused of the policy, set or taken off. */
void edit_pause(const json_t *policy, struct edit *ret);
void edit_resume(const json_t *policy, struct edit *ret);
/* The annotation ostler.dev/approved: the hash of the plan that waits; `hash` NULL: whatever plan there is. -1 where that makes
 * no sense. */
int edit_approve(const json_t *policy, const char *hash, struct edit *ret, struct err *e);
/* The label ostler.dev/hold of a Node. */
void edit_hold(const json_t *node, struct edit *ret);
void edit_release(const json_t *node, struct edit *ret);

#endif
