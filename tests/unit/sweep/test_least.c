#include "tests/sweep/least.h"

#include <string.h>

#include "tests/unit/support/suite.h"

enum { LIVES = 100, TEXT_MAX = 1 << 16 };

static void each_invariant_of_each_life_has_a_number_or_a_reason(void **state)
{
    (void) state;
    for (int l = 0; l < LEAST_LIFE_COUNT; l++)
        for (int i = 0; i < INVARIANT_COUNT; i++) {
            bool number = least_tries((enum least_life) l, (enum invariant_id) i) > 0;
            const char *reason = least_reason((enum least_life) l, (enum invariant_id) i);
            if (number == (reason != NULL))
                fail_msg("%s in life %d has %s", invariant_name((enum invariant_id) i), l,
                         number ? "both" : "neither");
        }
}

/* As often as the table asks for in so many lives. */
static struct counts enough(enum least_life life, uint64_t lives)
{
    struct counts c = { .runs = lives };
    for (int i = 0; i < INVARIANT_COUNT; i++)
        c.tried[i] = least_of(life, (enum invariant_id) i, lives, true);
    return c;
}

static const struct row {
    const char *name;
    uint64_t lives, missing; /* tries of S1_BUDGET that are missing */
    bool whole;
    size_t failed;
} rows[] = {
    { "enough tries pass", LIVES, 0, true, 0 },
    { "one try too few fails", LIVES, 1, true, 1 },
    { "half of the lives need half of the tries", LIVES / 2, 1, false, 1 },
    { "a whole sweep of one life tries everything once", 1, 1000, true, 1 },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    struct counts c = enough(LEAST_DST, row->lives);
    uint64_t *tried = &c.tried[INVARIANT_S1_BUDGET];
    *tried -= row->missing < *tried ? row->missing : *tried;
    assert_int_equal(least_judge("dst", &c, row->whole, &out), row->failed);
    assert_int_equal(strstr(buf_text(&out), "FAIL dst tried S1_BUDGET ") != NULL, row->failed > 0);
}

static void what_a_life_cannot_try_is_not_asked(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    struct counts c = enough(LEAST_LONG, LIVES);
    assert_int_equal(c.tried[INVARIANT_S1_BUDGET], 0);
    assert_int_equal(least_judge("crash-sweep", &c, true, &out), 0);
}

static void a_few_lives_are_asked_for_a_part(void **state)
{
    (void) state;
    assert_int_equal(least_of(LEAST_DST, INVARIANT_S1_BUDGET, 1, false),
                     least_tries(LEAST_DST, INVARIANT_S1_BUDGET) / LIVES);
}

static void a_sweep_without_a_row_fails(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    assert_int_equal(least_judge("a-new-one", &(struct counts){ .runs = 1 }, true, &out), 1);
    assert_non_null(strstr(buf_text(&out), "a-new-one has no row"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    suite_add(&s, "each invariant of each life has a number or a reason",
              each_invariant_of_each_life_has_a_number_or_a_reason, NULL);
    suite_add(&s, "what a life cannot try is not asked", what_a_life_cannot_try_is_not_asked, NULL);
    suite_add(&s, "a few lives are asked for a part", a_few_lives_are_asked_for_a_part, NULL);
    suite_add(&s, "a sweep without a row fails", a_sweep_without_a_row_fails, NULL);
    return suite_run(&s, "least");
}
