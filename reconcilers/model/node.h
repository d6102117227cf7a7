/* What we keep of a Node: the few fields that decisions look at, strings interned. Heartbeats change none of it. */
#ifndef OSTLER_RECONCILERS_MODEL_NODE_H
#define OSTLER_RECONCILERS_MODEL_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "kube/record.h"
#include "reconcilers/model/assignment.h"
#include "reconcilers/model/autoscaler.h"
#include "reconcilers/model/host.h"

/* What the condition GpuReady of a Node says; it is Ostler's. */
struct node_condition {
    enum { CONDITION_ABSENT, CONDITION_TRUE, CONDITION_FALSE, CONDITION_OTHER } status;
    uint32_t why;     /* hash of its reason */
    uint32_t message; /* hash of its message */
};

/* The claim of a node whose annotation is no text: one that nobody can read. */
#define CLAIM_UNREADABLE "unreadable"

struct node {
    struct record head;      /* key = the node's name */
    uint32_t *labels;        /* interned "key=value" */
    uint32_t taints;         /* interned; spec.taints as it came, compact JSON; INTERN_NONE when there are none */
    uint32_t marks;          /* interned; annotation ostler.dev/marks, or INTERN_NONE */
    uint32_t claim;          /* the same: ostler.dev/claim */
    uint32_t gave_up;        /* the same: ostler.dev/gave-up */
    uint32_t proof;          /* the same: ostler.dev/proof */
    uint32_t keeps[KEEP_COUNT]; /* the same: the annotations that keep autoscalers from removing it, whoever set them */
    /* Interned: the resource that a proof asks one of; INTERN_NONE: the kubelet has none. */
    uint32_t device;
    uint32_t slices;         /* interned: kinds of MIG slices that it has, by name: "1g.10gb=7,3g.40gb=1"; INTERN_NONE: none */
    uint32_t os_image, kernel, kubelet, runtime, architecture; /* interned, from status.nodeInfo */
    int32_t gpus;            /* allocatable GPUs of `vendor`, whole ones and partitions together */
    uint16_t label_count;
    uint8_t vendor;          /* row in base/vendor.h: whose GPUs it offers or offered */
    uint64_t boot;           /* inventory_boot() of status.nodeInfo.bootID: which start of the machine this is; 0: not known */
    int64_t up_since_s;      /* since when it has been Ready, by its own condition; 0: it is not, or does not say */
    struct node_condition gpu_ready;
    bool ready;              /* condition Ready is True, or not there yet */
    bool deleting;
    bool leaving;            /* it is being deleted, or a taint says that somebody removes it (autoscaler.h) */
    bool cordoned;           /* spec.unschedulable: somebody's, never ours */
    bool has_served;         /* its capacity names GPUs, though it may have 0 of them by now */
    bool annotated;          /* it has annotations, whoever's */
    /* An annotation of ours that is there and no text: it counts as none (a claim: as CLAIM_UNREADABLE), and no change can name
     * it as what it rests on. */
    bool marks_unreadable, claim_unreadable, gave_up_unreadable, proof_unreadable;
    bool host_driver;        /* annotation ostler.dev/host-driver */
};

/* The record of a Node object; strings go to `in`. */
struct node *node_project(struct intern *in, const json_t *object);
/* What a condition says; NULL: there is none. */
struct node_condition node_condition(const json_t *condition);
/* Whether nothing that anybody looks at differs; both have their strings from the same table. */
bool node_same(const struct node *a, const struct node *b);
/* Frees the record and gives its strings back. */
void node_free(struct intern *in, struct node *n);

/* A node with its strings: what the tables of signs and selectors look labels up in. */
struct node_view {
    const struct node *node;
    const struct intern *strings;
};

/* The value of a label, or NULL. `view` is a struct node_view: a lookup function for selectors and tables. */
const char *node_label(const void *view, const char *key);
/* What its labels assign it. Borrowed; NULL where there is no such label. */
struct assignment_ref node_assigned(const struct node_view *view);
/* Whether it has one of these labels, whatever that says. */
bool node_is_assigned(const struct node_view *view);
/* Whether it is assigned that. */
bool node_bears(const struct node_view *view, const struct assignment *a);
/* A person holds it: the label ostler.dev/hold is there, and does not say "false". */
bool node_is_held(const struct node_view *view);
/* The facts that the tables in host.h and detect.h look at; they borrow from the view. */
struct node_facts node_facts(const struct node_view *view);

#endif
