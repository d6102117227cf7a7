/* When the storm brake is on, and which nodes it holds back: each row is a list of nodes with the
 * second in which each became unhealthy. */
#include "reconcilers/decide/brake.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { BEGAN_S = 1795168800, NODES_MAX = 16, TEXT_MAX = 1024 };

static const struct row {
    const char *name;
    const char *nodes; /* "gpu-1=0 gpu-2=60" */
    const char *holds; /* the names that must not be closed */
    int64_t now_s;
    int64_t on_s, until_s; /* since when, until when; 0 and 0: it is off */
    size_t gpu_nodes;      /* 0: 10 */
    int64_t max_nodes;     /* 0: 20 percent */
    int64_t floor;         /* 0: 2; below 0: none */
    size_t limit;          /* 0: 2 */
    int64_t cooldown_s;    /* 0: 900 */
} rows[] = {
    { .name = "no node", .nodes = "", .holds = "", .now_s = 10 },
    { .name = "as many as may be closed", .nodes = "a=1 b=1", .holds = "", .now_s = 10 },
    { .name = "one more is a storm",
      .nodes = "a=1 b=1 c=1",
      .holds = "c",
      .now_s = 10,
      .on_s = 1,
      .until_s = 901 },
    { .name = "the first ones by time are closed",
      .nodes = "a=30 b=20 c=10 d=40",
      .holds = "a d",
      .now_s = 50,
      .on_s = 30,
      .until_s = 940 },
    { .name = "of one moment, the first that came",
      .nodes = "gpu-10=5 gpu-9=5 gpu-2=5",
      .holds = "gpu-2",
      .now_s = 50,
      .on_s = 5,
      .until_s = 905 },
    { .name = "a trickle is no storm",
      .nodes = "a=1 b=400 c=800 d=1200 e=1600",
      .holds = "",
      .now_s = 1600 },
    { .name = "the last moment of the window counts",
      .nodes = "a=1 b=400 c=601",
      .holds = "c",
      .now_s = 601,
      .on_s = 601,
      .until_s = 1501 },
    { .name = "a moment later it does not", .nodes = "a=1 b=400 c=602", .holds = "", .now_s = 602 },
    { .name = "nodes that were unhealthy before the storm stay closed",
      .nodes = "old=1 a=5000 b=5001 c=5002",
      .holds = "c",
      .now_s = 5002,
      .on_s = 5002,
      .until_s = 5902 },
    { .name = "the storm goes on while nodes come more slowly",
      .nodes = "a=1 b=1 c=1 d=800 e=1600",
      .holds = "c d e",
      .now_s = 2400,
      .on_s = 1,
      .until_s = 2500 },
    { .name = "the last second of the cooldown",
      .nodes = "a=1 b=1 c=1",
      .holds = "c",
      .now_s = 900,
      .on_s = 1,
      .until_s = 901 },
    { .name = "the cooldown is over", .nodes = "a=1 b=1 c=1", .holds = "", .now_s = 901 },
    { .name = "a node after the cooldown is closed",
      .nodes = "a=1 b=1 c=1 d=901",
      .holds = "",
      .now_s = 950 },
    { .name = "a second storm",
      .nodes = "a=1 b=1 c=1 d=901 e=902 f=903",
      .holds = "f",
      .now_s = 950,
      .on_s = 903,
      .until_s = 1803 },
    { .name = "a storm that is over is not counted again within the window",
      .nodes = "a=1 b=1 c=1 d=61",
      .holds = "",
      .now_s = 62,
      .cooldown_s = 60 },
    { .name = "nodes that have healed end it", .nodes = "a=1 c=1", .holds = "", .now_s = 10 },
    { .name = "a percentage of many nodes",
      .nodes = "a=1 b=1 c=1 d=1 e=1",
      .holds = "e",
      .now_s = 10,
      .on_s = 1,
      .until_s = 901,
      .gpu_nodes = 20,
      .limit = 4 },
    { .name = "it is rounded up",
      .nodes = "a=1 b=1 c=1 d=1 e=1",
      .holds = "",
      .now_s = 10,
      .gpu_nodes = 21,
      .limit = 5 },
    { .name = "few nodes: the floor",
      .nodes = "a=1 b=1 c=1",
      .holds = "c",
      .now_s = 10,
      .on_s = 1,
      .until_s = 901,
      .gpu_nodes = 3 },
    { .name = "a floor above the percentage",
      .nodes = "a=1 b=1 c=1",
      .holds = "",
      .now_s = 10,
      .floor = 3,
      .limit = 3 },
    { .name = "a number of nodes",
      .nodes = "a=1 b=1",
      .holds = "b",
      .now_s = 10,
      .on_s = 1,
      .until_s = 901,
      .max_nodes = 1,
      .floor = -1,
      .limit = 1 },
};

