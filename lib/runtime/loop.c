#include "runtime/loop.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/mem.h"

enum { FDS_MAX = 16, HOOKS_MAX = 8 };

struct hook {
    loop_fn *fn;
    void *arg;
};

struct loop {
    const struct clock *clock;
    int64_t now;
    int epoll_fd; /* -1: virtual */
    int timer_fd;
    int64_t armed_for; /* current setting of timer_fd */
    bool turning;
    struct heap timers;
    struct hook fds[FDS_MAX];
    size_t fd_count;
    struct hook begin;
    struct hook hooks[HOOKS_MAX];
    size_t hook_count;
};

static void die(const char *what)
{
    fprintf(stderr, "ostler: %s: %s; exiting, the state is in the API server\n", what,
            strerror(errno));
    abort();
}

static void drain_timer(void *arg)
{
    struct loop *l = arg;
    uint64_t expirations;
    if (read(l->timer_fd, &expirations, sizeof expirations) > 0)
        l->armed_for = INT64_MAX;
}

struct loop *loop_new_virtual(const struct clock *clock)
{
    struct loop *l = xcalloc(1, sizeof *l);
    l->clock = clock;
    l->now = clock_mono_ms(clock);
    l->armed_for = INT64_MAX;
    l->epoll_fd = l->timer_fd = -1;
    return l;
}

struct loop *loop_new(const struct clock *clock)
{
    struct loop *l = loop_new_virtual(clock);
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    l->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (l->epoll_fd < 0 || l->timer_fd < 0)
        die("cannot create the event loop");
    loop_add_fd(l, l->timer_fd, drain_timer, l);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    if (l->epoll_fd >= 0) {
        close(l->timer_fd);
        close(l->epoll_fd);
    }
    heap_clear(&l->timers);
    free(l);
}

int64_t loop_now(const struct loop *l)
{
    return l->now;
}

const struct clock *loop_clock(const struct loop *l)
{
    return l->clock;
}

void loop_add_fd(struct loop *l, int fd, loop_fn *fn, void *arg)
{
    if (l->fd_count == FDS_MAX)
        abort();
    struct hook *hook = &l->fds[l->fd_count++];
    *hook = (struct hook){ fn, arg };
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = hook };
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
        die("cannot watch a descriptor");
}

int64_t loop_deadline(const struct loop *l)
{
    const struct heap_item *first = heap_first(&l->timers);
    return first ? first->at : INT64_MAX;
}

/* Sets the timer descriptor to the earliest timer, if that changed. */
static void loop_arm(struct loop *l, int64_t now)
{
    int64_t at = loop_deadline(l);
    if (at == l->armed_for)
        return;
    l->armed_for = at;
    struct itimerspec spec = { 0 };
    if (at != INT64_MAX) {
        int64_t wait = at > now ? at - now : 0;
        spec.it_value.tv_sec = (time_t) (wait / 1000);
        spec.it_value.tv_nsec = (long) (wait % 1000) * 1000000 + 1; /* zero would disarm it */
    }
    if (timerfd_settime(l->timer_fd, 0, &spec, NULL) < 0)
        die("cannot set the timer"); /* otherwise the loop would wait for ever */
}

void loop_timer_set(struct loop *l, struct timer *t, int64_t at)
{
    /* A past time becomes now: a timer that always sets itself in the past must not starve the
     * others. */
    heap_set(&l->timers, &t->item, at > l->now ? at : l->now);
    if (!l->turning && l->epoll_fd >= 0)
        loop_arm(l, clock_mono_ms(l->clock));
}

void loop_timer_cancel(struct loop *l, struct timer *t)
{
    heap_remove(&l->timers, &t->item);
}

void loop_on_begin(struct loop *l, loop_fn *fn, void *arg)
{
    l->begin = (struct hook){ fn, arg };
}

void loop_on_turn(struct loop *l, loop_fn *fn, void *arg)
{
    if (l->hook_count == HOOKS_MAX)
        abort();
    l->hooks[l->hook_count++] = (struct hook){ fn, arg };
}

int loop_fd(const struct loop *l)
{
    return l->epoll_fd;
}

/* Calls due timers; timers set meanwhile run in the next turn, after the descriptors. */
static void run_timers(struct loop *l)
{
    struct heap_item *first;
    uint64_t end = l->timers.next_order;
    while ((first = heap_first(&l->timers)) && first->at <= l->now && first->order < end) {
        struct timer *t = container_of(first, struct timer, item);
        heap_remove(&l->timers, first);
        t->fn(t->arg);
    }
}

static void run_descriptors(struct loop *l)
{
    struct epoll_event events[FDS_MAX];
    int n = epoll_wait(l->epoll_fd, events, FDS_MAX, 0);
    l->now = clock_mono_ms(l->clock);
    for (int i = 0; i < n; i++) {
        struct hook *hook = events[i].data.ptr;
        hook->fn(hook->arg);
    }
}

void loop_turn(struct loop *l)
{
    bool virtual = l->epoll_fd < 0;
    l->turning = true;
    if (virtual)
        l->now = clock_mono_ms(l->clock);
    else
        run_descriptors(l);
    if (l->begin.fn)
        l->begin.fn(l->begin.arg);
    run_timers(l);
    for (size_t i = 0; i < l->hook_count; i++)
        l->hooks[i].fn(l->hooks[i].arg);
    if (!virtual)
        loop_arm(l, l->now);
    l->turning = false;
}

void loop_wait(struct loop *l)
{
    struct epoll_event event;
    epoll_wait(l->epoll_fd, &event, 1, -1);
    loop_turn(l);
}
