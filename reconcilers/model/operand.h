/* The operands and other parts that Ostler runs on nodes, as a table. */
#ifndef OSTLER_RECONCILERS_MODEL_OPERAND_H
#define OSTLER_RECONCILERS_MODEL_OPERAND_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/assignment.h"

/* Maximum number of operands: the bits of a set. Arrays by operand have this length, so their
 * layout does not depend on the number of rows. */
enum { OPERANDS_MAX = 16 };

enum operand {
#define OPERAND(id, ...) OPERAND_##id,
#include "reconcilers/model/operand_rows.h"
    OPERAND_NONE = OPERANDS_MAX,
};

enum operand_class {
    OPERAND_CLASS_NONE,
    /* Changes together with the other operands of its tier; each revision has a DaemonSet of it. */
    OPERAND_CLASS_TIER,
    /* Works with every stack: one DaemonSet for all nodes, with its own rolling update. */
    OPERAND_CLASS_FOLLOWER,
    OPERAND_CLASS_HELPER, /* a DaemonSet that no GPU needs; it does not count as an operand */
    OPERAND_CLASS_IMAGE,  /* no DaemonSet: an image and its section in the policy */
};

/* A built-in image. */
struct operand_image {
    const char *repository; /* "nvcr.io/nvidia"; NULL: the operand has no image */
    const char *image;      /* "driver" */
    const char *version;    /* "580.178.04" */
};

/* What a follower must know about the cluster, as bits. */
enum follower_trait {
    FOLLOWER_SHARED = 1,  /* containers can share a GPU by time slicing: input `shared` */
    FOLLOWER_RENAMED = 2, /* shared GPUs are offered as RESOURCE_GPU ".shared": input `renamed` */
    /* Containers without a RuntimeClass get GPUs on nodes of this stack, and those with the
     * RuntimeClass may not start there. Such nodes have a label, and a DaemonSet of their own. */
    FOLLOWER_DEFAULT_RUNTIME = 4,
};

/* One row. Absent members are NULL or 0. All static. */
struct operand_row {
    enum operand id;
    enum operand_class class;
    /* Its DaemonSet's name without the revision's hash, the value of app.kubernetes.io/component,
     * and its name in the policy's status. NULL: no DaemonSet. */
    const char *name;
    const char *section; /* path in the policy's spec: "devicePlugin", "driver.gdrcopy" */
    enum tier tier;      /* with OPERAND_CLASS_TIER: its tier; read it through operand_is_of() */
    const char *title;   /* for users: "device plugin" */
    /* Its member in the inputs of its tier's revision, with `enabled`; NULL: all inputs are its
     * own. */
    const char *member;
    const char *manifest;  /* of its DaemonSet, a file in reconcilers/manifests */
    const char *container; /* in the manifest; gets the policy's variables and arguments */
    struct operand_image image;
    const char *off_label; /* of a follower: "false" where only other pools have it */
    unsigned asks;         /* bits of enum follower_trait that it uses */
    /* Variables that Ostler sets in `container` on some kind of host; a policy cannot set them.
     * Sorted alphabetically, NULL at the end; NULL: a policy sets no variables. Tests compare them
     * with the manifests and the CRD. */
    const char *const *variables;
};

/* All rows; the last row has no section. */
extern const struct operand_row operand_rows[];

/* The row of an operand; OPERAND_NONE: the last row. */
const struct operand_row *operand_get(enum operand o);
/* "driver", "device-plugin", …; "" for OPERAND_NONE and operands without a DaemonSet. */
const char *operand_name(enum operand o);
/* The operand of a label value; OPERAND_NONE for NULL and unknown values. */
enum operand operand_parse(const char *name);

/* Whether it changes together with the other operands of this tier. */
bool operand_is_of(const struct operand_row *o, enum tier tier);
/* The tier's name, as labels of its objects have it: "driver", "stack"; "removal" for the pod that
 * removes a toolkit. NULL: its objects have no revision. */
const char *operand_tier_name(const struct operand_row *o);
/* The operands of a tier, as bits 1u << id. */
unsigned operands_of_tier(enum tier tier);
/* The operands of a class, as bits. */
unsigned operands_of_class(enum operand_class class);

/* The operand's part of the inputs of a revision or follower. Borrowed; NULL: none. */
const json_t *operand_inputs_of(const struct operand_row *o, const json_t *inputs);
/* Whether a revision with these inputs includes the operand; NULL inputs: no. */
bool operand_is_in(const struct operand_row *o, const json_t *inputs);

#endif
