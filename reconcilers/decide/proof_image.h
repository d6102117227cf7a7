/* The image of the GPU validation: Ostler's own, or the sample that the policy names. */
#ifndef OSTLER_RECONCILERS_DECIDE_PROOF_IMAGE_H
#define OSTLER_RECONCILERS_DECIDE_PROOF_IMAGE_H

#include "reconcilers/model/policy.h"

/* The full image reference for a node with a driver of these inputs (NULL: a driver that Ostler did
 * not install). If the policy leaves the sample's version open, it is one that this driver can run.
 * NULL: Ostler's own image. Owned by the caller. */
char *proof_image(const struct policy *policy, const json_t *driver_inputs);

#endif