/* Names and times of a row; the names live in `text`. */
static void take(char *text, struct brake_list *ret)
{
    for (char *rest = text, *word; (word = strsep(&rest, " ")) != NULL;) {
        char *equals = strchr(word, '=');
        if (!equals)
            continue;
        *equals = '\0';
        brake_list_add(ret, word, BEGAN_S + atoll(equals + 1));
    }
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(*(const char *const *) a, *(const char *const *) b);
}

/* The names that are held back, sorted. Owned by the caller. */
static char *held(const struct brake_list *l, const struct brake_verdict *v)
{
    const char *names[NODES_MAX];
    size_t n = 0;
    struct buf out = BUF_INIT(TEXT_MAX);
    for (size_t i = 0; i < l->len; i++)
        if (brake_holds(l, v, l->nodes[i].name))
            names[n++] = l->nodes[i].name;
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s%s", i ? " " : "", names[i]);
    return buf_take(&out);
}

static void judges(void **state)
{
    const struct row *row = *state;
    const struct brake_spec spec = { .window_s = 600,
                                     .max_nodes = { .percent = !row->max_nodes,
                                                    .value = row->max_nodes ? row->max_nodes : 20 },
                                     .floor = row->floor < 0 ? 0
                                              : row->floor   ? row->floor
                                                             : 2,
                                     .cooldown_s = row->cooldown_s ? row->cooldown_s : 900 };
    CLEANUP_FREE char *text = xstrdup(row->nodes);
    struct brake_list l = { 0 };
    struct brake_verdict v;
    take(text, &l);
    brake_judge(&l, &spec, row->gpu_nodes ? row->gpu_nodes : 10, BEGAN_S + row->now_s, &v);
    CLEANUP_FREE char *got = held(&l, &v);
    assert_string_equal(str_or_empty(got), row->holds);
    assert_int_equal(v.on, row->until_s > 0);
    assert_int_equal(v.since_s, row->until_s ? BEGAN_S + row->on_s : 0);
    assert_int_equal(v.until_s, row->until_s ? BEGAN_S + row->until_s : 0);
    assert_int_equal(v.limit, row->limit ? row->limit : 2);
    size_t first = v.first;
    brake_list_drop(&l, first);
    brake_judge(&l, &spec, row->gpu_nodes ? row->gpu_nodes : 10, BEGAN_S + row->now_s, &v);
    assert_int_equal(v.first, 0);
    assert_int_equal(v.on, row->until_s > 0);
    assert_int_equal(v.until_s, row->until_s ? BEGAN_S + row->until_s : 0);
    brake_list_clear(&l);
}

