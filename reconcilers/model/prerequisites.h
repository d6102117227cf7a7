/* What Ostler stands on and does not make itself: an API server that is new enough, the definitions of its kinds, the operands'
 * namespace. What is wrong there is said in one sentence, with what to do about it. */
#ifndef OSTLER_RECONCILERS_MODEL_PREREQUISITES_H
#define OSTLER_RECONCILERS_MODEL_PREREQUISITES_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/reason.h"

enum {
    /* The oldest minor version of Kubernetes 1 that will do. */
    PREREQUISITES_MINOR = 30,
    /* What the annotation of our CRDs says that fit this program: crds/, by scripts/crd-schema. */
    PREREQUISITES_SCHEMA = 18,
};

/* In the order of what matters most. */
enum prerequisite { PREREQUISITES_SERVER, PREREQUISITES_POLICIES, PREREQUISITES_REPORTS, PREREQUISITES_NAMESPACE,
                         PREREQUISITES_RIGHTS, PREREQUISITES_PARTS };

/* What is wrong with a part. Zero-initialised = nothing. */
struct prerequisite_problem {
    enum reason reason; /* NONE: nothing is wrong */
    char *message;      /* owned */
    json_t *status;     /* of a definition that is older: the schema of the status that it has. Owned; NULL: not known */
    bool stops;         /* nothing is done as long as it lasts: what would be read is not what was meant */
};

struct prerequisites {
    struct prerequisite_problem of[PREREQUISITES_PARTS];
};

/* What an answer says of a part, taken over; NULL: there is no such object. Whether that is news. `ns` is what the operands'
 * namespace is called. */
bool prerequisites_take(struct prerequisites *s, enum prerequisite part, const json_t *answer, const char *ns);
/* Nothing is known of a part: nothing is wrong with it. Whether that is news. */
bool prerequisites_forget(struct prerequisites *s, enum prerequisite part);
/* What matters most; NULL: nothing is wrong. */
const struct prerequisite_problem *prerequisites_worst(const struct prerequisites *s);
/* Why nothing is done but to say so; NULL: nothing keeps from working. Where not every watch is `well`, a namespace that is gone
 * with its roles may be why. */
const struct prerequisite_problem *prerequisites_blocking(const struct prerequisites *s, bool well);
/* What is wrong with a part; NULL: nothing. */
const struct prerequisite_problem *prerequisites_of(const struct prerequisites *s, enum prerequisite part);
/* Frees the messages. */
void prerequisites_clear(struct prerequisites *s);

#endif
