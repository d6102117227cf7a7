/* The prerequisites that Ostler does not create: a recent API server, Ostler's CRDs, the operands'
 * namespace, permissions. Each problem is one sentence that also says what to do. */
#ifndef OSTLER_RECONCILERS_MODEL_PREREQUISITES_H
#define OSTLER_RECONCILERS_MODEL_PREREQUISITES_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/reason.h"

enum {
    /* The oldest supported minor version of Kubernetes 1. */
    PREREQUISITES_MINOR = 30,
    /* The version in the annotation of CRDs that fit this program: crds/, by scripts/crd-schema. */
    PREREQUISITES_SCHEMA = 25,
};

/* Most important first. */
enum prerequisite {
    PREREQUISITES_SERVER,
    PREREQUISITES_POLICIES,
    PREREQUISITES_REPORTS,
    PREREQUISITES_NAMESPACE,
    PREREQUISITES_RIGHTS,
    PREREQUISITES_PARTS
};

/* The problem with one prerequisite. Zero-initialised: none. */
struct prerequisite_problem {
    enum reason reason; /* NONE: no problem */
    char *message;      /* owned */
    json_t *status; /* for an outdated CRD: the status schema that it has. Owned; NULL: not known */
    bool stops;     /* Ostler does nothing while it lasts, because it would misread objects */
};

struct prerequisites {
    struct prerequisite_problem of[PREREQUISITES_PARTS];
};

/* Whether a CustomResourceDefinition is as new as this Ostler, by its annotation. NULL: false. */
bool prerequisites_crd_fits(const json_t *crd);
/* Takes a response about one prerequisite; NULL: the object does not exist. Returns whether its
 * state changed. `ns` is the operands' namespace. */
bool prerequisites_take(struct prerequisites *s, enum prerequisite part, const json_t *answer,
                        const char *ns);
/* Forgets the state of one prerequisite: it counts as without a problem. Returns whether its state
 * changed. */
bool prerequisites_forget(struct prerequisites *s, enum prerequisite part);
/* The most important problem; NULL: none. */
const struct prerequisite_problem *prerequisites_worst(const struct prerequisites *s);
/* The problem that stops all work except reporting; NULL: none. If not every watch is `well`, the
 * cause may be that the namespace was deleted together with its roles. */
const struct prerequisite_problem *prerequisites_blocking(const struct prerequisites *s, bool well);
/* The problem with one prerequisite; NULL: none. */
const struct prerequisite_problem *prerequisites_of(const struct prerequisites *s,
                                                    enum prerequisite part);
/* The required permissions (kube/resource.h) that a SelfSubjectRulesReview in the operands'
 * namespace does not list: "patch nodes, create daemonsets, and 3 others". NULL: none is missing,
 * or the review is incomplete. Owned by the caller. */
char *prerequisites_missing_rights(const json_t *review);
/* Frees the messages. */
void prerequisites_clear(struct prerequisites *s);

/* ---- which fields of a status the API server accepts if its CustomResourceDefinition is older
 * than this Ostler: server-side apply rejects the whole status if it names an unknown field */

/* The status schema in the first version of a CustomResourceDefinition. Borrowed; NULL: none. */
json_t *known_fields_of(const json_t *crd);
/* Copies the fields of a value that the schema has, also inside lists and maps. NULL schema: all
 * fields. New reference. */
json_t *known_fields(const json_t *schema, json_t *value);

#endif
