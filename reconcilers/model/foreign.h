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

/* ---- ResourceSlices of NVIDIA's DRA driver: the nodes whose GPUs are given to resource claims.
 * The publisher of a slice serves the node, whatever its pods are called. */

/* The driver that publishes GPUs (kubernetes-sigs/dra-driver-nvidia-gpu,
 * cmd/gpu-kubelet-plugin/types.go). Compute domains use another name. */
#define SLICE_DRIVER "gpu.nvidia.com"
/* Field selector of the list and watch of slices; the API server supports it (KEP-4381). */
#define SLICE_FIELDS "spec.driver=" SLICE_DRIVER

struct slice {
    struct record head;
    struct slice *next_on_node; /* the node's list; the index maintains it */
    char *node;                 /* node of these devices; owned */
};

/* The cached record of a ResourceSlice; NULL: it offers no GPU of a single node. Owned by the
 * caller. */
struct slice *slice_project(const json_t *object);
/* Frees it. NULL is allowed. */
void slice_free(struct slice *s);
/* Whether both are equal. */
bool slice_same(const struct slice *a, const struct slice *b);

#endif
