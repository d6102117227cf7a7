/* What all actors share, and the table of functions that defines an actor. Only for this
 * directory. */
#ifndef OSTLER_SIM_ACTORS_ACTOR_H
#define OSTLER_SIM_ACTORS_ACTOR_H

#include "sim/actors/actors.h"
#include "sim/actors/agenda.h"
#include "sim/actors/index.h"

/* The kinds that actors use. */
struct actor_kinds {
    const struct kind *budget, *configmap, *daemonset, *deployment, *job, *node, *pod, *replicaset,
        *revision, *runtimeclass;
};

/* The number of actors, and the places of those that other actors query. */
enum {
    ACTOR_PLACE_KUBELET = 2,
    ACTOR_PLACE_NODE_LIFECYCLE = 3,
    ACTOR_PLACE_LABELLER = 10,
    ACTOR_PLACE_EVENTS = 13,
    ACTOR_COUNT = 14
};

struct actors {
    struct sim *sim;
    struct api *api;
    struct spec_world world; /* a copy with all latencies filled in */
    struct actor_kinds kinds;
    struct index *index;
    /* from the options */
    void (*done)(void *arg, const struct spec_action *action, const struct refusal *refusal);
    void *arg;
    void *selves[ACTOR_COUNT]; /* in the order of enum actor_bit; NULL: left out */
};

/* The functions of one actor. */
struct actor {
    /* Creates it; it may already write objects. */
    void *(*begin)(struct actors *a);
    /* Records a commit and does nothing else. */
    void (*commit)(void *self, const struct api_commit *c);
    void (*end)(void *self);
};

/* Creates a machine of the initial world: its Node is registered and ready at once. */
void kubelet_begin_node(struct actors *a, const struct spec_node *node);

/* The shape of the node's machine; NULL: there is no machine. */
const struct spec_shape *kubelet_shape(const struct actors *a, const char *node);
/* Whether the node has a machine whose kubelet is silent. */
bool kubelet_is_silent(const struct actors *a, const char *node);
/* A node may have fallen silent: checks it after its grace period. */
void node_lifecycle_watch(struct actors *a, const char *node);

extern const struct actor daemonset_actor, scheduler_actor, kubelet_actor, node_lifecycle_actor,
    collector_actor, job_actor, replicaset_actor, disruption_actor, person_actor, autoscaler_actor,
    labeller_actor, other_operator_actor, gitops_actor, events_actor;

#endif
