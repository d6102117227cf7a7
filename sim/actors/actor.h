/* What all actors share, and the table of functions that defines an actor. Only for this
 * directory. */
#ifndef OSTLER_SIM_ACTORS_ACTOR_H
#define OSTLER_SIM_ACTORS_ACTOR_H

#include <stddef.h>

#include "sim/actors/agenda.h"
#include "sim/actors/index.h"
#include "sim/world/sim.h"

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
    ACTOR_PLACE_GPU_FAULTS = 14,
    ACTOR_PLACE_KURED = 15,
    ACTOR_COUNT = 16
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

/* One agenda of an actor: its place in the actor's struct, the name of its random stream, the
 * place of its delay in struct spec_latencies, and what looks at a key. */
struct actor_agenda {
    size_t place;
    const char *purpose; /* NULL: none */
    size_t delay;
    agenda_fn *look;
};

#define AGENDA(type, member, purpose, latency, look)                                               \
    {                                                                                              \
        offsetof(type, member), purpose, offsetof(struct spec_latencies, latency), look            \
    }

enum { ACTOR_AGENDAS = 6 };

/* What an actor is. */
struct actor {
    size_t size; /* of its struct, which begins with a pointer to struct actors */
    struct actor_agenda agendas[ACTOR_AGENDAS];
    /* Sets up the rest of its struct; may already write objects. NULL: nothing */
    void (*begin)(void *self);
    /* Records a commit and does nothing else. NULL: nothing */
    void (*commit)(void *self, const struct api_commit *c);
    /* Frees the rest of its struct. NULL: nothing */
    void (*end)(void *self);
};

/* Adds a machine: it boots, and its kubelet registers a Node. `at_once`: it is ready now, as in the
 * initial world. */
void kubelet_add_node(struct actors *a, const struct spec_node *node, bool at_once);
/* Removes the Node object and the machine with everything on it. */
void kubelet_remove_node(struct actors *a, const char *name);
/* Does an action to the machine that it names; false if there is none. */
bool kubelet_do(const struct actors *a, const struct spec_action *action);
/* Ends the main containers of a pod with this exit code and message. */
void kubelet_crash(const struct actors *a, const json_t *pod, int exit_code, const char *message);
/* Random faults of GPUs begin or end; false: the world has none. */
bool gpu_faults_switch(struct actors *a, bool on);
/* A machine asks for a reboot: kured, if the world has it, does that after a while. */
void kured_note(struct actors *a, const char *node);
/* The labeller's labels are removed, then added again. */
void labeller_restart(struct actors *a);
/* The shape of the node's machine; NULL: there is no machine. */
const struct spec_shape *kubelet_shape(const struct actors *a, const char *node);
/* Whether the node has a machine whose kubelet is silent. */
bool kubelet_is_silent(const struct actors *a, const char *node);
/* A node may have fallen silent: checks it after its grace period. */
void node_lifecycle_watch(struct actors *a, const char *node);

extern const struct actor daemonset_actor, scheduler_actor, kubelet_actor, node_lifecycle_actor,
    collector_actor, job_actor, replicaset_actor, disruption_actor, person_actor, autoscaler_actor,
    labeller_actor, other_operator_actor, gitops_actor, events_actor, gpu_faults_actor, kured_actor;

#endif
