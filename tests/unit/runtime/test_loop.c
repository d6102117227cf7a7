#include "runtime/loop.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/world.h"

/* A timer that writes its letter, and may set itself again. */
struct bell {
    struct timer timer;
    struct world *world;
    struct buf *log;
    const char *letter;
    int64_t again_ms; /* from now; INT64_MIN: the beginning of time */
    int times;        /* how often it sets itself again */
};

static void ring(void *arg)
{
    struct bell *b = arg;
    buf_str(b->log, b->letter);
    if (b->times-- > 0)
        loop_timer_set(b->world->loop, &b->timer,
                       b->again_ms == INT64_MIN ? INT64_MIN
                                                : loop_now(b->world->loop) + b->again_ms);
}

static struct bell *bell_init(struct bell *b, struct world *w, struct buf *log, const char *letter)
{
    *b = (struct bell){
        .timer = { .fn = ring, .arg = b }, .world = w, .log = log, .letter = letter
    };
    return b;
}

static void timers_come_in_their_order(void **state)
{
    (void) state;
    struct world w;
    world_init(&w);
    CLEANUP_BUF struct buf log = BUF_INIT(100);
    struct bell a, b, c;
    loop_timer_set(w.loop, &bell_init(&a, &w, &log, "a")->timer, w.now_ms + 20);
    loop_timer_set(w.loop, &bell_init(&b, &w, &log, "b")->timer, w.now_ms + 10);
    loop_timer_set(w.loop, &bell_init(&c, &w, &log, "c")->timer, w.now_ms + 20);
    assert_int_equal(loop_deadline(w.loop), w.now_ms + 10);
    world_turn(&w);
    assert_string_equal(buf_text(&log), "");
    world_jump(&w, 100);
    world_turn(&w);
    assert_string_equal(buf_text(&log), "bac");
    assert_int_equal(loop_deadline(w.loop), INT64_MAX);
    world_clear(&w);
}

static void timers_are_moved_and_cancelled(void **state)
{
    (void) state;
    struct world w;
    world_init(&w);
    CLEANUP_BUF struct buf log = BUF_INIT(100);
    struct bell a, b;
    loop_timer_set(w.loop, &bell_init(&a, &w, &log, "a")->timer, w.now_ms + 10);
    loop_timer_set(w.loop, &a.timer, w.now_ms + 50);
    loop_timer_set(w.loop, &bell_init(&b, &w, &log, "b")->timer, w.now_ms + 10);
    loop_timer_cancel(w.loop, &b.timer);
    loop_timer_cancel(w.loop, &b.timer);
    world_pass(&w, 49);
    assert_string_equal(buf_text(&log), "");
    world_pass(&w, 1);
    assert_string_equal(buf_text(&log), "a");
    world_clear(&w);
}

static void timer_for_now_is_called_in_the_next_turn(void **state)
{
    (void) state;
    struct world w;
    world_init(&w);
    CLEANUP_BUF struct buf log = BUF_INIT(100);
    struct bell a;
    bell_init(&a, &w, &log, "a");
    a.times = 2;
    loop_timer_set(w.loop, &a.timer, w.now_ms);
    world_turn(&w);
    assert_string_equal(buf_text(&log), "a");
    world_turn(&w);
    assert_string_equal(buf_text(&log), "aa");
    world_clear(&w);
}

static void timer_for_the_past_lets_the_others_through(void **state)
{
    (void) state;
    struct world w;
    world_init(&w);
    CLEANUP_BUF struct buf log = BUF_INIT(100);
    struct bell greedy, other;
    bell_init(&greedy, &w, &log, "g");
    greedy.times = 100;
    greedy.again_ms = INT64_MIN;
    loop_timer_set(w.loop, &greedy.timer, INT64_MIN);
    loop_timer_set(w.loop, &bell_init(&other, &w, &log, "o")->timer, w.now_ms + 5);
    world_turn(&w);
    assert_string_equal(buf_text(&log), "g");
    world_jump(&w, 5);
    world_turn(&w);
    world_turn(&w);
    assert_non_null(strchr(buf_text(&log), 'o'));
    world_clear(&w);
}

static void hooks_come_last_in_their_order(void **state)
{
    (void) state;
    struct world w;
    world_init(&w);
    CLEANUP_BUF struct buf log = BUF_INIT(100);
    struct bell a, b, c;
    loop_on_turn(w.loop, ring, bell_init(&a, &w, &log, "1"));
    loop_on_turn(w.loop, ring, bell_init(&b, &w, &log, "2"));
    loop_timer_set(w.loop, &bell_init(&c, &w, &log, "t")->timer, w.now_ms);
    world_turn(&w);
    assert_string_equal(buf_text(&log), "t12");
    world_turn(&w);
    assert_string_equal(buf_text(&log), "t1212");
    world_clear(&w);
}

