/* The rest of a simulated cluster: controllers, scheduler, kubelets, machines and users. They run
 * in virtual time, read and write the API server directly, and react to its commits. */
#ifndef OSTLER_SIM_ACTORS_ACTORS_H
#define OSTLER_SIM_ACTORS_ACTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/actors/world_spec.h"
#include "sim/api/api.h"
#include "sim/world/sim.h"

struct actors;

/* The actors, as bits. */
enum actor_bit {
    ACTOR_DAEMONSET = 1 << 0,
    ACTOR_SCHEDULER = 1 << 1,
    ACTOR_KUBELET = 1 << 2, /* and the machines */
    ACTOR_NODE_LIFECYCLE = 1 << 3,
    ACTOR_COLLECTOR = 1 << 4,
    ACTOR_JOB = 1 << 5,
    ACTOR_REPLICASET = 1 << 6,
    ACTOR_DISRUPTION = 1 << 7,
    ACTOR_PERSON = 1 << 8,
    ACTOR_AUTOSCALER = 1 << 9,
    ACTOR_LABELLER = 1 << 10,
    ACTOR_OTHER_OPERATOR = 1 << 11,
    ACTOR_GITOPS = 1 << 12,
    ACTOR_EVENTS = 1 << 13, /* Events of all components */
    ACTOR_GPU_FAULTS = 1 << 14,
    ACTOR_KURED = 1 << 15,
};

struct actors_options {
    const struct spec_world *world; /* borrowed */
    unsigned without;               /* bits of actors to leave out */
    bool events;                    /* run ACTOR_EVENTS; only if their Events are read */
    /* Reports an action of the world as done or refused (`refusal` is NULL or says why). May be
     * NULL. */
    void (*done)(void *arg, const struct spec_action *action, const struct refusal *refusal);
    /* Reports an object of the initial world that was refused. May be NULL. */
    void (*refused)(void *arg, const json_t *object, const struct refusal *refusal);
    void *arg;
};

/* Creates the world's objects and machines, and starts the actors. Once for each api. */
struct actors *actors_new(struct sim *sim, struct api *api, const struct actors_options *options);
/* Nothing may be written to the api afterwards. */
void actors_free(struct actors *a);

/* ---- immediate changes to the world; an unknown name has no effect */

/* Executes an action (its time is ignored). False if the API server refused it or the name is
 * unknown; `refusal` (may be NULL) says why. */
bool actors_do(struct actors *a, const struct spec_action *action, struct refusal *refusal);
/* Replaces rows from now on. The rows are borrowed, like the world. */
void actors_change(struct actors *a, const struct spec_change *change);
/* Replaces the latencies of pulls, drivers, toolkits and device plugins. Those of controllers never
 * change. */
void actors_set_latencies(struct actors *a, const struct spec_latencies *latencies);

/* ---- the true state, for checks */

/* The state of a machine. */
struct actors_machine {
    bool up;
    int boots;
    /* tag of the loaded driver, or the host driver's version; NULL: none. Borrowed */
    const char *module;
    const char *digest;   /* configuration digest of the loaded driver; NULL: none. Borrowed */
    size_t module_users;  /* containers that use the module */
    int built_in;         /* number of installed GPUs */
    int faulty;           /* number of GPUs that have a fault at the moment */
    uint64_t faulty_gpus; /* which ones, as bits */
    int seen;             /* number of GPUs that its agent reports */
    bool lies;            /* the agent's report is false */
    int64_t gpus;         /* devices that its plugin gives out */
    int64_t withheld;     /* devices that it has registered and considers unhealthy */
    bool foreign; /* a foreign device plugin is there, whether it has registered devices or not */
    bool configured;            /* a toolkit has configured its container runtime */
    uint64_t modules_unloaded;  /* since the start */
    uint64_t unloads_under_use; /* modules unloaded while a container used them: must stay 0 */
    /* how often a one-off pod began to reset GPUs there, and to reboot it, or to ask for that */
    uint64_t resets, reboots_asked;
};
/* The machine's current state; false if the name is unknown. */
bool actors_machine(const struct actors *a, const char *name, struct actors_machine *ret);
/* Whether an image is on a machine's disk. */
bool actors_has_image(const struct actors *a, const char *name, const char *image);

#endif
