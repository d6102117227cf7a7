/* Virtual time: events ordered by time, then by when they were added. Time jumps to the next event,
 * so that a quiet day costs nothing. */
#ifndef OSTLER_SIM_WORLD_SIM_H
#define OSTLER_SIM_WORLD_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/heap.h"
#include "sim/world/rng.h"

typedef void sim_fn(void *arg);

struct sim {
    int64_t now_ms; /* since the start */
    struct heap events;
    int64_t epoch_us;   /* wall time at 0 ms: SIM_EPOCH_US, unless set before the first event */
    double pace;        /* virtual ms per ms of wall time: 1, unless set before the first event */
    struct clock clock; /* its time is now_ms, with the matching wall time */
    struct rng rng;     /* of the whole world: fork it for each purpose */
    uint64_t trace;     /* hash of everything traced: equal for two runs of a seed */
    uint64_t happened;  /* number of events so far */
};

/* One event, embedded in its owner; set `fn` and `arg` once, then call sim_at(). */
struct sim_event {
    struct heap_item item;
    sim_fn *fn;
    void *arg;
};

/* The default wall time at 0 ms: 2026-11-20T10:00:00Z. */
#define SIM_EPOCH_US INT64_C(1795168800000000)

/* Initializes a world at 0 ms without events. */
void sim_init(struct sim *s, uint64_t seed);
/* The wall time at a virtual one. */
int64_t sim_wall_us(const struct sim *s, int64_t at_ms);
/* The virtual time at a wall time. */
int64_t sim_ms_of_wall(const struct sim *s, int64_t wall_us);
/* Frees the queue; owners keep embedded events. */
void sim_clear(struct sim *s);

/* Schedules the event at this time (not before now); moves it if it is already scheduled. */
void sim_at(struct sim *s, struct sim_event *e, int64_t at_ms);
void sim_after(struct sim *s, struct sim_event *e, int64_t delay_ms);
/* Removes the event if it is scheduled. */
void sim_cancel(struct sim *s, struct sim_event *e);

/* Runs the next event; false if there is none at or before `until_ms` (time is then `until_ms`). */
bool sim_step(struct sim *s, int64_t until_ms);
void sim_run_until(struct sim *s, int64_t until_ms);
/* Time of the next event; INT64_MAX: none. */
int64_t sim_next(const struct sim *s);
void sim_trace(struct sim *s, const void *bytes, uint64_t n);

#endif
