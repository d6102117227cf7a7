/* The client against a server on loopback: what goes wrong, what is cancelled, and what sinks do
 * from inside. */
#include "client/http.h"

#include "base/str.h"
#include "tests/unit/support/client.h"

/* ---- what goes wrong */

static const struct failure_case {
    const char *name;
    const char *path;
    enum err_kind kind;
    const char *part;
    int status;
} failure_cases[] = {
    { "a cut body is no answer", "/cut", ERR_UNREACHABLE, "broke", 200 },
    { "a reset connection is no answer", "/reset", ERR_UNREACHABLE, "broke", 0 },
    { "too long a header is refused", "/long-header", ERR_TOO_LARGE, "header", 0 },
};

static void check_failure(void **state)
{
    const struct failure_case *f = *state;
    struct client c;
    client_open_plain(&c);
    struct answer a = { 0 };
    client_get(&c, &a, f->path);
    answer_expect_error(&a, f->kind, f->part);
    assert_int_equal(a.done, 1);
    if (f->status)
        assert_int_equal(a.status, f->status);
    answer_clear(&a);
    client_close(&c);
}

static void no_answer_in_time(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer a = { 0 };
    client_ask_with(
        &c, &a,
        (struct request){
            .class = REQUEST_WRITE, .method = "GET", .path = xstrdup("/hang"), .timeout_ms = 200 });
    client_run_until(&c, &a.done);
    answer_expect_error(&a, ERR_TIMEOUT, "no answer from http://127.0.0.1:");
    answer_clear(&a);
    client_close(&c);
}

static void no_server_listens(void **state)
{
    (void) state;
    struct client c;
    client_open(&c, "http", "refused", "", "");
    struct answer a = { 0 };
    client_get(&c, &a, "/");
    answer_expect_error(&a, ERR_UNREACHABLE, "cannot connect to http://127.0.0.1:");
    answer_expect_error(&a, ERR_UNREACHABLE, "Connection refused");
    answer_clear(&a);
    client_close(&c);
}

static void unknown_host(void **state)
{
    (void) state;
    struct client c;
    client_open_tls(&c);
    endpoint_clear(&c.config.server);
    assert_int_equal(endpoint_parse("https://nowhere.invalid:6443", &c.config.server, NULL), 0);
    struct answer a = { 0 };
    client_get(&c, &a, "/");
    answer_expect_error(&a, ERR_UNREACHABLE,
                        "cannot find the address of https://nowhere.invalid:6443");
    answer_clear(&a);
    client_close(&c);
}

/* How long an answer may be is for who takes it: a page of a list has no bound. */
static void a_body_of_any_length_comes(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer a = { 0 };
    client_get(&c, &a, "/big?65");
    answer_expect_ok(&a);
    assert_int_equal(a.body.len, 65 << 20);
    answer_clear(&a);
    client_close(&c);
}

static void a_sink_may_refuse(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer a = { .take_max = 100000 };
    client_ask(&c, &a, REQUEST_WATCH, "/stream");
    client_run_until(&c, &a.done);
    answer_expect_error(&a, ERR_TOO_LARGE, "rejects the answer");
    assert_true(a.body.len <= 100000);
    answer_clear(&a);
    client_close(&c);
}

/* ---- cancelling, and calls from inside of sinks */

static void cancelled_requests_are_silent(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer waiting = { 0 }, running = { 0 }, kept = { 0 };
    client_ask(&c, &waiting, REQUEST_READ, "/echo");
    transport_cancel(&c.transport, waiting.id);
    client_ask(&c, &running, REQUEST_WATCH, "/ticks");
    client_run_until(&c, &running.pieces);
    transport_cancel(&c.transport, running.id);
    transport_cancel(&c.transport, running.id);
    transport_cancel(&c.transport, 12345);
    int pieces = running.pieces;
    client_ask(&c, &kept, REQUEST_READ, "/slow?0.1");
    client_run_until(&c, &kept.done);
    answer_expect_ok(&kept);
    assert_int_equal(waiting.status_calls + waiting.done + running.done, 0);
    assert_int_equal(running.pieces, pieces);
    answer_clear(&running);
    answer_clear(&kept);
    client_close(&c);
}

