/* Tests from tables: each row is a test with its own name, so that a table reads as a specification
 * and a failure names its row.
 *
 *     static const struct row { const char *name; … } rows[] = { { "an empty list has no items", …
 *     }, … };
 *     struct suite s = { 0 };
 *     SUITE_ROWS(&s, check_row, rows);            // check_row(void **state): const struct row *row
 *     = *state
 *     suite_add(&s, "one of its kind", check, NULL);
 *     return suite_run(&s, "split"); */
#ifndef OSTLER_TESTS_SUPPORT_SUITE_H
#define OSTLER_TESTS_SUPPORT_SUITE_H

#include "base/mem.h"
#include "tests/unit/support/cmocka.h"

/* Zero-initialised = no tests. */
struct suite {
    struct CMUnitTest *tests;
    size_t len;
};

/* Adds one test; all pointers are borrowed until suite_run() is over. */
void suite_add(struct suite *s, const char *name, CMUnitTestFunction check, const void *state);
/* Adds one test whose *state is what set_up puts there and tear_down frees. */
void suite_add_fixture(struct suite *s, const char *name, CMUnitTestFunction check,
                       CMFixtureFunction set_up, CMFixtureFunction tear_down);
/* Adds one test per element of an array of structs that begin with a `name`. */
#define SUITE_ROWS(s, check, rows)                                                                 \
    for (size_t row_ = 0; row_ < ARRAY_LEN(rows); row_++)                                          \
    suite_add(s, (rows)[row_].name, check, &(rows)[row_])
/* One test that no row describes. */
struct suite_check {
    const char *name;
    CMUnitTestFunction check;
};

/* Adds one test per element of an array of struct suite_check; each gets its *state from set_up. */
#define SUITE_CHECKS(s, checks, set_up, tear_down)                                                 \
    for (size_t check_ = 0; check_ < ARRAY_LEN(checks); check_++)                                  \
    suite_add_fixture(s, (checks)[check_].name, (checks)[check_].check, set_up, tear_down)
/* Runs and frees them; what main() returns. */
int suite_run(struct suite *s, const char *group);
/* The same, with something before the first and after the last. */
int suite_run_with(struct suite *s, const char *group, CMFixtureFunction set_up,
                   CMFixtureFunction tear_down);

#endif
