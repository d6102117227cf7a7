/* Compares the permissions that Ostler has with those that it needs (kube/resource.h). */
#ifndef OSTLER_RECONCILERS_MODEL_RIGHTS_H
#define OSTLER_RECONCILERS_MODEL_RIGHTS_H

#include <jansson.h>

/* The required permissions that a SelfSubjectRulesReview in the operands' namespace does not list:
 * "patch nodes, create daemonsets, and 3 others". NULL: none is missing, or the review is
 * incomplete. Owned by the caller. */
char *rights_missing(const json_t *review);

#endif
