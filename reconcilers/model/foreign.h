/* Third-party DaemonSets that serve GPUs: drivers and device plugins of a cloud or of another
 * operator. Their pods reach a node only after the node exists. So Ostler must check the DaemonSets
 * before it takes a new node. */
#ifndef OSTLER_MODEL_FOREIGN_H
#define OSTLER_MODEL_FOREIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/record.h"
#include "kube/selector.h"
#include "reconcilers/model/detect.h"

/* Maximum node affinity terms that are kept; a DaemonSet with more counts as selecting every
 * node. */
enum { FOREIGN_TERMS_MAX = 8 };

struct foreign {
    struct record head;      /* its key is "namespace/name" */
    const struct sign *sign; /* the sign that matched; static */
    int64_t generation;      /* of the DaemonSet's spec */
    bool of_cluster;         /* it is in kube-system, where users do not create any */
    struct selector labels;  /* nodeSelector */
    struct selector terms[FOREIGN_TERMS_MAX]; /* required node affinity; one term must match */
    size_t term_count;
    bool limited; /* without terms it selects no node; false: every node */
};

/* The cached record of a DaemonSet; NULL: it serves no GPUs. Owned by the caller. */
struct foreign *foreign_project(const json_t *daemonset);
/* Frees it. NULL is allowed. */
void foreign_free(struct foreign *f);
/* Whether both are equal. */
bool foreign_same(const struct foreign *a, const struct foreign *b);
/* Whether its pods would run on a node with these labels. Labels that another operator adds after
 * it finds a GPU count as present. */
bool foreign_selects(const struct foreign *f, selector_lookup_fn *label, const void *labels);

#endif
