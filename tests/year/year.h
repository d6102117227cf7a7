/* A fleet of GPU nodes over a long time, with real faults of GPUs and jobs that use them: what the
 * faults cost, for each way to deal with them. */
#ifndef OSTLER_TESTS_YEAR_YEAR_H
#define OSTLER_TESTS_YEAR_YEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/actors/actors.h"
#include "sim/world/process.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)

enum { GPUS = 8, TROUBLES_MAX = 8 };

/* Who deals with faults. With the last two Ostler manages drivers, and only observes faults. */
enum way { WAY_OBSERVE, WAY_CLOSE, WAY_REPAIR, WAY_NVSENTINEL, WAY_EKS, WAYS };

/* What a peer's rules do about a fault. */
enum reply {
    REPLY_NOTHING,
    REPLY_REBOOT,  /* closes the node, lets jobs end, reboots it */
    REPLY_PERSON,  /* closes the node, and calls a person */
    REPLY_REPLACE, /* closes the node, evicts all pods, takes another machine */
};

/* A kind of fault. */
struct year_kind {
    const char *name;
    int weight; /* share of all faults */
    struct spec_gpu_fault fault;
    bool hardware; /* counts in the rate of hardware faults */
    bool breaks;   /* programs fail on the GPU until it is cured */
    bool kills;    /* the program on the GPU ends */
    bool spreads;  /* meanwhile no new program starts on the node's other GPUs either */
    enum reply nvsentinel, eks;
};

/* A fault that comes. The same for all ways. */
struct year_fault {
    int64_t at_ms;
    size_t node;
    const struct year_kind *kind;
    int gpu;
    bool sticky;   /* only another GPU ends it */
    uint64_t seed; /* of the jobs that it meets */
};

/* Sums of a way. */
struct year_sums {
    double open_h, closed_h, part_h, jobs_h; /* node-hours of GPUs */
    uint64_t failed_jobs, killed_jobs, evictions, closings, closed_early, closed_falsely, persons;
    double *until_closed_s, *until_back_s; /* of faults that break a GPU */
    size_t until_closed_count, until_back_count;
};

struct year_options {
    enum way way;
    size_t nodes;
    int64_t days;
    int64_t rate; /* of hardware faults in a million GPU-days */
    uint64_t seed;
};

/* A fault that has not ended, on a node. */
struct trouble {
    const struct year_fault *fault;
    bool offered; /* jobs still get the GPU */
};

struct job {
    bool runs;
    int64_t since_ms, ends_ms, next_ms; /* next: not before, where none runs */
    uint64_t number;
};

/* What a person or a peer's controller does on a node, step by step: it comes, lets jobs end, waits
 * for a part, and for the machine. */
enum step { HANDS_IDLE, HANDS_COMING, HANDS_DRAINING, HANDS_AWAY, HANDS_BOOTING };
struct hands {
    enum step step;
    int64_t at_ms;    /* of the next step */
    int64_t drain_ms; /* jobs may go on for so long; -1: to their end */
    enum reply act;
    bool person, cordoned;
    int boots; /* of the machine before the act */
};

/* The faults of a node at the moment when it was closed. */
struct closing_truth {
    bool known;
    size_t faults, broken; /* broken: those that break a GPU */
};

/* A node, and what happens on it from a fault until it is back in service. */
struct place {
    struct fleet *fleet;
    char *name;
    bool whole; /* its jobs take all GPUs; else one each */
    bool active;
    struct sim_event event;
    int64_t since_ms, at_ms;
    struct rng rng;
    struct job jobs[GPUS];
    struct trouble troubles[TROUBLES_MAX];
    size_t trouble_count;
    bool closed_once;
    struct closing_truth closing;
    bool was_broken;               /* one of the faults broke a GPU */
    double open_rate, closed_rate; /* GPUs that are lost at the moment, of the node's */
    struct hands hands;
    /* as of the last look */
    struct actors_machine machine;
    bool closed;
    int given; /* GPUs that the node offers */
};

struct fleet {
    struct year_options options;
    struct sim sim;
    struct api *api;
    struct wire *wire;
    struct actors *actors;
    struct process *ostler;
    struct manifests *manifests;
    struct scenario *scenario;
    struct place *places;
    struct year_fault *faults;
    size_t fault_count;
    struct sim_event fault_event;
    size_t next_fault;
    uint64_t jobs_made;
    struct year_sums sums;
};

/* ---- faults.c */
extern const struct year_kind year_kinds[];
extern const size_t year_kind_count;
/* All faults of a fleet between two times, in order. Owned by the caller. */
struct year_fault *year_faults(const struct year_options *o, int64_t from_ms, int64_t to_ms,
                               size_t *ret_count);

/* ---- fleet.c */
/* Lives through all days; the sums are owned by the caller. */
void fleet_live(const struct year_options *o, struct year_sums *ret);

/* ---- place.c */
/* A fault comes: what is lost by it is counted until the node is back in service. */
void place_fault(struct place *p, const struct year_fault *f);
/* Counts what was lost since the last look. */
void place_count(struct place *p);
/* The node was written. */
void place_write(struct place *p, const json_t *node);
/* Does something to the machine. */
void place_do(struct place *p, enum spec_verb verb);

/* ---- jobs.c */
/* Jobs that were running when the first fault came. */
void jobs_begin(struct place *p);
/* Those that have ended, were evicted, or can start. */
void jobs_look(struct place *p);
/* The fault ends the program on its GPU. */
void jobs_hit(struct place *p, int gpu);
void jobs_evict(struct place *p);
/* Forgets them: no pod is left. */
void jobs_end(struct place *p);
int jobs_running(const struct place *p);
/* Whether jobs fail on this GPU. */
bool place_is_broken(const struct place *p, int gpu);
int place_broken(const struct place *p);
/* Whether jobs fail on all GPUs. */
bool place_is_poisoned(const struct place *p);

/* ---- hands.c */
/* A peer's rules see a fault. */
void hands_fault(struct place *p, const struct year_kind *k);
/* The next step, if its time has come. */
void hands_look(struct place *p);

#endif
