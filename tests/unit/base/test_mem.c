#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/suite.h"

static void take_hands_over_and_forgets(void **state)
{
    (void) state;
    char *mine = xstrdup("x");
    char *yours = TAKE(mine);
    assert_null(mine);
    assert_string_equal(yours, "x");
    free(yours);
}

static void fresh_memory_is_zero(void **state)
{
    (void) state;
    CLEANUP_FREE unsigned char *p = xcalloc(100, 3);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(p[i], 0);
}

static void nothing_is_still_a_pointer(void **state)
{
    (void) state;
    CLEANUP_FREE void *none = xcalloc(0, 8);
    CLEANUP_FREE void *resized = xreallocarray(NULL, 0, 8);
    assert_non_null(none);
    assert_non_null(resized);
}

static void resizing_keeps_the_content(void **state)
{
    (void) state;
    char *p = xstrdup("abc");
    p = xreallocarray(p, 1000, 2);
    assert_string_equal(p, "abc");
    free(p);
}

static void bounded_copies_end_with_nul(void **state)
{
    (void) state;
    CLEANUP_FREE char *cut = xstrndup("abcdef", 3);
    CLEANUP_FREE char *whole = xstrndup("ab", 99);
    assert_string_equal(cut, "abc");
    assert_string_equal(whole, "ab");
}

static void copy_of_null_is_null(void **state)
{
    (void) state;
    const char *text = "abc";
    CLEANUP_FREE char *copy = xstrdup_or_null(text);
    assert_string_equal(copy, "abc");
    assert_ptr_not_equal(copy, text);
    assert_null(xstrdup_or_null(NULL));
}

static void string_is_replaced_by_a_copy(void **state)
{
    (void) state;
    char *place = NULL;
    xstrset(&place, "abc");
    assert_string_equal(place, "abc");
    xstrset(&place, place + 1); /* a part of what it replaces */
    assert_string_equal(place, "bc");
    xstrset(&place, NULL);
    assert_null(place);
}

struct pair {
    int first;
    int second;
};

static void container_is_found_from_its_member(void **state)
{
    (void) state;
    struct pair p = { 1, 2 };
    assert_ptr_equal(container_of(&p.second, struct pair, second), &p);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "TAKE hands a pointer over and forgets it", take_hands_over_and_forgets, NULL);
    suite_add(&s, "fresh memory is zero", fresh_memory_is_zero, NULL);
    suite_add(&s, "an allocation of nothing is still a pointer", nothing_is_still_a_pointer, NULL);
    suite_add(&s, "resizing keeps the content", resizing_keeps_the_content, NULL);
    suite_add(&s, "a bounded copy ends with NUL", bounded_copies_end_with_nul, NULL);
    suite_add(&s, "a copy of NULL is NULL", copy_of_null_is_null, NULL);
    suite_add(&s, "a string is replaced by a copy", string_is_replaced_by_a_copy, NULL);
    suite_add(&s, "a struct is found from its member", container_is_found_from_its_member, NULL);
    return suite_run(&s, "mem");
}
