/* `ostler-node proof`: checks in an ordinary pod that a GPU works. */
#ifndef OSTLER_NODE_OPERAND_PROOF_H
#define OSTLER_NODE_OPERAND_PROOF_H

#include "base/err.h"
#include "node/inventory/root.h"

/* Runs ostler-cuda if the image has it, else the image's CUDA sample. Then writes the facts into
 * the file `words`, one "key=value" per line; missing facts are left out. -1: the check failed, or
 * there is no program; if ostler-cuda failed, `words` receives a sentence that says why. */
int proof_run(const struct root *root, const char *words, struct err *e);

#endif
