/* JSON values in the memory of the sweeps. */
#include "tests/sweep/pool.h"

#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/support/suite.h"

enum { LENGTHS = 1500, ROUNDS = 3 };

static json_t *text_of(size_t len)
{
    char text[LENGTHS] = { 0 };
    memset(text, 'a' + (int) (len % 26), len);
    return json_string(text);
}

/* Texts of all lengths, in small pieces and in malloc()'s, keep their content while pieces come
 * and go. */
static void pieces_are_apart(void **state)
{
    static json_t *texts[LENGTHS];
    (void) state;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < LENGTHS; i++)
            texts[i] = text_of(i);
        for (size_t i = round; i < LENGTHS; i += 2) {
            json_decref(texts[i]);
            texts[i] = text_of(i);
        }
        for (size_t i = 0; i < LENGTHS; i++) {
            json_t *again = text_of(i);
            assert_true(json_equal(texts[i], again));
            json_decref(again);
            json_decref(texts[i]);
        }
    }
}

/* Who asks for the text of a value free()s it, as with jansson's own. */
static void texts_are_for_free(void **state)
{
    (void) state;
    json_t *value = json_pack("{s:[i,s],s:b}", "b", 1, "two", "a", 1);
    CLEANUP_FREE char *text = json_dumps(value, JSON_COMPACT);
    CLEANUP_FREE char *sorted = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, "{\"b\":[1,\"two\"],\"a\":true}");
    assert_string_equal(sorted, "{\"a\":true,\"b\":[1,\"two\"]}");
    assert_null(json_dumps(json_object_get(value, "none"), 0));
    json_decref(value);
}

int main(void)
{
    pool_hook_jansson();
    struct suite s = { 0 };
    suite_add(&s, "pieces are apart", pieces_are_apart, NULL);
    suite_add(&s, "texts are for free()", texts_are_for_free, NULL);
    return suite_run(&s, "pool");
}
