/* What a pass over a node does about pods that fail there at once (black_hole.h): its validation is
 * void, and a CUDA program must run again. */
#ifndef OSTLER_RECONCILERS_DECIDE_DOUBT_H
#define OSTLER_RECONCILERS_DECIDE_DOUBT_H

#include "reconcilers/decide/proof.h"

/* Looks at the validation of an unclaimed node, as proof_look() does. Where pods fail, its present
 * validation becomes void, and that all GPUs are in use shows nothing: only a program that runs
 * does. Notes in the verdict what the pass did. */
void doubt_look(const struct node_pass *p, struct proof_case *c, struct proof_look *ret);

#endif
