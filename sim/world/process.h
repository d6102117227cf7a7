/* An Ostler of the simulated world: an engine with its loop on the world's time, and its way to the API server. It can be killed,
 * paused and started again at any moment, as a container in a pod. */
#ifndef OSTLER_SIM_WORLD_PROCESS_H
#define OSTLER_SIM_WORLD_PROCESS_H

#include "controller/engine/engine.h"
#include "sim/world/wire.h"

struct manifests;
struct process;

/* All is borrowed. */
struct process_options {
    struct sim *sim;
    struct wire *wire;
    const struct manifests *manifests;
    const char *name;              /* of its pod; with a number for each start it is the identity in the lease */
    const char *user;              /* who the API server takes it for */
    const char *lease_namespace;
    const char *operand_namespace;
    struct policy_limits limits;   /* of the policy */
    const char *agent_image;       /* of the node agent; NULL: it runs nowhere */
    int64_t absent_grace_ms;
    int64_t restart_ms;            /* from its end to its next start; -1: it stays away */
    bool leader_elect;
    bool cleanup;
    struct cleanup_wishes wishes; /* of it */
    /* Its own code begins to run, or has run for now: for who measures it. May be NULL. */
    void (*running)(void *arg, bool begins);
    void *arg;
};

struct process_counts {
    uint64_t starts;
    uint64_t kills;  /* from outside or by a fault */
    uint64_t losses; /* of the lease */
    uint64_t ends;   /* by itself, after process_stop() or when cleanup was through */
    uint64_t turns;
};

/* Owned by the caller; it does not run before process_start(). */
struct process *process_new(const struct process_options *o);
/* Ends it at once, as process_kill() does, for ever. NULL is none. */
void process_free(struct process *p);
/* Starts it with nothing that an earlier start knew; where it runs nothing happens. */
void process_start(struct process *p);
/* At this moment it is gone, with nothing more sent; what is on its way may still reach the server. It is started again after
 * restart_ms. Where it is not running nothing happens. */
void process_kill(struct process *p);
/* SIGTERM: it ends in order, and is not started again. */
void process_stop(struct process *p);
/* SIGSTOP and SIGCONT: nothing of it runs, while time goes on. */
void process_pause(struct process *p);
void process_resume(struct process *p);

/* The wall clock of its machine is ahead of the world's by so much from now on (negative: behind), also after its next start.
 * Time passes for it as for everybody. */
void process_set_clock(struct process *p, int64_t ahead_ms);

/* Whether it was started, has not ended and is not paused. */
bool process_is_running(const struct process *p);
/* NULL where it is not running. */
const struct engine *process_engine(const struct process *p);
/* Whether this is its way to the server at the moment. */
bool process_owns(const struct process *p, const struct wire_client *c);
/* The code of its last end by itself. */
int process_exit_code(const struct process *p);
/* What has become of it so far. Borrowed. */
const struct process_counts *process_counts(const struct process *p);

#endif
