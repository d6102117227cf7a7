/* The client against a server on loopback: which connections it opens, shares and closes. */
#include "client/http.h"

#include "base/str.h"
#include "client/limits.h"
#include "tests/unit/support/client.h"

static void connections_are_kept_and_apart(void **state)
{
    (void) state;
    static const enum request_class classes[] = { REQUEST_READ, REQUEST_WRITE, REQUEST_LEASE,
                                                  REQUEST_WATCH };
    int64_t first[4], second[4];
    struct client c;
    client_open_tls(&c);
    struct answer a = { 0 };
    for (size_t i = 0; i < 8; i++) {
        answer_clear(&a);
        client_ask(&c, &a, classes[i % 4], "/echo");
        client_run_until(&c, &a.done);
        (i < 4 ? first : second)[i % 4] = answer_connection(&a);
    }
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(first[i], second[i]);
    assert_int_equal(first[0], first[1]); /* reads and writes share */
    assert_int_not_equal(first[1], first[2]);
    assert_int_not_equal(first[1], first[3]);
    assert_int_not_equal(first[2], first[3]);
    answer_clear(&a);
    client_close(&c);
}

static void a_turn_is_bounded(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer flood = { 0 }, other = { 0 };
    flood.body.max = 1 << 30;
    client_ask(&c, &flood, REQUEST_WATCH, "/stream");
    client_run_until(&c, &flood.pieces);
    for (int i = 0; i < 50; i++) {
        size_t before = flood.body.len;
        client_turn(&c, 100);
        if (flood.body.len - before > 3 * 100 * RECEIVE_BUFFER_BYTES)
            fail_msg("%zu bytes in a turn", flood.body.len - before);
    }
    client_get(&c, &other, "/echo");
    answer_expect_ok(&other);
    answer_clear(&flood);
    answer_clear(&other);
    client_close(&c);
}

static void a_connection_without_an_answer_is_left(void **state)
{
    (void) state;
    static const enum request_class classes[] = { REQUEST_READ, REQUEST_WRITE, REQUEST_LEASE };
    struct client c;
    client_open_tls(&c);
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        struct answer a = { 0 };
        client_ask(&c, &a, classes[i], "/echo");
        client_run_until(&c, &a.done);
        int64_t before = answer_connection(&a);
        answer_clear(&a);
        client_ask_with(&c, &a,
                        (struct request){ .class = classes[i],
                                          .method = "GET",
                                          .path = xstrdup("/hang"),
                                          .timeout_ms = 100 });
        client_run_until(&c, &a.done);
        answer_expect_error(&a, ERR_TIMEOUT, "no answer from");
        answer_clear(&a);
        client_ask(&c, &a, classes[i], "/echo");
        client_run_until(&c, &a.done);
        assert_int_not_equal(answer_connection(&a), before);
        answer_clear(&a);
    }
    client_close(&c);
}

/* Requests of one class, many more than run at a time. */
enum { CROWD = 40 };

static void ask_crowd(struct client *c, struct answer crowd[CROWD], enum request_class class,
                      const char *path)
{
    for (size_t i = 0; i < CROWD; i++)
        client_ask(c, &crowd[i], class, path);
    for (size_t i = 0; i < CROWD; i++)
        client_run_until(c, &crowd[i].done);
}

static size_t count_connections(const struct answer crowd[CROWD])
{
    size_t n = 0;
    for (size_t i = 0; i < CROWD; i++) {
        size_t same = 0;
        while (same < i && answer_connection(&crowd[same]) != answer_connection(&crowd[i]))
            same++;
        n += same == i;
    }
    return n;
}

static void reads_wait_for_room(void **state)
{
    (void) state;
    struct client c;
    client_open_tls(&c);
    struct answer crowd[CROWD] = { 0 };
    ask_crowd(&c, crowd, REQUEST_READ, "/slow?0.02");
    assert_int_equal(count_connections(crowd), READ_CONNECTIONS);
    for (size_t i = 0; i < CROWD; i++)
        answer_clear(&crowd[i]);
    client_close(&c);
}

static void waiting_does_not_count_as_time(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer crowd[READ_CONNECTIONS] = { 0 }, last = { 0 };
    for (size_t i = 0; i < READ_CONNECTIONS; i++)
        client_ask(&c, &crowd[i], REQUEST_READ, "/slow?0.5");
    client_ask_with(
        &c, &last,
        (struct request){
            .class = REQUEST_READ, .method = "GET", .path = xstrdup("/echo"), .timeout_ms = 300 });
    client_run_until(&c, &last.done);
    answer_expect_ok(&last);
    for (size_t i = 0; i < READ_CONNECTIONS; i++) {
        client_run_until(&c, &crowd[i].done);
        answer_clear(&crowd[i]);
    }
    answer_clear(&last);
    client_close(&c);
}

static void a_waiting_read_may_be_cancelled(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer crowd[READ_CONNECTIONS] = { 0 }, cancelled = { 0 }, last = { 0 };
    for (size_t i = 0; i < READ_CONNECTIONS; i++)
        client_ask(&c, &crowd[i], REQUEST_READ, "/slow?0.1");
    client_ask(&c, &cancelled, REQUEST_READ, "/echo");
    client_run_for(&c, 20);
    transport_cancel(&c.transport, cancelled.id);
    transport_cancel(&c.transport, crowd[0].id); /* makes room */
    client_get(&c, &last, "/echo");
    answer_expect_ok(&last);
    client_run_until(&c, &crowd[READ_CONNECTIONS - 1].done);
    assert_int_equal(cancelled.done + crowd[0].done, 0);
    for (size_t i = 0; i < READ_CONNECTIONS; i++)
        answer_clear(&crowd[i]);
    answer_clear(&last);
    client_close(&c);
}

