/* The storm brake: when many nodes become unhealthy at a time, the cause is a driver, a fabric or
 * power, not the GPUs, and closing them all would take the cluster away. So soft evidence then
 * closes a few of them only. The decision rests on nothing but when each node was first to be
 * closed, so that a restarted Ostler, which has these times from the records of nodes, decides the
 * same. */
#ifndef OSTLER_RECONCILERS_DECIDE_BRAKE_H
#define OSTLER_RECONCILERS_DECIDE_BRAKE_H

#include "base/arena.h"
#include "reconcilers/model/health_spec.h"

struct brake_node {
    char *name;
    int64_t since_s; /* epoch seconds */
};

/* Nodes, the oldest first; of one time the first that came. Zero-initialised: none. */
struct brake_list {
    struct brake_node *nodes;
    size_t len;
};

/* Zero-initialised: it is off. */
struct brake_verdict {
    bool on;
    int64_t since_s; /* when it went on */
    int64_t until_s; /* when it goes off if no other node is to be closed */
    size_t first;    /* index of the first node that counts; the others follow it */
    size_t limit;    /* most nodes that may be closed within the window while it is off */
};

/* Adds a node that the list does not have, after those of the same time. Copies the name. */
void brake_list_add(struct brake_list *l, const char *name, int64_t since_s);
bool brake_list_has(const struct brake_list *l, const char *name);
/* Removes a node; one that the list does not have is no error. */
void brake_list_remove(struct brake_list *l, const char *name);
/* Removes the first `n` nodes. */
void brake_list_drop(struct brake_list *l, size_t n);
/* Makes now of each time that is still to come, because it came from a wrong clock. */
void brake_list_correct(struct brake_list *l, int64_t now_s);
/* Frees what it owns and makes it empty. */
void brake_list_clear(struct brake_list *l);
/* Whether the brake is on. No time may be in the future. Nodes before `first` change no later
 * verdict. */
void brake_judge(const struct brake_list *l, const struct brake_spec *spec, size_t gpu_nodes,
                 int64_t now_s, struct brake_verdict *ret);
/* Whether the brake keeps a node from being closed by soft evidence: all nodes of the storm but its
 * first `limit`. */
bool brake_holds(const struct brake_list *l, const struct brake_verdict *v, const char *name);
/* Whether one more node that were to be closed now would be more than may be. For a node that the
 * list does not have: the end of a claim may close it. */
bool brake_is_full(const struct brake_list *l, const struct brake_verdict *v,
                   const struct brake_spec *spec, int64_t now_s);
/* "gpu-1, gpu-2, gpu-3 and 9 others": nodes of the list from this index on; there must be one. From
 * the arena. */
const char *brake_names(const struct brake_list *l, size_t first, struct arena *a);

#endif
