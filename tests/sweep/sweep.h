/* A sweep tries one kind of thing going wrong in every place: a row in a table, with a number of
 * cases and a function that lives one of them. Cases are independent of each other; the program
 * spreads them over processes, so that a crash is a finding of one case. */
#ifndef OSTLER_TESTS_SWEEP_SWEEP_H
#define OSTLER_TESTS_SWEEP_SWEEP_H

#include "tests/sweep/expect.h"
#include "tests/sweep/run.h"

/* What all cases of a sweep share; made once, before the processes are. */
struct sweep_env {
    const struct life *life;
    enum looseness loose;
    struct run_result reference; /* the life without faults, seed 1 */
    uint64_t writes;             /* requests of the reference that write */
    uint64_t notifications;      /* changes by others that a watch of Ostler's brings */
    bool single;                 /* one case alone: more may be found out about it */
    bool verbose;                /* print what happens */
    size_t plant;                /* run_plan.plant of every case */
    unsigned shorten_s;          /* real time that making a failing seed short may take */
    int64_t faults_ms;           /* random faults last so long in each phase; 0: half a minute */
    const char *file;            /* --life; NULL: it was not given */
};

/* A sweep with so many cases is one over seeds, which are taken one after another. */
enum { SWEEP_SEEDS = 1000000000 };

struct sweep {
    const char *name;
    const char *help;
    /* How many cases there are; for sweeps over seeds as many as one asks for. */
    size_t (*cases)(const struct sweep_env *env);
    /* Lives case `index`, adds to `counts`, and appends findings to `out`; returns how many there
     * are. */
    size_t (*run)(const struct sweep_env *env, size_t index, struct counts *counts,
                  struct buf *out);
    const char *life; /* the scenario file; NULL: tests/sweep/life.yaml */
    /* how its cases are compared with the reference; UNCOMPARED: each has its own life */
    enum looseness loose;
    size_t small; /* cases of the bounded size, spread evenly over all; 0: all */
};

/* Appends what more there is to tell of a case that failed and is lived alone: it may take long. */
typedef void sweep_tell_fn(const struct sweep_env *env, size_t index, struct buf *out);

/* The table; `ret_count` of them. */
const struct sweep *sweep_table(size_t *ret_count);

/* ---- for sweeps */

/* Lives a plan and holds it against the reference (where `compare`); findings and counts are added
 * up. `what` says in words what the case is. When something was found, it is lived once more with
 * texts, so that the differences are told line by line. */
size_t sweep_live(const struct sweep_env *env, struct run_plan *plan, bool compare,
                  const char *what, struct counts *counts, struct buf *out);

/* ---- the sweeps (sweep_*.c) */
size_t crash_cases(const struct sweep_env *env);
size_t crash_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out);
size_t lost_cases(const struct sweep_env *env);
size_t lost_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out);
size_t stale_cases(const struct sweep_env *env);
size_t stale_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out);
size_t unobserved_cases(const struct sweep_env *env);
size_t unobserved_run(const struct sweep_env *env, size_t index, struct counts *counts,
                      struct buf *out);
size_t leaders_cases(const struct sweep_env *env);
size_t leaders_run(const struct sweep_env *env, size_t index, struct counts *counts,
                   struct buf *out);
size_t outage_cases(const struct sweep_env *env);
size_t outage_run(const struct sweep_env *env, size_t index, struct counts *counts,
                  struct buf *out);
size_t trouble_cases(const struct sweep_env *env);
size_t trouble_run(const struct sweep_env *env, size_t index, struct counts *counts,
                   struct buf *out);
size_t clocks_cases(const struct sweep_env *env);
size_t clocks_run(const struct sweep_env *env, size_t index, struct counts *counts,
                  struct buf *out);
size_t rights_cases(const struct sweep_env *env);
size_t rights_run(const struct sweep_env *env, size_t index, struct counts *counts,
                  struct buf *out);
size_t dst_cases(const struct sweep_env *env);
size_t dst_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out);
sweep_tell_fn dst_tell;
/* The same with fewer faults in each phase. */
size_t short_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out);
sweep_tell_fn short_tell;
size_t acto_cases(const struct sweep_env *env);
size_t acto_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out);
size_t writers_cases(const struct sweep_env *env);
size_t writers_run(const struct sweep_env *env, size_t index, struct counts *counts,
                   struct buf *out);
size_t people_cases(const struct sweep_env *env);
size_t people_run(const struct sweep_env *env, size_t index, struct counts *counts,
                  struct buf *out);
size_t policy_cases(const struct sweep_env *env);
size_t policy_run(const struct sweep_env *env, size_t index, struct counts *counts,
                  struct buf *out);
size_t nodes_cases(const struct sweep_env *env);
size_t nodes_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out);
size_t agents_cases(const struct sweep_env *env);
size_t agents_run(const struct sweep_env *env, size_t index, struct counts *counts,
                  struct buf *out);
/* How many of its cases are not large: those come first. */
size_t rollouts_small(void);
size_t rollouts_cases(const struct sweep_env *env);
size_t rollouts_run(const struct sweep_env *env, size_t index, struct counts *counts,
                    struct buf *out);
/* What a life has besides: who sees each of its commits, and what goes wrong in it. */
struct rollouts_watch {
    void (*on_commit)(struct run *r, const struct api_commit *c, void *arg); /* may be NULL */
    void *arg;
    struct fault *faults;
    size_t fault_count;
};
/* Lives a life by the clock and holds it against what is expected of it. `watch` may be NULL. */
size_t rollouts_live(const struct sweep_env *env, struct life *life, struct expectations *x,
                     const struct rollouts_watch *watch, struct counts *counts, struct buf *out);
size_t older_cases(const struct sweep_env *env);
size_t older_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out);
size_t parked_cases(const struct sweep_env *env);
size_t parked_run(const struct sweep_env *env, size_t index, struct counts *counts,
                  struct buf *out);
size_t jobs_cases(const struct sweep_env *env);
size_t jobs_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out);
size_t same_cases(const struct sweep_env *env);
size_t same_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out);
/* An on_commit that counts changes by others that a watch of Ostler's brings; run_plan.arg is the
 * counter, a uint64_t. */
void view_count_notification(struct run *r, const struct api_commit *c);

#endif
