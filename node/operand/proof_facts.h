/* Parses the output of nvidia-smi for the GPU check. */
#ifndef OSTLER_NODE_OPERAND_PROOF_FACTS_H
#define OSTLER_NODE_OPERAND_PROOF_FACTS_H

#include "node/inventory/text.h"

/* The first line, which is the first GPU's, trimmed. */
struct part proof_first_line(struct part text);
/* "13.0", from the full output about the driver; length 0: not given. */
struct part proof_cuda_version(struct part text);
/* "1g.10gb", from the list of devices: the profile of the first MIG device; length 0: there is
 * none. */
struct part proof_slice(struct part text);

#endif
