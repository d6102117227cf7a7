/* One life of a cluster with an Ostler in it, or two, and what goes wrong in it. The same plan
 * gives the same run, write by write. */
#ifndef OSTLER_TESTS_SWEEP_RUN_H
#define OSTLER_TESTS_SWEEP_RUN_H

#include "base/map.h"
#include "sim/actors/actors.h"
#include "sim/world/process.h"
#include "tests/sweep/counts.h"
#include "tests/sweep/life.h"
#include "tests/sweep/oracle.h"

/* What stands for secrets in the scenarios: in what Ostler may read and must not disclose
 * (nodes, pods and ConfigMaps of others), and in the policy's own variables, which belong into its
 * operands and their records and nowhere else. */
#define SECRET_CANARY "canary-7f3a9c"
#define POLICY_CANARY "canary-2b8e51"

/* A plan of the rollout is made anew at most once a minute: what it rests on is quiet when it is,
 * too. */
enum { REPLICAS_MAX = 2, RUN_QUIET_MS = 65 * 1000 };

struct run;

/* What is tried. Zero-initialised: a life in which nothing goes wrong. All is borrowed. */
struct run_plan {
    uint64_t seed;
    struct fault *faults; /* counts in them go on */
    size_t fault_count;
    int64_t faults_ms; /* so long in each phase, and it is not over before; 0: always */
    size_t replicas;   /* 0: one */
    /* of the wall clock of each one's machine, before the world's; negative: behind */
    int64_t ahead_ms[REPLICAS_MAX];
    size_t phases;                         /* only so many of the life; 0: all */
    const char *deny_verb, *deny_resource; /* a right that is missing; NULL: none */
    /* nothing goes wrong: that a edit of the life is refused is a finding */
    bool calm;
    size_t
        /* at the end of this phase (1: the first) Ostler starts anew, and must have nothing to
         * change; 0: of none */
        second_pass;
    bool second_pass_each; /* at the end of each */
    /* at the end of this phase (1: the first) a day goes by in which nothing may be written; 0: of
     * none */
    size_t quiet_day;
    enum looseness loose; /* how ends are compared */
    /* without a lease: a renewal every two seconds of two weeks is left out */
    bool alone;
    bool keep_text; /* snapshots with their lines, and what was written */
    bool verbose;   /* every write is printed */
    /* that so many faults have struck is a finding, to see how findings are told; 0: it is none */
    size_t plant;
    /* Called for each request that an Ostler sends and for each commit, before the invariants look
     * at it. May be NULL. */
    void (*on_sent)(struct run *r, const struct wire_client *c, const struct request *request);
    void (*on_commit)(struct run *r, const struct api_commit *c);
    /* When all is set up and nothing has begun. May be NULL. */
    void (*on_begin)(struct run *r);
    /* When a phase is quiet, before it is looked at; may let time pass. May be NULL. */
    void (*on_quiet)(struct run *r);
    void *arg;
    /* what `arg` points to before a run, to be lived once more; NULL: nothing is kept there */
    const void *fresh;
    size_t arg_size;
};

/* A write that came to the server, or a fault. */
struct run_line {
    int64_t at_ms;
    bool fault;
    char *text; /* method and path, or what the fault does */
};

/* What came of it. Zero-initialised = empty. */
struct run_result {
    struct counts counts;
    uint64_t trace;
    struct buf findings; /* one line for each, more lines indented; empty: none */
    size_t finding_count;
    struct snapshot *ends; /* of each phase */
    bool incomparable;     /* its ends may be others than those of the life without faults */
    size_t phases;
    size_t write_count;     /* requests that write and came to the server */
    struct run_line *lines; /* writes and faults in order, where texts are kept */
    size_t line_count;
    struct fault_mark *marks; /* faults that fired */
    size_t mark_count;
};

/* A run while it goes on. */
struct run {
    const struct life *life;
    const struct run_plan *plan;
    struct run_result *result;
    struct sim sim;
    struct api *api;
    struct access *access; /* with a right missing; NULL: the life's */
    struct wire *wire;
    struct fault_plan faults;
    struct spec_world world;
    struct actors *actors;
    struct process *ostlers[REPLICAS_MAX];
    size_t replicas;
    struct invariants *invariants;
    struct oracle *oracle;
    size_t phase;
    bool over;          /* after this phase no other follows */
    int64_t changed_ms; /* when something last changed that is no lease and no event */
    struct map marked;  /* names of nodes that were marked */
    size_t under_way;   /* nodes that are being changed */
    uint64_t changes;   /* by Ostler, but of its lease and events */
    /* Requests of Ostler's that came to write to nodes and the policy, whether they changed
     * anything or not. */
    uint64_t own_writes;
    size_t faults_told;                       /* of those that fired, how many have a line */
    struct run_later *later;                  /* calls that are still to come */
    size_t faults_printed;                    /* the same, of what `verbose` prints */
    struct process_counts seen[REPLICAS_MAX]; /* what `verbose` has printed of them */
};

void run_life(const struct life *life, const struct run_plan *plan, struct run_result *ret);
void run_result_clear(struct run_result *r);
/* A finding, once for each text. */
void run_finding(struct run *r, const char *fmt, ...) PRINTF(2, 3);
/* The phase goes on at least until that time, whether anything changes or not. */
void run_hold(struct run *r, int64_t until_ms);
/* Calls fn(arg) once after a delay. If the run ends first, calls `drop` (may be NULL) instead. */
void run_call(struct run *r, int64_t delay_ms, sim_fn *fn, void *arg, sim_fn *drop);
/* Lets time pass until nothing has changed for a while. */
void run_settle(struct run *r);
/* Whether a commit is a step on a node's way to another revision: a write of Ostler's to a node
 * that is claimed before or after it. */
bool run_is_step(const struct api_commit *c);
/* The Ostler that a request comes from, or NULL. */
struct process *run_sender(const struct run *r, const struct wire_client *c);
/* The Ostler that works at the moment, or NULL. */
struct process *run_leader(const struct run *r);
/* Holds what came of a run against the run without faults: another end of any phase is a finding.
 */
void run_compare(const struct run_result *reference, struct run_result *got);

#endif
