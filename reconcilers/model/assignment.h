/* The tiers of a node, and which revision of each it is assigned. A tier is what changes as one: a
 * revision of it has a record and DaemonSets, is named by a hash, and is on the nodes whose label
 * holds that hash. */
#ifndef OSTLER_RECONCILERS_MODEL_ASSIGNMENT_H
#define OSTLER_RECONCILERS_MODEL_ASSIGNMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "reconcilers/model/names.h"

/* Length of a revision's hash with its NUL. */
enum { REVISION_HASH_MAX = 11 };

/* In the order in which tiers come on; they come off the other way round. A node lacks the driver
 * where the host has its own.
 * id, name, label, from, versioned and drains as in struct tier_row */
#define TIER_ROWS(X)                                                                               \
    X(DRIVER, "driver", LABEL_DRIVER, "fromDriver", "driver", true) /* modules that pods use */    \
    X(STACK, "stack", LABEL_STACK, "fromStack", "toolkit", false)   /* toolkit, device plugin */

enum tier {
#define X(id, ...) TIER_##id,
    TIER_ROWS(X)
#undef X
    TIERS
};

/* One row of the table. */
struct tier_row {
    const char *name;      /* in records, status, claims (what the node is to run) and messages */
    const char *label;     /* of nodes: the hash of the revision that they are assigned */
    const char *from;      /* member of a claim: what the node ran before */
    const char *versioned; /* the part of it by whose version people know a revision */
    bool drains;           /* GPU pods leave the node before it changes */
};
extern const struct tier_row tiers[TIERS];

/* The tier of a name; TIERS for NULL and what is unknown. */
enum tier tier_parse(const char *name);

/* One revision of each tier, by hash; "": none. */
struct assignment {
    char hash[TIERS][REVISION_HASH_MAX];
};

/* The same, borrowed: the labels of a node, say, whose texts may be no hashes. NULL or "": none. */
struct assignment_ref {
    const char *hash[TIERS];
};

/* Borrows from `a`. */
struct assignment_ref assignment_ref(const struct assignment *a);
/* Copies the hashes; of a text that is too long for one as much as a hash is long. */
void assignment_copy(struct assignment *ret, struct assignment_ref from);
/* Whether both name the same revisions. */
bool assignment_same(struct assignment_ref a, struct assignment_ref b);
/* Whether it names no revision at all. */
bool assignment_is_empty(struct assignment_ref a);
/* By which tier one becomes the other: the first that differs; the last one where none does. */
enum tier assignment_changes_by(struct assignment_ref from, struct assignment_ref to);
/* What the labels of a node, as an object, say. Borrowed; NULL where there is no such label. */
struct assignment_ref assignment_of_node(const json_t *node);
/* Of an assignment the tiers that come on before `end`, and none of the others. */
struct assignment_ref assignment_before(struct assignment_ref a, enum tier end);
/* Whether GPU pods leave the node before one becomes the other: a tier that drains changes. */
bool assignment_drains(struct assignment_ref from, struct assignment_ref to);
/* The hashes with a separator between them, and `none` in place of each that is missing. Owned by
 * the caller. */
char *assignment_text(struct assignment_ref a, char separator, const char *none);

#endif
