#include "tests/unit/support/table.h"

#include <stdlib.h>

void table_add(struct table *t, const char *name, CMUnitTestFunction check, const void *state)
{
    t->tests = xreallocarray(t->tests, t->len + 1, sizeof *t->tests);
    t->tests[t->len++] = (struct CMUnitTest){ .name = name, .test_func = check, .initial_state = (void *) state };
}

void table_add_fixture(struct table *t, const char *name, CMUnitTestFunction check, CMFixtureFunction set_up,
                       CMFixtureFunction tear_down)
{
    table_add(t, name, check, NULL);
    t->tests[t->len - 1].setup_func = set_up;
    t->tests[t->len - 1].teardown_func = tear_down;
}

int table_run(struct table *t, const char *group)
{
    /* What the macro cmocka_run_group_tests() calls; the macro itself takes only arrays. */
    int failed = _cmocka_run_group_tests(group, t->tests, t->len, NULL, NULL);
    free(t->tests);
    return failed;
}
