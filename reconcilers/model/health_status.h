/* `status.health` of a GpuNode: what Ostler has concluded from the health of a node's GPUs. Other
 * clients may have written it too: a value that Ostler does not write counts as absent. */
#ifndef OSTLER_RECONCILERS_MODEL_HEALTH_STATUS_H
#define OSTLER_RECONCILERS_MODEL_HEALTH_STATUS_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/node_health.h"
#include "reconcilers/model/repair_try.h"
#include "reconcilers/model/xid.h"

/* The status member that has it. */
#define GPU_NODE_HEALTH "health"
/* Longest word with its NUL; longest message, in bytes, as the CRD allows; with its NUL. */
enum { HEALTH_WORD_MAX = 64, HEALTH_MESSAGE_MAX = 512, HEALTH_MESSAGE_SIZE = 513 };

/* What Ostler does about a fault. Columns: id, name in the status */
#define HEALTH_STATES(X)                                                                           \
    X(REPORTED, "Reported")     /* nothing else than to report it */                               \
    X(CONFIRMING, "Confirming") /* it looks once more before it closes the node */                 \
    X(CLOSED, "Closed")         /* it keeps new pods off the node */                               \
    X(WITHHELD, "Withheld")     /* the device plugin keeps pods off the GPU; the others go on */   \
    X(PROVING, "Proving")       /* the fault has ended; the node opens when a GPU is validated */  \
    X(IGNORED, "Ignored")       /* a user decided so */                                            \
    X(BRAKED, "Braked")         /* many nodes became unhealthy when it came */                     \
    X(REPAIRING, "Repairing")   /* it repairs the node */                                          \
    X(HUMAN, "Human")           /* a person has to repair it */

enum health_state {
#define X(id, ...) HEALTH_IS_##id,
    HEALTH_STATES(X)
#undef X
        HEALTH_STATES_LEN
};

struct health_status {
    enum health_level level;          /* never NONE */
    char reason[HEALTH_WORD_MAX];     /* "Xid79" */
    char address[HEALTH_ADDRESS_MAX]; /* of the GPU; "": the fault is not of one GPU */
    char message[HEALTH_MESSAGE_SIZE];
    int64_t since_s;                        /* epoch seconds; 0: not in Ostler's time format */
    enum health_state state;                /* REPORTED if there is none */
    struct repair_try repairs[REPAIRS_MAX]; /* the oldest first */
    uint8_t repairs_len;
};

/* Reads it from a status; NULL: absent. free() frees it. */
struct health_status *health_status_read(const json_t *status);
/* As the API server has it; the time must be known. New reference. */
json_t *health_status_json(const struct health_status *h);
/* Whether both are about the same: level, reason and GPU. NULL: nothing is known. */
bool health_status_same(const struct health_status *a, const struct health_status *b);

#endif
