/* How long a new node took to become ready, stage by stage: what a GpuNode says of it in status.timeToReady. */
#ifndef OSTLER_RECONCILERS_MODEL_NODE_STAGES_H
#define OSTLER_RECONCILERS_MODEL_NODE_STAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The member of a GpuNode's status. Stages that pass do not write it: it goes with what is written anyway. */
#define GPU_NODE_STAGES "timeToReady"

/* In their order: id, name. */
#define NODE_STAGES(X)                                                                             \
    X(IMAGES, "images")         /* the images of its driver are there: the container runs */      \
    X(DRIVER, "driver")         /* its driver is up; a host's own is from the beginning */         \
    X(REGISTERED, "registered") /* its kubelet offers GPUs */                                      \
    X(PROVEN, "proven")         /* it is ready */

enum node_stage {
#define X(id, name) STAGE_##id,
    NODE_STAGES(X)
#undef X
    STAGE_COUNT,
    STAGE_NONE = STAGE_COUNT,
};

/* Zero-initialised: nothing is known of it. */
struct node_stages {
    uint32_t seen_s;              /* when it was first seen to have a GPU, seconds of the epoch; 0: nobody saw it come */
    uint32_t reached[STAGE_COUNT]; /* seconds from then to each stage, and one more; 0: it was not reached, or nobody saw when */
    unsigned missed;              /* a bit for each that was reached when nobody saw it; it is not said */
};

/* As the status calls it. */
const char *node_stage_name(enum node_stage stage);
/* Whether it came, and is not ready yet. */
bool node_stages_run(const struct node_stages *s);
/* What a status says; what is no such thing is not known. */
void node_stages_read(const json_t *status, struct node_stages *ret);
/* The member; NULL: nothing is known. New reference. */
json_t *node_stages_json(const struct node_stages *s);

#endif
