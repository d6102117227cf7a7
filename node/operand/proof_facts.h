/* What nvidia-smi says, for the proof that a GPU works: texts of a program of NVIDIA's in a container, taken apart. */
#ifndef OSTLER_NODE_OPERAND_PROOF_FACTS_H
#define OSTLER_NODE_OPERAND_PROOF_FACTS_H

#include "node/inventory/text.h"

/* The first line, of several GPUs: that of the first; without white space at its ends. */
struct part proof_first_line(struct part text);
/* "13.0", of all that it says of the driver; of length 0: it does not say. */
struct part proof_cuda_version(struct part text);
/* "1g.10gb", of the list of devices: the profile of the first slice; of length 0: there is none. */
struct part proof_slice(struct part text);

#endif
