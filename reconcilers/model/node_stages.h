/* How long a new node took to reach each stage until it was ready: status.timeToReady of its
 * GpuNode. */
#ifndef OSTLER_RECONCILERS_MODEL_NODE_STAGES_H
#define OSTLER_RECONCILERS_MODEL_NODE_STAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The status member. Reaching a stage causes no write; the member is written together with other
 * changes. */
#define GPU_NODE_STAGES "timeToReady"

/* In order of time. */
enum node_stage {
    STAGE_IMAGES,     /* the driver's images are pulled: the container runs */
    STAGE_DRIVER,     /* the driver is up; a host driver is up from the start */
    STAGE_REGISTERED, /* its kubelet offers GPUs */
    STAGE_PROVEN,     /* the node is ready */
    STAGE_COUNT,
};

/* Zero-initialised: nothing is known. */
struct node_stages {
    /* When Ostler first saw a GPU on it, epoch seconds; 0: Ostler did not see the node join. */
    uint32_t seen_s;
    /* Seconds from then to each stage, plus 1; 0: not reached, or at an unknown time. */
    uint32_t reached[STAGE_COUNT];
    unsigned missed; /* bit for each stage that was reached at an unknown time; not in the status */
};

/* The name in the status. */
const char *node_stage_name(enum node_stage stage);
/* Whether the node joined and is not ready yet. */
bool node_stages_run(const struct node_stages *s);
/* Reads a status; an invalid value counts as not known. */
void node_stages_read(const json_t *status, struct node_stages *ret);
/* The status member; NULL: nothing is known. New reference. */
json_t *node_stages_json(const struct node_stages *s);

#endif
