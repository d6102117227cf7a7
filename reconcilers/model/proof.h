/* The result of a GPU validation: the annotation ostler.dev/proof of a Node, and the termination
 * message of the validation pod. Any user who can edit nodes may have written the annotation, and a
 * container wrote the message. So only their format is trusted. */
#ifndef OSTLER_RECONCILERS_MODEL_PROOF_H
#define OSTLER_RECONCILERS_MODEL_PROOF_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/assignment.h"

enum proof_way {
    PROOF_BY_POD,   /* a CUDA program ran on one unit of the node's GPU resource */
    PROOF_BY_COUNT, /* all GPUs were in use; the kubelet offers as many as before */
    PROOF_WAY_COUNT
};

/* Longest texts, including the NUL; longest annotation that is parsed. */
enum { PROOF_VERSION_MAX = 32, PROOF_PRODUCT_MAX = 64, PROOF_TEXT_MAX = 1024 };

/* What the pod reported. "" and 0: absent or implausible. */
struct proof_facts {
    char driver[PROOF_VERSION_MAX];  /* the loaded module's version: "580.178.04" */
    char product[PROOF_PRODUCT_MAX]; /* as a label value: "NVIDIA-H100-80GB-HBM3" */
    char compute[PROOF_VERSION_MAX]; /* compute capability: "9.0" */
    char cuda[PROOF_VERSION_MAX];    /* newest CUDA version that the driver supports: "13.0" */
    char slice[PROOF_VERSION_MAX];   /* profile, if it ran on a slice: "1g.10gb" */
    unsigned memory_mib;             /* of one GPU */
};

struct proof {
    struct assignment of; /* the validated revisions; empty: only `facts` is still valid */
    enum proof_way way;
    unsigned gpus; /* GPUs that the kubelet offered */
    struct proof_facts facts;
};

/* Parses the annotation; false: it is invalid. */
bool proof_parse(const char *text, struct proof *ret);
/* The annotation's text. Owned by the caller. */
char *proof_text(const struct proof *p);
/* Whether it applies to a node that runs these revisions. */
bool proof_is_of(const struct proof *p, struct assignment_ref runs);
/* Reads the facts in a pod's termination message: lines "driver=580.178.04", "product=…",
 * "memory=81559", "compute=9.0", "cuda=13.0", "slice=1g.10gb". Ignores other lines. */
void proof_read(const char *said, struct proof_facts *ret);
/* Whether the reported driver version `said` fits the version `wanted`: it is equal, or in the
 * wanted branch ("580"). A version that is absent or not a number fits everything. */
bool proof_version_fits(const char *wanted, const char *said);

#endif
