/* `ostler-node proof`: shows in a pod like anybody's that a GPU works. */
#ifndef OSTLER_NODE_OPERAND_PROOF_H
#define OSTLER_NODE_OPERAND_PROOF_H

#include "base/err.h"
#include "node/inventory/root.h"

/* Runs Ostler's program that computes on GPUs, where the image has it, else the CUDA sample of the image; then leaves in `words`
 * what there is, a line "key=value" for each fact. What cannot be found out is left out, and no failure. -1: it fails, or
 * there is none; of Ostler's own a sentence is left in `words` that says why. */
int proof_run(const struct root *root, const char *words, struct err *e);

#endif
