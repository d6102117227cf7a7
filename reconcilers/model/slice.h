/* ResourceSlices of NVIDIA's DRA driver: which nodes' GPUs are given to resource claims. Whoever publishes them serves the node,
 * whatever its pods are called. */
#ifndef OSTLER_RECONCILERS_MODEL_SLICE_H
#define OSTLER_RECONCILERS_MODEL_SLICE_H

#include <jansson.h>
#include <stdbool.h>

#include "kube/record.h"

/* The driver that publishes GPUs (kubernetes-sigs/dra-driver-nvidia-gpu, cmd/gpu-kubelet-plugin/types.go); compute domains have
 * another. */
#define SLICE_DRIVER "gpu.nvidia.com"
/* Field selector of the slices that are asked for; the API server selects by it (KEP-4381). */
#define SLICE_FIELDS "spec.driver=" SLICE_DRIVER

struct slice {
    struct record head;
    struct slice *next_on_node; /* the node's list; kept by whoever indexes */
    char *node;                 /* whose devices these are; owned */
};

/* What is kept of a ResourceSlice; NULL: it offers no GPU of one node. Owned by the caller. */
struct slice *slice_project(const json_t *object);
/* Frees it. NULL is none. */
void slice_free(struct slice *s);
/* Whether both say the same. */
bool slice_same(const struct slice *a, const struct slice *b);

#endif
