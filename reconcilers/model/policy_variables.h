#ifndef OSTLER_MODEL_POLICY_VARIABLES_H
#define OSTLER_MODEL_POLICY_VARIABLES_H

#include "reconcilers/model/policy.h"

/*
 * The variables that Ostler sets itself, by operand: in the container that takes the operand's
 * `env`, on any kind of host. A policy cannot set them: what the node is like decides them, or a
 * field of the policy does. Tests hold the lists against the manifests and the CRD.
 */

/* In the order of the alphabet, NULL at the end; NULL for an operand that takes no variables. */
const char *const *policy_variables(enum policy_operand operand);

#endif
