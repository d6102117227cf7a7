/* What Ostler stands on and does not make itself: an API server that is new enough, the definitions of its kinds, the operands'
 * namespace. What is wrong there is said in one sentence, with what to do about it. */
#ifndef OSTLER_RECONCILERS_MODEL_SURROUNDINGS_H
#define OSTLER_RECONCILERS_MODEL_SURROUNDINGS_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/reason.h"

enum {
    /* The oldest minor version of Kubernetes 1 that will do. */
    SURROUNDINGS_MINOR = 30,
    /* What the annotation of our CRDs says that fit this program: crds/, by scripts/crd-schema. */
    SURROUNDINGS_SCHEMA = 18,
};

/* In the order of what matters most. */
enum surroundings_part { SURROUNDINGS_SERVER, SURROUNDINGS_POLICIES, SURROUNDINGS_REPORTS, SURROUNDINGS_NAMESPACE,
                         SURROUNDINGS_RIGHTS, SURROUNDINGS_PARTS };

/* What is wrong with a part. Zero-initialised = nothing. */
struct surroundings_problem {
    enum reason reason; /* NONE: nothing is wrong */
    char *message;      /* owned */
    json_t *status;     /* of a definition that is older: the schema of the status that it has. Owned; NULL: not known */
    bool stops;         /* nothing is done as long as it lasts: what would be read is not what was meant */
};

struct surroundings {
    struct surroundings_problem of[SURROUNDINGS_PARTS];
};

/* What an answer says of a part, taken over; NULL: there is no such object. Whether that is news. `ns` is what the operands'
 * namespace is called. */
bool surroundings_take(struct surroundings *s, enum surroundings_part part, const json_t *answer, const char *ns);
/* Nothing is known of a part: nothing is wrong with it. Whether that is news. */
bool surroundings_forget(struct surroundings *s, enum surroundings_part part);
/* What matters most; NULL: nothing is wrong. */
const struct surroundings_problem *surroundings_worst(const struct surroundings *s);
/* Why nothing is done but to say so; NULL: nothing keeps from working. Where not every watch is `well`, a namespace that is gone
 * with its roles may be why. */
const struct surroundings_problem *surroundings_hindrance(const struct surroundings *s, bool well);
/* What is wrong with a part; NULL: nothing. */
const struct surroundings_problem *surroundings_of(const struct surroundings *s, enum surroundings_part part);
/* Frees the messages. */
void surroundings_clear(struct surroundings *s);

#endif
