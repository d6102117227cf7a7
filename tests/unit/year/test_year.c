/* A tiny year: some days of some nodes, with many faults. */
#include <stdlib.h>

#include "base/log.h"
#include "tests/unit/support/sanitized.h"
#include "tests/unit/support/suite.h"
#include "tests/year/year.h"

static const struct year_options tiny = { .nodes = 4, .days = 3, .rate = 80000, .seed = 1 };

static void the_same_seed_gives_the_same_faults_in_order(void **state)
{
    (void) state;
    size_t count, again;
    struct year_fault *one = year_faults(&tiny, 0, tiny.days * DAY_MS, &count),
                      *other = year_faults(&tiny, 0, tiny.days * DAY_MS, &again);
    assert_int_equal(count, again);
    assert_true(count > 10);
    for (size_t i = 0; i < count; i++) {
        assert_true(one[i].at_ms == other[i].at_ms && one[i].kind == other[i].kind &&
                    one[i].node == other[i].node && one[i].seed == other[i].seed);
        assert_true(i == 0 || one[i - 1].at_ms <= one[i].at_ms);
    }
    free(one);
    free(other);
}

static void clear(struct year_sums *s)
{
    free(s->until_closed_s);
    free(s->until_back_s);
}

/* What no figures of a table may contradict. */
static void each_way_deals_with_the_same_faults(void **state)
{
    (void) state;
    struct year_sums sums[WAYS] = { 0 };
    if (SANITIZED) {
        struct year_options o = tiny;
        o.way = WAY_REPAIR;
        o.days = 1;
        fleet_live(&o, &sums[0]);
        clear(&sums[0]);
        return;
    }
    for (int w = 0; w < WAYS; w++) {
        struct year_options o = tiny;
        o.way = (enum way) w;
        fleet_live(&o, &sums[w]);
        assert_true(sums[w].closed_h > 0);
        assert_true(sums[w].killed_jobs > 0);
        assert_true(sums[w].until_back_count > 0);
    }
    assert_true(sums[WAY_OBSERVE].persons > 0);
    assert_true(sums[WAY_CLOSE].failed_jobs < sums[WAY_OBSERVE].failed_jobs);
    assert_int_equal(sums[WAY_CLOSE].closed_falsely, 0);
    assert_int_equal(sums[WAY_REPAIR].closed_falsely, 0);
    assert_int_equal(sums[WAY_EKS].persons, 0);
    assert_true(sums[WAY_EKS].evictions > sums[WAY_CLOSE].evictions);
    assert_true(sums[WAY_NVSENTINEL].persons < sums[WAY_OBSERVE].persons);
    for (int w = 0; w < WAYS; w++)
        clear(&sums[w]);
}

int main(void)
{
    struct suite s = { 0 };
    log_setup(LOG_SILENT, false);
    suite_add(&s, "the same seed gives the same faults in order",
              the_same_seed_gives_the_same_faults_in_order, NULL);
    suite_add(&s, "each way deals with the same faults", each_way_deals_with_the_same_faults, NULL);
    return suite_run(&s, "year");
}
