/* What all actors share, and how each is built: a row of functions. Only for this folder. */
#ifndef OSTLER_SIM_ACTORS_ACTOR_H
#define OSTLER_SIM_ACTORS_ACTOR_H

#include "sim/actors/actors.h"
#include "sim/actors/agenda.h"
#include "sim/actors/index.h"

/* The kinds that actors know. */
struct actor_kinds {
    const struct kind *budget, *configmap, *daemonset, *deployment, *job, *node, *pod, *replicaset, *revision, *runtimeclass;
};

/* How many actors there are, and the places of those that others ask. */
enum { ACTOR_PLACE_KUBELET = 2, ACTOR_PLACE_NODE_LIFECYCLE = 3, ACTOR_PLACE_LABELLER = 10, ACTOR_PLACE_EVENTS = 13,
       ACTOR_COUNT = 14 };

struct actors {
    struct sim *sim;
    struct api *api;
    struct spec_world world; /* a copy whose latencies are all filled in */
    struct actor_kinds kinds;
    struct index *index;
    void (*done)(void *arg, const struct spec_action *action, const struct refusal *refusal); /* of the options */
    void *arg;
    void *selves[ACTOR_COUNT]; /* in the order of the actors' bits; NULL: left out */
};

/* One actor. */
struct actor {
    /* Makes it; it may write already. */
    void *(*begin)(struct actors *a);
    /* Takes note of a commit, and does nothing more. */
    void (*commit)(void *self, const struct api_commit *c);
    void (*end)(void *self);
};

/* A machine of the world is there from the beginning: its Node is registered and ready at once. */
void kubelet_begin_node(struct actors *a, const struct spec_node *node);

/* What the node's machine is like; NULL: there is none. */
const struct spec_shape *kubelet_shape(const struct actors *a, const char *node);
/* Whether the node's machine is known and does not say anything. */
bool kubelet_is_silent(const struct actors *a, const char *node);
/* A node may have fallen silent: look at it when its grace is over. */
void node_lifecycle_watch(struct actors *a, const char *node);

extern const struct actor daemonset_actor, scheduler_actor, kubelet_actor, node_lifecycle_actor, collector_actor, job_actor,
    replicaset_actor, disruption_actor, person_actor, autoscaler_actor, labeller_actor, other_operator_actor, gitops_actor,
    events_actor;

#endif
