/* The cached fields of a Node: the few that decisions use, with interned strings. Heartbeats change
 * none of them. */
#ifndef OSTLER_RECONCILERS_MODEL_NODE_H
#define OSTLER_RECONCILERS_MODEL_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "kube/frame.h"
#include "kube/record.h"
#include "reconcilers/model/assignment.h"
#include "reconcilers/model/autoscaler.h"
#include "reconcilers/model/host.h"
#include "reconcilers/model/label_reads.h"

/* A condition of a Node that Ostler owns. */
struct node_condition {
    enum { CONDITION_ABSENT, CONDITION_TRUE, CONDITION_FALSE, CONDITION_OTHER } status;
    uint32_t why;     /* hash of its reason */
    uint32_t message; /* hash of its message */
};

/* The claim of a node whose annotation is not a string. */
#define CLAIM_UNREADABLE "unreadable"

/* Interned texts of a node, besides its labels. */
enum { NODE_TEXTS = 14 + KEEP_COUNT };

struct node {
    struct record head; /* key = the node's name */
    uint32_t *labels;   /* interned "key=value" */
    uint16_t label_count;
    struct frame_hash text_hash; /* of the text that it follows from */
    /* From here on, two equal nodes have equal bytes. */
    union {
        struct {
            uint32_t taints;  /* spec.taints unchanged, as compact JSON; INTERN_NONE: no taints */
            uint32_t marks;   /* annotation ostler.dev/marks, or INTERN_NONE */
            uint32_t claim;   /* the same: ostler.dev/claim */
            uint32_t gave_up; /* the same: ostler.dev/gave-up */
            uint32_t proof;   /* the same: ostler.dev/proof */
            uint32_t fault;   /* the same: ostler.dev/fault */
            uint32_t repair;  /* the same: ostler.dev/repair, of a user */
            /* The resource that a validation pod requests; INTERN_NONE: the kubelet offers none. */
            uint32_t device;
            uint32_t slices; /* MIG slices by kind: "1g.10gb=7,3g.40gb=1"; INTERN_NONE: none */
            uint32_t os_image, kernel, kubelet, runtime, architecture; /* from status.nodeInfo */
            /* The annotations that keep autoscalers from removing it, whoever set them. */
            uint32_t keeps[KEEP_COUNT];
        };
        uint32_t texts[NODE_TEXTS]; /* all of these, which are interned */
    };
    int32_t gpus;       /* allocatable GPUs of `vendor`, whole GPUs and partitions together */
    uint8_t vendor;     /* row in base/vendor.h of the GPUs that it offers or offered */
    uint64_t boot;      /* str_hash_id() of status.nodeInfo.bootID; 0: not known */
    int64_t up_since_s; /* since when its condition Ready is True; 0: it is not, or unknown */
    struct node_condition gpu_ready, gpu_healthy;
    bool ready; /* condition Ready is True or absent */
    bool deleting;
    bool leaving;    /* it is being deleted, or removed by an autoscaler (autoscaler.h) */
    bool cordoned;   /* spec.unschedulable; Ostler never sets it */
    bool has_served; /* its capacity names GPUs, even if the number is now 0 */
    bool annotated;  /* it has annotations, from any writer (projections.c leaves most out) */
    /* This annotation of Ostler's is not a string. It counts as absent (a claim: as
     * CLAIM_UNREADABLE), and no patch can test its value. */
    bool marks_unreadable, claim_unreadable, gave_up_unreadable, proof_unreadable, fault_unreadable,
        repair_unreadable;
    bool host_driver; /* annotation ostler.dev/host-driver */
};

/* The cached record of a Node object; its strings are interned in `in`. */
struct node *node_project(struct intern *in, const json_t *object);
/* A copy of the record with other labels. */
struct node *node_relabelled(struct intern *in, const struct node *n, const json_t *labels);
/* Takes the runtime's version from the record before, NULL if there is none, where the runtime is
 * silent now (host_runtime_is_silent()): a restart of the runtime is no change of the node. */
void node_keep_runtime(struct intern *in, struct node *n, const struct node *before);
/* The status, reason and message of a condition; NULL: absent. */
struct node_condition node_condition(const json_t *condition);
/* Whether all fields that decisions use are equal; both use the same string table. */
bool node_same(const struct node *a, const struct node *b);
/* The same of all fields but the labels. */
bool node_same_but_labels(const struct node *a, const struct node *b);
/* Frees the record and releases its strings. */
void node_free(struct intern *in, struct node *n);

/* A node with its string table: the lookup argument of sign tables and selectors. */
struct node_view {
    const struct node *node;
    const struct intern *strings;
    struct label_reads *reads; /* takes note of each label that is asked for; NULL: nothing does */
};

/* The value of a label, or NULL. `view` is a struct node_view, so this is a lookup function for
 * selectors and tables. */
const char *node_label(const void *view, const char *key);
/* Whether two records of a node have the same labels as far as these were ever asked for. */
bool node_same_read_labels(const struct label_reads *reads, const struct intern *in,
                           const struct node *a, const struct node *b);
/* The revisions that its labels assign. Borrowed; NULL for an absent label. */
struct assignment_ref node_assigned(const struct node_view *view);
/* Whether it has a label of any tier, with any value. */
bool node_is_assigned(const struct node_view *view);
/* Whether its labels assign exactly `a`. */
bool node_bears(const struct node_view *view, const struct assignment *a);
/* Whether a user holds it: the label ostler.dev/hold exists and is not "false". */
bool node_is_held(const struct node_view *view);
/* Whether a user wants nothing to be done about faults of its GPUs: ostler.dev/health=ignore. */
bool node_ignores_faults(const struct node_view *view);
/* Whether a boot is known (0: it is not) and is another one than that of before. */
bool node_has_booted(uint64_t now, uint64_t before);
/* The facts for the tables in host.h and detect.h; borrowed from the view. */
struct node_facts node_facts(const struct node_view *view);

#endif