static void cancel_self(struct answer *a)
{
    transport_cancel(&a->client->transport, a->id);
}

static void cancel_other(struct answer *a)
{
    if (a->other)
        transport_cancel(&a->client->transport, a->other->id);
    a->other = NULL;
}

static void ask_other(struct answer *a)
{
    if (a->other)
        client_ask(a->client, a->other, REQUEST_READ, "/echo");
    a->other = NULL;
}

static void a_sink_may_cancel_itself(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer a = { .on_piece = cancel_self }, ended = { .on_end = cancel_self };
    client_ask(&c, &a, REQUEST_WATCH, "/stream");
    client_get(&c, &ended, "/slow?0.2");
    assert_int_equal(a.pieces, 1);
    assert_int_equal(a.done, 0);
    assert_int_equal(ended.done, 1);
    answer_clear(&a);
    answer_clear(&ended);
    client_close(&c);
}

static void a_sink_may_cancel_others(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer b = { 0 }, a = { .on_piece = cancel_other, .other = &b }, end = { 0 };
    struct answer d = { 0 }, on_end = { .on_end = cancel_other, .other = &d };
    client_ask(&c, &b, REQUEST_WATCH, "/ticks");
    client_ask(&c, &d, REQUEST_WATCH, "/ticks");
    client_run_until(&c, &b.pieces);
    client_run_until(&c, &d.pieces);
    client_ask(&c, &a, REQUEST_READ, "/echo");
    client_ask(&c, &on_end, REQUEST_READ, "/echo");
    client_run_until(&c, &a.done);
    client_run_until(&c, &on_end.done);
    int b_pieces = b.pieces, d_pieces = d.pieces;
    client_get(&c, &end, "/slow?0.2");
    assert_int_equal(b.pieces, b_pieces);
    assert_int_equal(d.pieces, d_pieces);
    assert_int_equal(b.done + d.done, 0);
    struct answer *all[] = { &a, &b, &d, &on_end, &end };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        answer_clear(all[i]);
    client_close(&c);
}

static void a_sink_may_submit(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer second = { 0 }, third = { 0 };
    struct answer a = { .on_piece = ask_other, .other = &second };
    struct answer b = { .on_end = ask_other, .other = &third };
    client_ask(&c, &a, REQUEST_READ, "/echo");
    client_ask(&c, &b, REQUEST_READ, "/echo");
    client_run_until(&c, &second.done);
    client_run_until(&c, &third.done);
    answer_expect_ok(&second);
    answer_expect_ok(&third);
    struct answer *all[] = { &a, &b, &second, &third };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        answer_clear(all[i]);
    client_close(&c);
}

static void ending_with_requests_under_way(void **state)
{
    (void) state;
    struct client c;
    client_open_tls(&c);
    struct answer answers[4] = { 0 };
    client_ask(&c, &answers[0], REQUEST_WATCH, "/ticks");
    client_ask(&c, &answers[1], REQUEST_READ, "/hang");
    client_run_until(&c, &answers[0].pieces);
    client_ask(&c, &answers[2], REQUEST_LEASE, "/hang");
    http_turn(c.http);
    client_ask(&c, &answers[3], REQUEST_READ, "/echo");
    int64_t before = client_now_ms();
    client_close(&c);
    assert_true(client_now_ms() - before < 500);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        assert_int_equal(answers[i].done, 0);
        answer_clear(&answers[i]);
    }
}

int main(void)
{
    static const struct CMUnitTest plain[] = {
        cmocka_unit_test(no_answer_in_time),
        cmocka_unit_test(no_server_listens),
        cmocka_unit_test(unknown_host),
        cmocka_unit_test(a_body_of_any_length_comes),
        cmocka_unit_test(a_sink_may_refuse),
        cmocka_unit_test(cancelled_requests_are_silent),
        cmocka_unit_test(a_sink_may_cancel_itself),
        cmocka_unit_test(a_sink_may_cancel_others),
        cmocka_unit_test(a_sink_may_submit),
        cmocka_unit_test(ending_with_requests_under_way),
    };
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        suite_add(&s, plain[i].name, plain[i].test_func, NULL);
    SUITE_ROWS(&s, check_failure, failure_cases);
    return client_tests_run(&s, "test_http_failure");
}
