/* What a node bears for its proof: the annotation that says what it was proven to run, the labels that say what its GPUs are, and
 * the taint that keeps a new node closed until then. All of it is written with the other marks, in one request: no node is open
 * before what opens it is written. */
#ifndef OSTLER_RECONCILERS_DECIDE_PROOF_MARKS_H
#define OSTLER_RECONCILERS_DECIDE_PROOF_MARKS_H

#include "reconcilers/decide/marks.h"
#include "reconcilers/decide/proof.h"

struct proof_marks {
    const struct proof_look *look; /* NULL: nothing could be proven in this pass */
    bool changing;                 /* what the node runs is being changed: what it was proven to run counts no more */
    json_t *features;              /* for struct marks; owned */
};

/* Adds to the marks that are wanted, which hold the assignment already. */
void proof_marks_add(const struct node_input *in, struct arena *a, struct proof_marks *o, struct marks *wanted);
/* Frees what it owns. */
void proof_marks_clear(struct proof_marks *o);
/* A new node has been closed for longer than the policy says. Asks to be called again when that is so. */
bool startup_taint_is_overdue(const struct node_input *in, struct actions *actions);

/* Why a new node bears no startup taint though the policy wants one, and what to do about it; NULL: it bears one, or needs none.
 * From the arena. */
const char *startup_taint_missing_why(const struct node_input *in, struct arena *a);

#endif
