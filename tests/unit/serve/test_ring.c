#include "serve/ring.h"

#include <string.h>

#include "base/buf.h"
#include "tests/unit/support/suite.h"

static void add(struct ring *r, const char *frame)
{
    ring_add(r, frame, strlen(frame));
}

/* All from a position on; "lost" if it is overwritten. */
static char *rest_of(const struct ring *r, uint64_t at)
{
    struct buf out = BUF_INIT(4096);
    const char *bytes;
    size_t n;
    do {
        if (!ring_read(r, at, &bytes, &n)) {
            buf_clear(&out);
            return xstrdup("lost");
        }
        assert_true(n == 0 || buf_add(&out, bytes, n));
        at += n;
    } while (n > 0);
    return buf_take(&out);
}

static void assert_rest(const struct ring *r, uint64_t at, const char *want)
{
    CLEANUP_FREE char *got = rest_of(r, at);
    assert_string_equal(got, want);
}

static void a_viewer_reads_what_comes_after_it(void **state)
{
    (void) state;
    struct ring *r = ring_new(16);
    uint64_t at = ring_end(r);
    assert_rest(r, at, "");
    add(r, "one,");
    add(r, "two,");
    assert_rest(r, at, "one,two,");
    assert_rest(r, at + 4, "two,");
    assert_rest(r, ring_end(r), "");
    ring_free(r);
}

static void frames_go_round_the_end(void **state)
{
    (void) state;
    struct ring *r = ring_new(8);
    add(r, "abcdef");
    uint64_t at = ring_end(r);
    add(r, "ghijkl");
    assert_rest(r, at, "ghijkl");
    add(r, "mn");
    assert_rest(r, at, "ghijklmn");
    ring_free(r);
}

static void a_viewer_that_is_too_slow_is_told(void **state)
{
    (void) state;
    struct ring *r = ring_new(8);
    uint64_t at = ring_end(r);
    add(r, "abcdefgh");
    assert_rest(r, at, "abcdefgh");
    add(r, "i");
    assert_rest(r, at, "lost");
    assert_rest(r, at + 1, "bcdefghi");
    assert_rest(r, ring_end(r) + 1, "lost"); /* no position of this ring */
    ring_free(r);
}

static void a_frame_that_is_too_long_loses_all_viewers(void **state)
{
    (void) state;
    struct ring *r = ring_new(8);
    uint64_t at = ring_end(r);
    add(r, "abcdefghi");
    assert_rest(r, at, "lost");
    assert_rest(r, ring_end(r), "");
    ring_free(r);
}

static void a_viewer_continues_after_a_number(void **state)
{
    (void) state;
    struct ring *r = ring_new(16);
    uint64_t at;
    assert_int_equal(ring_sequence(r), 1);
    add(r, "two,");
    ring_add_beat(r, "-", 1);
    add(r, "three,");
    assert_int_equal(ring_sequence(r), 3);
    assert_true(ring_find(r, 1, &at));
    assert_rest(r, at, "two,-three,");
    assert_true(ring_find(r, 2, &at));
    assert_rest(r, at, "-three,");
    assert_true(ring_find(r, 3, &at));
    assert_rest(r, at, "");
    assert_false(ring_find(r, 0, &at));
    assert_false(ring_find(r, 4, &at));
    assert_false(ring_find(r, UINT64_MAX, &at));
    add(r, "four,five,");
    assert_false(ring_find(r, 1, &at)); /* overwritten */
    assert_true(ring_find(r, 3, &at));
    assert_rest(r, at, "four,five,");
    ring_free(r);
}

static void numbers_that_are_long_ago_are_not_found(void **state)
{
    (void) state;
    struct ring *r = ring_new(1 << 16);
    uint64_t at;
    for (int i = 0; i < 255; i++)
        add(r, "x");
    assert_true(ring_find(r, 1, &at));
    add(r, "x");
    assert_false(ring_find(r, 1, &at));
    assert_true(ring_find(r, 2, &at));
    assert_int_equal(ring_end(r) - at, 255);
    ring_free(r);
}

static void after_a_pause_no_earlier_number_is_found(void **state)
{
    (void) state;
    struct ring *r = ring_new(16);
    uint64_t at, before = ring_end(r);
    add(r, "two,");
    ring_forget(r);
    assert_int_equal(ring_sequence(r), 3);
    assert_false(ring_find(r, 1, &at));
    assert_false(ring_find(r, 2, &at));
    assert_true(ring_find(r, 3, &at));
    assert_rest(r, before, "lost");
    add(r, "four,");
    assert_rest(r, at, "four,");
    ring_free(r);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a viewer reads what comes after it", a_viewer_reads_what_comes_after_it, NULL);
    suite_add(&s, "frames go round the end", frames_go_round_the_end, NULL);
    suite_add(&s, "a viewer that is too slow is told", a_viewer_that_is_too_slow_is_told, NULL);
    suite_add(&s, "a frame that is too long loses all viewers",
              a_frame_that_is_too_long_loses_all_viewers, NULL);
    suite_add(&s, "a viewer continues after a number", a_viewer_continues_after_a_number, NULL);
    suite_add(&s, "numbers that are long ago are not found",
              numbers_that_are_long_ago_are_not_found, NULL);
    suite_add(&s, "after a pause no earlier number is found",
              after_a_pause_no_earlier_number_is_found, NULL);
    return suite_run(&s, "ring");
}
