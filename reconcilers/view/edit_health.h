/* The edits of a Node about the health of its GPUs: `kubectl gpu repair` and `kubectl gpu ignore`.
 * Pure. */
#ifndef OSTLER_RECONCILERS_VIEW_EDIT_HEALTH_H
#define OSTLER_RECONCILERS_VIEW_EDIT_HEALTH_H

#include <stdint.h>

#include "reconcilers/view/edit.h"

/* The word of `ignore` for every fault of a node. */
#define EDIT_HEALTH_ALL "all"

struct edit_health {
    /* Of one node: "nodes" is its Node, "reports" its GpuNode; "policy"; "pods" are those on it,
     * if they were readable. */
    const json_t *snapshot;
    const char *fault; /* of ignore: the reason of the fault, or EDIT_HEALTH_ALL; NULL: none */
    bool undo;         /* takes the same back */
    int64_t now_us;
};

/* Sets or removes the annotation ostler.dev/repair. -1 if Ostler would not repair the node. */
int edit_repair(const struct edit_health *h, struct edit *ret, struct err *e);
/* Records that a user decided to ignore the fault, and removes the taint that Ostler set for it; or
 * sets the label ostler.dev/health. -1 if the node has no such fault. */
int edit_ignore(const struct edit_health *h, struct edit *ret, struct err *e);

#endif
