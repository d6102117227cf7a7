/* The image of a proof: Ostler's own, or where the policy names a sample that. */
#ifndef OSTLER_RECONCILERS_DECIDE_PROOF_IMAGE_H
#define OSTLER_RECONCILERS_DECIDE_PROOF_IMAGE_H

#include "reconcilers/model/policy.h"

/* The whole reference for a node with a driver of these inputs (NULL: a driver that is not ours); of a sample whose version the
 * policy leaves open one that this driver can run. NULL: Ostler's own image. Owned by the caller. */
char *proof_image(const struct policy *policy, const json_t *driver_inputs);

#endif
