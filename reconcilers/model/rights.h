/* The rights that Ostler has, against those that it uses (kube/resource.h). */
#ifndef OSTLER_RECONCILERS_MODEL_RIGHTS_H
#define OSTLER_RECONCILERS_MODEL_RIGHTS_H

#include <jansson.h>

/* What a SelfSubjectRulesReview in the operands' namespace does not give of what Ostler cannot do without: "patch nodes, create
 * daemonsets, and 3 others". NULL: nothing is missing, or the review does not know everything. Owned by the caller. */
char *rights_missing(const json_t *review);

#endif
