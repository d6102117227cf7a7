#include "base/intern.h"

#include <stdio.h>

#include "tests/unit/support/chance.h"
#include "tests/unit/support/suite.h"

static void equal_strings_are_one(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    char copy[] = "amd64";
    uint32_t id = intern_add(in, "amd64");
    assert_int_not_equal(id, INTERN_NONE);
    assert_int_equal(intern_add(in, copy), id);
    assert_int_not_equal(intern_add(in, "arm64"), id);
    assert_int_equal(intern_count(in), 2);
    assert_string_equal(intern_text(in, id), "amd64");
    assert_true(intern_text(in, id) != copy);
    intern_free(in);
}

static void no_string_is_none(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    assert_int_equal(intern_add(in, NULL), INTERN_NONE);
    assert_null(intern_text(in, INTERN_NONE));
    intern_drop(in, INTERN_NONE);
    assert_int_equal(intern_count(in), 0);
    intern_free(in);
}

static void empty_string_is_a_string(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    uint32_t id = intern_add(in, "");
    assert_int_not_equal(id, INTERN_NONE);
    assert_string_equal(intern_text(in, id), "");
    intern_free(in);
}

static void last_reference_frees(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    uint32_t id = intern_add(in, "a");
    intern_add(in, "a");
    intern_drop(in, id);
    assert_string_equal(intern_text(in, id), "a");
    intern_drop(in, id);
    assert_int_equal(intern_count(in), 0);
    /* Its number is given to another: a store that lives for years does not run out of them. */
    assert_int_equal(intern_add(in, "b"), id);
    intern_free(in);
}

static void texts_can_be_interned_from_themselves(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    uint32_t id = intern_add(in, "a");
    assert_int_equal(intern_add(in, intern_text(in, id)), id);
    intern_free(in);
}

enum { TEXTS = 300, STEPS = 10000, SEEDS = 10 };

static void any_history_is_that_of_counters(void **state)
{
    (void) state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct chance chance = chance_of(seed);
        struct intern *in = intern_new();
        uint32_t ids[TEXTS] = { 0 };
        int refs[TEXTS] = { 0 };
        size_t held = 0;
        for (int step = 0; step < STEPS; step++) {
            size_t i = chance_below(&chance, TEXTS);
            char text[16];
            snprintf(text, sizeof text, "text-%zu", i);
            /* Mostly growing, then mostly shrinking, again and again. */
            if (chance_below(&chance, 4) < (step / 1000 % 2 ? 1u : 3u)) {
                uint32_t id = intern_add(in, text);
                assert_true(refs[i] == 0 || id == ids[i]);
                ids[i] = id;
                held += refs[i]++ == 0;
            } else if (refs[i]) {
                intern_drop(in, ids[i]);
                held -= --refs[i] == 0;
            }
            if (refs[i])
                assert_string_equal(intern_text(in, ids[i]), text);
            assert_int_equal(intern_count(in), held);
        }
        for (size_t i = 0; i < TEXTS; i++)
            if (refs[i])
                for (size_t j = 0; j < i; j++)
                    assert_true(!refs[j] || ids[i] != ids[j]);
        intern_free(in);
    }
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "equal strings are one", equal_strings_are_one, NULL);
    suite_add(&s, "no string is none", no_string_is_none, NULL);
    suite_add(&s, "the empty string is a string", empty_string_is_a_string, NULL);
    suite_add(&s, "the last reference frees the text and its number", last_reference_frees, NULL);
    suite_add(&s, "a text can be interned from itself", texts_can_be_interned_from_themselves,
              NULL);
    suite_add(&s, "any history is that of counters", any_history_is_that_of_counters, NULL);
    return suite_run(&s, "intern");
}
