/* What a pass over a node does about pods that fail there at once (black_hole.h): its validation is
 * void, and a CUDA program must run again. */
#ifndef OSTLER_RECONCILERS_DECIDE_DOUBT_H
#define OSTLER_RECONCILERS_DECIDE_DOUBT_H

#include "reconcilers/decide/proof.h"

/* Whether the working pods of the node show nothing: only a program that runs now does. */
bool doubt_exists(const struct node_input *in);
/* Whether the validation that the node has must be written as void in this pass. `ret` is then a
 * look that waits. */
bool doubt_voids(const struct node_pass *p, const struct proof_case *c, struct proof_look *ret);
/* Notes in the verdict what the pass did; `look` is what came of it. */
void doubt_note(const struct node_pass *p, const struct proof_look *look);

#endif
