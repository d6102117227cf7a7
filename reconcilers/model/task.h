/* What we keep of a one-off pod: one that Ostler makes on a node itself, outside any DaemonSet, to find something out there. It
 * runs once, says what came of it, and is deleted. */
#ifndef OSTLER_RECONCILERS_MODEL_TASK_H
#define OSTLER_RECONCILERS_MODEL_TASK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "reconcilers/model/reason.h"

/* id, value of the label ostler.dev/task */
#define TASKS(X)                                                                                                              \
    X(PROOF, "proof") /* a CUDA program on one GPU: whether a pod of anybody's would work there */                            \
    X(PULL, "pull")   /* has images pulled, and runs none of them */

enum task_kind {
#define X(id, ...) TASK_##id,
    TASKS(X)
#undef X
    TASK_COUNT,
    TASK_NONE = TASK_COUNT
};

enum task_state {
    TASK_PENDING, /* not all of its containers have begun */
    TASK_RUNNING,
    TASK_DONE,    /* it ended well */
    TASK_FAILED,  /* it ended badly, or somebody ended it */
};

enum {
    TASK_SAID_MAX = 512,  /* bytes that are kept of its last words */
    TASK_WORDS_MAX = 300, /* of why an image cannot be pulled */
    TASK_NAME_MAX = 64,   /* longest name with its NUL */
};

struct task {
    enum task_kind kind;
    enum task_state state;
    uint32_t policy;     /* interned uid of the policy that it was made for */
    uint32_t purpose;    /* interned: the label ostler.dev/revision, what it is to find out about */
    uint32_t resource;   /* interned: the resource of the GPU that it asks for; INTERN_NONE: none */
    /* Interned termination message of the container that ended last, at most TASK_SAID_MAX bytes of it; INTERN_NONE: none. */
    uint32_t said;
    uint32_t no_image;   /* interned: the first image that cannot be pulled; INTERN_NONE: all could so far */
    /* Interned: the registry's words for it, or the kubelet's, one line of at most TASK_WORDS_MAX bytes; INTERN_NONE: none. */
    uint32_t why_no_image;
    bool unschedulable;  /* the scheduler has found no place for it; the pod's problem says why */
    bool bound;          /* it has its node */
    bool begun;          /* some container of it has run */
    uint16_t images;     /* of its containers */
    uint16_t pulled;     /* how many of these are on the node */
    int32_t exit_code;   /* of the container that ended worst */
    int64_t created_s;   /* when it was made, seconds of the epoch, by the clock of the API server */
    int64_t started_s;   /* when its kubelet saw it first, by that one's clock; 0: it has not */
    int64_t ended_s;     /* when its last container ended; 0: it has not, or never began */
};

/* What a pod's labels say it is; TASK_NONE for all that is no task of ours. Only pods of the operand namespace may be
 * asked about. */
enum task_kind task_kind_of(const json_t *object);
/* "proof", "pull": as the label ostler.dev/task has it. Static text. */
const char *task_kind_name(enum task_kind kind);
/* "ostler-proof-<node>", the same each time, so that two passes never make two; shortened with a hash where it is too long. */
void task_name(enum task_kind kind, const char *node, char out[static TASK_NAME_MAX]);
/* The node that it is for: where it is bound, or before that where its affinity pins it; NULL: nowhere. Borrowed. */
const char *task_node(const json_t *object);
/* Whether a container that waits for this reason waits for an image that could not be pulled. */
bool task_cannot_pull(enum reason reason);
/* Owned by the caller. */
struct task *task_project(struct intern *in, enum task_kind kind, const json_t *object);
/* When it was made. Where that is still to come, the API server's clock was wrong, and what the kubelet says counts; now where
 * that is still to come as well, or it said nothing: nobody knows when it was. */
int64_t task_made_s(const struct task *t, int64_t now_s);
/* Whether nothing that anybody looks at differs; both have their strings from the same table. */
bool task_same(const struct task *a, const struct task *b);
/* Frees it and gives its strings back. */
void task_free(struct intern *in, struct task *t);

#endif
