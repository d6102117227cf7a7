/* ResourceSlices of NVIDIA's DRA driver: the nodes whose GPUs are given to resource claims. The
 * publisher of a slice serves the node, whatever its pods are called. */
#ifndef OSTLER_RECONCILERS_MODEL_SLICE_H
#define OSTLER_RECONCILERS_MODEL_SLICE_H

#include <jansson.h>
#include <stdbool.h>

#include "kube/record.h"

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
