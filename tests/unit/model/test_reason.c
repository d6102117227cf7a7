/* The table of reasons: what programs and people read is well formed, and found again. */
#include "reconcilers/model/reason.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

/* Conditions take reasons of this form, without "_" and the like. */
static void texts_are_camel_case(void **state)
{
    (void) state;
    for (int r = REASON_NONE + 1; r < REASON_COUNT; r++) {
        const char *text = reason_text((enum reason) r);
        assert_true(*text >= 'A' && *text <= 'Z' && strlen(text) <= 63);
        assert_int_equal(strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                         strlen(text));
        assert_int_equal(reason_parse(text), r);
    }
}

static void what_is_wrong_has_a_way_out(void **state)
{
    (void) state;
    for (int r = REASON_NONE + 1; r < REASON_COUNT; r++) {
        const char *todo = reason_todo((enum reason) r);
        assert_true(todo || reason_class((enum reason) r) != REASON_WRONG);
        assert_true(!todo || (*todo && todo[strlen(todo) - 1] != '.'));
    }
}

static void words_of_others_are_kept(void **state)
{
    (void) state;
    assert_int_equal(reason_parse(NULL), REASON_NONE);
    assert_int_equal(reason_parse(""), REASON_NONE);
    assert_int_equal(reason_parse("ImagePullBackOff"), REASON_IMAGE_PULL_BACK_OFF);
    assert_int_equal(reason_parse("imagepullbackoff"), REASON_OTHER);
    assert_string_equal(reason_word(REASON_OTHER, "Strange"), "Strange");
    assert_string_equal(reason_word(REASON_OTHER, NULL), "Other");
    assert_string_equal(reason_word(REASON_PAUSED, "Strange"), "Paused");
    assert_string_equal(reason_word(REASON_NONE, NULL), "");
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "each has a word in CamelCase of its own", texts_are_camel_case, NULL);
    suite_add(&s, "what is wrong says what to do", what_is_wrong_has_a_way_out, NULL);
    suite_add(&s, "words that no table has are kept", words_of_others_are_kept, NULL);
    return suite_run(&s, "reason");
}
