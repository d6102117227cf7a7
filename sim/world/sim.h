/* Virtual time: things to happen, in order of time and then of their coming. Time jumps to the next of them, so that a quiet day
 * costs nothing. */
#ifndef OSTLER_SIM_WORLD_SIM_H
#define OSTLER_SIM_WORLD_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/heap.h"
#include "sim/world/rng.h"

typedef void sim_fn(void *arg);

struct sim {
    int64_t now_ms;     /* since the beginning */
    struct heap events;
    int64_t epoch_us;   /* wall time at 0 ms: SIM_EPOCH_US, unless it is set before anything happens */
    double pace;        /* virtual milliseconds in one of wall time: 1, unless it is set before anything happens */
    struct clock clock; /* shows now_ms, and the wall time at it */
    struct rng rng;     /* of the whole world: fork it for each purpose */
    uint64_t trace;     /* hash over all that was traced: two runs of a seed end with the same */
    uint64_t happened;  /* things that have happened */
};

/* One thing to happen, embedded in what it belongs to; set `fn` and `arg` once, then sim_at(). */
struct sim_event {
    struct heap_item item;
    sim_fn *fn;
    void *arg;
};

/* The usual wall time at 0 ms: 2026-11-20T10:00:00Z. */
#define SIM_EPOCH_US INT64_C(1795168800000000)

/* A world at 0 ms in which nothing will happen yet. */
void sim_init(struct sim *s, uint64_t seed);
/* The wall time at a virtual one. */
int64_t sim_wall_us(const struct sim *s, int64_t at_ms);
/* The virtual time at a wall time. */
int64_t sim_ms_of_wall(const struct sim *s, int64_t wall_us);
/* Frees what sim_call() still holds; embedded events are the owners' matter. */
void sim_clear(struct sim *s);

/* Lets it happen at this time (not before now); setting it again moves it. */
void sim_at(struct sim *s, struct sim_event *e, int64_t at_ms);
/* The same after a delay. */
void sim_after(struct sim *s, struct sim_event *e, int64_t delay_ms);
/* It does not happen; where it was not to happen nothing changes. */
void sim_cancel(struct sim *s, struct sim_event *e);
/* Calls fn(arg) once after a delay; for what belongs to nothing. `drop` (may be NULL) is called instead where the world ends
 * first. */
void sim_call(struct sim *s, int64_t delay_ms, sim_fn *fn, void *arg, sim_fn *drop);

/* Lets the next thing happen; false when there is none at or before `until_ms` (time is then `until_ms`). */
bool sim_step(struct sim *s, int64_t until_ms);
/* Steps until that time. */
void sim_run_until(struct sim *s, int64_t until_ms);
/* When the next thing happens; INT64_MAX: nothing will. */
int64_t sim_next(const struct sim *s);
/* Adds bytes to the trace's hash. */
void sim_trace(struct sim *s, const void *bytes, uint64_t n);

#endif
