#include "runtime/text_reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/support/suite.h"
#include "tests/unit/support/world.h"

#define PATH "GET /api/v1/namespaces/ops/pods/p/log?container=c&tailLines=20&limitBytes=16384"

struct fixture {
    struct world w;
    struct text_reader *reader;
};

static void on_text(void *arg, const char *key, const char *bytes, size_t len)
{
    struct fixture *f = arg;
    buf_printf(&f->w.said, "%s:%.*s;", key, (int) len, bytes ? bytes : "");
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    world_init(&f->w);
    f->reader = text_reader_new(
        &(struct text_reader_options){ .transport = &f->w.transport, .text = on_text, .arg = f });
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    text_reader_free(f->reader);
    world_clear(&f->w);
    free(f);
    return 0;
}

static void ask(struct fixture *f, const char *key)
{
    text_reader_ask(f->reader, key, request_log("ops", "p", "c", false));
}

static void a_text_comes_with_its_key(void **state)
{
    struct fixture *f = *state;
    ask(f, "gpu-1");
    world_expect(&f->w, PATH);
    world_reply(&f->w, 0, 200, "no headers\n");
    world_turn(&f->w);
    assert_string_equal(buf_text(&f->w.said), "gpu-1:no headers\n;");
}

static void what_is_refused_is_left_out(void **state)
{
    static const int refusals[] = { 400, 403, 404, 500, 502 };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        ask(f, "gpu-1");
        world_reply(&f->w, 0, refusals[i], "{}");
        world_turn(&f->w);
    }
    assert_string_equal(buf_text(&f->w.said), "gpu-1:;gpu-1:;gpu-1:;gpu-1:;gpu-1:;");
    assert_int_equal(f->w.submitted, ARRAY_LEN(refusals)); /* none is asked again */
}

static void few_are_on_their_way_and_some_wait(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 100; i++)
        ask(f, "n");
    assert_int_equal(world_open(&f->w), 2);
    while (world_open(&f->w)) {
        world_reply(&f->w, 0, 200, "t");
        world_turn(&f->w);
    }
    assert_int_equal(f->w.submitted, 2 + 64);
}

static void freed_with_questions_on_their_way(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 4; i++)
        ask(f, "n");
    text_reader_free(f->reader);
    f->reader = NULL;
    assert_int_equal(f->w.cancelled, 2);
    assert_string_equal(buf_text(&f->w.said), "");
}

int main(void)
{
    struct suite s = { 0 };
    suite_add_fixture(&s, "a text comes with its key", a_text_comes_with_its_key, set_up,
                      tear_down);
    suite_add_fixture(&s, "what is refused is left out", what_is_refused_is_left_out, set_up,
                      tear_down);
    suite_add_fixture(&s, "few are on their way and some wait", few_are_on_their_way_and_some_wait,
                      set_up, tear_down);
    suite_add_fixture(&s, "freed with questions on their way", freed_with_questions_on_their_way,
                      set_up, tear_down);
    return suite_run(&s, "text_reader");
}
