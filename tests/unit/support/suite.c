#include "tests/unit/support/suite.h"

#include <stdlib.h>

void suite_add(struct suite *s, const char *name, CMUnitTestFunction check, const void *state)
{
    s->tests = xreallocarray(s->tests, s->len + 1, sizeof *s->tests);
    s->tests[s->len++] = (struct CMUnitTest){ .name = name,
                                              .test_func = check,
                                              .initial_state = (void *) state };
}

void suite_add_fixture(struct suite *s, const char *name, CMUnitTestFunction check,
                       CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    suite_add(s, name, check, NULL);
    s->tests[s->len - 1].setup_func = set_up;
    s->tests[s->len - 1].teardown_func = tear_down;
}

int suite_run_with(struct suite *s, const char *group, CMFixtureFunction set_up,
                   CMFixtureFunction tear_down)
{
    /* What the macro cmocka_run_group_tests() calls; the macro itself takes only arrays. */
    int failed = _cmocka_run_group_tests(group, s->tests, s->len, set_up, tear_down);
    free(s->tests);
    return failed;
}

int suite_run(struct suite *s, const char *group)
{
    return suite_run_with(s, group, NULL, NULL);
}
