/* DaemonSets of others that serve GPUs: drivers and device plugins of a cloud or of another operator. Their pods come to a node
 * after the node itself, so who waits for those takes a node that is somebody else's. */
#ifndef OSTLER_MODEL_FOREIGN_H
#define OSTLER_MODEL_FOREIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/record.h"
#include "kube/selector.h"
#include "reconcilers/model/detect.h"

/* Terms of a node affinity that are looked at; a DaemonSet with more is taken to select every node. */
enum { FOREIGN_TERMS_MAX = 8 };

struct foreign {
    struct record head;              /* its key is "namespace/name" */
    const struct sign *sign;         /* what says so; static */
    int64_t generation;              /* of its specification */
    bool of_cluster;                 /* it is in kube-system, where users make none */
    struct selector labels;          /* nodeSelector */
    struct selector terms[FOREIGN_TERMS_MAX]; /* required node affinity; one of them has to match */
    size_t term_count;
    bool limited;                    /* without a term it selects no node, rather than every one */
};

/* What is kept of a DaemonSet; NULL: it does not serve GPUs. Owned by the caller. */
struct foreign *foreign_project(const json_t *daemonset);
/* Frees it. NULL is none. */
void foreign_free(struct foreign *f);
/* Whether both say the same. */
bool foreign_same(const struct foreign *a, const struct foreign *b);
/* Whether its pods would come to a node with these labels. Labels that another operator gives a node later, when it has found a
 * GPU, count as if they were there. */
bool foreign_selects(const struct foreign *f, selector_lookup_fn *label, const void *labels);

#endif