/* The oldest first, and of one time the first that came. */
/* A node that is closed at the end of a claim counts in the same window. */
static void fills_as_it_judges(void **state)
{
    (void) state;
    static const struct {
        int64_t now_s;
        bool full;
    } rows_of[] = { { BEGAN_S + 300, true }, { BEGAN_S + 600, true }, { BEGAN_S + 601, false } };
    const struct brake_spec spec = {
        .window_s = 600, .max_nodes = { true, 20 }, .floor = 2, .cooldown_s = 900
    };
    for (size_t i = 0; i < ARRAY_LEN(rows_of); i++) {
        struct brake_list before = { 0 };
        struct brake_verdict v, then;
        int64_t now_s = rows_of[i].now_s;
        brake_list_add(&before, "a", BEGAN_S);
        brake_list_add(&before, "b", BEGAN_S + 1);
        brake_judge(&before, &spec, 10, now_s, &v);
        assert_int_equal(brake_is_full(&before, &v, &spec, now_s), rows_of[i].full);
        brake_list_add(&before, "c", now_s);
        brake_judge(&before, &spec, 10, now_s, &then);
        assert_int_equal(then.on, rows_of[i].full);
        brake_list_clear(&before);
    }
}

static void list_is_kept_in_order(void **state)
{
    static const char *const names[] = { "e", "b", "d", "a", "c" };
    (void) state;
    struct brake_list l = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        brake_list_add(&l, names[i], 5);
    brake_list_remove(&l, "c");
    brake_list_remove(&l, "e");
    brake_list_remove(&l, "not there");
    brake_list_add(&l, "e", 4);
    static const char *const want[] = { "e", "b", "d", "a" };
    assert_int_equal(l.len, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_string_equal(l.nodes[i].name, want[i]);
    assert_true(brake_list_has(&l, "d"));
    brake_list_drop(&l, 3);
    assert_false(brake_list_has(&l, "d"));
    assert_int_equal(l.len, 1);
    brake_list_clear(&l);
}

/* Three nodes with times that are still to come are a storm now, and none when it is over. */
static void times_to_come_are_made_now_once(void **state)
{
    static const struct brake_spec spec = { .window_s = 600,
                                            .max_nodes = { .value = 2 },
                                            .cooldown_s = 900 };
    struct brake_list l = { 0 };
    struct brake_verdict v;
    (void) state;
    for (char name[] = "a"; *name < 'd'; ++*name)
        brake_list_add(&l, name, BEGAN_S + 20000 * (*name - '`'));
    brake_list_correct(&l, BEGAN_S);
    brake_judge(&l, &spec, 10, BEGAN_S, &v);
    assert_true(v.on && brake_holds(&l, &v, "c"));
    brake_list_correct(&l, BEGAN_S + 900);
    brake_judge(&l, &spec, 10, BEGAN_S + 900, &v);
    assert_false(v.on);
    brake_list_clear(&l);
}

static const struct names_row {
    const char *name, *nodes, *want;
    size_t first;
} names_rows[] = {
    { "one name", "gpu-1=1", "gpu-1", 0 },
    { "names in their order", "gpu-10=1 gpu-9=2 gpu-1=3", "gpu-1, gpu-9, gpu-10", 0 },
    { "one too many", "f=1 e=2 d=3 c=4 b=5 a=6", "a, b, c, d, e and 1 other", 0 },
    { "many", "g=0 f=1 e=2 d=3 c=4 b=5 a=6", "a, b, c, d, e and 2 others", 0 },
    { "those of the storm", "x=1 b=2 a=3", "a, b", 1 },
};

static void names(void **state)
{
    const struct names_row *row = *state;
    CLEANUP_FREE char *text = xstrdup(row->nodes);
    CLEANUP_ARENA struct arena a = { 0 };
    struct brake_list l = { 0 };
    take(text, &l);
    assert_string_equal(brake_names(&l, row->first, &a), row->want);
    brake_list_clear(&l);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, judges, rows);
    SUITE_ROWS(&s, names, names_rows);
    suite_add(&s, "one more is too many in the window of a storm", fills_as_it_judges, NULL);
    suite_add(&s, "the list is kept in order", list_is_kept_in_order, NULL);
    suite_add(&s, "times to come are made now once", times_to_come_are_made_now_once, NULL);
    return suite_run(&s, "brake");
}
