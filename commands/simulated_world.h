/* A world for the simulator that is like a cluster that was read: its GPU nodes as machines, its pods with GPUs as pods that do
 * the same. */
#ifndef OSTLER_SIMULATED_WORLD_H
#define OSTLER_SIMULATED_WORLD_H

#include "controller/options.h"
#include "reconcilers/cluster.h"
#include "sim/actors/world_spec.h"
#include "sim/api/api.h"

/* Images of what stands for users' pods: a job ends when jobs do, all else runs on. */
#define SIMULATED_JOB "simulated/job:1"
#define SIMULATED_SERVICE "simulated/service:1"

/* What is to be put into the simulated API server, and the machines below it. `world` is for the actors. */
struct simulated_world {
    struct spec_world world;
    struct spec_node *nodes;   /* of `world`; owned, with names and shapes that are borrowed */
    struct spec_shape *shapes; /* the same */
    json_t *devices;           /* what their plugins register besides the first resource; owned */
    struct spec_program program; /* jobs */
    const struct cluster *cluster; /* in which every node was looked at; borrowed */
    const json_t *objects;         /* as they were read, by snapshot_key(); borrowed */
};

/* The machines, and what runs on them, for a cluster in which every node was looked at. All arguments are borrowed for
 * as long. */
void simulated_world_make(const struct cluster *c, const json_t *objects, const struct options *o, struct simulated_world *ret);
/* What is there before anybody acts: nodes, records of revisions, configurations of device plugins, and pods' budgets. */
void simulated_world_restore(const struct simulated_world *w, struct api *api);
/* Whether the node has a machine: one that is down, or that Ostler does not serve, has none. */
bool simulated_world_has_machine(const struct node_slot *slot);
/* Frees what it owns. */
void simulated_world_clear(struct simulated_world *w);

#endif
