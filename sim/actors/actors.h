/* The rest of a cluster: controllers, scheduler, kubelets and machines, and people. They live in virtual time, read and write the
 * API server as it is, and are woken by its commits. */
#ifndef OSTLER_SIM_ACTORS_ACTORS_H
#define OSTLER_SIM_ACTORS_ACTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/actors/world_spec.h"
#include "sim/api/api.h"
#include "sim/world/sim.h"

struct actors;

/* Who there is, a set of bits. */
enum actor_bit {
    ACTOR_DAEMONSET = 1 << 0,
    ACTOR_SCHEDULER = 1 << 1,
    ACTOR_KUBELET = 1 << 2, /* and the machines below */
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
    ACTOR_EVENTS = 1 << 13, /* what all of them tell of themselves */
};

struct actors_options {
    const struct spec_world *world; /* borrowed */
    unsigned without;               /* of enum actor_bit: who is left out */
    bool events;                    /* ACTOR_EVENTS is not left out: only where somebody looks */
    /* An action of the world was done, or refused (`refusal` is NULL or says why). May be NULL. */
    void (*done)(void *arg, const struct spec_action *action, const struct refusal *refusal);
    /* An object of the world is refused at the beginning. May be NULL. */
    void (*refused)(void *arg, const json_t *object, const struct refusal *refusal);
    void *arg;
};

/* Makes the world's objects and machines, and lets everybody begin. Once for each api. */
struct actors *actors_new(struct sim *sim, struct api *api, const struct actors_options *options);
/* Nothing may be written to the api any more. */
void actors_free(struct actors *a);

/* ---- what a scenario does to the world, at once. A name that is not there makes them do nothing. */

/* One deed of a scenario (its time does not count); false when the API server refused it or there is nothing of that name, which
 * `refusal` says (may be NULL). */
bool actors_do(struct actors *a, const struct spec_action *action, struct refusal *refusal);
/* A machine of a shape appears: it boots, and its kubelet registers a Node. */
void actors_node_add(struct actors *a, const char *name, const struct spec_shape *shape);
/* The Node object goes, and the machine with all that runs on it. */
void actors_node_remove(struct actors *a, const char *name);
/* Power off, power on, and both. What ran on the machine does not any more; pods that were there are started again. */
void actors_node_down(struct actors *a, const char *name);
void actors_node_up(struct actors *a, const char *name);
void actors_node_reboot(struct actors *a, const char *name);
/* The way between the kubelet and the API server is cut, and mended: what runs on the machine goes on. */
void actors_node_cut_off(struct actors *a, const char *name);
void actors_node_rejoin(struct actors *a, const char *name);
/* The kubelet starts anew while what runs on the machine goes on: it registers the Node where somebody has deleted it. */
void actors_kubelet_restart(struct actors *a, const char *name);
/* The main containers of a pod end with this code and message. */
void actors_pod_crash(struct actors *a, const char *ns, const char *name, int exit_code, const char *message);
/* All GPUs of a machine are gone from its bus, and are back. What the plugin offers goes and comes with them. */
void actors_gpus_out(struct actors *a, const char *name);
void actors_gpus_in(struct actors *a, const char *name);
/* From now on the machine's agent says what it sees with this merge patch over it; {}: the truth. Borrowed, as the world was. */
void actors_agent_says(struct actors *a, const char *name, const json_t *patch);
/* It runs, and says nothing more until actors_agent_says(). */
void actors_agent_silent(struct actors *a, const char *name);
/* Its container ends, and is started again. */
void actors_agent_restart(struct actors *a, const char *name);
/* The labeller starts anew: what it wrote on nodes goes, and comes again. */
void actors_labeller_restart(struct actors *a);
/* Other rows from now on: for images that come or go, drivers that get better. Borrowed, as the world was. */
void actors_set_images(struct actors *a, const struct spec_image *images, size_t count);
void actors_set_drivers(struct actors *a, const struct spec_driver *drivers, size_t count);
void actors_set_programs(struct actors *a, const struct spec_program *programs, size_t count);
/* Other times for pulls, drivers, toolkits and device plugins; those of controllers stay as they were at the beginning. */
void actors_set_latencies(struct actors *a, const struct spec_latencies *latencies);

/* ---- what is really there, for checks */

/* What a machine is like. */
struct actors_machine {
    bool up;
    int boots;
    const char *module; /* tag of the driver whose kernel module is loaded, or the host driver's version; NULL: none. Borrowed. */
    const char *digest;         /* the configuration that this driver was loaded with; NULL: none. Borrowed. */
    size_t module_users;        /* containers that hold it */
    int built_in;               /* GPUs that are in it, in devices */
    int seen;                   /* GPUs that its agent says it sees */
    bool lies;                  /* that says something else than it sees */
    int64_t gpus;               /* devices that its plugin has registered */
    bool foreign;               /* a device plugin that is not Ostler's is there, whether it has registered any or not */
    bool configured;            /* its container runtime has what a toolkit configured */
    uint64_t modules_unloaded;  /* since the beginning */
    uint64_t unloads_under_use; /* modules that went away from under a GPU user: must stay 0 */
};
/* What a machine is like now; false where there is none of that name. */
bool actors_machine(const struct actors *a, const char *name, struct actors_machine *ret);
/* Whether an image is on the disk of a machine. */
bool actors_has_image(const struct actors *a, const char *name, const char *image);

#endif
