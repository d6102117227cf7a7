/* One loop, one thread: descriptors, timers, and what is to be done at the end of a turn. All of it hangs on one epoll
 * descriptor, so that it can be the whole program's loop or sit inside another one (the server's). */
#ifndef OSTLER_RUNTIME_LOOP_H
#define OSTLER_RUNTIME_LOOP_H

#include <stdint.h>

#include "base/clock.h"
#include "base/heap.h"

struct loop;

typedef void loop_fn(void *arg);

/* Embedded in what it belongs to; set `fn` and `arg`, then arm it with loop_timer_set(). */
struct timer {
    struct heap_item item;
    loop_fn *fn;
    void *arg;
};

/* `clock` is borrowed. */
struct loop *loop_new(const struct clock *clock);
/* A loop without descriptors, for a simulated world: whoever drives it turns it when loop_deadline() has come or something
 * came in. */
struct loop *loop_new_virtual(const struct clock *clock);
/* Frees it; descriptors and timers are their owners' matter. NULL is none. */
void loop_free(struct loop *l);
/* The time of this turn: read once per turn, so that everything in it agrees. */
int64_t loop_now(const struct loop *l);
/* The clock itself, for what must not go by the time of a turn that may have been long. Borrowed. */
const struct clock *loop_clock(const struct loop *l);
/* Calls fn in a turn in which fd is readable. */
void loop_add_fd(struct loop *l, int fd, loop_fn *fn, void *arg);
/* Calls the timer once, when the clock has reached `at`, at the earliest in the next turn when it is set by a timer; setting it
 * again moves it. */
void loop_timer_set(struct loop *l, struct timer *t, int64_t at);
/* Takes the timer back; nothing happens where it is not set. */
void loop_timer_cancel(struct loop *l, struct timer *t);
/* Calls fn at the beginning of each turn, where what has come in through descriptors is taken: for what comes in without one. */
void loop_on_begin(struct loop *l, loop_fn *fn, void *arg);
/* Calls fn at the end of each turn, in the order of the calls to this function. */
void loop_on_turn(struct loop *l, loop_fn *fn, void *arg);
/* The descriptor that is readable when loop_turn() has something to do; not of a virtual loop. */
int loop_fd(const struct loop *l);
/* Does what is due, without waiting. */
void loop_turn(struct loop *l);
/* Waits until there is something to do, and does it; not of a virtual loop. */
void loop_wait(struct loop *l);
/* When the next timer is due; INT64_MAX when there is none. */
int64_t loop_deadline(const struct loop *l);

#endif
