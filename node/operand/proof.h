/* `ostler-node proof`: shows in a pod like anybody's that a GPU works. */
#ifndef OSTLER_NODE_OPERAND_PROOF_H
#define OSTLER_NODE_OPERAND_PROOF_H

#include "base/err.h"
#include "node/look/root.h"

/* Runs the CUDA sample of the image, then leaves in `words` what there is, a line "key=value" for each fact. What cannot be found
 * out is left out, and no failure. -1: the sample fails, or there is none. */
int proof_run(const struct root *root, const char *words, struct err *e);

#endif
