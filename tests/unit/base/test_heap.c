#include "base/heap.h"

#include <stdbool.h>

#include "tests/unit/support/chance.h"
#include "tests/unit/support/suite.h"

static struct heap_item *take(struct heap *h)
{
    struct heap_item *first = heap_first(h);
    if (first)
        heap_remove(h, first);
    return first;
}

static void nothing_is_in_an_empty_heap(void **state)
{
    (void) state;
    struct heap h = { 0 };
    struct heap_item item = { 0 };
    assert_null(heap_first(&h));
    assert_false(heap_holds(&item));
    heap_remove(&h, &item);
    heap_clear(&h);
}

static void earliest_comes_first(void **state)
{
    (void) state;
    struct heap h = { 0 };
    struct heap_item late = { 0 }, early = { 0 }, middle = { 0 };
    heap_set(&h, &late, INT64_MAX);
    heap_set(&h, &early, INT64_MIN);
    heap_set(&h, &middle, 0);
    assert_ptr_equal(take(&h), &early);
    assert_ptr_equal(take(&h), &middle);
    assert_ptr_equal(take(&h), &late);
    assert_null(take(&h));
    heap_clear(&h);
}

static void equals_come_out_as_they_went_in(void **state)
{
    (void) state;
    struct heap h = { 0 };
    struct heap_item items[50] = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(items); i++)
        heap_set(&h, &items[i], 7);
    for (size_t i = 0; i < ARRAY_LEN(items); i++)
        assert_ptr_equal(take(&h), &items[i]);
    heap_clear(&h);
}

static void set_again_moves(void **state)
{
    (void) state;
    struct heap h = { 0 };
    struct heap_item a = { 0 }, b = { 0 };
    heap_set(&h, &a, 1);
    heap_set(&h, &b, 2);
    heap_set(&h, &a, 3);
    assert_int_equal(h.len, 2);
    assert_ptr_equal(take(&h), &b);
    assert_false(heap_holds(&b));
    assert_true(heap_holds(&a));
    assert_ptr_equal(take(&h), &a);
    heap_clear(&h);
}

enum { ITEMS = 60, STEPS = 3000, SEEDS = 30 };

/* The earliest of what is in, by looking at each. */
static const struct heap_item *naive_first(const struct heap_item *items, const bool *in)
{
    const struct heap_item *first = NULL;
    for (size_t i = 0; i < ITEMS; i++)
        if (in[i] && (!first || items[i].at < first->at ||
                      (items[i].at == first->at && items[i].order < first->order)))
            first = &items[i];
    return first;
}

static void any_history_is_that_of_a_list(void **state)
{
    (void) state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct chance chance = chance_of(seed);
        struct heap h = { 0 };
        struct heap_item items[ITEMS] = { 0 };
        bool in[ITEMS] = { false };
        size_t held = 0;
        for (int step = 0; step < STEPS; step++) {
            size_t i = chance_below(&chance, ITEMS);
            bool set = chance_below(&chance, 2);
            if (set)
                heap_set(&h, &items[i], (int64_t) chance_below(&chance, 40) - 20);
            else
                heap_remove(&h, &items[i]);
            held += (size_t) set - (size_t) in[i];
            in[i] = set;
            assert_int_equal(h.len, held);
            assert_int_equal(heap_holds(&items[i]), set);
            assert_ptr_equal(heap_first(&h), naive_first(items, in));
        }
        heap_clear(&h);
    }
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "nothing is in an empty heap", nothing_is_in_an_empty_heap, NULL);
    suite_add(&s, "the earliest comes first", earliest_comes_first, NULL);
    suite_add(&s, "equals come out as they went in", equals_come_out_as_they_went_in, NULL);
    suite_add(&s, "an item that is set again moves", set_again_moves, NULL);
    suite_add(&s, "any history is that of a list", any_history_is_that_of_a_list, NULL);
    return suite_run(&s, "heap");
}
