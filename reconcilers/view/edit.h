/* The edits of commands that change something: the patch and the messages about it. Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_EDIT_H
#define OSTLER_RECONCILERS_VIEW_EDIT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* An edit of one object. All owned; call edit_clear() when done. */
struct edit {
    json_t *patch; /* a JSON merge patch with uid and resourceVersion; NULL: nothing to do */
    char *said;    /* what was done, or why nothing is */
    char *undo;    /* the command that undoes it; NULL: none */
    char *warning; /* which tool will revert it; NULL: none known */
};

/* Frees its memory and empties it. */
void edit_clear(struct edit *d);

/* A patch of this version of the object that sets a member of its "labels" or "annotations"
 * (`where`); the value NULL removes it. New reference. */
json_t *edit_mark(const json_t *object, const char *where, const char *key, const char *value);

/* Sets or removes spec.rollout.paused of the policy. */
void edit_pause(const json_t *policy, struct edit *ret);
void edit_resume(const json_t *policy, struct edit *ret);
/* Sets the annotation ostler.dev/approved to the hash of the waiting plan; `hash` NULL: any
 * plan. -1 if that is not possible. */
int edit_approve(const json_t *policy, const char *hash, struct edit *ret, struct err *e);
/* Sets or removes the label ostler.dev/hold of a Node. */
void edit_hold(const json_t *node, struct edit *ret);
void edit_release(const json_t *node, struct edit *ret);

#endif
