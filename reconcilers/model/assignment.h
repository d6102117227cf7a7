/* The tiers of a node, and the revision of each tier that the node is assigned. A tier is a set of
 * operands that change together. A revision of a tier has a hash, a record and DaemonSets; its
 * nodes have a label with that hash. */
#ifndef OSTLER_RECONCILERS_MODEL_ASSIGNMENT_H
#define OSTLER_RECONCILERS_MODEL_ASSIGNMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/names.h"

/* Length of a revision's hash, including the NUL. */
enum { REVISION_HASH_MAX = 11 };

/* In the order in which tiers are installed; they are removed in reverse order. A node has no
 * driver tier if the host has its own driver. Columns: id, then name, label, from, versioned and
 * drains of struct tier_row */
#define TIER_ROWS(X)                                                                               \
    X(DRIVER, "driver", LABEL_DRIVER, "fromDriver", "driver", true) /* modules that pods use */    \
    X(STACK, "stack", LABEL_STACK, "fromStack", "toolkit", false)   /* toolkit and device plugin */

enum tier {
#define X(id, ...) TIER_##id,
    TIER_ROWS(X)
#undef X
        TIERS
};

/* One row of the table. */
struct tier_row {
    const char *name;      /* in records, status, messages and claims (what the node will run) */
    const char *label;     /* node label: hash of the assigned revision */
    const char *from;      /* member of a claim: what the node ran before */
    const char *versioned; /* the operand whose version users know the revision by */
    bool drains;           /* GPU pods leave the node before the tier changes */
};
extern const struct tier_row tiers[TIERS];

/* The tier of a name; TIERS for NULL and unknown names. */
enum tier tier_parse(const char *name);

/* One revision hash for each tier; "": none. */
struct assignment {
    char hash[TIERS][REVISION_HASH_MAX];
};

/* Borrowed hashes, for example node labels, whose text may not be a valid hash. NULL or "":
 * none. */
struct assignment_ref {
    const char *hash[TIERS];
};

/* Borrows from `a`. */
struct assignment_ref assignment_ref(const struct assignment *a);
/* Copies the hashes. A text that is too long is cut to the length of a hash. */
void assignment_copy(struct assignment *ret, struct assignment_ref from);
/* Whether both name the same revisions. */
bool assignment_same(struct assignment_ref a, struct assignment_ref b);
/* Whether it names no revision. */
bool assignment_is_empty(struct assignment_ref a);
/* The first tier in which the two differ; the last tier if they do not differ. */
enum tier assignment_changes_by(struct assignment_ref from, struct assignment_ref to);
/* The assignment in the labels of a Node object. Borrowed; NULL for a label that is absent. */
struct assignment_ref assignment_of_node(const json_t *node);
/* Only the tiers of `a` that are installed before `end`. */
struct assignment_ref assignment_before(struct assignment_ref a, enum tier end);
/* Whether GPU pods leave the node before `from` becomes `to`: a tier that drains changes. */
bool assignment_drains(struct assignment_ref from, struct assignment_ref to);
/* The hashes joined by a separator, with `none` for each missing hash. Owned by the caller. */
char *assignment_text(struct assignment_ref a, char separator, const char *none);

#endif
