#include "base/arena.h"

#include <string.h>

#include "tests/unit/support/suite.h"

static void pieces_are_zero_aligned_and_apart(void **state)
{
    (void) state;
    CLEANUP_ARENA struct arena a = { 0 };
    static const size_t sizes[] = { 1, 3, 8, 17, 100, 4000, 4096, 4097, 100000, 1, 5 };
    char *pieces[ARRAY_LEN(sizes)];
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        pieces[i] = arena_alloc(&a, sizes[i]);
        assert_int_equal((uintptr_t) pieces[i] % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], (int) i + 1, sizes[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(pieces[i][j], (int) i + 1);
}

static void strings_are_copied_and_formatted(void **state)
{
    (void) state;
    CLEANUP_ARENA struct arena a = { 0 };
    char text[] = "node";
    char *copy = arena_strdup(&a, text);
    text[0] = 'X';
    assert_string_equal(copy, "node");
    assert_string_equal(arena_printf(&a, "%s-%d", copy, 7), "node-7");
    assert_string_equal(arena_strdup(&a, ""), "");
}

static void freed_arenas_can_be_used_again(void **state)
{
    (void) state;
    struct arena a = { 0 };
    arena_free(&a);
    arena_strdup(&a, "x");
    arena_free(&a);
    assert_null(a.head);
    assert_string_equal(arena_strdup(&a, "y"), "y");
    arena_free(&a);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "pieces are zero, aligned and apart, at every size",
              pieces_are_zero_aligned_and_apart, NULL);
    suite_add(&s, "strings are copied and formatted", strings_are_copied_and_formatted, NULL);
    suite_add(&s, "a freed arena can be used again", freed_arenas_can_be_used_again, NULL);
    return suite_run(&s, "arena");
}
