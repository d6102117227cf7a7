#include "base/err.h"

#include "tests/unit/support/suite.h"

static void starts_without_a_message(void **state)
{
    (void) state;
    struct err e = { 0 };
    assert_int_equal(e.kind, ERR_NONE);
    assert_string_equal(err_msg(&e), "");
}

static void set_keeps_kind_and_sentence(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    assert_int_equal(err_set(&e, ERR_GONE, "version %d is gone", 7), -1);
    assert_int_equal(e.kind, ERR_GONE);
    assert_string_equal(err_msg(&e), "version 7 is gone");
}

static void set_replaces_an_earlier_error(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    err_set(&e, ERR_GONE, "old");
    err_set(&e, ERR_INVALID, "new");
    assert_int_equal(e.kind, ERR_INVALID);
    assert_string_equal(err_msg(&e), "new");
}

static void set_may_quote_its_own_message(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    err_set(&e, ERR_SYSTEM, "no such file");
    err_set(&e, ERR_INVALID, "token: %s", err_msg(&e));
    assert_string_equal(err_msg(&e), "token: no such file");
}

static void wrap_adds_context_and_keeps_the_kind(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    err_set(&e, ERR_NOT_FOUND, "nodes is missing");
    assert_int_equal(err_wrap(&e, "page %d", 2), -1);
    assert_int_equal(err_wrap(&e, "list"), -1);
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    assert_string_equal(err_msg(&e), "list: page 2: nodes is missing");
}

static void callers_who_do_not_care_pass_null(void **state)
{
    (void) state;
    assert_int_equal(err_set(NULL, ERR_INVALID, "no caller reads this"), -1);
    assert_int_equal(err_wrap(NULL, "nor this"), -1);
}

static void taken_errors_leave_none_behind(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    err_set(&e, ERR_GONE, "old");
    CLEANUP_ERR struct err taken = err_take(&e);
    assert_int_equal(taken.kind, ERR_GONE);
    assert_string_equal(err_msg(&taken), "old");
    assert_int_equal(e.kind, ERR_NONE);
    assert_string_equal(err_msg(&e), "");
}

static void cleared_errors_can_be_used_again(void **state)
{
    (void) state;
    struct err e = { 0 };
    err_set(&e, ERR_GONE, "old");
    err_clear(&e);
    assert_int_equal(e.kind, ERR_NONE);
    assert_string_equal(err_msg(&e), "");
    err_clear(&e);
}

static void every_kind_has_a_name(void **state)
{
    (void) state;
#define X(kind, text) assert_string_equal(err_kind_name(ERR_##kind), text);
    ERR_KINDS(X)
#undef X
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "an error begins without a message", starts_without_a_message, NULL);
    suite_add(&s, "setting keeps the kind and the sentence", set_keeps_kind_and_sentence, NULL);
    suite_add(&s, "setting replaces an earlier error", set_replaces_an_earlier_error, NULL);
    suite_add(&s, "setting may quote the message it replaces", set_may_quote_its_own_message, NULL);
    suite_add(&s, "wrapping adds context and keeps the kind", wrap_adds_context_and_keeps_the_kind,
              NULL);
    suite_add(&s, "callers who do not care pass NULL", callers_who_do_not_care_pass_null, NULL);
    suite_add(&s, "taking an error leaves none behind", taken_errors_leave_none_behind, NULL);
    suite_add(&s, "a cleared error can be used again", cleared_errors_can_be_used_again, NULL);
    suite_add(&s, "every kind has its name", every_kind_has_a_name, NULL);
    return suite_run(&s, "err");
}
