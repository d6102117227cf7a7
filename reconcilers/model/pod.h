/* What we keep of a Pod, and of which pods at all: operands of ours, pods that use a GPU, and other operators' drivers and device
 * plugins. All others are dropped as they come. */
#ifndef OSTLER_RECONCILERS_MODEL_POD_H
#define OSTLER_RECONCILERS_MODEL_POD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "kube/record.h"
#include "kube/selector.h"
#include "reconcilers/model/component.h"
#include "reconcilers/model/detect.h"

struct pod {
    struct record head;         /* key = "namespace/name" */
    struct pod *next_on_node;   /* the node's list; kept by whoever indexes */
    const struct sign *foreign; /* another operator's driver or device plugin; NULL: it is not */
    char *problem;              /* why it is not ready, "ImagePullBackOff: Back-off pulling image …"; NULL: nothing known */
    uint32_t node;              /* interned name; INTERN_NONE: not bound */
    union {
        uint32_t revision;      /* of an operand: interned hash of its revision, in a tier */
        uint32_t labels;        /* of others that use a GPU: interned text, a line "key=value" for each label */
    };
    uint32_t reason;            /* interned first word of the problem */
    uint16_t gpus;              /* devices under nvidia.com/ that it asked for and may be using */
    /* Bits: there are thousands of these, and so each takes a step of the allocator less. */
    uint8_t component : 5;      /* enum component */
    bool ready : 1;
    bool deleting : 1;
    bool host_driver : 1;       /* its first init container stopped because the host has a driver */
    /* Of pods that use a GPU: what a drain asks. */
    bool running : 1;           /* it has begun */
    bool ends : 1;              /* it runs to an end by itself: its containers are not restarted for ever */
    bool bare : 1;              /* nothing controls it: nobody would make it again */
    bool daemon : 1;            /* a DaemonSet's */
    bool fixed : 1;             /* a static pod: its kubelet runs it from a file */
    bool scratch : 1;           /* it has an emptyDir, which is lost with it */
    bool tolerates : 1;         /* a DaemonSet's that comes back in spite of the upgrade's taint */
};

/* The record of a Pod, or NULL when it is none of those. `operand_namespace` is where pods of ours are. */
struct pod *pod_project(struct intern *in, const char *operand_namespace, const json_t *object);
/* Whether its labels match; operands of ours have none that are kept. */
bool pod_selected(const struct intern *in, const struct pod *p, const struct selector *selector);
bool pod_same(const struct pod *a, const struct pod *b);
void pod_free(struct intern *in, struct pod *p);

#endif
