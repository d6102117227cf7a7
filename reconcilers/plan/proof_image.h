/* The image of a proof: the policy's, or a CUDA sample that the node's driver can run. */
#ifndef OSTLER_RECONCILERS_PLAN_PROOF_IMAGE_H
#define OSTLER_RECONCILERS_PLAN_PROOF_IMAGE_H

#include "reconcilers/model/policy.h"

/* The whole reference for a node with a driver of these inputs (NULL: a driver that is not ours). Owned by the caller. */
char *proof_image(const struct policy *policy, const json_t *driver_inputs);

#endif
