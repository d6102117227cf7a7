/* When pods that fail at once on a node make Ostler doubt it, event by event. */
#include "reconcilers/decide/black_hole.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { STEPS_MAX = 16, T = 1000000 };

/* What happens; a pod is a letter. `owner`: a letter, too. */
enum what { END, FAILS, BEGINS, ENDS, DELETED, ASKED, TOLD, PASSED, FAILED };

struct step {
    enum what what;
    char pod, owner;
    int at_s;
};

static const struct row {
    const char *name;
    struct step steps[STEPS_MAX]; /* until END */
    int now_s;                    /* when it is asked */
    bool suspected;
    bool proving;
} rows[] = {
    { "nothing happened", { { END } }, 0, false, false },
    { "three pods of two owners failed",
      { { FAILS, 'a', 'x', 0 }, { FAILS, 'b', 'x', 10 }, { FAILS, 'c', 'y', 20 } },
      20,
      true,
      false },
    { "two pods are too few",
      { { FAILS, 'a', 'x', 0 }, { FAILS, 'b', 'y', 10 } },
      20,
      false,
      false },
    { "one owner may run a broken program",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 1 },
        { FAILS, 'c', 'x', 2 },
        { FAILS, 'd', 'x', 3 } },
      20,
      false,
      false },
    { "a pod that fails again is one pod",
      { { FAILS, 'a', 'x', 0 }, { FAILS, 'a', 'x', 10 }, { FAILS, 'b', 'y', 20 } },
      20,
      false,
      false },
    { "ten minutes are the limit",
      { { FAILS, 'a', 'x', 0 }, { FAILS, 'b', 'x', 10 }, { FAILS, 'c', 'y', 600 } },
      600,
      true,
      false },
    { "what is older does not count",
      { { FAILS, 'a', 'x', 0 }, { FAILS, 'b', 'x', 10 }, { FAILS, 'c', 'y', 601 } },
      601,
      false,
      false },
    { "it ends by time alone",
      { { FAILS, 'a', 'x', 0 }, { FAILS, 'b', 'x', 10 }, { FAILS, 'c', 'y', 20 } },
      601,
      false,
      false },
    { "a pod that began after them and ended well",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { BEGINS, 'd', 'y', 21 },
        { ENDS, 'd', 'y', 30 } },
      30,
      false,
      false },
    { "one that was deleted says nothing",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { BEGINS, 'd', 'y', 21 },
        { DELETED, 'd', 'y', 30 } },
      30,
      true,
      false },
    { "one that was deleted after it worked",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { BEGINS, 'd', 'y', 21 },
        { DELETED, 'd', 'y', 90 } },
      90,
      false,
      false },
    { "one that began before them says nothing",
      { { BEGINS, 'd', 'y', 0 },
        { FAILS, 'a', 'x', 1 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { ENDS, 'd', 'y', 30 } },
      30,
      true,
      false },
    { "one that runs for a minute works",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { BEGINS, 'd', 'y', 21 } },
      82,
      false,
      false },
    { "one that has begun has not worked yet",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { BEGINS, 'd', 'y', 21 } },
      81,
      true,
      false },
    { "one that began and failed",
      { { FAILS, 'a', 'x', 0 },
        { BEGINS, 'b', 'x', 5 },
        { FAILS, 'b', 'x', 10 },
        { BEGINS, 'c', 'y', 11 },
        { FAILS, 'c', 'y', 20 },
        { ENDS, 'c', 'y', 21 } },
      90,
      true,
      false },
    { "what fails after one worked counts anew",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'y', 10 },
        { BEGINS, 'd', 'y', 11 },
        { ENDS, 'd', 'y', 15 },
        { FAILS, 'e', 'x', 20 },
        { FAILS, 'f', 'y', 21 } },
      30,
      false,
      false },
    { "and is enough with a third",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'y', 10 },
        { BEGINS, 'd', 'y', 11 },
        { ENDS, 'd', 'y', 15 },
        { FAILS, 'e', 'x', 20 },
        { FAILS, 'f', 'y', 21 },
        { FAILS, 'g', 'y', 22 } },
      30,
      true,
      false },
    { "a long run that began between them ends nothing that came after its first minute",
      { { FAILS, 'a', 'x', 0 },
        { BEGINS, 'd', 'y', 1 },
        { FAILS, 'b', 'x', 70 },
        { FAILS, 'c', 'y', 71 },
        { FAILS, 'e', 'y', 72 } },
      90,
      true,
      false },
    { "many of one owner do not displace the other's",
      { { FAILS, 'a', 'y', 0 },
        { FAILS, 'b', 'x', 1 },
        { FAILS, 'c', 'x', 2 },
        { FAILS, 'd', 'x', 3 },
        { FAILS, 'e', 'x', 4 },
        { FAILS, 'f', 'x', 5 },
        { FAILS, 'g', 'x', 6 },
        { FAILS, 'h', 'x', 7 },
        { FAILS, 'i', 'x', 8 },
        { FAILS, 'j', 'x', 9 },
        { FAILS, 'k', 'x', 10 } },
      20,
      true,
      false },
    { "a proof runs",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { ASKED, 0, 0, 21 } },
      30,
      false,
      true },
    { "a proof that does not begin is given up",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { ASKED, 0, 0, 21 } },
      622,
      false,
      false },
    { "it is asked for once, although each pass says so until it is written",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { ASKED, 0, 0, 21 },
        { ASKED, 0, 0, 600 } },
      622,
      false,
      false },
    { "a proof that passed ends it",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { ASKED, 0, 0, 21 },
        { PASSED, 0, 0, 40 } },
      41,
      false,
      false },
    { "new failures within an hour change nothing",
      { { ASKED, 0, 0, 0 },
        { PASSED, 0, 0, 10 },
        { FAILS, 'a', 'x', 3000 },
        { FAILS, 'b', 'x', 3001 },
        { FAILS, 'c', 'y', 3002 } },
      3003,
      false,
      false },
    { "after an hour they do",
      { { ASKED, 0, 0, 0 },
        { PASSED, 0, 0, 10 },
        { FAILS, 'a', 'x', 3600 },
        { FAILS, 'b', 'x', 3601 },
        { FAILS, 'c', 'y', 3602 } },
      3603,
      true,
      false },
    { "what was only told rests for an hour, too",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { TOLD, 0, 0, 21 } },
      30,
      false,
      false },
    { "a proof that failed is awaited until it passes",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { ASKED, 0, 0, 21 },
        { FAILED, 0, 0, 40 } },
      9000,
      false,
      true },
    { "and ends with it",
      { { FAILS, 'a', 'x', 0 },
        { FAILS, 'b', 'x', 10 },
        { FAILS, 'c', 'y', 20 },
        { ASKED, 0, 0, 21 },
        { FAILED, 0, 0, 40 },
        { PASSED, 0, 0, 8000 } },
      9000,
      false,
      false },
};

