/* Reads go through, with whatever cancels them; all else is swallowed. */
#include "client/read_only.h"

#include "tests/unit/support/suite.h"

#define TO_BELOW UINT64_C(7)

struct below {
    size_t submitted, cancelled;
};

static uint64_t submit(void *self, struct request *request_steal, const struct transport_sink *sink)
{
    struct below *b = self;
    (void) sink;
    b->submitted++;
    request_clear(request_steal);
    return TO_BELOW;
}

static void cancel(void *self, uint64_t id)
{
    struct below *b = self;
    assert_int_equal(id, TO_BELOW);
    b->cancelled++;
}

static const struct row {
    const char *name;
    enum request_class class;
    size_t passes;
} rows[] = {
    { "a read", REQUEST_READ, 1 },
    { "a watch", REQUEST_WATCH, 0 },
    { "a write", REQUEST_WRITE, 0 },
    { "a lease's", REQUEST_LEASE, 0 },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct below b = { 0 };
    struct transport to = { .submit = submit, .cancel = cancel, .self = &b }, t = read_only(&to);
    struct transport_sink sink = { 0 };
    struct request r = request_list(RESOURCE_NODE, &(struct list_options){ 0 }, NULL);
    r.class = row->class;
    uint64_t id = transport_submit(&t, &r, &sink);
    assert_true(id > 0);
    assert_null(r.path);
    assert_int_equal(b.submitted, row->passes);
    transport_cancel(&t, id);
    assert_int_equal(b.cancelled, row->passes);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "read_only");
}
