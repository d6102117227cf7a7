#include "base/map.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/chance.h"
#include "tests/unit/support/suite.h"

static void nothing_is_in_an_empty_map(void **state)
{
    (void) state;
    struct map m = { 0 };
    size_t cursor = 0;
    assert_null(map_get(&m, "a"));
    assert_null(map_remove(&m, "a"));
    assert_null(map_next(&m, &cursor));
    map_clear(&m);
}

static void last_value_counts(void **state)
{
    (void) state;
    struct map m = { 0 };
    int first = 1, second = 2;
    assert_null(map_put(&m, "a", &first));
    assert_ptr_equal(map_put(&m, "a", &second), &first);
    assert_ptr_equal(map_get(&m, "a"), &second);
    assert_int_equal(m.len, 1);
    map_clear(&m);
}

static void key_lives_with_its_value(void **state)
{
    (void) state;
    struct map m = { 0 };
    char old[] = "a", new[] = "a";
    int first = 1, second = 2;
    map_put(&m, old, &first);
    map_put(&m, new, &second);
    old[0] = '?'; /* as if freed with its value */
    assert_ptr_equal(map_get(&m, "a"), &second);
    size_t cursor = 0;
    assert_ptr_equal(map_next(&m, &cursor)->key, new);
    map_clear(&m);
}

struct counter {
    size_t count;
    char name[];
};

static void absent_value_is_made_with_its_key(void **state)
{
    (void) state;
    struct map m = { 0 };
    char key[] = "a";
    struct counter *made = MAP_MAKE(struct counter, name, &m, key);
    assert_int_equal(made->count++, 0);
    key[0] = '?'; /* the table has a copy of it */
    assert_string_equal(made->name, "a");
    assert_ptr_equal(MAP_MAKE(struct counter, name, &m, "a"), made);
    assert_int_equal(made->count, 1);
    assert_int_equal(m.len, 1);
    map_clear_with(&m, free);
}

static void empty_key_is_a_key(void **state)
{
    (void) state;
    struct map m = { 0 };
    int value = 1;
    map_put(&m, "", &value);
    assert_ptr_equal(map_get(&m, ""), &value);
    assert_null(map_get(&m, "a"));
    assert_ptr_equal(map_remove(&m, ""), &value);
    assert_int_equal(m.len, 0);
    map_clear(&m);
}

static void cleared_map_can_be_used_again(void **state)
{
    (void) state;
    struct map m = { 0 };
    int value = 1;
    map_put(&m, "a", &value);
    map_clear(&m);
    assert_null(map_get(&m, "a"));
    map_put(&m, "b", &value);
    assert_int_equal(m.len, 1);
    map_clear(&m);
}

enum { KEYS = 200, STEPS = 4000, SEEDS = 20 };

/* What the map must hold: an array by number of the key, NULL: absent. */
struct model {
    char keys[KEYS][8];
    char values[KEYS]; /* only their addresses matter */
    void *held[KEYS];
};

static void compare_all(const struct map *m, const struct model *model)
{
    size_t held = 0, met = 0, cursor = 0;
    for (size_t i = 0; i < KEYS; i++) {
        assert_ptr_equal(map_get(m, model->keys[i]), model->held[i]);
        held += model->held[i] != NULL;
    }
    const struct map_entry *e;
    while ((e = map_next(m, &cursor))) {
        assert_ptr_equal(map_get(m, e->key), e->value);
        met++;
    }
    assert_int_equal(met, held);
    assert_int_equal(m->len, held);
}

static void any_history_is_that_of_an_array(void **state)
{
    (void) state;
    struct model model = { 0 };
    for (size_t i = 0; i < KEYS; i++)
        snprintf(model.keys[i], sizeof model.keys[i], "k%zu", i);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct chance chance = chance_of(seed);
        struct map m = { 0 };
        memset(model.held, 0, sizeof model.held);
        for (int step = 0; step < STEPS; step++) {
            size_t i = chance_below(&chance, KEYS);
            /* Mostly growing, then mostly shrinking, again and again. */
            bool put = chance_below(&chance, 4) < (step / 500 % 2 ? 1u : 3u);
            void *value = put ? &model.values[chance_below(&chance, KEYS)] : NULL;
            void *old = put ? map_put(&m, model.keys[i], value) : map_remove(&m, model.keys[i]);
            assert_ptr_equal(old, model.held[i]);
            model.held[i] = value;
            if (step % 100 == 0)
                compare_all(&m, &model);
        }
        compare_all(&m, &model);
        map_clear(&m);
    }
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "nothing is in an empty map", nothing_is_in_an_empty_map, NULL);
    suite_add(&s, "the last value counts", last_value_counts, NULL);
    suite_add(&s, "a key lives as long as its value", key_lives_with_its_value, NULL);
    suite_add(&s, "an absent value is made with its key", absent_value_is_made_with_its_key, NULL);
    suite_add(&s, "the empty key is a key", empty_key_is_a_key, NULL);
    suite_add(&s, "a cleared map can be used again", cleared_map_can_be_used_again, NULL);
    suite_add(&s, "any history is that of an array", any_history_is_that_of_an_array, NULL);
    return suite_run(&s, "map");
}