static void play(struct black_hole *h, const struct step *s)
{
    int64_t now_s = T + s->at_s;
    uint64_t pod = (uint64_t) s->pod;
    static const enum black_hole_step steps[] = { [ASKED] = BLACK_HOLE_ASKED,
                                                  [TOLD] = BLACK_HOLE_TOLD,
                                                  [PASSED] = BLACK_HOLE_PASSED,
                                                  [FAILED] = BLACK_HOLE_FAILED };
    const struct pod_failure f = { pod, (uint64_t) s->owner, now_s };
    if (s->what == FAILS)
        black_hole_failed(h, &f, now_s);
    else if (s->what == BEGINS)
        black_hole_began(h, pod, now_s);
    else if (s->what == ENDS || s->what == DELETED)
        black_hole_ended(h, pod, s->what == DELETED, now_s);
    else
        black_hole_take(h, steps[s->what], now_s);
}

static void check_row(void **state)
{
    const struct row *row = *state;
    struct black_hole h = { 0 };
    for (const struct step *s = row->steps; s->what != END; s++)
        play(&h, s);
    assert_int_equal(black_hole_is_suspected(&h, T + row->now_s), row->suspected);
    assert_int_equal(black_hole_is_proving(&h, T + row->now_s), row->proving);
}

/* ---- bounds */

static void a_flood_stays_within_its_bounds(void **state)
{
    (void) state;
    struct black_hole h = { 0 };
    for (int64_t i = 0; i < 100000; i++) {
        black_hole_failed(&h, &(struct pod_failure){ (uint64_t) i, (uint64_t) i % 1000, T }, T);
        black_hole_began(&h, (uint64_t) (i + 1000000), T);
    }
    assert_int_equal(h.failed_len, BLACK_HOLE_KEPT);
    assert_int_equal(h.runs_len, BLACK_HOLE_KEPT);
    assert_true(black_hole_is_suspected(&h, T));
    assert_false(black_hole_is_suspected(&h, T + POD_FAILS_FAST_S + 1));
}

static void a_time_is_never_of_the_future(void **state)
{
    (void) state;
    struct black_hole h = { 0 };
    black_hole_failed(&h, &(struct pod_failure){ 1, 1, T + 5000 }, T);
    black_hole_failed(&h, &(struct pod_failure){ 2, 2, 0 }, T);
    assert_int_equal(h.failed[0].at_s, T);
    assert_int_equal(h.failed[1].at_s, T);
}

static void it_is_over_when_nothing_rests(void **state)
{
    (void) state;
    struct black_hole h = { 0 };
    assert_true(black_hole_is_over(&h, T));
    black_hole_failed(&h, &(struct pod_failure){ 1, 1, T }, T);
    assert_false(black_hole_is_over(&h, T + BLACK_HOLE_WINDOW_S));
    assert_true(black_hole_is_over(&h, T + BLACK_HOLE_WINDOW_S + 1));
    black_hole_take(&h, BLACK_HOLE_ASKED, T + 700);
    assert_int_equal(black_hole_due_s(&h, T + 700), T + 700 + BLACK_HOLE_PROOF_S + 1);
    assert_false(black_hole_is_over(&h, T + 700 + BLACK_HOLE_REST_S));
    assert_true(black_hole_is_over(&h, T + 701 + BLACK_HOLE_REST_S));
    black_hole_take(&h, BLACK_HOLE_FAILED, T + 800);
    assert_int_equal(black_hole_due_s(&h, T + 900), 0);
    assert_false(black_hole_is_over(&h, T + 100000));
}

static void it_says_how_many(void **state)
{
    (void) state;
    struct arena a = { 0 };
    struct black_hole h = { 0 };
    for (uint64_t i = 1; i <= 4; i++)
        black_hole_failed(&h, &(struct pod_failure){ i, i % 3, T }, T);
    assert_string_equal(black_hole_text(&h, T, &a),
                        "4 pods of 3 owners that request GPUs failed at once within 10 minutes, "
                        "and none worked");
    arena_free(&a);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    suite_add(&s, "a flood stays within its bounds", a_flood_stays_within_its_bounds, NULL);
    suite_add(&s, "a time is never of the future", a_time_is_never_of_the_future, NULL);
    suite_add(&s, "it is over when nothing rests", it_is_over_when_nothing_rests, NULL);
    suite_add(&s, "it says how many", it_says_how_many, NULL);
    return suite_run(&s, "black_hole");
}
