/* An Ostler process in the simulated world: an engine with its loop in virtual time, and its client
 * of the API server. It can be killed, paused and restarted at any moment, like a container in a
 * pod. */
#ifndef OSTLER_SIM_WORLD_PROCESS_H
#define OSTLER_SIM_WORLD_PROCESS_H

#include "controller/engine/engine.h"
#include "sim/world/wire.h"

struct process;

/* All members are borrowed. */
struct process_options {
    struct sim *sim;
    struct wire *wire;
    const char *name; /* of its pod; with the number of the start it is the lease identity */
    const char *user; /* its user at the API server */
    /* The process itself sets what belongs to one start: transport, loop, clock, metrics,
     * identity, seed and callbacks. */
    struct engine_options engine;
    int64_t restart_ms; /* from its end to the restart; -1: no restart */
    /* Its code starts or stops to run, for measurements. May be NULL. */
    void (*running)(void *arg, bool begins);
    void *arg;
};

struct process_counts {
    uint64_t starts;
    uint64_t kills;  /* from outside or by a fault */
    uint64_t losses; /* of the lease */
    uint64_t ends;   /* by itself, after process_stop() or a finished cleanup */
    uint64_t turns;
    int exit_code; /* of its last end by itself */
};

/* Owned by the caller; does not run before process_start(). */
struct process *process_new(const struct process_options *o);
/* Kills it for ever. NULL is allowed. */
void process_free(struct process *p);
/* Starts it without any state of an earlier start. No effect if it runs. */
void process_start(struct process *p);
/* Ends it at once; nothing more is sent, but requests on their way may reach the server. It is
 * restarted after restart_ms. No effect if it does not run. */
void process_kill(struct process *p);
/* SIGTERM: it ends in order and is not restarted. */
void process_stop(struct process *p);
/* SIGSTOP and SIGCONT: its code stops while time goes on. */
void process_pause(struct process *p);
void process_resume(struct process *p);

/* Sets its wall clock ahead of the world's (negative: behind), also after a restart. Its monotonic
 * time is not affected. */
void process_set_clock(struct process *p, int64_t ahead_ms);

/* Whether it was started, has not ended and is not paused. */
bool process_is_running(const struct process *p);
/* NULL if it does not run. */
const struct engine *process_engine(const struct process *p);
/* Whether this is its current client. */
bool process_owns(const struct process *p, const struct wire_client *c);
/* Counters since its creation. Borrowed. */
const struct process_counts *process_counts(const struct process *p);

#endif
