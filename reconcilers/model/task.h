/* The cached state of a one-off pod, which Ostler creates on a node without a DaemonSet to find
 * something out. It runs once, reports a result, and is deleted. */
#ifndef OSTLER_RECONCILERS_MODEL_TASK_H
#define OSTLER_RECONCILERS_MODEL_TASK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "reconcilers/model/reason.h"

enum task_kind {
    TASK_PROOF,  /* a CUDA program on one GPU: whether a user's pod would work there */
    TASK_PULL,   /* pulls images and runs none of them */
    TASK_RESET,  /* resets GPUs, whose driver is unloaded */
    TASK_REBOOT, /* reboots the node, or asks for its reboot */
    TASK_COUNT,
    TASK_NONE = TASK_COUNT,
};

enum task_state {
    TASK_PENDING, /* not all of its containers have started */
    TASK_RUNNING,
    TASK_DONE,   /* it succeeded */
    TASK_FAILED, /* it failed or was killed */
};

enum {
    TASK_SAID_MAX = 512,  /* bytes that are kept of its termination message */
    TASK_WORDS_MAX = 300, /* bytes of the reason that an image cannot be pulled */
    TASK_NAME_MAX = 64,   /* longest name, including the NUL */
};

struct task {
    enum task_kind kind;
    enum task_state state;
    uint32_t policy;   /* interned uid of the policy that it was created for */
    uint32_t purpose;  /* interned label ostler.dev/revision: the revisions that it is about */
    uint32_t resource; /* interned GPU resource that it requests; INTERN_NONE: none */
    /* Interned termination message of the container that ended last, at most TASK_SAID_MAX bytes;
     * INTERN_NONE: none. */
    uint32_t said;
    uint32_t no_image; /* interned first image that cannot be pulled; INTERN_NONE: none so far */
    /* Interned error of the registry or the kubelet, one line of at most TASK_WORDS_MAX bytes;
     * INTERN_NONE: none. */
    uint32_t why_no_image;
    bool unschedulable; /* the scheduler found no node for it; the pod's problem says why */
    bool bound;         /* it is bound to its node */
    bool begun;         /* one of its containers has run */
    /* A program of it has run or may have: not where its image never came, the kubelet refused the
     * pod, or the runtime could not start the container. */
    bool ran;
    uint16_t images;   /* images of its containers */
    uint16_t pulled;   /* of these images, those on the node */
    int32_t exit_code; /* of the container with the worst exit */
    int64_t created_s; /* when it was created, epoch seconds, by the API server's clock */
    int64_t started_s; /* when its kubelet first saw it, by the kubelet's clock; 0: not yet */
    int64_t ended_s;   /* when its last container ended; 0: not yet, or it never started */
};

/* The kind of a pod by its labels; TASK_NONE: not a task. Call it only for pods of the operand
 * namespace. */
enum task_kind task_kind_of(const json_t *object);
/* "proof", "pull", …: the value of the label ostler.dev/task. Static text. */
const char *task_kind_name(enum task_kind kind);
/* "ostler-proof-<node>", always the same, so that two passes cannot create two pods. A name that is
 * too long is shortened with a hash. */
void task_name(enum task_kind kind, const char *node, char out[static TASK_NAME_MAX]);
/* The node that it is bound to, else the node that its affinity selects; NULL: none. Borrowed. */
const char *task_node(const json_t *object);
/* Whether this waiting reason of a container means that its image could not be pulled. */
bool task_cannot_pull(enum reason reason);
/* Owned by the caller. */
struct task *task_project(struct intern *in, enum task_kind kind, const json_t *object);
/* When it was created. If that is in the future, the API server's clock was wrong, and the
 * kubelet's time counts. If that is absent or also in the future, `now_s`. */
int64_t task_made_s(const struct task *t, int64_t now_s);
/* Whether all fields that decisions use are equal; both use the same string table. */
bool task_same(const struct task *a, const struct task *b);
/* Frees it and releases its strings. */
void task_free(struct intern *in, struct task *t);

#endif
