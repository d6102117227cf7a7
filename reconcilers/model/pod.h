/* What we keep of a Pod, and of which pods at all: operands of ours, pods that use a GPU, other operators' drivers and device
 * plugins, and in a table of their own the one-off pods that Ostler makes. All others are dropped as they come. */
#ifndef OSTLER_RECONCILERS_MODEL_POD_H
#define OSTLER_RECONCILERS_MODEL_POD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "kube/record.h"
#include "kube/selector.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/detect.h"
#include "reconcilers/model/task.h"

struct pod {
    struct record head;         /* key = "namespace/name" */
    struct pod *next_on_node;   /* the node's list; kept by whoever indexes */
    union {
        const struct sign *foreign; /* another operator's driver or device plugin; NULL: it is not */
        uint64_t owner;             /* with `fixed`: gpu_node_owner() of its owner's uid; read it through pod_is_static() */
        struct task *task_state;    /* with `is_task`. Owned; read it through pod_task() */
        struct {                    /* of an operand; read it through pod_ended() */
            uint32_t container;     /* interned name of the one that ended badly, and whose log says why */
            bool again;             /* it has been started again since */
        } ended;
    };
    char *problem;              /* why it is not ready, "ImagePullBackOff: Back-off pulling image …"; NULL: nothing known */
    /* Interned name; INTERN_NONE: not bound. Of a one-off pod also before it is: the node that it is for. */
    uint32_t node;
    union {
        uint32_t revision;      /* of an operand: interned hash of its revision, in a tier */
        uint32_t traits;        /* of others that use a GPU: interned; pod_traits.h */
    };
    union {
        uint32_t reason;        /* of one-off pods, and of operands that are not ready: interned first word of the problem */
        uint32_t made_s;        /* of others, and of operands that are: when it was made, seconds of the epoch; 0: not known */
    };
    uint16_t gpus;              /* GPUs, slices and shares that it asked for and may be using; 0 with pods of ours */
    /* Bits: there are thousands of these, and so each takes a step of the allocator less. */
    uint8_t component : 5;      /* enum operand */
    bool ready : 1;
    bool deleting : 1;
    bool host_driver : 1;       /* its first init container stopped because the host has a driver */
    bool running : 1;           /* it has begun: of an operand, that its container has */
    /* Of pods that use a GPU: what a drain asks. */
    bool ends : 1;              /* it runs to an end by itself: its containers are not restarted for ever */
    bool bare : 1;              /* nothing controls it: nobody would make it again */
    bool daemon : 1;            /* a DaemonSet's */
    bool fixed : 1;             /* it says that its kubelet runs it from a file; read it through pod_is_static() */
    bool scratch : 1;           /* it has an emptyDir, which is lost with it */
    bool is_task : 1;           /* a one-off pod of ours */
};

/* Field selector of the pods that are asked for: those that are over use nothing. */
#define POD_FIELDS "status.phase!=Succeeded,status.phase!=Failed"

/* The record of a Pod, or NULL when it is none of those; of one-off pods too. `operand_namespace` is where pods of ours are.
 * Labels are kept where `asks` has a requirement on their key; NULL: all are. */
struct pod *pod_project(struct intern *in, const char *operand_namespace, const struct selector *asks, const json_t *object);
/* The record of a one-off pod of ours, which has one also when it has ended; NULL for all others. */
struct pod *pod_project_task(struct intern *in, const char *operand_namespace, const json_t *object);
/* What it is for and how far it is, of a one-off pod of ours; NULL for all others. */
const struct task *pod_task(const struct pod *p);
/* The sign that a pod, or a template of pods, is a driver or device plugin that reaches into its host; NULL: it is none. Ostler's
 * own are not to be asked. */
const struct sign *pod_serves_for_others(const json_t *object);
/* Whose driver or device plugin it is, of another operator's pod; NULL for all others. */
const struct sign *pod_foreign(const struct pod *p);
/* Whether it is a static pod of the node with this uid ("": of none): its kubelet runs it from a file. */
bool pod_is_static(const struct pod *p, const char *node_uid);
/* The container of an operand that ended badly; NULL: none did. `ret_again`: it has been started again since. */
const char *pod_ended(const struct intern *in, const struct pod *p, bool *ret_again);
/* The same for whoever asks all pods of a node to leave: any pod that is bound and not over is kept, but for one-off pods
 * of ours. */
struct pod *pod_project_any(struct intern *in, const char *operand_namespace, const struct selector *asks, const json_t *object);
/* GPUs that a pod of the API's holds, of any kind; each claim of devices counts as one. 0 when it is over. */
uint16_t pod_gpus(const json_t *object);
/* Whether nothing that anybody looks at differs; both have their strings from the same table. */
bool pod_same(const struct pod *a, const struct pod *b);
/* Frees the record and gives its strings back. */
void pod_free(struct intern *in, struct pod *p);

#endif
