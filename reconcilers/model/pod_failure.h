/* Whether a pod that requests GPUs failed before it did any work: the kubelet refused it, a
 * container could not be made or started, or ended with an error within a minute. Several such pods
 * of several owners suggest that the node is the cause (decide/black_hole.h). */
#ifndef OSTLER_RECONCILERS_MODEL_POD_FAILURE_H
#define OSTLER_RECONCILERS_MODEL_POD_FAILURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A container that runs for longer has worked. */
enum { POD_FAILS_FAST_S = 60 };

struct pod_failure {
    uint64_t pod;   /* str_hash_id() of its uid */
    uint64_t owner; /* the same of its controller; without one: of the pod */
    int64_t at_s;   /* epoch seconds, by the clock of the node; 0: not known */
};

/* Reads a Pod object; false: it did not fail in such a way. A pod that is being deleted does not
 * count: its containers end by a signal. Nor does a pod that its kubelet evicted. */
bool pod_failure_read(const json_t *object, struct pod_failure *ret);

#endif
