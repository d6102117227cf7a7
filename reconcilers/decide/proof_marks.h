/* What a node has on it for its validation: the annotation with the result, the GPU feature labels,
 * and the startup taint that keeps a new node closed. Ostler writes them with the other labels and
 * taints in one request. So no node opens before its result is written. */
#ifndef OSTLER_RECONCILERS_DECIDE_PROOF_MARKS_H
#define OSTLER_RECONCILERS_DECIDE_PROOF_MARKS_H

#include "reconcilers/decide/marks.h"
#include "reconcilers/decide/proof.h"

struct proof_marks {
    const struct proof_look *look; /* NULL: this pass could not validate anything */
    bool changing;    /* the node's software is being changed, so the old validation is void */
    json_t *features; /* for struct marks; owned */
};

/* Adds them to `wanted`, which holds the assignment already. */
void proof_marks_add(const struct node_pass *p, struct proof_marks *o, struct marks *wanted);
/* Frees what it owns. */
void proof_marks_clear(struct proof_marks *o);
/* Whether a new node has been closed for longer than the policy allows. Requests a requeue for that
 * time. */
bool startup_taint_is_overdue(const struct node_pass *p);
/* Why a new node lacks the startup taint that the policy wants, and what to do; NULL: it has the
 * taint, or needs none. From the arena. */
const char *startup_taint_missing_why(const struct node_pass *p);

#endif
