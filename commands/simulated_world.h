/* A simulator world that resembles a snapshot of a cluster: its GPU nodes become machines, its
 * GPU pods become equivalent pods. */
#ifndef OSTLER_SIMULATED_WORLD_H
#define OSTLER_SIMULATED_WORLD_H

#include "controller/options.h"
#include "reconcilers/cluster.h"
#include "sim/actors/world_spec.h"
#include "sim/api/api.h"

/* Images of simulated users' pods: a job ends like the real jobs, anything else keeps running. */
#define SIMULATED_JOB "simulated/job:1"
#define SIMULATED_SERVICE "simulated/service:1"

/* The content of the simulated API server and the machines below it. `world` is for the actors. */
struct simulated_world {
    struct spec_world world;
    struct spec_node *nodes;       /* of `world`; owned, with borrowed names and shapes */
    struct spec_shape *shapes;     /* as `nodes` */
    json_t *devices;               /* resources of device plugins besides the first; owned */
    struct spec_program program;   /* jobs */
    const struct cluster *cluster; /* after a pass over every node; borrowed */
    const json_t *objects;         /* as read, by snapshot_key(); borrowed */
};

/* Makes the machines and their pods for a cluster after a pass over every node. All arguments
 * are borrowed while `ret` is in use. */
void simulated_world_make(const struct cluster *c, const json_t *objects, const struct options *o,
                          struct simulated_world *ret);
/* Restores the initial state: nodes, revision records, device plugin configurations and
 * PodDisruptionBudgets. */
void simulated_world_restore(const struct simulated_world *w, struct api *api);
/* Whether the node has a machine: a node that is down, or that Ostler does not manage, has none. */
bool simulated_world_has_machine(const struct node_slot *slot);
/* Adds the snapshot's pods on nodes that already offer GPUs. They hold the same devices as the real
 * pods, end or run like them, and are recreated if a controller recreates those. */
void simulated_pods_add(const struct simulated_world *w, struct api *api);
/* Frees its memory. */
void simulated_world_clear(struct simulated_world *w);

#endif
