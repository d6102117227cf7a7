/* The operands and the other parts that Ostler runs on nodes, as a table. */
#ifndef OSTLER_RECONCILERS_MODEL_OPERAND_H
#define OSTLER_RECONCILERS_MODEL_OPERAND_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/assignment.h"

/* As many operands as a set of them has bits. Arrays by operand have this length, so that their layout does not depend on
 * the number of rows. */
enum { OPERANDS_MAX = 16 };

enum operand {
#define OPERAND(id, ...) OPERAND_##id,
#include "reconcilers/model/operand_rows.h"
    OPERAND_NONE = OPERANDS_MAX,
};

enum operand_class {
    OPERAND_CLASS_NONE,
    OPERAND_CLASS_TIER,     /* changes together with the others of its tier; a revision has a DaemonSet of it */
    OPERAND_CLASS_FOLLOWER, /* serves whatever stack runs: one DaemonSet for all nodes, which rolls by itself */
    OPERAND_CLASS_HELPER,   /* a DaemonSet from which no GPU needs anything; it does not count as an operand */
    OPERAND_CLASS_IMAGE,    /* no DaemonSet: an image and its section in the policy */
};

/* An image that is built in. */
struct operand_image {
    const char *repository; /* "nvcr.io/nvidia"; NULL: the operand has no image of its own */
    const char *image;      /* "driver" */
    const char *version;    /* "580.178.04" */
};

/* What a follower has to know of the cluster, as bits. */
enum follower_trait {
    FOLLOWER_IN_PART = 1, /* some pools are without it: the input `selection` says which nodes are not, as node affinity */
    FOLLOWER_SHARED = 2,  /* several containers can have one GPU by time slicing: the input `shared` */
    FOLLOWER_RENAMED = 4, /* what is shared is offered as RESOURCE_GPU ".shared": the input `renamed` */
};

/* One row. What it does not name is NULL or 0. All static. */
struct operand_row {
    enum operand id;
    enum operand_class class;
    const char *name;      /* of its DaemonSet, without the revision's hash; the value of app.kubernetes.io/component, and
                              its name in the policy's status. NULL: it has no DaemonSet */
    const char *section;   /* path of its object in the policy's spec: "devicePlugin", "driver.gdrcopy" */
    const char *tier;      /* "driver", "stack", and of what takes a toolkit off "removal" */
    const char *title;     /* for people: "device plugin" */
    const char *member;    /* of the inputs of its tier's revision, with `enabled`; NULL: all of the inputs are its own */
    const char *manifest;  /* of its DaemonSet, a file below reconcilers/manifests */
    const char *container; /* in the manifest, that takes the policy's variables and arguments */
    struct operand_image image;
    const char *off_label; /* of a follower: "false" on nodes of pools without it, where other pools have it */
    unsigned asks;         /* bits of enum follower_trait, besides FOLLOWER_IN_PART */
    /* Variables that Ostler sets itself in `container`, on any kind of host: a policy cannot set them. In the order of the
     * alphabet, NULL at the end; NULL: a policy sets no variables. Tests hold them against the manifests and the CRD. */
    const char *const *variables;
};

/* All rows; the last one has no section. */
extern const struct operand_row operand_rows[];

/* The row of an operand; of OPERAND_NONE the last one. */
const struct operand_row *operand_get(enum operand o);
/* "driver", "device-plugin", …; "" for OPERAND_NONE and what has no DaemonSet. */
const char *operand_name(enum operand o);
/* The operand of a label's value; OPERAND_NONE for NULL and what is unknown. */
enum operand operand_parse(const char *name);

/* The operands of a tier, as bits 1u << id. */
unsigned operands_of_tier(enum tier tier);
/* The operands of a class, likewise. */
unsigned operands_of_class(enum operand_class class);

/* What of a revision's inputs, or of a follower's, is the operand's own. Borrowed; NULL: nothing. */
const json_t *operand_inputs_of(const struct operand_row *o, const json_t *inputs);
/* Whether a revision with these inputs has the operand; NULL: none does. */
bool operand_is_in(const struct operand_row *o, const json_t *inputs);

#endif
