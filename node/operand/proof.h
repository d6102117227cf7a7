/* `ostler-node proof`: checks in an ordinary pod that a GPU works. */
#ifndef OSTLER_NODE_OPERAND_PROOF_H
#define OSTLER_NODE_OPERAND_PROOF_H

#include "base/err.h"
#include "node/inventory/root.h"
#include "node/inventory/text.h"

/* Runs ostler-cuda if the image has it, else the image's CUDA sample. Then writes the facts into
 * the file `words`, one "key=value" per line; missing facts are left out. -1: the check failed, or
 * there is no program; if ostler-cuda failed, `words` receives a sentence that says why. */
int proof_run(const struct root *root, const char *words, struct err *e);

/* ---- the output of nvidia-smi */

/* The first line, which is the first GPU's, trimmed. */
struct part proof_first_line(struct part text);
/* "13.0", from the full output about the driver; length 0: not given. */
struct part proof_cuda_version(struct part text);
/* "1g.10gb", from the list of devices: the profile of the first MIG device; length 0: there is
 * none. */
struct part proof_slice(struct part text);

#endif
