/* The cached fields of a Pod, and which pods are cached: Ostler's operands, pods that use a GPU,
 * other operators' drivers and device plugins, and, in a separate table, Ostler's one-off pods. All
 * other pods are dropped on arrival. */
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
    struct record head;       /* key = "namespace/name" */
    struct pod *next_on_node; /* the node's list; the index maintains it */
    union {
        /* The sign of another operator's driver or device plugin; NULL: it is not one. */
        const struct sign *foreign;
        /* with `fixed`: str_hash_id() of its owner's uid; read it through pod_is_static() */
        uint64_t owner;
        struct task *task_state; /* with `is_task`. Owned; read it through pod_task() */
        struct {                 /* of an operand; read it through pod_ended() */
            uint32_t container; /* interned name of the container that failed, whose log says why */
            bool again;         /* the container has restarted since */
        } ended;
    };
    char *problem; /* why it is not ready, "ImagePullBackOff: Back-off …"; NULL: not known */
    /* Interned node name; INTERN_NONE: not bound. A one-off pod that is not bound has its intended
     * node. */
    uint32_t node;
    union {
        uint32_t revision; /* operand in a tier: interned hash of its revision */
        uint32_t traits;   /* other pod that uses a GPU: interned; pod_traits.h */
    };
    union {
        uint32_t reason; /* one-off pod, operand not ready: interned first word of `problem` */
        /* Other pod, or operand that is ready: when it was created, epoch seconds; 0: not known. */
        uint32_t made_s;
    };
    uint16_t gpus; /* GPUs, slices and shares that it requested and may use; 0 for Ostler's pods */
    /* Bit fields: there are thousands of pods, and this reaches a smaller size class of the
     * allocator. */
    union {
        struct {
            uint8_t component : 5; /* enum operand */
            bool ready : 1;
            bool deleting : 1;
            /* its first init container stopped because the host has a driver */
            bool host_driver : 1;
            bool running : 1; /* it has started; an operand: its container has started */
            /* Pods that use a GPU: what a drain needs to know. */
            bool ends : 1;   /* it is a job: its containers do not restart for ever */
            bool bare : 1;   /* it has no controller, so it would not be recreated */
            bool daemon : 1; /* it belongs to a DaemonSet */
            /* it claims to be a static pod; read it through pod_is_static() */
            bool fixed : 1;
            bool scratch : 1; /* it has an emptyDir, which an eviction deletes */
            bool is_task : 1; /* one of Ostler's one-off pods */
        };
        uint16_t flags; /* all of these */
    };
};

/* Field selector of a list of pods that may use a GPU: finished pods use none. */
#define POD_FIELDS POD_WATCH_FIELDS ",status.phase!=Failed"
/* Field selector of the watch. It shows how a pod failed, which the event of a pod that leaves a
 * watch does not: that has the pod as it was before. No failed pod is cached. */
#define POD_WATCH_FIELDS "status.phase!=Succeeded"

/* The cached record of a Pod; NULL: it is of no kind that is cached, or it is a one-off pod.
 * `operand_namespace` is the namespace of Ostler's pods. A label is kept if `asks` has a
 * requirement on its key; NULL: all are. */
struct pod *pod_project(struct intern *in, const char *operand_namespace,
                        const struct selector *asks, const json_t *object);
/* The record of one of Ostler's one-off pods, even after it ended; NULL for all others. */
struct pod *pod_project_task(struct intern *in, const char *operand_namespace,
                             const json_t *object);
/* Purpose and progress of a one-off pod; NULL for all others. */
const struct task *pod_task(const struct pod *p);
/* The sign that a pod or pod template is a driver or device plugin that accesses its host; NULL: it
 * is not one. Do not call this for Ostler's own pods. */
const struct sign *pod_serves_for_others(const json_t *object);
/* The sign of another operator's driver or device plugin; NULL for all other pods. */
const struct sign *pod_foreign(const struct pod *p);
/* Whether it is a static pod of the node with this uid ("": no node), which the kubelet runs from a
 * file. */
bool pod_is_static(const struct pod *p, const char *node_uid);
/* The container of an operand that failed; NULL: none. `ret_again`: it has restarted since. */
const char *pod_ended(const struct intern *in, const struct pod *p, bool *ret_again);
/* Like pod_project(), for a policy that drains all pods: keeps every bound, unfinished pod except
 * Ostler's one-off pods. */
struct pod *pod_project_any(struct intern *in, const char *operand_namespace,
                            const struct selector *asks, const json_t *object);
/* GPUs of all kinds that a Pod object holds; each device claim counts as one. 0 for a finished
 * pod. */
uint16_t pod_gpus(const json_t *object);
/* Whether a Pod object requests GPUs of any kind, even if it is finished. */
bool pod_requests_gpus(const json_t *object);
/* When a pod was created, by its creationTimestamp; as made_s. */
uint32_t pod_made_s(const char *text);
/* Whether a Pod object is finished. */
bool pod_is_over(const json_t *object);
/* Whether it tolerates a NoSchedule taint with this key, whatever the taint's value. */
bool pod_tolerates(const struct intern *in, const struct pod *p, const char *key);
/* Whether its labels match a selector. All labels that the selector uses must have been kept.
 * Ostler's operands have no kept labels. */
bool pod_selected(const struct intern *in, const struct pod *p, const struct selector *selector);
/* Whether all fields that decisions use are equal; both use the same string table. */
bool pod_same(const struct pod *a, const struct pod *b);
/* Frees the record and releases its strings. */
void pod_free(struct intern *in, struct pod *p);

#endif
