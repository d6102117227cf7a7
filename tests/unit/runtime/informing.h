/* An informer in a world where the test is the server, as the tests of informers need it. */
#ifndef OSTLER_TESTS_RUNTIME_INFORMING_H
#define OSTLER_TESTS_RUNTIME_INFORMING_H

#include <stdlib.h>

#include "base/buf.h"
#include "base/str.h"
#include "runtime/informer.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/thing.h"
#include "tests/unit/support/world.h"

#define LIST "GET /api/v1/nodes?limit=500"
#define WATCH(rv) "GET /api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=" rv
#define NODE(name, rv, text)                                                                       \
    "{'metadata': {'name': '" name "', 'uid': '" name "', 'resourceVersion': '" rv                 \
    "'}, 'spec': {'text': '" text "'}}"
#define PAGE(rv, token, items)                                                                     \
    "{'kind': 'NodeList', 'metadata': {'resourceVersion': '" rv "', 'continue': '" token           \
    "'}, 'items': [" items "]}"
#define EVENT(type, object) "{'type': '" type "', 'object': " object "}\n"
#define BOOKMARK(rv)                                                                               \
    EVENT("BOOKMARK", "{'kind': 'Node', 'metadata': {'resourceVersion': '" rv "'}}")
#define STATUS(code, reason)                                                                       \
    "{'kind': 'Status', 'status': 'Failure', 'code': " code ", 'reason': '" reason                 \
    "', 'message': 'as the test wants'}"
#define AB PAGE("10", "", NODE("a", "1", "x") ", " NODE("b", "2", "y"))

/* Longer than any first wait of the backoff. */
enum { FIRST_WAIT_MS = 1600 };

struct fixture {
    struct world w;
    struct table table;
    struct informer *informer;
    int changes; /* calls of on_change */
};

static inline void on_change(void *arg)
{
    struct fixture *f = arg;
    f->changes++;
}

static inline void start_with(struct fixture *f, const struct informer_options *o)
{
    f->informer = informer_new(o, &f->table, &f->w.transport, f->w.loop, on_change, f);
    informer_start(f->informer);
}

static inline void start(struct fixture *f)
{
    start_with(f, &(struct informer_options){ .resource = RESOURCE_NODE });
}

static inline void start_optional(struct fixture *f)
{
    start_with(f, &(struct informer_options){ .resource = RESOURCE_NODE, .optional = true });
}

/* Started, listed a and b at version 10, and the watch is open. */
static inline void start_listed(struct fixture *f)
{
    start(f);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    world_status(&f->w, 0, 200);
    world_turn(&f->w);
}

static inline void stream(struct fixture *f, const char *frames)
{
    world_bytes(&f->w, 0, frames);
    world_turn(&f->w);
}

/* "a=x b=y" */
static inline void expect_content(const struct fixture *f, const char *want)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    CLEANUP_BUF struct buf b = BUF_INIT(1000);
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct thing *t = thing_get(&f->table, names[i]);
        if (t)
            buf_printf(&b, "%s%s=%s", n++ ? " " : "", names[i], t->text);
    }
    assert_string_equal(buf_text(&b), want);
    assert_int_equal(f->table.records.len, n);
}

static inline void expect_problem(const struct fixture *f, const char *want)
{
    assert_string_equal(str_or_empty(informer_state(f->informer).problem), want);
}

static inline int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    world_init(&f->w);
    const struct table_ops ops = thing_ops(NULL);
    table_init(&f->table, &ops);
    f->table.hash_of = thing_hash;
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    informer_free(f->informer);
    table_clear(&f->table);
    world_clear(&f->w);
    free(f);
    return 0;
}

/* A test: its name and what it does with a fixture. */
struct informing {
    const char *name;
    CMUnitTestFunction check;
};

static inline int run_informing(const struct informing *rows, size_t count, const char *suite)
{
    struct suite s = { 0 };
    for (size_t i = 0; i < count; i++)
        suite_add_fixture(&s, rows[i].name, rows[i].check, set_up, tear_down);
    return suite_run(&s, suite);
}

#endif
