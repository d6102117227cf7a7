/* What a node has been proven to be able to do: the annotation ostler.dev/proof of a Node, and the last words of the pod that
 * found it out. Both come from a node that anybody may have annotated, and from a container: nothing in them is trusted beyond
 * its form. */
#ifndef OSTLER_RECONCILERS_MODEL_PROOF_H
#define OSTLER_RECONCILERS_MODEL_PROOF_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/assignment.h"

/* id, name in the annotation */
#define PROOF_WAYS(X)                                                                                                         \
    X(POD, "Pod")     /* a CUDA program has run on one unit of what the node gives */                                         \
    X(COUNT, "Count") /* every GPU was in use: that the kubelet offers as many as before stood in for it */

enum proof_way {
#define X(id, name) PROOF_BY_##id,
    PROOF_WAYS(X)
#undef X
    PROOF_WAY_COUNT
};

/* Longest texts, with their NUL, and longest annotation that is read. */
enum { PROOF_VERSION_MAX = 32, PROOF_PRODUCT_MAX = 64, PROOF_TEXT_MAX = 1024 };

/* What the pod saw. "" and 0: it did not say, or said what cannot be. */
struct proof_facts {
    char driver[PROOF_VERSION_MAX];  /* the loaded module's version: "580.178.04" */
    char product[PROOF_PRODUCT_MAX]; /* as a label's value: "NVIDIA-H100-80GB-HBM3" */
    char compute[PROOF_VERSION_MAX]; /* compute capability: "9.0" */
    char cuda[PROOF_VERSION_MAX];    /* newest CUDA version that the driver knows: "13.0" */
    char slice[PROOF_VERSION_MAX];   /* what it had was a slice of this profile: "1g.10gb" */
    unsigned memory_mib;             /* of one GPU */
};

struct proof {
    struct assignment of;           /* what was proven; empty: only what was seen is still known */
    enum proof_way way;
    unsigned gpus;                  /* that the kubelet offered */
    struct proof_facts facts;
};

/* The proof that an annotation holds; false: it is none. */
bool proof_parse(const char *text, struct proof *ret);
/* The annotation's text. Owned by the caller. */
char *proof_text(const struct proof *p);
/* Whether it is about a node that runs these revisions. */
bool proof_is_of(const struct proof *p, struct assignment_ref runs);
/* Facts out of a pod's last words: lines "driver=580.178.04", "product=…", "memory=81559", "compute=9.0", "cuda=13.0",
 * "slice=1g.10gb". Others are left aside. */
void proof_read(const char *said, struct proof_facts *ret);
/* Whether a driver of the version `wanted` may say that it is `said`: the same, or one of the branch that was asked for ("580").
 * A version that is no number, or that nobody said, is not compared. */
bool proof_version_fits(const char *wanted, const char *said);

#endif
