/* Tests from tables: each row is a test with its own name, so that a table reads as a specification and a failure names its row.
 *
 *     static const struct row { const char *name; … } rows[] = { { "an empty list has no items", … }, … };
 *     struct table t = { 0 };
 *     TABLE_ROWS(&t, check_row, rows);            // check_row(void **state): const struct row *row = *state
 *     table_add(&t, "one of its kind", check, NULL);
 *     return table_run(&t, "split");
 */
#ifndef OSTLER_TESTS_SUPPORT_TABLE_H
#define OSTLER_TESTS_SUPPORT_TABLE_H

#include "base/mem.h"
#include "tests/unit/support/cmocka.h"

/* Zero-initialised = no tests. */
struct table {
    struct CMUnitTest *tests;
    size_t len;
};

/* Adds one test; all pointers are borrowed until table_run() is over. */
void table_add(struct table *t, const char *name, CMUnitTestFunction check, const void *state);
/* Adds one test whose *state is what set_up puts there and tear_down frees. */
void table_add_fixture(struct table *t, const char *name, CMUnitTestFunction check, CMFixtureFunction set_up,
                       CMFixtureFunction tear_down);
/* Adds one test per element of an array of structs that begin with a `name`. */
#define TABLE_ROWS(t, check, rows)                                                                 \
    for (size_t row_ = 0; row_ < ARRAY_LEN(rows); row_++)                                          \
    table_add(t, (rows)[row_].name, check, &(rows)[row_])
/* Runs and frees them; what main() returns. */
int table_run(struct table *t, const char *group);

#endif