static void drain(void *arg)
{
    struct bell *b = arg;
    eventfd_t count;
    if (eventfd_read((int) b->again_ms, &count) == 0)
        buf_str(b->log, b->letter);
}

static bool readable(int fd, int wait_ms)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    return poll(&p, 1, wait_ms) == 1;
}

static void descriptors_come_before_timers(void **state)
{
    (void) state;
    struct world w;
    world_init(&w);
    CLEANUP_BUF struct buf log = BUF_INIT(100);
    struct bell fd_bell, timer_bell;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    bell_init(&fd_bell, &w, &log, "f")->again_ms = fd;
    loop_add_fd(w.loop, fd, drain, &fd_bell);
    loop_timer_set(w.loop, &bell_init(&timer_bell, &w, &log, "t")->timer, w.now_ms);
    world_turn(&w);
    assert_string_equal(buf_text(&log), "t");
    assert_false(readable(loop_fd(w.loop), 0));
    loop_timer_set(w.loop, &timer_bell.timer, w.now_ms);
    eventfd_write(fd, 1);
    assert_true(readable(loop_fd(w.loop), 0));
    world_turn(&w);
    assert_string_equal(buf_text(&log), "tft");
    world_clear(&w);
    close(fd);
}

/* With the machine's clock, whoever waits for loop_fd() is woken when a timer is due. */
static void descriptor_wakes_for_timers(void **state)
{
    (void) state;
    struct clock clock = clock_system();
    struct world w = { .loop = loop_new(&clock) };
    CLEANUP_BUF struct buf log = BUF_INIT(100);
    struct bell soon, at_once;
    loop_timer_set(w.loop, &bell_init(&soon, &w, &log, "s")->timer, clock_mono_ms(&clock) + 20);
    loop_turn(w.loop);
    assert_false(readable(loop_fd(w.loop), 0));
    assert_true(readable(loop_fd(w.loop), 5000));
    loop_turn(w.loop);
    assert_string_equal(buf_text(&log), "s");
    assert_false(readable(loop_fd(w.loop), 0));
    loop_timer_set(w.loop, &bell_init(&at_once, &w, &log, "a")->timer, INT64_MAX);
    loop_timer_set(w.loop, &at_once.timer, INT64_MIN);
    at_once.times = 1;
    at_once.again_ms = INT64_MIN;
    loop_turn(w.loop);
    assert_true(readable(loop_fd(w.loop), 5000));
    loop_turn(w.loop);
    assert_string_equal(buf_text(&log), "saa");
    loop_free(w.loop);
}

/* A timer that another event loop sets between two turns wakes, too. */
static void descriptor_wakes_for_timers_set_between_turns(void **state)
{
    (void) state;
    struct clock clock = clock_system();
    struct world w = { .loop = loop_new(&clock) };
    CLEANUP_BUF struct buf log = BUF_INIT(100);
    struct bell soon;
    loop_turn(w.loop);
    assert_false(readable(loop_fd(w.loop), 30));
    int64_t at = clock_mono_ms(&clock) + 20;
    loop_timer_set(w.loop, &bell_init(&soon, &w, &log, "s")->timer, at);
    assert_true(readable(loop_fd(w.loop), 5000));
    assert_true(clock_mono_ms(&clock) - at < 1000);
    loop_turn(w.loop);
    assert_string_equal(buf_text(&log), "s");
    loop_free(w.loop);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "timers come in their order", timers_come_in_their_order, NULL);
    suite_add(&s, "timers are moved and cancelled", timers_are_moved_and_cancelled, NULL);
    suite_add(&s, "a timer that sets itself for now is called in the next turn",
              timer_for_now_is_called_in_the_next_turn, NULL);
    suite_add(&s, "a timer that sets itself for the past lets the others through",
              timer_for_the_past_lets_the_others_through, NULL);
    suite_add(&s, "hooks come at the end of each turn, in their order",
              hooks_come_last_in_their_order, NULL);
    suite_add(&s, "descriptors come before timers", descriptors_come_before_timers, NULL);
    suite_add(&s, "the loop's descriptor wakes for timers", descriptor_wakes_for_timers, NULL);
    suite_add(&s, "it wakes for timers that are set between turns",
              descriptor_wakes_for_timers_set_between_turns, NULL);
    return suite_run(&s, "loop");
}
