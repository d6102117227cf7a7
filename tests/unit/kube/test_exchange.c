#include "kube/exchange.h"

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/world.h"

enum { BODY_MAX = 16 };

struct fixture {
    struct world w;
    struct exchange x;
    bool sends_again;
};

/* "KIND:BODY" of each outcome. */
static void on_reply(void *arg, struct reply *reply)
{
    struct fixture *f = arg;
    buf_printf(&f->w.said, "%s:%.*s;", err_kind_name(reply->err.kind), (int) reply->len,
               reply->body);
    if (f->sends_again)
        exchange_send(&f->x, request_version());
    f->sends_again = false;
}

static int feed(void *arg, const char *bytes, size_t n)
{
    struct fixture *f = arg;
    buf_printf(&f->w.said, "<%.*s>", (int) n, bytes);
    return n > BODY_MAX ? -1 : 0;
}

static void on_begin(void *arg)
{
    struct fixture *f = arg;
    buf_printf(&f->w.said, "%d ", f->x.status);
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    world_init(&f->w);
    f->x = (struct exchange){
        .transport = &f->w.transport, .done = on_reply, .arg = f, .body = BUF_INIT(BODY_MAX)
    };
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    exchange_cancel(&f->x);
    world_clear(&f->w);
    free(f);
    return 0;
}

static const struct row {
    const char *name;
    bool loses, feeds;
    int status;
    const char *body;
    const char *said;
} rows[] = {
    { "an answer comes whole", false, false, 200, "0123456789abcdef", "None:0123456789abcdef;" },
    { "one without a body", false, false, 200, "", "None:;" },
    { "a refusal", false, false, 404, "no", "NotFound:no;" },
    { "one that is too long ends the request", false, false, 200, "0123456789abcdef0",
      "TooLarge:;" },
    { "where that does not matter it counts as empty", true, false, 200, "0123456789abcdef0",
      "None:;" },
    { "pieces of a success", false, true, 200, "0123", "<0123>None:;" },
    { "the one who takes them ends it", false, true, 200, "0123456789abcdef0",
      "<0123456789abcdef0>TooLarge:;" },
    { "a refusal is not given in pieces", false, true, 500, "no", "ServerError:no;" },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct fixture *f;
    set_up((void **) &f);
    f->x.loses = row->loses;
    f->x.feed = row->feeds ? feed : NULL;
    exchange_send(&f->x, request_version());
    world_reply(&f->w, 0, row->status, row->body);
    world_turn(&f->w);
    assert_string_equal(buf_text(&f->w.said), row->said);
    assert_int_equal(f->x.id, 0);
    assert_int_equal(world_open(&f->w), 0);
    tear_down((void **) &f);
}

static void no_answer_is_an_outcome(void **state)
{
    struct fixture *f = *state;
    f->x.began = on_begin;
    exchange_send(&f->x, request_version());
    world_break(&f->w, 0, 0, ERR_UNREACHABLE, "refused");
    world_turn(&f->w);
    exchange_send(&f->x, request_version());
    world_reply(&f->w, 0, 200, "{}");
    world_turn(&f->w);
    assert_string_equal(buf_text(&f->w.said), "Unreachable:;200 None:{};");
}

static void the_callback_sends_the_next_request(void **state)
{
    struct fixture *f = *state;
    f->sends_again = true;
    exchange_send(&f->x, request_version());
    world_reply(&f->w, 0, 200, "one");
    world_turn(&f->w);
    assert_true(f->x.id > 0);
    world_reply(&f->w, 0, 200, "two");
    world_turn(&f->w);
    assert_string_equal(buf_text(&f->w.said), "None:one;None:two;");
}

static void what_is_cancelled_has_no_outcome(void **state)
{
    struct fixture *f = *state;
    exchange_send(&f->x, request_version());
    world_bytes(&f->w, 0, "{");
    world_turn(&f->w);
    exchange_cancel(&f->x);
    exchange_cancel(&f->x);
    assert_int_equal(f->w.cancelled, 1);
    assert_int_equal(f->x.id, 0);
    /* Nothing is left of it in the next one. */
    exchange_send(&f->x, request_version());
    world_reply(&f->w, 0, 200, "[]");
    world_turn(&f->w);
    assert_string_equal(buf_text(&f->w.said), "None:[];");
}

static void take_object(void *arg, struct reply *reply)
{
    struct fixture *f = arg;
    CLEANUP_JSON json_t *object = reply_object(reply, NULL);
    buf_printf(&f->w.said, "%s %s;", object ? json_str(object, "a") : "none",
               err_kind_name(reply->err.kind));
}

static void an_object_is_what_a_success_holds(void **state)
{
    static const struct {
        int status;
        const char *body;
    } answers[] = { { 200, "{'a':'b'}" },
                    { 201, "{'a':'c'}" },
                    { 200, "{'a':" },
                    { 200, "" },
                    { 403, "{'a':'d'}" } };
    struct fixture *f = *state;
    f->x.done = take_object;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        exchange_send(&f->x, request_version());
        world_reply(&f->w, 0, answers[i].status, answers[i].body);
        world_turn(&f->w);
    }
    assert_string_equal(buf_text(&f->w.said),
                        "b None;c None;none Invalid;none Invalid;none Forbidden;");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add_fixture(&s, "no answer is an outcome", no_answer_is_an_outcome, set_up, tear_down);
    suite_add_fixture(&s, "the callback sends the next request",
                      the_callback_sends_the_next_request, set_up, tear_down);
    suite_add_fixture(&s, "what is cancelled has no outcome", what_is_cancelled_has_no_outcome,
                      set_up, tear_down);
    suite_add_fixture(&s, "an object is what a success holds", an_object_is_what_a_success_holds,
                      set_up, tear_down);
    return suite_run(&s, "exchange");
}