static void writes_do_not_wait(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    struct answer crowd[READ_CONNECTIONS] = { 0 }, write = { 0 };
    for (size_t i = 0; i < READ_CONNECTIONS; i++)
        client_ask(&c, &crowd[i], REQUEST_READ, "/slow?0.5");
    client_ask(&c, &write, REQUEST_WRITE, "/echo");
    client_run_until(&c, &write.done);
    answer_expect_ok(&write);
    assert_int_equal(crowd[0].done, 0);
    for (size_t i = 0; i < READ_CONNECTIONS; i++) {
        client_run_until(&c, &crowd[i].done);
        answer_clear(&crowd[i]);
    }
    answer_clear(&write);
    client_close(&c);
}

static void many_writes_share_few_connections(void **state)
{
    (void) state;
    struct client c;
    client_open_tls(&c);
    struct answer crowd[CROWD] = { 0 };
    for (size_t i = 0; i < CROWD; i++) { /* eight at a time, as who writes does */
        client_ask(&c, &crowd[i], REQUEST_WRITE, "/slow?0.01");
        if (i >= 7)
            client_run_until(&c, &crowd[i - 7].done);
    }
    for (size_t i = 0; i < CROWD; i++)
        client_run_until(&c, &crowd[i].done);
    assert_true(count_connections(crowd) <= 8);
    for (size_t i = 0; i < CROWD; i++)
        answer_clear(&crowd[i]);
    client_close(&c);
}

static void idle_connections_are_closed(void **state)
{
    (void) state;
    struct client c;
    client_open_tls(&c);
    struct answer a = { 0 }, watch = { 0 };
    client_ask_with(&c, &watch,
                    (struct request){ .class = REQUEST_WATCH,
                                      .method = "GET",
                                      .path = xstrdup("/ticks"),
                                      .timeout_ms = 600000 });
    client_get(&c, &a, "/echo");
    int64_t first = answer_connection(&a);
    client_run_until(&c, &watch.pieces);
    client_get(&c, &a, "/echo");
    assert_int_equal(answer_connection(&a), first);
    int64_t deadline = http_deadline(c.http);
    assert_true(deadline < INT64_MAX);

    client_advance(IDLE_CLOSE_MS);
    http_turn(c.http);
    /* nothing is left to wake up for, but the watch's own time */
    assert_true(http_deadline(c.http) > deadline);
    int pieces = watch.pieces;
    client_get(&c, &a, "/echo");
    assert_int_not_equal(answer_connection(&a), first);
    client_run_for(&c, 50);
    assert_true(watch.pieces > pieces && !watch.done);
    answer_clear(&a);
    answer_clear(&watch);
    client_close(&c);
}

static void a_slow_request_ends_no_other(void **state)
{
    (void) state;
    struct client c;
    client_open_tls(&c);
    struct answer slow = { 0 }, other = { 0 }, quick = { 0 };
    client_ask_with(
        &c, &slow,
        (struct request){
            .class = REQUEST_WRITE, .method = "GET", .path = xstrdup("/hang"), .timeout_ms = 400 });
    client_ask(&c, &other, REQUEST_WRITE, "/slow?0.8");
    client_run_for(&c, 100);
    client_get(&c, &quick, "/echo");
    client_run_until(&c, &slow.done);
    answer_expect_error(&slow, ERR_TIMEOUT, "");
    client_run_until(&c, &other.done);
    answer_expect_ok(&other);
    answer_clear(&slow);
    answer_clear(&other);
    answer_clear(&quick);
    client_close(&c);
}

static void nothing_to_do_means_no_deadline(void **state)
{
    (void) state;
    struct client c;
    client_open_plain(&c);
    assert_true(http_deadline(c.http) == INT64_MAX);
    struct answer a = { 0 };
    client_get(&c, &a, "/echo");
    client_run_for(&c, 50);
    assert_true(http_deadline(c.http) > client_now_ms() + IDLE_CLOSE_MS / 2);
    client_advance(IDLE_CLOSE_MS);
    http_turn(c.http);
    assert_true(http_deadline(c.http) == INT64_MAX);
    answer_clear(&a);
    client_close(&c);
}

int main(void)
{
    static const struct CMUnitTest plain[] = {
        cmocka_unit_test(connections_are_kept_and_apart),
        cmocka_unit_test(a_turn_is_bounded),
        cmocka_unit_test(a_connection_without_an_answer_is_left),
        cmocka_unit_test(reads_wait_for_room),
        cmocka_unit_test(waiting_does_not_count_as_time),
        cmocka_unit_test(a_waiting_read_may_be_cancelled),
        cmocka_unit_test(writes_do_not_wait),
        cmocka_unit_test(many_writes_share_few_connections),
        cmocka_unit_test(idle_connections_are_closed),
        cmocka_unit_test(a_slow_request_ends_no_other),
        cmocka_unit_test(nothing_to_do_means_no_deadline),
    };
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        suite_add(&s, plain[i].name, plain[i].test_func, NULL);
    return client_tests_run(&s, "test_http_connections");
}
