/* The storm brake: when many nodes become unhealthy at a time, the cause is a driver, a fabric or
 * power, not the GPUs, and closing them all would take the cluster away. So soft evidence then
 * closes a few of them only. The decision rests on nothing but since when each node has been
 * unhealthy, so a restart of Ostler changes nothing. */
#ifndef OSTLER_RECONCILERS_DECIDE_BRAKE_H
#define OSTLER_RECONCILERS_DECIDE_BRAKE_H

#include "base/arena.h"
#include "reconcilers/model/health_spec.h"

/* A node whose GPUs ask for CLOSE or more. */
struct brake_node {
    const char *name; /* borrowed */
    int64_t since_s;  /* since when, epoch seconds */
};

/* These nodes, the oldest first; of one time by name. Zero-initialised: none. */
struct brake_list {
    struct brake_node *nodes;
    size_t len;
};

/* Zero-initialised: it is off. */
struct brake_verdict {
    bool on;
    int64_t since_s; /* when it went on */
    int64_t until_s; /* when it goes off if no other node becomes unhealthy */
    size_t first;    /* index of the storm's first node; the others follow it */
    size_t limit;    /* most nodes that may become unhealthy within the window while it is off */
};

/* Adds a node that the list does not have. Its name must outlive that. */
void brake_list_add(struct brake_list *l, struct brake_node node);
/* Removes a node that the list has, with the same time. */
void brake_list_remove(struct brake_list *l, struct brake_node node);
/* Frees what it owns and makes it empty. */
void brake_list_clear(struct brake_list *l);
/* Whether the brake is on. A time in the future counts as now, because it came from a wrong
 * clock. */
void brake_judge(const struct brake_list *l, const struct brake_spec *spec, size_t gpu_nodes,
                 int64_t now_s, struct brake_verdict *ret);
/* Whether the brake keeps a node of the list from being closed by soft evidence: all nodes of the
 * storm but its first `limit`. */
bool brake_holds(const struct brake_list *l, const struct brake_verdict *v, struct brake_node node);
/* "gpu-1, gpu-2, gpu-3 and 9 others": nodes of the list from this index on; there must be one. From
 * the arena. */
const char *brake_names(const struct brake_list *l, size_t first, struct arena *a);

#endif
