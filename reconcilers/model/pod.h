/* What we keep of a Pod, and of which pods at all: operands of ours, pods that use a GPU, and other operators' drivers and device
 * plugins. All others are dropped as they come. */
#ifndef OSTLER_RECONCILERS_MODEL_POD_H
#define OSTLER_RECONCILERS_MODEL_POD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "kube/record.h"
#include "reconcilers/model/component.h"
#include "reconcilers/model/detect.h"

struct pod {
    struct record head;         /* key = "namespace/name" */
    struct pod *next_on_node;   /* the node's list; kept by whoever indexes */
    const struct sign *foreign; /* another operator's driver or device plugin; NULL: it is not */
    char *problem;              /* why it is not ready, "ImagePullBackOff: Back-off pulling image …"; NULL: nothing known */
    uint32_t node;              /* interned name; INTERN_NONE: not bound */
    uint32_t revision;          /* interned hash of its revision, for operands of a tier */
    uint32_t reason;            /* interned first word of the problem */
    uint16_t gpus;              /* devices under nvidia.com/ that it asked for and may be using */
    uint8_t component;          /* enum component */
    /* Bits: there are thousands of these, and so each takes a step of the allocator less. */
    bool ready : 1;
    bool deleting : 1;
    bool host_driver : 1;       /* its first init container stopped because the host has a driver */
};

/* The record of a Pod, or NULL when it is none of those. `operand_namespace` is where pods of ours are. */
struct pod *pod_project(struct intern *in, const char *operand_namespace, const json_t *object);
bool pod_same(const struct pod *a, const struct pod *b);
void pod_free(struct intern *in, struct pod *p);

#endif
