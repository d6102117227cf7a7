/* One event loop in one thread: descriptors, timers and work at the end of a turn. All are in
 * one epoll descriptor, so that the loop can run alone or inside another loop (the server's). */
#ifndef OSTLER_RUNTIME_LOOP_H
#define OSTLER_RUNTIME_LOOP_H

#include <stdint.h>

#include "base/clock.h"
#include "base/heap.h"

struct loop;

typedef void loop_fn(void *arg);

/* Its owner embeds it; set `fn` and `arg`, then arm it with loop_timer_set(). */
struct timer {
    struct heap_item item;
    loop_fn *fn;
    void *arg;
};

/* `clock` is borrowed. */
struct loop *loop_new(const struct clock *clock);
/* A loop without descriptors, for the simulator: its driver runs a turn when loop_deadline() is
 * reached or input arrived. */
struct loop *loop_new_virtual(const struct clock *clock);
/* Frees the loop; descriptors and timers belong to their owners. NULL has no effect. */
void loop_free(struct loop *l);
/* The time of this turn, read once per turn, so that all work in it agrees. */
int64_t loop_now(const struct loop *l);
/* The clock, for code that needs the real time in a possibly long turn. Borrowed. */
const struct clock *loop_clock(const struct loop *l);
/* Calls fn in each turn in which fd is readable. */
void loop_add_fd(struct loop *l, int fd, loop_fn *fn, void *arg);
/* Calls the timer once when the clock reaches `at`, but in the next turn at the earliest if a
 * timer sets it. Setting it again moves it. Outside a turn `at` is later than loop_now(), which is
 * the time of the last one. */
void loop_timer_set(struct loop *l, struct timer *t, int64_t at);
/* Cancels the timer; no effect if it is not set. */
void loop_timer_cancel(struct loop *l, struct timer *t);
/* Calls fn at the beginning of each turn, where descriptors are read: for input without a
 * descriptor. */
void loop_on_begin(struct loop *l, loop_fn *fn, void *arg);
/* Calls fn at the end of each turn, in order of registration. */
void loop_on_turn(struct loop *l, loop_fn *fn, void *arg);
/* The descriptor that is readable when loop_turn() has work; not for a virtual loop. */
int loop_fd(const struct loop *l);
/* Does all due work without waiting. */
void loop_turn(struct loop *l);
/* Waits for work and does it; not for a virtual loop. */
void loop_wait(struct loop *l);
/* When the next timer is due; INT64_MAX if there is none. */
int64_t loop_deadline(const struct loop *l);

#endif
